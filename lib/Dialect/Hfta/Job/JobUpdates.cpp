//===- JobUpdates.cpp - What changes updates of parameters ----------------===//

#include "Hfta/Dialect/Hfta/Job/JobUpdates.h"
#include "Hfta/Dialect/Hfta/Job/Averages.h"
#include "Hfta/Dialect/Hfta/Job/Optimizers.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns whether one of the groups gives a number of this name.
static bool hasGroupNumber(const Job &job, StringRef number) {
  return llvm::any_of(job.groupsOfParameters, [&](const ParameterGroup &group) {
    return llvm::is_contained(group.numbers, number);
  });
}

bool Job::awaitsNorm() const {
  return !clipNorm.empty() || !lossScale.empty() ||
         hasGroupNumber(*this, ParameterGroup::kClipNorm);
}

bool Job::clipsAdaptively() const {
  return findHyperParameter(kClipFactor) || hasGroupNumber(*this, kClipFactor);
}

std::string hfta::checkUpdates(const Job &job) {
  auto lacks = [&](StringRef name) { return !job.findHyperParameter(name); };
  if (!lacks(Job::kClipFactor) && lacks(Job::kClipEps))
    return "'clip_factor' needs the hyper-parameter 'clip_eps'";
  for (const ParameterGroup &group : job.groupsOfParameters)
    if (llvm::is_contained(group.numbers, Job::kClipFactor) &&
        !llvm::is_contained(group.numbers, Job::kClipEps))
      return "group '" + group.name + "' needs the number 'clip_eps'";
  if (job.average.empty())
    return "";
  const AverageInfo *average = findAverage(job.average);
  if (!average)
    return "unknown average '" + job.average + "'";
  if (const OptimizerInfo *optimizer = findAveragingOptimizer(job))
    return ("'average' and the optimizer '" + optimizer->name +
            "' exclude each other")
        .str();
  for (const ParameterInfo &parameter : average->parameters)
    if (std::string name = (kAveragePrefix + parameter.name).str(); lacks(name))
      return "'average' needs the hyper-parameter '" + name + "'";
  return "";
}
