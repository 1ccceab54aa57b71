//===- KernelRows.h - Kernels that have sums of rows ------------*- C++ -*-===//
//
// A softmax adds up the elements of each row and then divides them. The threads
// of a row know its sums, and compute all elements of the row from them. Which
// axes of a result enumerate rows follows from the kernel's ops, whatever the
// layouts.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELROWS_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELROWS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace mlir::hfta {

/// The rows of a kernel on tensors.
struct KernelRows {
  SmallVector<int64_t> shape; ///< the shape of the sums, one for each row
  int64_t length;             ///< the number of a row's elements
  /// For each result: its axis for each axis of the shape.
  SmallVector<SmallVector<int64_t>> axes;

  /// Returns whether a result has one element for each row.
  bool isOfRow(unsigned result) const { return isSum[result]; }
  SmallVector<bool> isSum;
  /// Whether neighbours in a row are neighbours in memory.
  bool isInside = false;

  /// Chooses how many neighbours in a row each of the row's threads computes at
  /// a time: as many as it reads and writes at once, or 1 if these aren't
  /// neighbours in memory.
  int64_t chooseRun(ValueRange results, int64_t lanes) const;

  /// Sets the kernel's attributes that describe its rows.
  void mark(func::FuncOp kernel) const;
  static std::optional<KernelRows> get(func::FuncOp kernel);
};

/// Finds a kernel's rows; nothing if some result doesn't belong to the rows of
/// its sums, or if none has a row's elements.
std::optional<KernelRows> findRows(func::FuncOp kernel);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELROWS_H
