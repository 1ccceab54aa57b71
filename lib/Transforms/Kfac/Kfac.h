//===- Kfac.h - The tasks that K-FAC adds to a step -------------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_KFAC_KFAC_H
#define HFTA_LIB_TRANSFORMS_KFAC_KFAC_H

#include "Kfac/KfacUnits.h"

namespace mlir::hfta {

/// Builds the tasks that add up the moments of units. forward_moments and
/// backward_moments of a block do so in addition to the work of forward and
/// backward; shared_moments does it for inputs that are the same for all
/// copies. Sets the shape, moments and scale of the units' factors, and `owner`
/// of factors that are those of another unit.
void buildKfacMoments(TaskBuilder &tasks, MutableArrayRef<KfacUnit> units);

/// Builds the tasks curvature, invert and precondition of all blocks with
/// units, and the task scale, and declares their variables. `precondition`
/// replaces gradients in their variables, where norms and updates read them.
void buildKfacTasks(TaskBuilder &tasks, MutableArrayRef<KfacUnit> units);

/// Builds the gradients [samples, features] of single samples for a bias, or
/// for the scale or shift of a norm. `parts` are the terms of the parameter's
/// gradient; they are summed over each sample's positions.
Value buildSampleGradients(TaskBuilder &tasks, const KfacUnit &unit,
                           Value parts);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KFAC_KFAC_H
