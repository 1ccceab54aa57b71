//===- TaskCosts.h - Cost of the tasks of a planned module ------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_TASKCOSTS_H
#define HFTA_LIB_DRIVER_TASKCOSTS_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace mlir::hfta {

/// The costs of a task for the whole array. The bytes are the least that the
/// kernels have to read and write, each kernel counted separately.
struct TaskCost {
  std::string name;
  int64_t kernels = 0;
  int64_t flops = 0;
  int64_t bytesRead = 0;
  int64_t bytesWritten = 0;
  /// Among the bytes read and written: those of parameters, and those of
  /// activations, which are inputs, values kept for backward or another block,
  /// and values between the kernels of a task.
  int64_t parameterBytes = 0;
  int64_t activationBytes = 0;
  /// The least time on each of the GPUs of getGpuRates: for each kernel its
  /// launch, and the longer of the times for its bytes and its flops.
  std::vector<double> gpuSeconds;
};

/// Returns the costs of all tasks in the order of the module.
std::vector<TaskCost> getTaskCosts(ModuleOp module, int64_t copies);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_TASKCOSTS_H
