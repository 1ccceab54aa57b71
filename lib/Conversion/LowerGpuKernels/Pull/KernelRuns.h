//===- KernelRuns.h - Several elements for a thread -------------*- C++ -*-===//
//
// The speed of elementwise kernels is limited by memory accesses, and a GPU has
// the highest throughput if each thread accesses 16 bytes. Which thread
// computes an element doesn't change its bits.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PULL_KERNELRUNS_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PULL_KERNELRUNS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hfta {

/// Returns how many neighbours along the results' last axis a thread of a
/// kernel should compute; 1 if runs aren't possible or would leave too few
/// threads. `always` ignores the number of threads.
int64_t chooseRunLength(func::FuncOp kernel, bool always);

/// Joins all axes into one, if all tensors of a kernel have as many elements as
/// its results or a single one, and each element is computed from those with
/// the same row-major index. Else changes nothing.
void joinAllAxes(func::FuncOp kernel);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_PULL_KERNELRUNS_H
