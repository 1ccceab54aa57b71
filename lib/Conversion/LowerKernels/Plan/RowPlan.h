//===- RowPlan.h - How contiguous rows are summed up ------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_ROWPLAN_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_ROWPLAN_H

#include "Plan/LoopPlan.h"

namespace mlir::hfta {

/// Along rows that are contiguous in memory, lane l of 16, on every target,
/// combines elements l, l + 16, ... of short rows, and of long ones in four
/// sums l, l + 64, ..., then l + 16, l + 80, ...; halves of the sums and of the
/// lanes are combined until one is left.
struct RowPlan {
  static constexpr int64_t kLanes = ReferenceModel::Sums::kRowLanes;

  unsigned row; ///< the axis that vectors lie along
  /// Vectors that run side by side: each sum waits until the last vector has
  /// been added, so long rows have several.
  int64_t sums;
  /// For each result the op that combines its running value with the next.
  SmallVector<Operation *> combiners;
};

/// Nothing if the op isn't a reduction of rows that are contiguous in memory by
/// sums, products, maxima or minima.
std::optional<RowPlan> planRows(linalg::GenericOp op);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_ROWPLAN_H
