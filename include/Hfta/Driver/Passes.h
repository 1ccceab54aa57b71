//===- Passes.h - The driver's own passes -----------------------*- C++ -*-===//

#ifndef HFTA_DRIVER_PASSES_H
#define HFTA_DRIVER_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::hfta {

/// Module attribute: name of the phase that the module is in.
inline constexpr llvm::StringLiteral kPhaseAttrName = "hfta.phase";
/// Module attribute: digest of the model's graph and the optimizer's kind.
inline constexpr llvm::StringLiteral kIdentityAttrName = "hfta.identity";
/// Module attributes: the ONNX inference graph without its weights.
inline constexpr llvm::StringLiteral kExportHeaderAttrName =
    "hfta.export_header";
inline constexpr llvm::StringLiteral kExportGraphAttrName = "hfta.export_graph";

/// Module attribute: cost of the tasks, for people and programs to read.
inline constexpr llvm::StringLiteral kPlanAttrName = "hfta.plan_json";

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Hfta/Driver/Passes.h.inc"

} // namespace mlir::hfta

#endif // HFTA_DRIVER_PASSES_H
