//===- KernelProduct.h - Kernels that are matrix products -------*- C++ -*-===//
//
// A contraction, a convolution or a gradient of a convolution is one product of
// matrices that aren't stored as such. An element of an operand is computed
// where it is read, from the kernel's arguments and by the ops that the kernel
// applies to them. Ops that follow the product are applied to its elements one
// by one.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_READ_KERNELPRODUCT_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_READ_KERNELPRODUCT_H

#include "Read/KernelParts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace mlir::hfta {

/// One side of a product, its rows or its columns: the loops along which only
/// one of the operands changes.
struct ProductSide {
  unsigned operand; ///< the number of the op's operand, 0 or 1
  /// The loops, the last of which are those along which the operand's elements
  /// are closest in memory.
  SmallVector<unsigned> loops;
  int64_t size; ///< the product of all loops' sizes
  /// Whether, in the operand's memory, neighbouring terms are contiguous rather
  /// than neighbours along this side.
  bool hasTermsInside;
  /// The loop along which neighbours on this side are contiguous in memory;
  /// nothing if there is none.
  std::optional<unsigned> inside;
};

/// A kernel with one op that adds up products. Besides, the kernel may have
/// part sums of what is computed from them.
///   result[batch, row, column] = sum over terms of
///       lhs[batch, row, term] * rhs[batch, column, term]
struct KernelProduct {
  linalg::GenericOp op;
  ProductSide rows, columns;
  SmallVector<unsigned> batches, terms;
  int64_t batchCount, termCount;
  /// For each result of the kernel, a map from the op's loop indices to the
  /// indices of the result's element that is computed from the product's
  /// element there. NULL for a result that is a part sum.
  SmallVector<AffineMap> results;
  /// The kernel's part sums, if it has any, and whether their rows are the
  /// product's rows (else they are its columns).
  std::optional<KernelParts> parts;
  bool hasPartsOfRows = true;
  /// A map from the op's loop indices to the indices of the corresponding
  /// element of the tensors that are added up.
  AffineMap summedPlace;
  /// Whether, in the memory of the first result, neighbouring rows of the
  /// product are contiguous.
  bool storesRowsInside = false;
};

/// Returns the product that `op` is, with the fields that follow from the op
/// alone; nothing if the op is no product.
std::optional<KernelProduct> getProduct(linalg::GenericOp op);

/// Returns the product of a kernel on tensors; nothing if the kernel isn't one.
std::optional<KernelProduct> findProduct(func::FuncOp kernel);

/// Returns whether neighbouring terms of an op's sums are contiguous in the
/// memory of the kernel's argument from which the first operand is computed.
bool hasTermsInside(linalg::GenericOp op);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_READ_KERNELPRODUCT_H
