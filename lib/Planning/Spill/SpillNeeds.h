//===- SpillNeeds.h - Values that backwards need ----------------*- C++ -*-===//

#ifndef HFTA_LIB_PLANNING_SPILL_SPILLNEEDS_H
#define HFTA_LIB_PLANNING_SPILL_SPILLNEEDS_H

#include "Hfta/Planning/Spill/SpillPlan.h"
#include "llvm/ADT/ArrayRef.h"

#include <algorithm>

namespace mlir::hfta::planning {

/// An index of a model's ops and values: which ops and blocks make and read
/// each value.
struct SpillIndex {
  explicit SpillIndex(const SpillModel &model);

  int64_t getBlockOf(int64_t value) const { return blocksOfValues[value]; }
  /// Returns whether the forward or backward of this block, or of a later one,
  /// reads the value.
  bool isReadFrom(int64_t value, int64_t block) const {
    return std::max(lastForwards[value], lastBackwards[value]) >= block;
  }

  std::vector<int64_t> blocksOfOps, blocksOfValues;
  /// The values of op o are firstValues[o] … firstValues[o + 1] - 1.
  std::vector<int64_t> firstValues;
  /// The last block whose forward, and the last block whose backward, reads a
  /// value; the value's own block if there is none.
  std::vector<int64_t> lastForwards, lastBackwards;
  /// The values that cross the cut before each block: made before it, and read
  /// after it by a forward or backward.
  std::vector<llvm::SmallVector<int64_t, 4>> crossing;
};

/// Values that the backward of a group needs, if values are kept in a given
/// way: values of earlier groups, and its own, which are recomputed unless they
/// are kept.
struct SpillNeeds {
  double recompute = 0; ///< seconds to recompute one micro-batch
  int64_t recomputedBytes = 0;
  /// Values of earlier groups that the backward reads, and those that
  /// recomputation reads.
  llvm::SmallVector<int64_t, 4> byBackward, byRecompute;
  /// The group's own kept values that only recomputation reads.
  llvm::SmallVector<int64_t, 4> ownByRecompute;
  /// An op that would have to be recomputed but can't be; -1 if there is none.
  int64_t fault = -1;
};

SpillNeeds findNeeds(const SpillModel &model, const SpillIndex &index,
                     llvm::ArrayRef<Keep> values, const SpillGroup &group);

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_SPILL_SPILLNEEDS_H
