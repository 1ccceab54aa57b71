//===- KfacPlacement.h - Who of the replicas does what of K-FAC -*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_KFACPLACEMENT_H
#define HFTA_LIB_TRANSFORMS_KFACPLACEMENT_H

#include "Hfta/Transforms/PlannedKfac.h"
#include "KfacUnits.h"

namespace mlir::hfta {

/// Plans who inverts and preconditions what, of units whose moments are known,
/// and notes it in the module: nothing where there is nothing to share. A plan
/// that the module has already is kept, if it is one of these units.
LogicalResult placeKfac(TaskBuilder &tasks, MutableArrayRef<KfacUnit> units);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KFACPLACEMENT_H
