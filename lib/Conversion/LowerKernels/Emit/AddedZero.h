//===- AddedZero.h - Sums of products to which zero is added ----*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_ADDEDZERO_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_ADDEDZERO_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::hfta {

/// Mark of an op that adds zero to its sums before it stores them.
inline constexpr llvm::StringLiteral kAddsZeroAttrName = "hfta.adds_zero";

/// Returns whether an op adds up products: each term is added to the sum so far
/// by one multiply-add.
bool addsProducts(linalg::GenericOp op);

/// If an op does nothing but add zero to the sums of a product, lets the
/// product do so and store its sums where the op does, marks the product, and
/// erases the op. Returns whether it did. A gradient that is stored and not
/// added up has zero added to it, which turns -0 to +0, so that it has the bits
/// of one that is added to a cleared gradient.
bool moveAddedZero(RewriterBase &rewriter, linalg::GenericOp op);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_ADDEDZERO_H
