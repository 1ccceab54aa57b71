//===- RowPlan.h - The order of reductions along rows -----------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_ROWPLAN_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_ROWPLAN_H

#include "Plan/LoopPlan.h"

namespace mlir::hfta {

/// The plan of reductions along rows that are contiguous in memory, in 16 lanes
/// on every target. In short rows lane l combines elements l, l + 16, ..., in
/// long ones four sums: l, l + 64, ..., then l + 16, l + 80, ... and so on. The
/// halves of the sums, then those of the lanes, are combined until one is left.
struct RowPlan {
  static constexpr int64_t kLanes = ReferenceModel::Sums::kRowLanes;

  unsigned row; ///< the axis along which vectors lie
  /// The number of sums in each lane: adding to a sum waits until the last
  /// vector has been added, so long rows have several.
  int64_t sums;
  /// For each result the op that combines its running value with the next
  /// element.
  SmallVector<Operation *> combiners;
};

/// Returns the plan; nothing if the op isn't a reduction of rows that are
/// contiguous in memory by sums, products, maxima or minima.
std::optional<RowPlan> planRows(linalg::GenericOp op);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_ROWPLAN_H
