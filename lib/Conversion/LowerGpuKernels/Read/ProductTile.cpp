//===- ProductTile.cpp - The tile of a product that a block computes ------===//

#include "Read/ProductTile.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;

std::optional<ProductTile> ProductTile::get(linalg::GenericOp op) {
  auto stored = op->getAttrOfType<DenseI64ArrayAttr>(kAttrName);
  if (!stored || stored.size() != 6)
    return std::nullopt;
  return ProductTile{stored[0], stored[1], stored[2],
                     stored[3], stored[4], stored[5]};
}

void ProductTile::set(linalg::GenericOp op) const {
  op->setAttr(kAttrName, DenseI64ArrayAttr::get(
                             op.getContext(), {rows, columns, terms, threadRows,
                                               threadColumns, groups}));
}

int64_t ProductTile::countBlocks(const KernelProduct &product) const {
  return product.batchCount * llvm::divideCeil(product.rows.size, rows) *
         llvm::divideCeil(product.columns.size, columns);
}

int64_t ProductTile::countSteps(int64_t termCount) const {
  return llvm::divideCeil(termCount, terms * groups);
}
