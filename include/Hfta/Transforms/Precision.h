//===- Precision.h - The types of a model's floats --------------*- C++ -*-===//

#ifndef HFTA_TRANSFORMS_PRECISION_H
#define HFTA_TRANSFORMS_PRECISION_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"

namespace mlir::hfta {

/// Gives the floats of a model the job's types: parameters and statistics their
/// stored ones, everything else the compute type, with casts where a variable
/// is read or written and where @prepare takes up what files hold. Draws of
/// initial values keep at least f32.
void applyElementTypes(ModelOp model, const Precision &precision);

/// Returns the wider one of two float types; for f16 and bf16, the first.
FloatType getWider(FloatType first, FloatType other);

/// Returns the type, or f32 where it is narrower: for random draws and for what
/// is computed in at least f32.
FloatType atLeastF32(FloatType type);

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_PRECISION_H
