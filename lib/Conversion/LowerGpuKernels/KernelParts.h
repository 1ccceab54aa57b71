//===- KernelParts.h - Kernels with sums of parts ---------------*- C++ -*-===//
//
// A kernel of part_sums computes the elements of a tensor, which it may store,
// and adds up each column of a part, which is a number of neighbouring rows:
// those are rows and columns of the tile of a block of threads.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELPARTS_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELPARTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/DenseSet.h"

#include <optional>

namespace mlir::hfta {

/// The sums of parts of a kernel on tensors.
struct KernelParts {
  int64_t count, length, columns; ///< the number of parts, and of a part's rows
  /// The shape of what is added up: the axes of its rows, then that of its
  /// columns.
  SmallVector<int64_t> shape;
  /// A tensor of that shape, and its view [part, row of the part, column],
  /// which the sums read.
  struct Summed {
    Value tensor, view;
  };
  SmallVector<Summed> summed;
  /// For each of the kernel's results the indices of the element that belongs
  /// to one of that shape; nothing if it is a sum, [part, column].
  SmallVector<std::optional<AffineMap>> places;
  /// The ops that make sums of the tensors.
  llvm::SmallDenseSet<Operation *> ops;
  /// Whether neighbouring columns are neighbours in memory.
  bool hasColumnsInside = true;

  bool isSum(unsigned result) const { return !places[result]; }
};

/// Returns a kernel's sums of parts; nothing if it has none, or if a result
/// doesn't correspond to what is added up.
std::optional<KernelParts> findParts(func::FuncOp kernel);

/// Returns whether a kernel has sums of parts.
bool hasPartSums(func::FuncOp kernel);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELPARTS_H
