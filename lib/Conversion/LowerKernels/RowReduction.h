//===- RowReduction.h - Reductions along contiguous rows --------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_ROWREDUCTION_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_ROWREDUCTION_H

#include "LoopPlan.h"

namespace mlir::hfta {

/// Shorter rows aren't worth combining lanes.
inline constexpr int64_t kMinReducedRow = 32;

/// Lowers an op whose sums, products, maxima or minima run over rows that are
/// contiguous in memory. Vectors lie along the rows: lane l of 16, on every
/// target, combines elements l, l + 16, ... of short rows, and of long ones in
/// four sums l, l + 64, ..., then l + 16, l + 80, ...; halves of the sums and
/// of the lanes are combined until one is left. `initial` are the values that
/// results start from, null where they are read from memory. Returns false and
/// does nothing if it is another op.
bool emitRowReduction(OpBuilder &builder, linalg::GenericOp op,
                      ArrayRef<Value> initial, VectorTarget target);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_ROWREDUCTION_H
