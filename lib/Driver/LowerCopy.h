//===- LowerCopy.h - Lowers copies of modules -------------------*- C++ -*-===//

#ifndef HFTA_LIB_DRIVER_LOWERCOPY_H
#define HFTA_LIB_DRIVER_LOWERCOPY_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::hfta {

/// During its life only errors are printed: other diagnostics of a copy are
/// reported again when the module itself is compiled.
class OnlyErrors : public ScopedDiagnosticHandler {
public:
  explicit OnlyErrors(MLIRContext *context);
};

/// Runs the passes that `add` adds, printing only errors.
LogicalResult lowerQuietly(ModuleOp module,
                           llvm::function_ref<void(OpPassManager &)> add);

/// Runs such passes on a copy of the module; returns null after an error.
OwningOpRef<ModuleOp> lowerCopy(ModuleOp module,
                                llvm::function_ref<void(OpPassManager &)> add);

} // namespace mlir::hfta

#endif // HFTA_LIB_DRIVER_LOWERCOPY_H
