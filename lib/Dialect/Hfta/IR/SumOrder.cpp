//===- SumOrder.cpp - The order in which terms are combined ---------------===//

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;

// Checks constraints (C1) to (C3) of the attribute.
LogicalResult SumOrderAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> axes,
                                   ArrayRef<AffineMap> reads, int64_t lanes,
                                   int64_t vectors) {
  if (axes.empty() || llvm::any_of(axes, [](int64_t size) { return size < 1; }))
    return emitError() << "expected axes of at least one element";
  SmallVector<int64_t> first(axes.size(), 0);
  for (AffineMap read : reads) {
    if (read.getNumDims() != axes.size() || read.getNumSymbols() != 0)
      return emitError() << "expected a dimension for each of " << axes.size()
                         << " axes and no symbols, got "
                         << AffineMapAttr::get(read);
    if (llvm::any_of(read.compose(first), [](int64_t at) { return at != 0; }))
      return emitError() << "expected 0 for the first term, got "
                         << AffineMapAttr::get(read);
  }
  if (lanes < 1 || vectors < 1 || !llvm::isPowerOf2_64(lanes) ||
      !llvm::isPowerOf2_64(vectors))
    return emitError() << "lanes and vectors are powers of two, got " << lanes
                       << " and " << vectors;
  return success();
}

int64_t SumOrderAttr::getNumTerms() const {
  return llvm::product_of(getAxes());
}
