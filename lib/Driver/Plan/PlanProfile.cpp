//===- PlanProfile.cpp - hftac --plan-pipeline --profile ------------------===//

#include "Hfta/Driver/Plan/PlanProfile.h"
#include "Hfta/Planning/Pipelines/Profile.h"
#include "Input/Input.h"
#include "Plan/PlanReport.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::planning;

static std::optional<LayerModel> loadProfile(const DriverOptions &options,
                                             llvm::SourceMgr &sources,
                                             llvm::raw_ostream &errors) {
  unsigned id = readText(options.profile, sources, errors);
  if (id == 0)
    return std::nullopt;
  ProfileError error;
  std::optional<LayerModel> model = readProfile(
      sources.getMemoryBuffer(id)->getBuffer(), options.profileSamples, error);
  if (model)
    return model;
  errors << options.profile;
  if (error.line != 0)
    errors << ':' << error.line;
  errors << ": error: " << error.message << '\n';
  return std::nullopt;
}

ExitCode hfta::planProfile(const DriverOptions &options,
                           llvm::raw_ostream &errors) {
  if (!checkPlanOutputs(options, errors))
    return ExitCode::usage;
  llvm::SourceMgr sources;
  JobDiagnostics diagnostics(sources, errors);
  std::optional<PlanningFlags> flags =
      readPlanningFlags(options.jobFlags, diagnostics);
  if (!flags)
    return ExitCode::input;
  std::optional<LayerModel> model = loadProfile(options, sources, errors);
  if (!model)
    return ExitCode::input;
  PlanningProblem problem = {flags->job, flags->pipeline,
                             *model,     makeCluster(flags->job),
                             {},         "the profile"};
  SimulatedPlan result;
  ExitCode code = makePlan(problem, diagnostics, errors, result);
  if (code == ExitCode::unsupported)
    tellShortage(problem, problem.cluster.memory, result.shortage, errors);
  return code == ExitCode::done ? reportPlan(result, options, errors) : code;
}
