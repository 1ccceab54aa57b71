//===- Passes.h - The driver's own passes -----------------------*- C++ -*-===//

#ifndef HFTA_DRIVER_PASSES_H
#define HFTA_DRIVER_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::hfta {

/// Module attribute: name of the phase that the module is in.
inline constexpr llvm::StringLiteral kPhaseAttrName = "hfta.phase";
/// Module attribute: what the binary says of each model.
inline constexpr llvm::StringLiteral kModelsAttrName = "hfta.models";

/// Module attribute: cost of the tasks, for people and programs to read.
inline constexpr llvm::StringLiteral kPlanAttrName = "hfta.plan_json";

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Hfta/Driver/Passes.h.inc"

} // namespace mlir::hfta

#endif // HFTA_DRIVER_PASSES_H
