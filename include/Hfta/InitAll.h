//===- InitAll.h - Everything that Hfta's tools register --------*- C++ -*-===//

#ifndef HFTA_INITALL_H
#define HFTA_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::hfta {

/// Registers our dialect, the upstream dialects that the pipelines lower
/// through, their external interface models, and the translation to LLVM IR.
void registerAllDialects(DialectRegistry &registry);

/// Registers our passes and pipelines, and the upstream passes that these use.
void registerAllPasses();

} // namespace mlir::hfta

#endif // HFTA_INITALL_H
