//===- SpillModel.h - A step's computations and memory ----------*- C++ -*-===//
//
// Describes a step for the planning of a memory budget. A step runs through a
// chain of blocks, forward and backward, for each of its micro-batches. The
// values that a backward needs from a forward, and a block's parameters and
// state, must be in memory while they are used; at other times they may be in a
// store, or values may be recomputed. Times are in seconds and sizes in bytes,
// for one copy unless stated otherwise.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_COMMON_SPILLMODEL_H
#define HFTA_PLANNING_COMMON_SPILLMODEL_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::hfta::planning {

/// A value that an op of the forward computes for one micro-batch.
struct SpillValue {
  int64_t bytes = 0;
  int64_t maker = 0; ///< number of the op that computes it
};

/// An op of the forward.
struct SpillOp {
  double seconds = 0; ///< for one micro-batch
  /// The values that the op reads. Data and parameters aren't values in this
  /// sense.
  llvm::SmallVector<int64_t, 4> operands;
  /// Whether the backward can recompute the op's values.
  bool isRepeatable = true;
};

/// A block: consecutive ops that run in one task. A plan can only cut the chain
/// between blocks.
struct SpillBlock {
  std::string name;
  /// One past the number of its last op. Its first op follows the previous
  /// block's last one.
  int64_t endOp = 0;
  /// The values that its backward reads, from its own ops and from earlier
  /// blocks.
  llvm::SmallVector<int64_t, 8> backwardReads;
  double backward = 0;        ///< seconds for one micro-batch
  double update = 0;          ///< seconds per step
  int64_t parameterBytes = 0; ///< trained parameters
  int64_t frozenBytes = 0;    ///< parameters that no update changes
  int64_t sharedBytes = 0;    ///< frozen parameters that all copies share
  int64_t gradientBytes = 0;
  int64_t stateBytes = 0; ///< the optimizer's state
};

/// The costs of transfers between memory and the store.
struct StoreRates {
  double readBytesPerSecond = 1e9;
  double writeBytesPerSecond = 1e9;
  double secondsPerTransfer = 0;
  /// Whether reads and writes take turns.
  bool isShared = false;
};

/// The step of a job.
struct SpillModel {
  std::vector<SpillBlock> blocks; ///< at least one
  std::vector<SpillOp> ops;
  std::vector<SpillValue> values; ///< sorted by `maker`
  int64_t copies = 1;
  int64_t microBatches = 1;
  /// The number of the job's micro-batches that are in memory together. The
  /// model treats them as one, with the bytes and seconds of all; only
  /// recomputed values are in memory for just one of these parts at a time.
  int64_t partsOfMicroBatch = 1;
  /// Bytes, of all copies together, that are always in memory, whatever the
  /// plan.
  int64_t fixedBytes = 0;
  /// Bytes that one copy needs in addition while a task runs.
  int64_t workspaceBytes = 0;
  /// Whether gradients are clipped, so that no block can be updated before all
  /// gradients are complete.
  bool clips = false;
  StoreRates store;

  int64_t getFirstOp(int64_t block) const {
    return block == 0 ? 0 : blocks[block - 1].endOp;
  }
};

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_COMMON_SPILLMODEL_H
