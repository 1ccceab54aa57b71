//===- KernelRuns.h - Several elements for a thread -------------*- C++ -*-===//
//
// Elementwise kernels spend their time on memory accesses, which a GPU does
// best with 16 bytes for each thread. Which thread computes an element doesn't
// change its bits.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELRUNS_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELRUNS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hfta {

/// Returns how many neighbours along the last axis of its results a thread of a
/// kernel on tensors should compute; 1: one element. `always` ignores that
/// there may be too few threads.
int64_t chooseRunLength(func::FuncOp kernel, bool always);

/// Joins all axes into one if all tensors of a kernel have as many elements as
/// its results, or one, and each element is computed from those with the same
/// index.
void joinAllAxes(func::FuncOp kernel);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELRUNS_H
