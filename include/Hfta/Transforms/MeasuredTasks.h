//===- MeasuredTasks.h - Measured costs, in the module ----------*- C++ -*-===//
//
// What `--costs` names stands in the module's dictionary `hfta.measured_costs`
// until those who plan by it, when tasks are made, have taken it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_TRANSFORMS_MEASUREDTASKS_H
#define HFTA_TRANSFORMS_MEASUREDTASKS_H

#include "Hfta/Planning/MeasuredCosts.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace mlir::hfta {

struct MeasuredTasks {
  std::string file; ///< that they are from, for messages
  planning::MeasuredCosts costs;

  void write(ModuleOp module) const;
  /// Nothing where there are none. What is ill-formed is diagnosed at the
  /// module.
  static FailureOr<std::optional<MeasuredTasks>> read(ModuleOp module);
  /// Those that nobody has taken.
  static void remove(ModuleOp module);
  /// Takes them out of the module; nothing where there are none. What is
  /// ill-formed is diagnosed at the module.
  static FailureOr<std::optional<MeasuredTasks>> take(ModuleOp module);
  /// Diagnoses at the module that the costs are not of it, and notes so: who
  /// has read the file learns that it is the input that is wrong.
  LogicalResult refuse(ModuleOp module, llvm::Error error) const;
  static bool wereRefused(ModuleOp module);
  /// Whether these are the cuts between the blocks that were measured, in the
  /// form of `hfta.cuts`, null: none, as where blocks are not the job's. An
  /// error says which cut differs.
  llvm::Error checkCuts(MLIRContext *context, ArrayAttr cuts) const;
};

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_MEASUREDTASKS_H
