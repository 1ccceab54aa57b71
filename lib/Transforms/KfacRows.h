//===- KfacRows.h - Second moments of a layer's rows ------------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_KFACROWS_H
#define HFTA_LIB_TRANSFORMS_KFACROWS_H

#include "KfacUnits.h"
#include "SampleStrides.h"

namespace mlir::hfta {

/// Splits an axis into up to three, and returns the number of the one that
/// holds the samples.
int64_t splitAtSamples(SmallVectorImpl<int64_t> &shape, const SampleAxis &at,
                       int64_t samples);

/// Whether the positions of a layer's rows can be grouped into `samples`
/// samples.
bool hasSamples(LayerOp layer, const LayerAxes &axes, int64_t samples);

/// Reduces rows to one per sample instead of one per position: the input's mean
/// over positions, or the output gradient's sum. Both are [samples, blocks,
/// columns]. Source: Eschenhagen et al., "Kronecker-factored approximate
/// curvature for modern neural network architectures", NeurIPS 2023
/// (K-FAC-reduce).
Value reducePositions(OpBuilder &builder, Value rows, LayerSide &side,
                      LayerOp layer, int64_t samples, bool isOutput);

/// Returns `sum` plus the second moment of the rows that `side` describes, with
/// a column of ones if `ones`, in the diagonal blocks of `factor`.
Value buildSecondMoment(OpBuilder &builder, Value rows, LayerSide side,
                        LayerOp layer, bool ones, Value sum,
                        const KfacFactor &factor);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KFACROWS_H
