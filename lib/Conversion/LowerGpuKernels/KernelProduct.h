//===- KernelProduct.h - Kernels that are matrix products -------*- C++ -*-===//
//
// Contractions, convolutions and their gradients are one product each, of
// matrices that nobody stores: an operand's element is computed where it is
// read, from what the kernel does to its arguments before, and what the kernel
// does afterwards is done to the product's elements one by one.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELPRODUCT_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELPRODUCT_H

#include "KernelParts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace mlir::hfta {

/// One side of a product: the loops along which only one of its operands
/// changes.
struct ProductSide {
  unsigned operand; ///< of the op
  /// Those last along which the operand's elements are nearest to each other.
  SmallVector<unsigned> loops;
  int64_t size; ///< of all of them
  /// Whether neighbours in memory are neighbouring terms, not neighbours along
  /// this side.
  bool hasTermsInside;
  /// The loop along which neighbours on this side are neighbours in memory;
  /// nothing where none is.
  std::optional<unsigned> inside;
};

/// The only op of a kernel that adds terms up, but for sums of parts of what it
/// makes:
///   result[batch, row, column] = sum over terms of
///       lhs[batch, row, term] * rhs[batch, column, term]
struct KernelProduct {
  linalg::GenericOp op;
  ProductSide rows, columns;
  SmallVector<unsigned> batches, terms;
  int64_t batchCount, termCount;
  /// Of each of the kernel's results: the index of its element that is made of
  /// the product's element, whose indices are the op's loops. NULL: it is a sum
  /// of parts.
  SmallVector<AffineMap> results;
  /// What the kernel adds up of such elements, where it does, and which of them
  /// its columns are: those of the product, or else its rows.
  std::optional<KernelParts> parts;
  bool hasPartsOfRows = true;
  /// Of what is added up: the index of such an element.
  AffineMap summedPlace;
  /// Whether neighbours in the first result are neighbouring rows.
  bool storesRowsInside = false;
};

/// What of it follows from the op alone; nothing where the op is no product.
std::optional<KernelProduct> getProduct(linalg::GenericOp op);

/// Nothing where the kernel, on tensors, isn't such a product.
std::optional<KernelProduct> findProduct(func::FuncOp kernel);

/// Whether an op's neighbouring terms are neighbours in the memory of an
/// argument, as far as its first operand goes.
bool hasTermsInside(linalg::GenericOp op);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELPRODUCT_H
