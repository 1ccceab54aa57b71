//===- Phases.h - The compiler's phases -------------------------*- C++ -*-===//
//
// The one table of phases: --emit, --help, docs/hftac.md and the driver itself
// live on it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DRIVER_PHASES_H
#define HFTA_DRIVER_PHASES_H

#include "Hfta/Driver/ExitCode.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

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
  llvm,
  llvmIR,
  assembly,
  object,
  library,
  executable
};

/// What the pipelines of all phases need to know.
struct PipelineSettings {
  std::vector<std::string> cuts;
  /// Whether to check, step by step, that sums keep their order.
  bool verifySums = false;
};

struct PhaseInfo {
  Phase phase;
  llvm::StringRef name; ///< for --emit
  llvm::StringRef description;
  /// End of the default output file's name; empty: standard output.
  llvm::StringRef suffix;
  /// The passes that lead here from the phase before; null for import and for
  /// all that follows MLIR.
  void (*addPasses)(OpPassManager &pm, const PipelineSettings &settings);
  /// What a failure of these passes means.
  ExitCode failure;
};

/// In order.
llvm::ArrayRef<PhaseInfo> getPhases();
const PhaseInfo &getPhase(Phase phase);
/// Null if there is none of this name.
const PhaseInfo *findPhase(llvm::StringRef name);
/// Whether the phase's output is an MLIR module.
inline bool isMLIR(Phase phase) { return phase <= Phase::llvm; }

} // namespace mlir::hfta

#endif // HFTA_DRIVER_PHASES_H
