//===- Phases.h - The compiler's phases -------------------------*- C++ -*-===//
//
// The only tree of phases: --emit, --help, docs/hftac.md and the driver all use
// it. The phases up to `linalg` and those of linked programs are common to all
// targets, though from `planned` on kernels are formed for one kind of target.
// Between `linalg` and linking, each target has a branch of its own.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DRIVER_PHASES_H
#define HFTA_DRIVER_PHASES_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "Hfta/Driver/ExitCode.h"

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

enum class Phase {
  import,
  fused,
  train,
  planned,
  scheduled,
  linalg,
  // Phases of target `cpu`.
  llvm,
  llvmIR,
  assembly,
  // Phases of target `cuda`.
  gpu,
  ptx,
  // Phases of all targets.
  object,
  library,
  executable
};

/// The settings that the pipelines of all phases need.
struct PipelineSettings {
  std::vector<std::string> cuts;
  /// Within a memory budget: whether to plan what stays in memory during a
  /// step.
  bool plansMemory = true;
  /// Whether kernels are for threads that each compute single elements.
  bool byElements = false;
  /// Whether some chip has warp-group instructions.
  bool warpGroups = false;
  /// Whether the host program that links the code may call backward several
  /// times before an update (gradient accumulation).
  bool accumulates = false;
  /// Whether to check, after the steps of lowering kernels, that sums keep
  /// their order.
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
  /// The target on whose branch the phase lies; none if it is common to all.
  std::optional<TargetKind> target;
  llvm::StringRef description;
  /// The suffix of the default output file's name; empty for standard output.
  llvm::StringRef suffix;
  /// Adds the passes that lead from the previous phase to this one; null for
  /// import and for all phases after MLIR.
  void (*addPasses)(OpPassManager &pm, const PipelineSettings &settings);
  /// The exit code if one of these passes fails.
  ExitCode failure;
};

/// A kind of target, with its name in --target.
struct TargetInfo {
  llvm::StringRef name;
  TargetKind kind;
};

llvm::ArrayRef<TargetInfo> getTargets();
const TargetInfo &getTarget(TargetKind kind);

/// Returns all phases: the common ones in order, and each branch, in order, at
/// the place where it branches off.
llvm::ArrayRef<PhaseInfo> getPhases();
const PhaseInfo &getPhase(Phase phase);
/// Returns the phases from import to the end of a target's branch.
llvm::SmallVector<const PhaseInfo *> getPath(TargetKind target);
/// Finds a phase on the path to a target by its name; null if there is none.
const PhaseInfo *findPhase(llvm::StringRef name, TargetKind target);
/// Returns the target that has a phase of this name on its branch; null if none
/// has.
const TargetInfo *findTargetOfPhase(llvm::StringRef name);
/// Whether `phase` comes later than `other` on one path.
bool comesAfter(Phase phase, Phase other);
/// Whether the phase's output is an MLIR module.
inline bool isMLIR(Phase phase) {
  return getPhase(phase).form == PhaseForm::module;
}
inline bool isLinked(Phase phase) {
  return getPhase(phase).form == PhaseForm::linked;
}

} // namespace mlir::hfta

#endif // HFTA_DRIVER_PHASES_H
