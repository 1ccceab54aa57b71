//===- TaskCosts.h - Cost of the tasks of a planned module ------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_TASKCOSTS_H
#define HFTA_LIB_DRIVER_TASKCOSTS_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace mlir::hfta {

/// For the whole array. Bytes are the least that the kernels have to read and
/// write, each by itself.
struct TaskCost {
  std::string name;
  int64_t kernels = 0;
  int64_t flops = 0;
  int64_t bytesRead = 0;
  int64_t bytesWritten = 0;
  /// Of the bytes read and written, those of parameters, and those of
  /// activations: of inputs, of what is kept for backward or another block, and
  /// between the kernels of a task.
  int64_t parameterBytes = 0;
  int64_t activationBytes = 0;
  /// On each of the GPUs of getGpuRates, at least: each kernel's bytes or
  /// flops, whichever take longer, and its launch.
  std::vector<double> gpuSeconds;
};

/// In the order of the module.
std::vector<TaskCost> getTaskCosts(ModuleOp module, int64_t copies);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_TASKCOSTS_H
