//===- KernelParts.h - Kernels that add up what they make -------*- C++ -*-===//
//
// A kernel of part_sums computes the elements of a tensor, which it may store,
// and adds up each column of some neighbouring rows at a time: rows and columns
// of a tile that a block of threads has.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELPARTS_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELPARTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/DenseSet.h"

#include <optional>

namespace mlir::hfta {

/// The sums of parts of a kernel on tensors.
struct KernelParts {
  int64_t count, length, columns; ///< parts, rows of one
  /// Of what is added up: the axes of its rows, then that of its columns.
  SmallVector<int64_t> shape;
  /// A tensor of that shape, and the same as [part, row of it, column], which
  /// its sums read.
  struct Summed {
    Value tensor, view;
  };
  SmallVector<Summed> summed;
  /// Of each of the kernel's results the indices of its element that belongs to
  /// one of that shape; nothing where it is a sum, [part, column].
  SmallVector<std::optional<AffineMap>> places;
  /// What makes sums of the tensors.
  llvm::SmallDenseSet<Operation *> ops;
  /// Whether neighbouring columns are neighbours in memory.
  bool hasColumnsInside = true;

  bool isSum(unsigned result) const { return !places[result]; }
};

/// Nothing where a kernel has none, or something else beside them.
std::optional<KernelParts> findParts(func::FuncOp kernel);

/// Whether it has some.
bool hasPartSums(func::FuncOp kernel);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELPARTS_H
