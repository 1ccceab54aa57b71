//===- Passes.h - The driver's own passes -----------------------*- C++ -*-===//

#ifndef HFTA_PIPELINES_PASSES_H
#define HFTA_PIPELINES_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::hfta {

/// Attribute of the module: the name of the phase that it has reached.
inline constexpr llvm::StringLiteral kPhaseAttrName = "hfta.phase";
/// Attribute of the module: descriptions of the models that go into the binary.
inline constexpr llvm::StringLiteral kModelsAttrName = "hfta.models";

/// Attribute of the module: the costs of its tasks as JSON, for programs' `info
/// --json`.
inline constexpr llvm::StringLiteral kPlanAttrName = "hfta.plan_json";

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Hfta/Pipelines/Passes.h.inc"

} // namespace mlir::hfta

#endif // HFTA_PIPELINES_PASSES_H
