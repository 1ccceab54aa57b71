//===- RowPlan.h - The order of reductions along rows -----------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_ROWPLAN_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_ROWPLAN_H

#include "Plan/LoopPlan.h"

namespace mlir::hfta {

/// The plan of a reduction along rows that are contiguous in memory, with 16
/// lanes on every target. In short rows lane l combines the elements l, l + 16,
/// … In long rows each lane has four sums: of the elements l, l + 64, …; l +
/// 16, l + 80, …; and so on. Then the sums of each lane, and finally the lanes,
/// are combined in halves until one is left.
struct RowPlan {
  static constexpr int64_t kLanes = ReferenceModel::Sums::kRowLanes;

  unsigned row; ///< the row's axis, along which vectors run
  /// The number of sums in each lane. An addition waits for the previous one to
  /// the same sum, so long rows have several sums.
  int64_t sums;
  /// For each result, the op that combines its running value with the next
  /// element.
  SmallVector<Operation *> combiners;
};

/// Returns the plan of an op; nothing if the op isn't a reduction by sums,
/// products, maxima or minima of rows that are contiguous in memory.
std::optional<RowPlan> planRows(linalg::GenericOp op);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_ROWPLAN_H
