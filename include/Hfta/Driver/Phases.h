//===- Phases.h - The compiler's phases -------------------------*- C++ -*-===//
//
// The one tree of phases: --emit, --help, docs/hftac.md and the driver itself
// live on it. Phases up to `linalg`, and those of linked programs, are common
// to all targets, though kernels are formed for one kind of them from `planned`
// on; between them each target has a branch of its own.
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
  // Of target `cpu`.
  llvm,
  llvmIR,
  assembly,
  // Of target `cuda`.
  gpu,
  ptx,
  // Of all.
  object,
  library,
  executable
};

/// What the pipelines of all phases need to know.
struct PipelineSettings {
  std::vector<std::string> cuts;
  /// Within a budget of memory: whether what of a step is kept is planned.
  bool plansMemory = true;
  /// Whether kernels are for threads that compute single elements.
  bool byElements = false;
  /// Whether some chip has instructions of warp groups.
  bool warpGroups = false;
  /// Whether who links the code may ask for several backwards before an update.
  bool accumulates = false;
  /// Whether to check, step by step, that sums keep their order.
  bool verifySums = false;
};

/// What a phase's output is.
enum class PhaseForm {
  module, ///< MLIR
  file,   ///< one file, or standard output
  linked  ///< what a linker or archiver writes
};

struct PhaseInfo {
  Phase phase;
  llvm::StringRef name; ///< for --emit
  PhaseForm form;
  /// The target on whose branch it lies; none: it is common to all.
  std::optional<TargetKind> target;
  llvm::StringRef description;
  /// End of the default output file's name; empty: standard output.
  llvm::StringRef suffix;
  /// The passes that lead here from the phase before; null for import and for
  /// all that follows MLIR.
  void (*addPasses)(OpPassManager &pm, const PipelineSettings &settings);
  /// What a failure of these passes means.
  ExitCode failure;
};

/// A kind of target, by its name in --target.
struct TargetInfo {
  llvm::StringRef name;
  TargetKind kind;
};

llvm::ArrayRef<TargetInfo> getTargets();
const TargetInfo &getTarget(TargetKind kind);

/// All of them: the common ones in order, and each branch in order where it
/// belongs.
llvm::ArrayRef<PhaseInfo> getPhases();
const PhaseInfo &getPhase(Phase phase);
/// From import to the end of a target's branch.
llvm::SmallVector<const PhaseInfo *> getPath(TargetKind target);
/// A phase on the way to a target, by its name; null if there is none.
const PhaseInfo *findPhase(llvm::StringRef name, TargetKind target);
/// The target that has a phase of this name on its branch; null if none has.
const TargetInfo *findTargetOfPhase(llvm::StringRef name);
/// Whether a phase lies behind another one, on one path.
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
