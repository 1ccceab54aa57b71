//===- AnalyzeMemory.cpp - A budget of memory -----------------------------===//

#include "Analysis/JobAnalyzer.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

/// With a budget, activations are recomputed where that helps, unless the job
/// specifies something else.
void JobAnalyzer::analyzeMemory(const Clause &clause) {
  readSettings(clause, {});
  if (!info.train->find("recompute"))
    info.job.recompute = "auto";
}
