//===- SpillModel.h - A step's computations and memory ----------*- C++ -*-===//
//
// A step goes through a chain of blocks, forward and backward, for each of its
// micro-batches. The values that a backward needs from a forward, and the
// parameters and state of a block, must be in the device's memory while they
// are used; meanwhile they may lie in a store, or values may be recomputed. All
// times are in seconds and all sizes in bytes of one copy, unless said
// otherwise.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_SPILLMODEL_H
#define HFTA_PLANNING_SPILLMODEL_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::hfta::planning {

/// A value that an op of a forward computes for one micro-batch.
struct SpillValue {
  int64_t bytes = 0;
  int64_t maker = 0; ///< the number of the op
};

struct SpillOp {
  double seconds = 0; ///< for one micro-batch
  /// Numbers of the values that it reads, which earlier ops make. Data and
  /// parameters don't count as values.
  llvm::SmallVector<int64_t, 4> operands;
  /// Whether backward can recompute it.
  bool isRepeatable = true;
};

/// Ops that run in one task, so that a chain can only be cut between blocks.
struct SpillBlock {
  std::string name;
  /// One past its last op; its first op follows the block before it.
  int64_t endOp = 0;
  /// Values that its backward reads, of its own ops and of earlier blocks.
  llvm::SmallVector<int64_t, 8> backwardReads;
  double backward = 0;        ///< seconds for one micro-batch
  double update = 0;          ///< seconds per step
  int64_t parameterBytes = 0; ///< parameters that an update changes
  int64_t frozenBytes = 0;    ///< parameters that no update changes
  int64_t sharedBytes = 0;    ///< frozen parameters that all copies share
  int64_t gradientBytes = 0;
  int64_t stateBytes = 0; ///< the optimizer's state
};

/// The costs of moving bytes between memory and store.
struct StoreRates {
  double readBytesPerSecond = 1e9;
  double writeBytesPerSecond = 1e9;
  double secondsPerTransfer = 0;
  /// Whether reads and writes exclude each other.
  bool isShared = false;
};

struct SpillModel {
  std::vector<SpillBlock> blocks; ///< at least one
  std::vector<SpillOp> ops;
  std::vector<SpillValue> values; ///< in the order of their makers
  int64_t copies = 1;
  int64_t microBatches = 1;
  /// The number of micro-batches that lie in memory together. The model counts
  /// them as one, with the bytes and seconds of all of them, but recomputed
  /// values lie in memory for only one of these parts at a time.
  int64_t partsOfMicroBatch = 1;
  /// Bytes of all copies together that stay in memory whatever the plan is.
  int64_t fixedBytes = 0;
  /// Bytes that one copy needs while a task runs.
  int64_t workspaceBytes = 0;
  /// Whether gradients are clipped, so that no block is updated before all
  /// gradients are there.
  bool clips = false;
  StoreRates store;

  int64_t getFirstOp(int64_t block) const {
    return block == 0 ? 0 : blocks[block - 1].endOp;
  }
};

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_SPILLMODEL_H
