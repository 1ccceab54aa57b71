//===- Phases.h - The compiler's phases -------------------------*- C++ -*-===//
//
// The tree of the compiler's phases, which --emit, --help, docs/hftac.md and
// the driver use. The phases up to `linalg`, and those of objects and linked
// programs, are common to all targets; between them each target has its own
// branch (`Target::getPhases`). From `train` on, a module is for one target.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PIPELINES_PHASES_H
#define HFTA_PIPELINES_PHASES_H

#include "Hfta/Target/Target.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::hfta {

/// The phases that are common to all targets, in the order of the tree. The
/// branches begin after `linalg`.
namespace phases {
extern const PhaseInfo import, fused, train, planned, scheduled, linalg, object,
    library, executable;
} // namespace phases

/// Returns all phases: the common ones in order, and the phases of each branch,
/// in order, where the branch begins.
llvm::SmallVector<Phase> getPhases();
/// Returns the phases of a target in order, from `import` to the last one.
llvm::SmallVector<Phase> getPath(const Target &target);
/// Returns the phase of this name among those of a target, or null.
Phase findPhase(llvm::StringRef name, const Target &target);
/// Returns the target on whose branch a phase is, or null if all targets have
/// the phase.
const Target *findBranch(Phase phase);
/// Returns a target that has a phase of this name, or null.
const Target *findTargetOfPhase(llvm::StringRef name);
/// Returns whether `phase` comes after `other` on the path of a target.
bool comesAfter(Phase phase, Phase other);
/// Returns whether the phase's output is an MLIR module.
inline bool isMLIR(Phase phase) { return phase->form == PhaseForm::module; }
inline bool isLinked(Phase phase) { return phase->form == PhaseForm::linked; }

} // namespace mlir::hfta

#endif // HFTA_PIPELINES_PHASES_H
