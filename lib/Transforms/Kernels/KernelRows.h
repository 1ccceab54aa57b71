//===- KernelRows.h - Kernels that compute row by row -----------*- C++ -*-===//
//
// A row of a tensor is the elements with the same leading indices. A softmax or
// a layer norm needs sums of each row and then visits the row again. A kernel
// that handles one row at a time reads it from the cache the second time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_KERNELS_KERNELROWS_H
#define HFTA_LIB_TRANSFORMS_KERNELS_KERNELROWS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hfta {

/// If `op` is a reduction over all axes from some axis on, returns the number
/// of axes before that; otherwise 0.
int64_t countRowAxes(Operation *op);

/// Whether `op` has one value for each row of `elements`, the shape of a
/// kernel's elements, so that the kernel can compute it and broadcast it along
/// the rows: it is elementwise or a reduction over trailing axes, its shape is
/// that of the leading axes of `elements`, and there are enough rows to divide
/// among work items.
bool isOfRows(Operation *op, ArrayRef<int64_t> elements);

/// Returns the op that computes `operand`. If that broadcasts a reduction or an
/// elementwise value along rows, returns the op that computes this value.
Operation *getRowSource(Value operand);

/// If `term` broadcasts a value with the shape of `sum` along the axes that
/// `sum` adds up, to the shape of its input, returns the op that computes this
/// value, such as a mean; otherwise null.
Operation *getSumSource(Value term, ReduceOp sum);

/// Whether a GPU computes a reduction efficiently if several threads share each
/// row: there are many rows, or rows aren't long.
bool haveRowsThreads(ReduceOp reduce);

/// Whether `op` is a reduction of rows that are long enough for the threads
/// that share a row to store its elements, too.
bool areRowsStorable(Operation *op);

/// Whether a kernel with `members` and `op` is uniform: if one of these reduces
/// rows of `elements`, all of them have either one value per such row, or the
/// shape `elements`.
bool areOfSameRows(ArrayRef<Operation *> members, Operation *op,
                   ArrayRef<int64_t> elements);

/// Splits each large reduction over axis 0, the batch, and other axes in two:
/// first one over the other axes, whose samples are divided among work items,
/// then one over the batch.
void splitReductions(func::FuncOp task);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KERNELS_KERNELROWS_H
