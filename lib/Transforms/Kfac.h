//===- Kfac.h - The tasks that K-FAC adds to a step -------------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_KFAC_H
#define HFTA_LIB_TRANSFORMS_KFAC_H

#include "KfacUnits.h"

namespace mlir::hfta {

/// forward_moments and backward_moments of all blocks, which add up each unit's
/// moments beside what forward and backward do, and shared_moments. Gives the
/// units' factors their moments, and says which factors are another unit's.
void buildKfacMoments(TaskBuilder &tasks, MutableArrayRef<KfacUnit> units);

/// curvature, invert and precondition of the blocks that have units, and scale;
/// declares what they keep. Updates and norms read what they leave.
void buildKfacTasks(TaskBuilder &tasks, MutableArrayRef<KfacUnit> units);

/// What a bias has as gradients of single samples, or a norm's scale and shift:
/// [samples, features], from what is summed over positions.
Value buildSampleGradients(TaskBuilder &tasks, const KfacUnit &unit,
                           Value parts);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KFAC_H
