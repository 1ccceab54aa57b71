//===- InitAll.h - Everything that Hfta's tools register --------*- C++ -*-===//

#ifndef HFTA_INITALL_H
#define HFTA_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::hfta {

/// Registers Hfta's dialect, the upstream dialects that the pipelines use,
/// their external interface models, and the translation to LLVM IR.
void registerAllDialects(DialectRegistry &registry);

/// Registers Hfta's passes and pipelines, and the upstream passes that they
/// use.
void registerAllPasses();

} // namespace mlir::hfta

#endif // HFTA_INITALL_H
