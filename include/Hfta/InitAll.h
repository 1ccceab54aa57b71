//===- InitAll.h - Everything that Hfta's tools register --------*- C++ -*-===//

#ifndef HFTA_INITALL_H
#define HFTA_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::hfta {

/// Our dialect, the upstream dialects that the pipelines go through, their
/// external interface models, and the translation to LLVM IR.
void registerAllDialects(DialectRegistry &registry);

/// Our passes and pipelines, and the upstream passes that these use.
void registerAllPasses();

} // namespace mlir::hfta

#endif // HFTA_INITALL_H
