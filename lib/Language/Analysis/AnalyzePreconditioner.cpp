//===- AnalyzePreconditioner.cpp - The clause precondition ----------------===//

#include "Analysis/JobAnalyzer.h"

#include "Hfta/Planning/Kfac/FactorGrid.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

static constexpr llvm::StringLiteral kClause = "precondition";
static constexpr llvm::StringLiteral kClip = "kl_clip";
static constexpr llvm::StringLiteral kPeriods[] = {"factor_every",
                                                   "inverse_every"};

void JobAnalyzer::analyzePrecondition(const Clause &clause) {
  const ast::Expression *value = getOnlyValue(clause);
  std::optional<CallView> call;
  if (!value ||
      !(call = getCall(*value, "a preconditioner such as kfac(damping = 3e-3)",
                       diagnostics)))
    return;
  if (call->callee.name != Job::kKfac) {
    diagnostics.error(
        call->callee.range,
        "unknown preconditioner '" + call->callee.name + "'",
        suggest(call->callee.name, {Job::kKfac}, "the preconditioner is"));
    return;
  }
  llvm::SmallVector<ParameterSpec> numbers;
  for (const ParameterInfo &parameter : getKfacParameters())
    numbers.push_back({parameter.name});
  std::optional<BoundArguments> arguments =
      readSettings(kClause, *call, numbers);
  if (!arguments)
    return;
  Job &job = info.job;
  job.preconditioner = Job::kKfac.str();
  std::vector<std::string> noFlags;
  for (const ParameterInfo &parameter : getKfacParameters())
    readParameter(*arguments, parameter, noFlags);
  const ast::Expression *pi = arguments->get("pi");
  if (pi && job.kfacMethod == Job::kEigen)
    diagnostics.error(pi->getRange(),
                      "'pi' and the method 'eigen' exclude each other",
                      "'eigen' damps the product of the factors as a whole");
  for (llvm::StringRef period : kPeriods)
    if (const ast::Expression *given = arguments->get(period))
      info.periodRange = given->getRange();
  if (const ast::Expression *placement = arguments->get("placement"))
    info.placementRange = placement->getRange();
  if (const ast::Expression *exclude = arguments->get("exclude"))
    for (const ast::Expression *pattern : getElements(*exclude))
      info.excludeRanges.push_back(pattern->getRange());
}

/// Checks that a fraction of a stage's replicas is a whole number that divides
/// them.
void JobAnalyzer::checkShare(double share, int64_t stage) {
  const Job &job = info.job;
  int64_t replicas = job.getReplicas(stage);
  llvm::Expected<planning::FactorGrid> grid =
      planning::makeFactorGrid(share, replicas);
  if (grid)
    return;
  llvm::consumeError(grid.takeError());
  llvm::SmallVector<std::string> expected;
  for (int64_t rows = replicas; rows > 0; --rows)
    if (replicas % rows == 0)
      expected.push_back("fraction(" +
                         printNumber(static_cast<double>(rows) /
                                     static_cast<double>(replicas)) +
                         ")");
  std::string of = job.getStageCount() > 1
                       ? " replicas of stage " + std::to_string(stage)
                       : " replicas";
  diagnostics.error(info.placementRange,
                    "'placement = " + job.kfacPlacement + "': with " +
                        llvm::Twine(replicas) + of + ", expected " +
                        llvm::join(expected, " or "),
                    "this fraction of the replicas keeps a layer's inverses: "
                    "it must be a whole number of them");
}

/// Checks the placement of the preconditioner's work. Does nothing if the
/// planner chooses the numbers of replicas and groups, which aren't known yet.
void JobAnalyzer::checkPlacement() {
  const Job &job = info.job;
  if (isPlanned())
    return;
  std::optional<double> share = planning::readFraction(job.kfacPlacement);
  for (int64_t stage = 0; stage < job.getStageCount(); ++stage) {
    if (share && job.getReplicas(stage) > 1)
      checkShare(*share, stage);
    if (job.kfacPlacement != "local" ||
        job.getGroups(stage) == job.getGroups(0))
      continue;
    diagnostics.error(info.placementRange,
                      "'placement = local' needs the same number of groups in "
                      "each stage: stage 0 has " +
                          llvm::Twine(job.getGroups(0)) + ", stage " +
                          llvm::Twine(stage) + " has " +
                          llvm::Twine(job.getGroups(stage)),
                      "a layer's factors are computed from one group: 'groups' "
                      "sets their number");
    return;
  }
}

/// Checks settings that may be different for each copy, or that depend on other
/// clauses.
void JobAnalyzer::checkPreconditioner() {
  if (info.job.preconditioner.empty())
    return;
  if (info.isSumOfTerms())
    return diagnostics.error(
        info.train->find("precondition")->range,
        "'precondition' needs a loss of one term, without a weight",
        "kfac's factors are second moments of the gradients of one loss");
  checkPlacement();
  std::vector<double> factors = info.sweep.getValues(kPeriods[0]);
  std::vector<double> inverses = info.sweep.getValues(kPeriods[1]);
  for (int64_t copy = 0; copy < info.job.copies; ++copy) {
    if (inverses[copy] >= factors[copy])
      continue;
    diagnostics.error(
        info.periodRange,
        "factors are inverted every " + printNumber(inverses[copy]) +
            " steps, but measured every " + printNumber(factors[copy]) +
            " in copy " + llvm::Twine(copy),
        "'inverse_every' is at least 'factor_every'");
    return;
  }
}

/// Stores the preconditioner's settings as hyper-parameters, with a value for
/// each copy.
void JobAnalyzer::fillPreconditioner() {
  Job &job = info.job;
  if (job.preconditioner.empty())
    return;
  for (const ParameterInfo &parameter : getKfacParameters())
    if (info.sweep.contains(parameter.name))
      job.hyperParameters.push_back(
          {parameter.name.str(), info.sweep.getValues(parameter.name)});
  if (info.sweep.contains(kClip))
    return;
  // Momentum m makes steps longer by a factor of 1 / (1 - m), and the clip
  // limits the square of the length. So multiply the default clip by (1 - m)^2.
  constexpr double kPlainClip = 1e-2;
  std::vector<double> clips(job.copies, kPlainClip);
  for (auto [index, kind] : llvm::enumerate(job.optimizers))
    if (kind.name == "sgd")
      for (int64_t copy : job.getCopiesOfOptimizer(index)) {
        double rest = 1 - job.findHyperParameter("momentum")->values[copy];
        clips[copy] *= rest * rest;
      }
  job.hyperParameters.push_back({kClip.str(), std::move(clips)});
}

/// Returns whether the preconditioner has a setting with this name whose value
/// may be a list.
bool JobAnalyzer::isTakenByPreconditioner(llvm::StringRef name) const {
  if (info.job.preconditioner.empty())
    return false;
  const SettingInfo &schedule = *findSetting("damping_schedule");
  return findByName(getKfacParameters(), name) ||
         hasScheduleParameter(info.job.kfacDampingSchedule,
                              getSchedulePrefix(schedule), name);
}
