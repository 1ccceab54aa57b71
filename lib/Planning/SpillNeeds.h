//===- SpillNeeds.h - What backwards need of forwards -----------*- C++ -*-===//

#ifndef HFTA_LIB_PLANNING_SPILLNEEDS_H
#define HFTA_LIB_PLANNING_SPILLNEEDS_H

#include "Hfta/Planning/SpillPlan.h"
#include "llvm/ADT/ArrayRef.h"

#include <algorithm>

namespace mlir::hfta::planning {

/// Who makes and who reads values.
struct SpillIndex {
  explicit SpillIndex(const SpillModel &model);

  int64_t getBlockOf(int64_t value) const { return blocksOfValues[value]; }
  /// Whether it is read after the cut before a block, by forward or backward.
  bool isReadFrom(int64_t value, int64_t block) const {
    return std::max(lastForwards[value], lastBackwards[value]) >= block;
  }

  std::vector<int64_t> blocksOfOps, blocksOfValues;
  /// The values of op o are firstValues[o] … firstValues[o + 1] - 1.
  std::vector<int64_t> firstValues;
  /// The last blocks whose forward, and backward, read a value; its own one if
  /// there is none.
  std::vector<int64_t> lastForwards, lastBackwards;
  /// Values that go over the cut before each block.
  std::vector<llvm::SmallVector<int64_t, 4>> crossing;
};

/// What a group's backward needs when values are kept so. Values are the
/// group's own, those not kept of which are computed again, or of `outside`.
struct SpillNeeds {
  double recompute = 0; ///< seconds of one micro-batch
  int64_t recomputedBytes = 0;
  /// Of earlier groups: read by the backward, or by what is computed again.
  llvm::SmallVector<int64_t, 4> byBackward, byRecompute;
  /// Its own kept values that only what is computed again reads.
  llvm::SmallVector<int64_t, 4> ownByRecompute;
  /// The first op that would have to be run again, but can't; or -1.
  int64_t fault = -1;
};

SpillNeeds findNeeds(const SpillModel &model, const SpillIndex &index,
                     llvm::ArrayRef<Keep> values, const SpillGroup &group);

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_SPILLNEEDS_H
