//===- KfacParts.h - Parts of tasks that K-FAC alone has --------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_KFAC_KFACPARTS_H
#define HFTA_LIB_TRANSFORMS_KFAC_KFACPARTS_H

#include "Hfta/Support/TaskNames.h"

/// Parts of the tasks in which all replicas add up what curvature and invert
/// tasks of some replicas have counted.
namespace mlir::hfta::parts {
constexpr StringLiteral kCountFactors = "count_factors";
constexpr StringLiteral kCountInverses = "count_inverses";
} // namespace mlir::hfta::parts

#endif // HFTA_LIB_TRANSFORMS_KFAC_KFACPARTS_H
