//===- StepCosts.h - Times of a step's tasks and transfers ------*- C++ -*-===//
//
// The measured costs of a job with a memory budget stand in the module's
// dictionary `hfta.step_costs` from when its blocks are planned, so that later
// passes that simulate its schedule use them.
//===----------------------------------------------------------------------===//

#ifndef HFTA_TRANSFORMS_STEPCOSTS_H
#define HFTA_TRANSFORMS_STEPCOSTS_H

#include "Hfta/Planning/SpillModel.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

namespace mlir::hfta {

struct StepCosts {
  /// Seconds of one run for all copies, by the name of the task.
  llvm::StringMap<double> tasks;
  /// Seconds of one run of all tasks of a part together, by the part, for parts
  /// that aren't measured block by block.
  llvm::StringMap<double> parts;
  planning::StoreRates store;

  void write(ModuleOp module) const;
  /// Reads the costs; nothing where nothing was measured. Ill-formed ones are
  /// diagnosed at the module.
  static FailureOr<std::optional<StepCosts>> read(ModuleOp module);
};

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_STEPCOSTS_H
