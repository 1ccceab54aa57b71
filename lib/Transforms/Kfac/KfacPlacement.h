//===- KfacPlacement.h - Replicas' shares of the work of K-FAC --*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_KFAC_KFACPLACEMENT_H
#define HFTA_LIB_TRANSFORMS_KFAC_KFACPLACEMENT_H

#include "Hfta/Transforms/Kfac/PlannedKfac.h"
#include "Kfac/KfacUnits.h"

namespace mlir::hfta {

/// Plans which replicas invert and precondition which units. Stores the plan in
/// the module and, in the units, `holders`, `inverter` and `group`; moves
/// moments to the blocks whose sums complete their buckets. The moments must
/// have been built already. Does nothing if no work can be shared. Keeps a plan
/// that the module has already, or emits an error and fails if that is for
/// other units.
LogicalResult placeKfac(TaskBuilder &tasks, MutableArrayRef<KfacUnit> units);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KFAC_KFACPLACEMENT_H
