//===- TaskCosts.h - Cost of the tasks of a planned module ------*- C++ -*-===//

#ifndef HFTA_PIPELINES_TASKCOSTS_H
#define HFTA_PIPELINES_TASKCOSTS_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace mlir::hfta {

/// The costs of a task for all copies. Bytes are a lower bound: each kernel
/// reads and writes each of its operands once.
struct TaskCost {
  std::string name;
  int64_t kernels = 0;
  int64_t flops = 0;
  int64_t bytesRead = 0;
  int64_t bytesWritten = 0;
  /// Portions of the bytes read and written: parameters, and activations. The
  /// latter are inputs, values kept for the backward or for another block, and
  /// values between the kernels of a task.
  int64_t parameterBytes = 0;
  int64_t activationBytes = 0;
  /// The least seconds on each device of the target's rates
  /// (`Target::getRates`): the sum over kernels of the launch time and the
  /// longer of the times for the kernel's bytes and for its flops.
  std::vector<double> deviceSeconds;
  /// For each launch the flops, and the bytes read and written.
  std::vector<int64_t> launchFlops, launchBytes;
};

/// Returns the costs of all tasks in the order of the module.
std::vector<TaskCost> getTaskCosts(ModuleOp module, int64_t copies);

} // namespace mlir::hfta

#endif // HFTA_PIPELINES_TASKCOSTS_H
