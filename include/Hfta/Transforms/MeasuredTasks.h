//===- MeasuredTasks.h - Measured costs, in the module ----------*- C++ -*-===//
//
// The costs that `--costs` names stand in the module's dictionary
// `hfta.measured_costs` until the passes that plan by them, when tasks are
// made, have taken them.
//===----------------------------------------------------------------------===//

#ifndef HFTA_TRANSFORMS_MEASUREDTASKS_H
#define HFTA_TRANSFORMS_MEASUREDTASKS_H

#include "Hfta/Planning/MeasuredCosts.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace mlir::hfta {

struct MeasuredTasks {
  std::string file; ///< the costs' file, for messages
  planning::MeasuredCosts costs;

  void write(ModuleOp module) const;
  /// Reads the costs; nothing where there are none. Ill-formed ones are
  /// diagnosed at the module.
  static FailureOr<std::optional<MeasuredTasks>> read(ModuleOp module);
  /// Removes the costs if no pass has taken them.
  static void remove(ModuleOp module);
  /// Takes the costs out of the module; nothing where there are none.
  /// Ill-formed ones are diagnosed at the module.
  static FailureOr<std::optional<MeasuredTasks>> take(ModuleOp module);
  /// Diagnoses at the module that the costs are not those of this module, and
  /// notes it there, so that the caller that read the file knows that the input
  /// is wrong.
  LogicalResult refuse(ModuleOp module, llvm::Error error) const;
  static bool wereRefused(ModuleOp module);
  /// Checks whether these are the cuts between the blocks that were measured.
  /// They have the form of `hfta.cuts`; null: none, as where blocks are not
  /// those of the job. An error says which cut differs.
  llvm::Error checkCuts(MLIRContext *context, ArrayAttr cuts) const;
};

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_MEASUREDTASKS_H
