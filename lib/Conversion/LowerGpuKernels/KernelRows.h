//===- KernelRows.h - Kernels that have sums of rows ------------*- C++ -*-===//
//
// A softmax adds up the elements of each row, and then divides them. Who has a
// row knows its sums, and computes what is made of them for all of its
// elements. Along which axes of a result there are other rows follows from the
// kernel's ops, whatever the layouts.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELROWS_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace mlir::hfta {

/// The rows of a kernel on tensors.
struct KernelRows {
  SmallVector<int64_t> shape; ///< of the sums: how many rows
  int64_t length;             ///< elements of one
  /// Of each result: its axis for each of the shape's.
  SmallVector<SmallVector<int64_t>> axes;

  /// Whether a result has one element a row.
  bool isOfRow(unsigned result) const { return isSum[result]; }
  SmallVector<bool> isSum;
  /// Whether neighbours in a row are neighbours in memory.
  bool isInside = false;

  /// How many neighbours in a row each of the row's threads computes at a time,
  /// as many as it reads and writes at once; 1 where these aren't neighbours in
  /// memory.
  int64_t chooseRun(ValueRange results, int64_t lanes) const;

  /// As attributes of the kernel.
  void mark(func::FuncOp kernel) const;
  static std::optional<KernelRows> get(func::FuncOp kernel);
};

/// Nothing where a kernel's results aren't all of the rows of its sums, or none
/// has a row's elements.
std::optional<KernelRows> findRows(func::FuncOp kernel);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELROWS_H
