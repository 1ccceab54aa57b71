//===- Kfac.h - The tasks that K-FAC adds to a step -------------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_KFAC_H
#define HFTA_LIB_TRANSFORMS_KFAC_H

#include "KfacUnits.h"

namespace mlir::hfta {

/// Builds forward_moments and backward_moments of all blocks, which add up each
/// unit's moments in addition to the work of forward and backward, and
/// shared_moments. Sets the moments of the units' factors, and notes which
/// factors are those of another unit.
void buildKfacMoments(TaskBuilder &tasks, MutableArrayRef<KfacUnit> units);

/// Builds curvature, invert and precondition of the blocks that have units, and
/// scale; declares the variables that they keep. Updates and norms read their
/// results.
void buildKfacTasks(TaskBuilder &tasks, MutableArrayRef<KfacUnit> units);

/// Builds the gradients of single samples of a bias, or of a norm's scale and
/// shift: [samples, features], from the terms that are summed over positions.
Value buildSampleGradients(TaskBuilder &tasks, const KfacUnit &unit,
                           Value parts);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KFAC_H
