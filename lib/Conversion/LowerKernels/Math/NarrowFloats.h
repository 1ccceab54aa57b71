//===- NarrowFloats.h - Rounding to bf16 and f16 ----------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_NARROWFLOATS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_NARROWFLOATS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::hfta {

/// Adds patterns for arith.truncf of scalars or vectors: of f32 and f64 to
/// bf16, and of f64 to f16.
void populateNarrowFloatPatterns(RewritePatternSet &patterns);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_NARROWFLOATS_H
