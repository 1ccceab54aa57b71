//===- KernelRows.h - Kernels that have sums of rows ------------*- C++ -*-===//
//
// Example: a softmax adds up the elements of each row and then divides the
// elements by the sum. The threads that share a row know its sums and compute
// all of its elements. Which axes of a result enumerate the rows follows from
// the kernel's ops, whatever the layouts.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PULL_KERNELROWS_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PULL_KERNELROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace mlir::hfta {

/// The rows of a kernel on tensors.
struct KernelRows {
  SmallVector<int64_t> shape; ///< the shape of the sums, one for each row
  int64_t length;             ///< the number of a row's elements
  /// For each result, its axis that corresponds to each axis of `shape`.
  SmallVector<SmallVector<int64_t>> axes;

  /// Returns whether a result has a single element for each row.
  bool isOfRow(unsigned result) const { return isSum[result]; }
  SmallVector<bool> isSum;
  /// Whether neighbours in a row are contiguous in memory.
  bool isInside = false;

  /// Returns how many neighbours in a row a thread computes at a time: as many
  /// as it reads and writes at once, or 1 if neighbours aren't contiguous in
  /// memory.
  int64_t chooseRun(ValueRange results, int64_t lanes) const;

  /// Sets the attributes that describe these rows on a kernel.
  void mark(func::FuncOp kernel) const;
  /// Returns the rows that the kernel's attributes describe; nothing if it has
  /// none.
  static std::optional<KernelRows> get(func::FuncOp kernel);
};

/// Finds the rows of a kernel. Returns nothing if a result doesn't correspond
/// to the rows of the kernel's sums, or if no result has several elements for
/// each row.
std::optional<KernelRows> findRows(func::FuncOp kernel);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PULL_KERNELROWS_H
