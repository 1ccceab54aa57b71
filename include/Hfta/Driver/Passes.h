//===- Passes.h - The driver's own passes -----------------------*- C++ -*-===//

#ifndef HFTA_DRIVER_PASSES_H
#define HFTA_DRIVER_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::hfta {

/// Module attribute: the name of the phase that the module is in.
inline constexpr llvm::StringLiteral kPhaseAttrName = "hfta.phase";
/// Module attribute: the description of each model that goes into the binary.
inline constexpr llvm::StringLiteral kModelsAttrName = "hfta.models";

/// Module attribute: the costs of the tasks, as JSON for people and programs.
inline constexpr llvm::StringLiteral kPlanAttrName = "hfta.plan_json";

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Hfta/Driver/Passes.h.inc"

} // namespace mlir::hfta

#endif // HFTA_DRIVER_PASSES_H
