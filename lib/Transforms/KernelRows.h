//===- KernelRows.h - What kernels compute row by row -----------*- C++ -*-===//
//
// Rows are the elements that have the same leading indices. A softmax, or a
// layer norm, needs sums of each row, and then goes through it again: one
// kernel that has a row at a time reads it from near by.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_KERNELROWS_H
#define HFTA_LIB_TRANSFORMS_KERNELROWS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hfta {

/// How many leading axes a reduction over all the others keeps; 0 for others.
int64_t countRowAxes(Operation *op);

/// Whether a kernel with elements of this shape may compute a value that it
/// spreads along its rows: both are cut into the same rows, and there are
/// enough of them.
bool isOfRows(Operation *op, ArrayRef<int64_t> elements);

/// What an operand is made of, behind a broadcast of rows.
Operation *getRowSource(Value operand);

/// What of a sum's results is spread to each of the terms that are added up to
/// it, a value of as many elements; NULL where a term is no such value.
Operation *getSumSource(Value term, ReduceOp sum);

/// Whether some threads each that share a row are as many as a GPU needs.
bool haveRowsThreads(ReduceOp reduce);

/// Whether an op adds up rows such that threads that share one can store their
/// elements, too.
bool areRowsStorable(Operation *op);

/// Whether all that a kernel computes are values of its rows or of their
/// elements, with `op`, where that or a member is a reduction of rows.
bool areOfSameRows(ArrayRef<Operation *> members, Operation *op,
                   ArrayRef<int64_t> elements);

/// A large reduction of a task over the batch and other axes becomes one over
/// the others, which work items share by samples, then one over the batch.
void splitReductions(func::FuncOp task);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KERNELROWS_H
