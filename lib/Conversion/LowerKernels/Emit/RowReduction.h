//===- RowReduction.h - Reductions along contiguous rows --------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_ROWREDUCTION_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_ROWREDUCTION_H

#include "Plan/RowPlan.h"

namespace mlir::hfta {

/// Lowers an op whose sums, products, maxima or minima run along rows that are
/// contiguous in memory, in the order of its `RowPlan`. `initial` holds the
/// initial value of each result, null if it is read from memory. Returns false
/// and does nothing for any other op.
bool emitRowReduction(OpBuilder &builder, linalg::GenericOp op,
                      ArrayRef<Value> initial, const TargetModel &target);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_ROWREDUCTION_H
