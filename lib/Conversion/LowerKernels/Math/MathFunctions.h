//===- MathFunctions.h - Functions as polynomials ---------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_MATHFUNCTIONS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_MATHFUNCTIONS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::hfta {

/// exp, log, tanh, erf, sin and cos of f32 (SingleFunctions.h), the same and
/// log1p of f64 (DoubleFunctions.h), powers of both, scalar or vector; maxima
/// and minima as comparisons. Math functions that are left call the C library.
/// `canScale`: the target multiplies by a power of 2 in one instruction (same
/// bits).
void populateMathFunctionPatterns(RewritePatternSet &patterns, bool canScale);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_MATHFUNCTIONS_H
