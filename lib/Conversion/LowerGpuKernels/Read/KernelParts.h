//===- KernelParts.h - Kernels with part sums -------------------*- C++ -*-===//
//
// A kernel with part sums (hfta.part_sums) computes the elements of a tensor,
// which it may store, and the sum of each column of each part. A part is a
// fixed number of neighbouring rows. A block of threads computes a tile, whose
// rows and columns are those of the tensor.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_READ_KERNELPARTS_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_READ_KERNELPARTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/DenseSet.h"

#include <optional>

namespace mlir::hfta {

/// The part sums of a kernel on tensors.
struct KernelParts {
  int64_t count, length,
      columns; ///< the number of parts, of rows of a part, and of columns
  /// The shape of the tensors that are added up. The last axis is the columns;
  /// the others enumerate the rows.
  SmallVector<int64_t> shape;
  /// A tensor that is added up, and its view [part, row of the part, column],
  /// which the sums read.
  struct Summed {
    Value tensor, view;
  };
  SmallVector<Summed> summed;
  /// For each result of the kernel, a map from the indices in `shape` to those
  /// of the result's corresponding element. Nothing for a result that is a sum,
  /// [part, column].
  SmallVector<std::optional<AffineMap>> places;
  /// The ops that compute the sums, and those that use them.
  llvm::SmallDenseSet<Operation *> ops;
  /// Whether neighbouring columns are contiguous in memory.
  bool hasColumnsInside = true;

  bool isSum(unsigned result) const { return !places[result]; }
};

/// Returns a kernel's part sums. Returns nothing if it has none, or if the
/// elements of a result correspond neither to sums nor to the elements that are
/// added up.
std::optional<KernelParts> findParts(func::FuncOp kernel);

/// Returns whether a kernel has part sums.
bool hasPartSums(func::FuncOp kernel);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_READ_KERNELPARTS_H
