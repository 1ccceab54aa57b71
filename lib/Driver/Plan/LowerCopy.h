//===- LowerCopy.h - Lowers clones of modules -------------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_PLAN_LOWERCOPY_H
#define HFTA_LIB_DRIVER_PLAN_LOWERCOPY_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::hfta {

/// Suppresses all diagnostics but errors during its life. Warnings about a
/// clone would be repeated when the module itself is compiled.
class OnlyErrors : public ScopedDiagnosticHandler {
public:
  explicit OnlyErrors(MLIRContext *context);
};

/// Runs the passes that `add` adds, printing only errors.
LogicalResult lowerQuietly(ModuleOp module,
                           llvm::function_ref<void(OpPassManager &)> add);

/// Runs the passes that `add` adds on a clone of the module, printing only
/// errors. Returns the clone, or null after an error.
OwningOpRef<ModuleOp> lowerCopy(ModuleOp module,
                                llvm::function_ref<void(OpPassManager &)> add);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_PLAN_LOWERCOPY_H
