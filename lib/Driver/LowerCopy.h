//===- LowerCopy.h - What passes would make of a module ---------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_LOWERCOPY_H
#define HFTA_LIB_DRIVER_LOWERCOPY_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::hfta {

/// While it lives, errors alone are told: what else there is to say is told of
/// the module that is compiled.
class OnlyErrors : public ScopedDiagnosticHandler {
public:
  explicit OnlyErrors(MLIRContext *context);
};

/// Runs the passes that `add` adds, telling errors alone.
LogicalResult lowerQuietly(ModuleOp module,
                           llvm::function_ref<void(OpPassManager &)> add);

/// The same of a copy; null after an error.
OwningOpRef<ModuleOp> lowerCopy(ModuleOp module,
                                llvm::function_ref<void(OpPassManager &)> add);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_LOWERCOPY_H
