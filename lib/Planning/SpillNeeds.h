//===- SpillNeeds.h - The needs of backwards from forwards ------*- C++ -*-===//

#ifndef HFTA_LIB_PLANNING_SPILLNEEDS_H
#define HFTA_LIB_PLANNING_SPILLNEEDS_H

#include "Hfta/Planning/SpillPlan.h"
#include "llvm/ADT/ArrayRef.h"

#include <algorithm>

namespace mlir::hfta::planning {

/// An index of the ops that make and read each value.
struct SpillIndex {
  explicit SpillIndex(const SpillModel &model);

  int64_t getBlockOf(int64_t value) const { return blocksOfValues[value]; }
  /// Returns whether the value is read after the cut before a block, by forward
  /// or backward.
  bool isReadFrom(int64_t value, int64_t block) const {
    return std::max(lastForwards[value], lastBackwards[value]) >= block;
  }

  std::vector<int64_t> blocksOfOps, blocksOfValues;
  /// The values of op o are firstValues[o] … firstValues[o + 1] - 1.
  std::vector<int64_t> firstValues;
  /// The last block whose forward, and the last block whose backward, reads a
  /// value; the value's own block if there is none.
  std::vector<int64_t> lastForwards, lastBackwards;
  /// The values that cross the cut before each block.
  std::vector<llvm::SmallVector<int64_t, 4>> crossing;
};

/// The values that a group's backward needs when values are kept in a given
/// way. They are the group's own, which are recomputed if they aren't kept, or
/// come from outside the group.
struct SpillNeeds {
  double recompute = 0; ///< seconds of one micro-batch
  int64_t recomputedBytes = 0;
  /// Values of earlier groups that the backward reads, and those that
  /// recomputation reads.
  llvm::SmallVector<int64_t, 4> byBackward, byRecompute;
  /// Its own kept values that only recomputation reads.
  llvm::SmallVector<int64_t, 4> ownByRecompute;
  /// The first op that would have to run again but can't; or -1.
  int64_t fault = -1;
};

SpillNeeds findNeeds(const SpillModel &model, const SpillIndex &index,
                     llvm::ArrayRef<Keep> values, const SpillGroup &group);

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_SPILLNEEDS_H
