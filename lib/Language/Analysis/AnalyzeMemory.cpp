//===- AnalyzeMemory.cpp - The clause memory ------------------------------===//

#include "Analysis/JobAnalyzer.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

/// Reads the clause. In a job with a memory budget, the default of `recompute`
/// is `auto`: activations are recomputed where that helps.
void JobAnalyzer::analyzeMemory(const Clause &clause) {
  readSettings(clause, {});
  if (!info.train->find("recompute"))
    info.job.recompute = "auto";
}
