//===- KfacRows.h - Second moments of a layer's rows ------------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_KFAC_KFACROWS_H
#define HFTA_LIB_TRANSFORMS_KFAC_KFACROWS_H

#include "Kfac/KfacUnits.h"
#include "Samples/SampleStrides.h"

namespace mlir::hfta {

/// Splits axis `at.axis` of a shape into [outer, samples, inner], leaving out
/// `outer` and `inner` where they are 1. Returns the index of the new axis of
/// samples.
int64_t splitAtSamples(SmallVectorImpl<int64_t> &shape, const SampleAxis &at,
                       int64_t samples);

/// Whether it is known to which of `samples` samples each row of a layer's
/// input and of its output gradient belongs.
bool hasSamples(LayerOp layer, const LayerAxes &axes, int64_t samples);

/// Reduces rows to one per sample instead of one per position: for the input,
/// the mean over positions, for the output gradient, their sum. Updates `side`
/// to the axes of the result. Source: Eschenhagen et al., "Kronecker-factored
/// approximate curvature for modern neural network architectures", NeurIPS 2023
/// (K-FAC-reduce).
Value reducePositions(OpBuilder &builder, Value rows, LayerSide &side,
                      LayerOp layer, int64_t samples, bool isOutput);

/// Builds `sum` plus the sum over rows of each row's outer product with itself,
/// in the packed diagonal blocks of `factor`. `side` describes the rows; if
/// `ones`, a column of ones is appended to them.
Value buildSecondMoment(OpBuilder &builder, Value rows, LayerSide side,
                        LayerOp layer, bool ones, Value sum,
                        const KfacFactor &factor);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KFAC_KFACROWS_H
