//===- StepCosts.h - What a step's tasks and transfers take -----*- C++ -*-===//
//
// What was measured of a job with a budget of memory stands in the module's
// dictionary `hfta.step_costs` from when its blocks are planned, so that those
// who simulate its schedule later count with it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_TRANSFORMS_STEPCOSTS_H
#define HFTA_TRANSFORMS_STEPCOSTS_H

#include "Hfta/Planning/SpillModel.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

#include <optional>

namespace mlir::hfta {

struct StepCosts {
  /// Of tasks, by their names: seconds of one run for all copies.
  llvm::StringMap<double> tasks;
  /// The same of all tasks of a part together, by the part, of parts whose
  /// blocks aren't told apart.
  llvm::StringMap<double> parts;
  planning::StoreRates store;

  void write(ModuleOp module) const;
  /// Nothing where nothing was measured. What is ill-formed is diagnosed at the
  /// module.
  static FailureOr<std::optional<StepCosts>> read(ModuleOp module);
};

} // namespace mlir::hfta

#endif // HFTA_TRANSFORMS_STEPCOSTS_H
