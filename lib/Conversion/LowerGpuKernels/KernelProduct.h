//===- KernelProduct.h - Kernels that are matrix products -------*- C++ -*-===//
//
// A contraction, a convolution or a gradient of these is one product of
// matrices that aren't stored: an operand's element is computed where it is
// read, from the kernel's arguments and what the kernel does to them; what the
// kernel does with the product is done to its elements one by one.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELPRODUCT_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELPRODUCT_H

#include "KernelParts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace mlir::hfta {

/// One side of a product: the loops along which only one of the operands
/// changes.
struct ProductSide {
  unsigned operand; ///< the op's operand
  /// In an order in which the last loops are those along which the operand's
  /// elements are closest in memory.
  SmallVector<unsigned> loops;
  int64_t size; ///< the product of all loops' sizes
  /// Whether neighbours in memory are neighbouring terms rather than neighbours
  /// along this side.
  bool hasTermsInside;
  /// The loop along which neighbours on this side are neighbours in memory;
  /// nothing if there is none.
  std::optional<unsigned> inside;
};

/// The only op of a kernel that adds up terms, except for sums of parts of its
/// results:
///   result[batch, row, column] = sum over terms of
///       lhs[batch, row, term] * rhs[batch, column, term]
struct KernelProduct {
  linalg::GenericOp op;
  ProductSide rows, columns;
  SmallVector<unsigned> batches, terms;
  int64_t batchCount, termCount;
  /// For each of the kernel's results: the index of the element that is
  /// computed from the product's element at the op's loops. NULL: it is a sum
  /// of parts.
  SmallVector<AffineMap> results;
  /// The sums of parts of such elements, if there are any, and whether their
  /// rows are the product's rows (or else its columns).
  std::optional<KernelParts> parts;
  bool hasPartsOfRows = true;
  /// The index of such an element in the tensors that are added up.
  AffineMap summedPlace;
  /// Whether neighbours in the first result are neighbouring rows.
  bool storesRowsInside = false;
};

/// Returns the fields that follow from the op alone; nothing if it is no
/// product.
std::optional<KernelProduct> getProduct(linalg::GenericOp op);

/// Returns the product of a kernel on tensors; nothing if it isn't one.
std::optional<KernelProduct> findProduct(func::FuncOp kernel);

/// Returns whether an op's neighbouring terms are neighbours in the memory of
/// an argument, judged by its first operand.
bool hasTermsInside(linalg::GenericOp op);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELPRODUCT_H
