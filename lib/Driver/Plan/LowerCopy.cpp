//===- LowerCopy.cpp - Lowers clones of modules ---------------------------===//

#include "Plan/LowerCopy.h"

using namespace mlir;
using namespace mlir::hfta;

OnlyErrors::OnlyErrors(MLIRContext *context)
    : ScopedDiagnosticHandler(context, [](Diagnostic &message) {
        return success(message.getSeverity() != DiagnosticSeverity::Error);
      }) {}

LogicalResult
hfta::lowerQuietly(ModuleOp module,
                   llvm::function_ref<void(OpPassManager &)> add) {
  OnlyErrors quiet(module.getContext());
  PassManager passes(module.getContext(), ModuleOp::getOperationName());
#ifdef NDEBUG
  passes.enableVerifier(false);
#endif
  add(passes);
  return passes.run(module);
}

OwningOpRef<ModuleOp>
hfta::lowerCopy(ModuleOp module,
                llvm::function_ref<void(OpPassManager &)> add) {
  OwningOpRef<ModuleOp> copy = module.clone();
  return succeeded(lowerQuietly(*copy, add)) ? std::move(copy) : nullptr;
}
