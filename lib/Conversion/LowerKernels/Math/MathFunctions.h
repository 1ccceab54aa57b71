//===- MathFunctions.h - Functions as polynomials ---------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_MATHFUNCTIONS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_MATHFUNCTIONS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::hfta {

/// Adds patterns for exp, log, tanh, erf, sin, cos, asin, acos and atan of f32
/// (SingleFunctions.h), for these and log1p of f64 (DoubleFunctions.h), for
/// powers and remainders of both, scalar or vector, and for maxima and minima,
/// which become comparisons. Other math functions call the C library.
/// `canScale`: the target multiplies by a power of 2 in one instruction (with
/// the same bits).
void populateMathFunctionPatterns(RewritePatternSet &patterns, bool canScale);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_MATHFUNCTIONS_H
