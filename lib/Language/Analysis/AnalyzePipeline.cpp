//===- AnalyzePipeline.cpp - Workers, and the sums that they share --------===//

#include "Analysis/JobAnalyzer.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

void JobAnalyzer::analyzePipeline(const Clause &clause) {
  readSettings(clause, {});
}

/// Where a clause gives an argument by name, or else the clause.
static llvm::SMRange findArgument(const ast::Clause &clause,
                                  llvm::StringRef name) {
  for (const ast::Argument &argument : clause.arguments)
    if (argument.name.name == name)
      return argument.value->getRange();
  return clause.range;
}

/// Gives what is `auto` its value, and checks that each worker, and each sum,
/// has micro-batches.
void JobAnalyzer::checkPipeline() {
  Job &job = info.job;
  const Clause *pipeline = info.train->find("pipeline");
  const Clause *parts = info.train->find("micro_batches");
  if (pipeline && job.replicas.size() > 1)
    diagnostics.error(findArgument(*pipeline, "replicas"),
                      llvm::Twine(job.replicas.size()) +
                          " numbers of replicas for one stage",
                      "for example replicas = [4]");
  if (!parts || job.microBatches == Job::kAuto)
    job.microBatches = job.getReplicas();
  if (pipeline && job.getReplicas() > job.microBatches)
    diagnostics.error(findArgument(*pipeline, "replicas"),
                      llvm::Twine(job.getReplicas()) + " replicas share " +
                          llvm::Twine(job.microBatches) + " micro-batch" +
                          (job.microBatches == 1 ? "" : "es"),
                      "each replica needs at least one: micro_batches " +
                          llvm::Twine(job.getReplicas()));
  else if (parts && job.getGroups() > job.microBatches)
    diagnostics.error(findArgument(*parts, "groups"),
                      llvm::Twine(job.getGroups()) + " groups of " +
                          llvm::Twine(job.microBatches) + " micro-batch" +
                          (job.microBatches == 1 ? "" : "es"),
                      "each group needs at least one");
  else if (parts && job.getGroups() < job.getReplicas())
    diagnostics.error(findArgument(*parts, "groups"),
                      llvm::Twine(job.getGroups()) + " groups for " +
                          llvm::Twine(job.getReplicas()) + " replicas",
                      "each replica adds up at least one group");
}
