//===- KfacParts.h - Parts of tasks that K-FAC alone has --------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_KFACPARTS_H
#define HFTA_LIB_TRANSFORMS_KFACPARTS_H

#include "Hfta/Dialect/Hfta/IR/TaskNames.h"

/// Tasks that add up, on all replicas, the counts of curvature and invert of
/// some.
namespace mlir::hfta::parts {
constexpr StringLiteral kCountFactors = "count_factors";
constexpr StringLiteral kCountInverses = "count_inverses";
} // namespace mlir::hfta::parts

#endif // HFTA_LIB_TRANSFORMS_KFACPARTS_H
