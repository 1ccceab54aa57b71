//===- SpillNeeds.cpp - Values that backwards need ------------------------===//

#include "Spill/SpillNeeds.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

SpillIndex::SpillIndex(const SpillModel &model) {
  for (auto [number, block] : llvm::enumerate(model.blocks))
    blocksOfOps.resize(block.endOp, static_cast<int64_t>(number));
  assert(blocksOfOps.size() == model.ops.size() && "blocks have all ops");
  firstValues.resize(model.ops.size() + 1, 0);
  for (const SpillValue &value : model.values) {
    ++firstValues[value.maker + 1];
    blocksOfValues.push_back(blocksOfOps[value.maker]);
  }
  for (size_t op = 0; op < model.ops.size(); ++op)
    firstValues[op + 1] += firstValues[op];
  assert(llvm::is_sorted(model.values,
                         [](const SpillValue &left, const SpillValue &right) {
                           return left.maker < right.maker;
                         }) &&
         "values are in the order of their makers");
  lastForwards = lastBackwards = blocksOfValues;
  for (auto [op, block] : llvm::zip_equal(model.ops, blocksOfOps))
    for (int64_t value : op.operands)
      lastForwards[value] = std::max(lastForwards[value], block);
  for (auto [number, block] : llvm::enumerate(model.blocks))
    for (int64_t value : block.backwardReads)
      lastBackwards[value] =
          std::max(lastBackwards[value], static_cast<int64_t>(number));
  crossing.resize(model.blocks.size() + 1);
  for (int64_t value = 0; value < static_cast<int64_t>(model.values.size());
       ++value)
    for (int64_t cut = blocksOfValues[value] + 1; isReadFrom(value, cut); ++cut)
      crossing[cut].push_back(value);
}

SpillNeeds planning::findNeeds(const SpillModel &model, const SpillIndex &index,
                               llvm::ArrayRef<Keep> values,
                               const SpillGroup &group) {
  SpillNeeds needs;
  int64_t firstOp = model.getFirstOp(group.firstBlock);
  int64_t firstValue = index.firstValues[firstOp];
  int64_t endOp = model.blocks[group.endBlock - 1].endOp;
  enum Reader : uint8_t { nobody, recomputation, backward };
  std::vector<Reader> readers(index.firstValues[endOp] - firstValue, nobody);
  auto read = [&](int64_t value, Reader reader) {
    if (value >= firstValue) {
      Reader &known = readers[value - firstValue];
      known = std::max(known, reader);
      return;
    }
    auto &outside = reader == backward ? needs.byBackward : needs.byRecompute;
    if (!llvm::is_contained(outside, value))
      outside.push_back(value);
  };
  for (int64_t block = group.firstBlock; block < group.endBlock; ++block)
    for (int64_t value : model.blocks[block].backwardReads)
      read(value, backward);
  for (int64_t op = endOp - 1; op >= firstOp; --op) {
    bool isRepeated = false;
    for (int64_t value = index.firstValues[op];
         value < index.firstValues[op + 1]; ++value) {
      Reader reader = readers[value - firstValue];
      if (reader == nobody)
        continue;
      if (values[value] != Keep::recompute) {
        if (reader == recomputation)
          needs.ownByRecompute.push_back(value);
        continue;
      }
      isRepeated = true;
      if (reader == backward)
        needs.recomputedBytes +=
            (model.values[value].bytes + model.partsOfMicroBatch - 1) /
            model.partsOfMicroBatch;
    }
    if (!isRepeated)
      continue;
    if (!model.ops[op].isRepeatable && needs.fault < 0)
      needs.fault = op;
    needs.recompute += model.ops[op].seconds;
    for (int64_t operand : model.ops[op].operands)
      read(operand, recomputation);
  }
  return needs;
}
