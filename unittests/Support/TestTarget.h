//===- TestTarget.h - The target that unit tests compile for ----*- C++ -*-===//

#ifndef HFTA_UNITTESTS_SUPPORT_TESTTARGET_H
#define HFTA_UNITTESTS_SUPPORT_TESTTARGET_H

#include "Hfta/Target/Target.h"

namespace mlir::hfta {

/// Returns whether the environment asks for kernels that compute as a GPU's
/// threads do (HFTA_TEST_KERNELS=threads).
bool computesByThreads();

/// Returns the target that unit tests compile kernels for: `cpu`, or if
/// computesByThreads(), `threads-on-host`, a target of the tests' own, whose
/// kernels are formed and mapped to threads as for a GPU, and lowered to the
/// host's code. Registers it.
const Target &getTestTarget();

/// Sets the module's `hfta.target` to the test target, for a processor that
/// all machines have the instructions of.
void setTestTarget(ModuleOp module);

} // namespace mlir::hfta

#endif // HFTA_UNITTESTS_SUPPORT_TESTTARGET_H
