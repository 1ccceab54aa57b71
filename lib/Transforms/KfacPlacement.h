//===- KfacPlacement.h - Replicas' shares of the work of K-FAC --*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_KFACPLACEMENT_H
#define HFTA_LIB_TRANSFORMS_KFACPLACEMENT_H

#include "Hfta/Transforms/PlannedKfac.h"
#include "KfacUnits.h"

namespace mlir::hfta {

/// Plans which replicas invert and precondition which units, whose moments are
/// known, and notes the plan in the module: nothing where there is nothing to
/// share. A plan that the module already has is kept, if it is for these units.
LogicalResult placeKfac(TaskBuilder &tasks, MutableArrayRef<KfacUnit> units);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KFACPLACEMENT_H
