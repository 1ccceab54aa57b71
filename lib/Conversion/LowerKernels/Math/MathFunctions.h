//===- MathFunctions.h - Functions of f32 as polynomials --------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_MATHFUNCTIONS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_MATHFUNCTIONS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::hfta {

/// exp, log, tanh, erf, sin and cos of f32, scalar or vector, within 4 units in
/// the last place everywhere, denormal results included; maxima and minima as
/// comparisons. Math functions that are left call the C library. `canScale`:
/// the target multiplies by a power of 2 in one instruction (same bits).
void populateMathFunctionPatterns(RewritePatternSet &patterns, bool canScale);

/// On math functions: it calls the C library, whatever its type.
inline constexpr llvm::StringLiteral kLibraryAttrName = "hfta.library";

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_MATHFUNCTIONS_H
