//===- Precision.h - The types of a model's floats --------------*- C++ -*-===//

#ifndef HFTA_TRANSFORMS_PRECISION_PRECISION_H
#define HFTA_TRANSFORMS_PRECISION_PRECISION_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"

namespace mlir::hfta {

/// Converts the floats of a model to the job's element types: parameters and
/// statistics to their stored types, everything else to the compute type.
/// Inserts casts where variables are read and written, and where @prepare reads
/// what files hold. Initial values are drawn in f32 or a wider type.
void applyElementTypes(ModelOp model, const Precision &precision);

/// Returns the wider one of two float types; the first if both have the same
/// width.
FloatType getWider(FloatType first, FloatType other);

/// Returns the type, or f32 if the type is narrower. It is used for random
/// draws and for computations that need f32 at least.
FloatType atLeastF32(FloatType type);

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_PRECISION_PRECISION_H
