//===- KernelRuns.h - Several elements for a thread ------------*- C++ -*-===//
//
// Reading and writing memory is what elementwise kernels take their time for,
// and a GPU does it best 16 bytes a thread. Who computes an element decides on
// no bits.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELRUNS_H
#define HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELRUNS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hfta {

/// How many neighbours along the last axis of its results a thread of a kernel
/// on tensors best computes; 1: a thread an element. `always`: also where there
/// would be too few threads.
int64_t chooseRunLength(func::FuncOp kernel, bool always);

/// Where all tensors of a kernel have as many elements as its results, or one,
/// and each element is computed of those of the same number, they get one axis.
void joinAllAxes(func::FuncOp kernel);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERGPUKERNELS_KERNELRUNS_H
