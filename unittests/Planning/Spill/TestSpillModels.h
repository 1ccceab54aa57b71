//===- TestSpillModels.h - Chains of blocks for tests -----------*- C++ -*-===//

#ifndef HFTA_UNITTESTS_PLANNING_SPILL_TESTSPILLMODELS_H
#define HFTA_UNITTESTS_PLANNING_SPILL_TESTSPILLMODELS_H

#include "Hfta/Planning/Common/SpillModel.h"

#include <random>

namespace mlir::hfta::planning {

/// Appends an op to the last block. It computes a value of `bytes` bytes, or
/// none if `bytes` is 0. Returns the value's number, or -1.
inline int64_t addOp(SpillModel &model, double seconds, int64_t bytes,
                     llvm::SmallVector<int64_t, 4> operands) {
  model.ops.push_back({seconds, std::move(operands)});
  model.blocks.back().endOp = static_cast<int64_t>(model.ops.size());
  if (bytes == 0)
    return -1;
  model.values.push_back({bytes, static_cast<int64_t>(model.ops.size()) - 1});
  return static_cast<int64_t>(model.values.size()) - 1;
}

inline SpillBlock &addBlock(SpillModel &model, double backward) {
  SpillBlock &block = model.blocks.emplace_back();
  block.name = "block" + std::to_string(model.blocks.size() - 1);
  block.endOp = static_cast<int64_t>(model.ops.size());
  block.backward = backward;
  return block;
}

/// Makes a chain of blocks of one op each. A block's backward reads the op's
/// operand and its result. `bytes` is the size of each value.
inline SpillModel makeChain(int64_t blocks, double forward, double backward,
                            int64_t bytes) {
  SpillModel model;
  for (int64_t number = 0; number < blocks; ++number) {
    addBlock(model, backward);
    if (number == 0)
      addOp(model, forward, bytes, {});
    else
      addOp(model, forward, bytes, {number - 1});
    model.blocks.back().backwardReads.push_back(number);
    if (number > 0)
      model.blocks.back().backwardReads.push_back(number - 1);
  }
  return model;
}

/// The properties of a random chain.
struct ChainKind {
  int64_t blocks = 4;
  int64_t mostOps = 1; ///< in a block
  bool hasParameters = false;
  bool hasSkips = false;
  int64_t microBatches = 1;
  int64_t copies = 1;
};

inline SpillModel makeRandomChain(std::mt19937 &random, const ChainKind &kind) {
  auto draw = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % (most - least + 1));
  };
  SpillModel model;
  model.copies = kind.copies;
  model.microBatches = kind.microBatches;
  model.store.readBytesPerSecond = static_cast<double>(draw(1, 8));
  model.store.writeBytesPerSecond = static_cast<double>(draw(1, 8));
  model.clips = draw(0, 3) == 0;
  int64_t last = -1;
  for (int64_t number = 0; number < kind.blocks; ++number) {
    SpillBlock &block = addBlock(model, static_cast<double>(draw(1, 12)));
    if (kind.hasParameters) {
      block.parameterBytes = block.gradientBytes = draw(1, 10);
      block.stateBytes = draw(0, 1) * 2 * block.parameterBytes;
      block.update = static_cast<double>(draw(0, 3));
    }
    int64_t input = last, ops = draw(1, kind.mostOps);
    for (int64_t op = 0; op < ops; ++op) {
      llvm::SmallVector<int64_t, 4> operands;
      if (last >= 0)
        operands.push_back(last);
      if (kind.hasSkips && input > 0 && op == 0 && draw(0, 2) == 0)
        operands.push_back(input - 1);
      last =
          addOp(model, static_cast<double>(draw(1, 6)), draw(1, 10), operands);
      model.ops.back().isRepeatable = draw(0, 9) > 0;
      SpillBlock &now = model.blocks.back();
      if (draw(0, 3) > 0)
        now.backwardReads.push_back(last);
      if (input >= 0 && op == 0 && draw(0, 3) > 0)
        now.backwardReads.push_back(input);
    }
  }
  return model;
}

} // namespace mlir::hfta::planning

#endif // HFTA_UNITTESTS_PLANNING_SPILL_TESTSPILLMODELS_H
