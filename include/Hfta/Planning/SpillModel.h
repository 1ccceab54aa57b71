//===- SpillModel.h - A training step as what it computes and holds -*- C++
//-*-//
//
// A step goes through a chain of blocks, forward and backward, for each of its
// micro-batches. What backward needs of forward, and what a block has of its
// own, has to be in the device's memory while it is used; meanwhile it may lie
// in a store, or be computed again. All times are in seconds and all sizes in
// bytes of one copy, unless said otherwise.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_SPILLMODEL_H
#define HFTA_PLANNING_SPILLMODEL_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::hfta::planning {

/// What an op of a forward computes of one micro-batch.
struct SpillValue {
  int64_t bytes = 0;
  int64_t maker = 0; ///< the number of the op
};

struct SpillOp {
  double seconds = 0; ///< of one micro-batch
  /// Numbers of the values that it reads, of earlier ops. Data and parameters
  /// are no values.
  llvm::SmallVector<int64_t, 4> operands;
  /// False: backward can't compute it again.
  bool isRepeatable = true;
};

/// Ops that are run in one task, so that a chain can be cut between blocks
/// alone.
struct SpillBlock {
  std::string name;
  int64_t endOp = 0; ///< behind its last op; its first one follows the last of
                     ///< the block before it
  /// Values that its backward reads, of its own ops and of earlier blocks'.
  llvm::SmallVector<int64_t, 8> backwardReads;
  double backward = 0;        ///< seconds of one micro-batch
  double update = 0;          ///< seconds of a step
  int64_t parameterBytes = 0; ///< that an update changes
  int64_t frozenBytes = 0;    ///< parameters that none changes
  int64_t sharedBytes = 0;    ///< the same, of all copies together
  int64_t gradientBytes = 0;
  int64_t stateBytes = 0; ///< of the optimizer
};

/// What it costs to move bytes between memory and store.
struct StoreRates {
  double readBytesPerSecond = 1e9;
  double writeBytesPerSecond = 1e9;
  double secondsPerTransfer = 0;
  /// Nothing is read while anything is written.
  bool isShared = false;
};

struct SpillModel {
  std::vector<SpillBlock> blocks; ///< at least one
  std::vector<SpillOp> ops;
  std::vector<SpillValue> values; ///< in the order of their makers
  int64_t copies = 1;
  int64_t microBatches = 1;
  /// Where a block's micro-batches lie in memory together, they are one here,
  /// with the bytes and seconds of all of them. What is computed again lies
  /// there for one of so many at a time.
  int64_t partsOfMicroBatch = 1;
  /// Of all copies together, whatever the plan is: what stays in memory.
  int64_t fixedBytes = 0;
  /// Of one copy, while a task runs.
  int64_t workspaceBytes = 0;
  /// No block is updated before all gradients are there.
  bool clips = false;
  StoreRates store;

  int64_t getFirstOp(int64_t block) const {
    return block == 0 ? 0 : blocks[block - 1].endOp;
  }
};

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_SPILLMODEL_H
