//===- MathFunctions.h - Functions as polynomials ---------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_MATHFUNCTIONS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_MATHFUNCTIONS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::hfta {

/// Adds patterns for exp, log, tanh, erf, sin, cos, asin, acos and atan of f32
/// (SingleFunctions.h), for the same functions and log1p of f64
/// (DoubleFunctions.h), for powers and remainders of both, scalar or vector,
/// and for maxima and minima, which become comparisons. `canScale`: the target
/// multiplies by a power of 2 in one instruction; this changes no bits.
void populateMathFunctionPatterns(RewritePatternSet &patterns, bool canScale);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_MATHFUNCTIONS_H
