//===- KfacParts.h - Parts of tasks that only K-FAC's passes know -*- C++
//-*-===//

#ifndef HFTA_LIB_TRANSFORMS_KFACPARTS_H
#define HFTA_LIB_TRANSFORMS_KFACPARTS_H

#include "Hfta/Dialect/Hfta/IR/TaskNames.h"

/// Add up, on all replicas, what curvature and invert have counted on some.
namespace mlir::hfta::parts {
constexpr StringLiteral kCountFactors = "count_factors";
constexpr StringLiteral kCountInverses = "count_inverses";
} // namespace mlir::hfta::parts

#endif // HFTA_LIB_TRANSFORMS_KFACPARTS_H
