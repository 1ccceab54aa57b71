//===- KfacRows.h - Second moments of a layer's rows ------------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_KFACROWS_H
#define HFTA_LIB_TRANSFORMS_KFACROWS_H

#include "KfacUnits.h"
#include "SampleStrides.h"

namespace mlir::hfta {

/// The axis becomes up to three, of which the one that is returned numbers the
/// samples.
int64_t splitAtSamples(SmallVectorImpl<int64_t> &shape, const SampleAxis &at,
                       int64_t samples);

/// Whether the rows of a layer's positions can be told by sample, of so many.
bool hasSamples(LayerOp layer, const LayerAxes &axes, int64_t samples);

/// One row a sample in place of one a position: the input's mean over
/// positions, or the output gradient's sum. Both are [samples, blocks,
/// columns]. Source: Eschenhagen et al., "Kronecker-factored approximate
/// curvature for modern neural network architectures", NeurIPS 2023
/// (K-FAC-reduce).
Value reducePositions(OpBuilder &builder, Value rows, LayerSide &side,
                      LayerOp layer, int64_t samples, bool isOutput);

/// `sum` plus the second moment of rows as `side` says, with a column of ones
/// if `ones`, in the diagonal blocks of `factor`.
Value buildSecondMoment(OpBuilder &builder, Value rows, LayerSide side,
                        LayerOp layer, bool ones, Value sum,
                        const KfacFactor &factor);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KFACROWS_H
