//===- Modules.h - Modules made of a fuzzer's input -------------*- C++ -*-===//

#ifndef HFTA_FUZZ_MODULES_H
#define HFTA_FUZZ_MODULES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <memory>

namespace mlir::hfta {

/// Makes a context for one input, so that everything uniqued in it is freed
/// with it. Messages are made and discarded.
std::unique_ptr<MLIRContext> makeFuzzContext();

/// Exports, folds and fuses the module's models, as phase `fused` does.
void fuse(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_FUZZ_MODULES_H
