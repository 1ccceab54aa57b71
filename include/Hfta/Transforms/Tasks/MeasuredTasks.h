//===- MeasuredTasks.h - Measured costs, in the module ----------*- C++ -*-===//
//
// The measured costs in the file that the option `--costs` names are stored in
// the module's dictionary `hfta.measured_costs`, until the passes that plan
// with them have taken them, when tasks are made.
//===----------------------------------------------------------------------===//

#ifndef HFTA_TRANSFORMS_TASKS_MEASUREDTASKS_H
#define HFTA_TRANSFORMS_TASKS_MEASUREDTASKS_H

#include "Hfta/Planning/Common/MeasuredCosts.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace mlir::hfta {

struct MeasuredTasks {
  std::string file; ///< the name of the file, for messages
  planning::MeasuredCosts costs;

  void write(ModuleOp module) const;
  /// Returns the module's costs, or nothing if it has none. Reports an error if
  /// they are ill-formed.
  static FailureOr<std::optional<MeasuredTasks>> read(ModuleOp module);
  /// Removes the costs from the module, unless they were refused.
  static void remove(ModuleOp module);
  /// Returns the module's costs, like `read`, and removes them from the module.
  static FailureOr<std::optional<MeasuredTasks>> take(ModuleOp module);
  /// Reports `error`: that the costs don't belong to this module. Also marks
  /// the module, so that the caller that has read the file knows that this
  /// input is wrong. Returns failure.
  LogicalResult refuse(ModuleOp module, llvm::Error error) const;
  /// Returns whether `refuse` was called for the module.
  static bool wereRefused(ModuleOp module);
  /// Checks whether `cuts` are those between the blocks that were measured.
  /// They have the form of `hfta.cuts`; null means no cuts, as when the program
  /// isn't cut into the job's own blocks. The error says which cut differs.
  llvm::Error checkCuts(MLIRContext *context, ArrayAttr cuts) const;
};

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_TASKS_MEASUREDTASKS_H
