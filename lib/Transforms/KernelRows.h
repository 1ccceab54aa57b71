//===- KernelRows.h - Kernels that compute row by row -----------*- C++ -*-===//
//
// A row is the elements with the same leading indices. A softmax, or a layer
// norm, needs sums of each row, and then visits the row again: a kernel that
// handles one row at a time reads it from cache the second time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_KERNELROWS_H
#define HFTA_LIB_TRANSFORMS_KERNELROWS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hfta {

/// Returns how many leading axes are kept by a reduction over all trailing
/// axes; 0 for other ops.
int64_t countRowAxes(Operation *op);

/// Whether a kernel with elements of this shape may compute a value that it
/// broadcasts along its rows: both are cut into the same rows, and there are
/// enough of them.
bool isOfRows(Operation *op, ArrayRef<int64_t> elements);

/// Returns the op that computes an operand, or that computes the rows of which
/// the operand is a broadcast.
Operation *getRowSource(Value operand);

/// Returns the op of as many elements as the sum, each of which is broadcast to
/// the terms of the sum's element at its index; NULL where `term` is no such
/// broadcast.
Operation *getSumSource(Value term, ReduceOp sum);

/// Whether a reduction has enough rows for a GPU, if some threads share each.
bool haveRowsThreads(ReduceOp reduce);

/// Whether an op adds up rows such that the threads that share a row can store
/// its elements, too.
bool areRowsStorable(Operation *op);

/// Whether a kernel, with `op`, computes nothing but values of its rows or of
/// their elements, where `op` or a member is a reduction of rows.
bool areOfSameRows(ArrayRef<Operation *> members, Operation *op,
                   ArrayRef<int64_t> elements);

/// Splits each large reduction of a task over the batch and other axes in two:
/// one over the other axes, whose samples are shared among work items, then one
/// over the batch.
void splitReductions(func::FuncOp task);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KERNELROWS_H
