//===- StepCosts.h - Times of a step's tasks and transfers ------*- C++ -*-===//
//
// The measured costs of a job with a memory budget. They are stored in the
// module's dictionary `hfta.step_costs` when its blocks are planned, for later
// passes that simulate its schedules.
//===----------------------------------------------------------------------===//

#ifndef HFTA_TRANSFORMS_TASKS_STEPCOSTS_H
#define HFTA_TRANSFORMS_TASKS_STEPCOSTS_H

#include "Hfta/Planning/Common/SpillModel.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

namespace mlir::hfta {

struct StepCosts {
  /// Seconds of one run of a task for all copies, by the task's name.
  llvm::StringMap<double> tasks;
  /// Seconds of one run of all tasks of a part together, by the part's name,
  /// for parts whose blocks aren't measured separately.
  llvm::StringMap<double> parts;
  planning::StoreRates store;

  void write(ModuleOp module) const;
  /// Returns the module's costs, or nothing if it has none. Reports an error if
  /// they are ill-formed.
  static FailureOr<std::optional<StepCosts>> read(ModuleOp module);
};

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_TASKS_STEPCOSTS_H
