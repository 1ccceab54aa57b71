//===- Modules.h - Contexts and passes for fuzz targets ---------*- C++ -*-===//

#ifndef HFTA_FUZZ_MODULES_H
#define HFTA_FUZZ_MODULES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <memory>

namespace mlir::hfta {

/// Creates a context. Each input gets its own one, because the types and
/// attributes that a context has uniqued are freed only with the context.
/// Diagnostics are converted to text, and discarded.
std::unique_ptr<MLIRContext> makeFuzzContext();

/// Runs the passes of phase `fused` (Driver/Pipelines.h), except for
/// hfta-find-mixed-samples and hfta-mark-phase. Ignores errors.
void fuse(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_FUZZ_MODULES_H
