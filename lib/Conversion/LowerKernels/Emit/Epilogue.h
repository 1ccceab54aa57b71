//===- Epilogue.h - Elementwise ops on a product's registers ----*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_EPILOGUE_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_EPILOGUE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::hfta {

/// An elementwise op that computes its result from the sums of a product before
/// they are stored: a bias that is added, for example. The sums then need no
/// memory of their own, and the op no pass over it.
struct Epilogue {
  linalg::GenericOp op;
  /// For each operand of `op`, the number of the product's operand that is the
  /// same memory; nothing for the sums.
  SmallVector<std::optional<unsigned>> places;
};

/// Returns the product whose sums an elementwise op may take as its epilogue;
/// null if there is none. Both are in one block, only views and pure ops are
/// between them, and nothing else uses the sums.
linalg::GenericOp findProductOfEpilogue(linalg::GenericOp op);

/// Replaces a product by one that follows `op`'s operands' definitions and has
/// these operands as further inputs, which its body doesn't use. `op` itself
/// stays. Returns the new product, with a mark of the number of these inputs.
linalg::GenericOp addEpilogueInputs(RewriterBase &rewriter,
                                    linalg::GenericOp product,
                                    linalg::GenericOp op);

/// Replaces a product that `addEpilogueInputs` made by one without the further
/// inputs.
linalg::GenericOp dropEpilogueInputs(RewriterBase &rewriter,
                                     linalg::GenericOp product);

/// Returns the epilogue `op` of a product that `addEpilogueInputs` made, whose
/// axes may have been joined since. Returns nothing if vectors along
/// `vectorAxis` don't access all operands as one element or as neighbours.
std::optional<Epilogue> getEpilogue(linalg::GenericOp product,
                                    linalg::GenericOp op,
                                    std::optional<unsigned> vectorAxis);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_EPILOGUE_H
