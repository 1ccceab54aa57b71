//===- PairProducts.h - Products of pairs of bf16 ---------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_PAIRPRODUCTS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_PAIRPRODUCTS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::hfta {

/// Adds patterns for hfta.multiply_pairs of scalars or vectors. With
/// `hasInstruction` the processor has AVX512-BF16; without it, both halves of
/// each pair are widened to f32, which gives the same bits in a thread that
/// flushes denormals.
void populatePairProductPatterns(RewritePatternSet &patterns,
                                 bool hasInstruction);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATH_PAIRPRODUCTS_H
