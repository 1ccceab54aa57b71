//===- InitAll.h - Everything that Hfta's tools register --------*- C++ -*-===//

#ifndef HFTA_INITALL_H
#define HFTA_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::hfta {

/// Registers Hfta's targets. The first one is the default. Must be called
/// before the functions below are called and command lines are read; may be
/// called several times.
void registerAllTargets();

/// Registers Hfta's dialect, the upstream dialects that the pipelines use,
/// their external interface models, the translation to LLVM IR, and what the
/// registered targets need. Calls registerAllTargets().
void registerAllDialects(DialectRegistry &registry);

/// Registers Hfta's passes and pipelines, and the upstream passes that they
/// use.
void registerAllPasses();

} // namespace mlir::hfta

#endif // HFTA_INITALL_H
