//===- Phases.h - The compiler's phases -------------------------*- C++ -*-===//
//
// The tree of the compiler's phases, which --emit, --help, docs/hftac.md and
// the driver use. The phases up to `linalg`, and those of objects and linked
// programs, are common to all targets; between them each target has its own
// branch. From `planned` on, a module's kernels are formed for one kind of
// target.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PIPELINES_PHASES_H
#define HFTA_PIPELINES_PHASES_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "Hfta/Support/ExitCode.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::hfta {

/// The phases, in the order of the tree.
enum class Phase {
  import,
  fused,
  train,
  planned,
  scheduled,
  linalg,
  // Only target `cpu`:
  llvm,
  llvmIR,
  assembly,
  // Only target `cuda`:
  gpu,
  ptx,
  // All targets:
  object,
  library,
  executable
};

/// The settings that the pipelines of all phases need.
struct PipelineSettings {
  std::vector<std::string> cuts;
  /// Whether hfta-plan-spill plans which values stay in memory during a step.
  /// Only relevant with a memory budget.
  bool plansMemory = true;
  /// Whether kernels are for a GPU, whose threads compute single elements.
  bool byElements = false;
  /// Whether one of the chips has instructions of warp groups.
  bool warpGroups = false;
  /// Whether the program that calls a generated library may run several
  /// backwards before an update (gradient accumulation).
  bool accumulates = false;
  /// Whether each step of lowering kernels is followed by a check that sums
  /// keep their order.
  bool verifySums = false;
};

/// The form of a phase's output.
enum class PhaseForm {
  module, ///< an MLIR module
  file,   ///< one file, or standard output
  linked  ///< the output of a linker or archiver
};

struct PhaseInfo {
  Phase phase;
  llvm::StringRef name; ///< as in --emit
  PhaseForm form;
  /// The target on whose branch the phase is; nothing if all targets have the
  /// phase.
  std::optional<TargetKind> target;
  llvm::StringRef description;
  /// Suffix of the default output file's name; empty if the default is standard
  /// output.
  llvm::StringRef suffix;
  /// Adds the passes from the previous phase to this one. Null for `import`,
  /// and for phases after MLIR.
  void (*addPasses)(OpPassManager &pm, const PipelineSettings &settings);
  /// The exit code if one of the phase's passes fails.
  ExitCode failure;
};

/// A kind of target and its name in --target.
struct TargetInfo {
  llvm::StringRef name;
  TargetKind kind;
};

llvm::ArrayRef<TargetInfo> getTargets();
const TargetInfo &getTarget(TargetKind kind);

/// Returns all phases: the common ones in order, and the phases of each branch,
/// in order, where the branch begins.
llvm::ArrayRef<PhaseInfo> getPhases();
const PhaseInfo &getPhase(Phase phase);
/// Returns the phases of a target in order, from `import` to the last one.
llvm::SmallVector<const PhaseInfo *> getPath(TargetKind target);
/// Returns the phase of this name among those of a target, or null.
const PhaseInfo *findPhase(llvm::StringRef name, TargetKind target);
/// Returns the target on whose branch the phase of this name is, or null if the
/// phase is common or doesn't exist.
const TargetInfo *findTargetOfPhase(llvm::StringRef name);
/// Returns whether `phase` comes after `other` on the path of a target.
bool comesAfter(Phase phase, Phase other);
/// Returns whether the phase's output is an MLIR module.
inline bool isMLIR(Phase phase) {
  return getPhase(phase).form == PhaseForm::module;
}
inline bool isLinked(Phase phase) {
  return getPhase(phase).form == PhaseForm::linked;
}

} // namespace mlir::hfta

#endif // HFTA_PIPELINES_PHASES_H
