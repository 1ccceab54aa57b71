//===- PlanPipeline.cpp - hftac --plan-pipeline ---------------------------===//

#include "Hfta/Driver/PlanPipeline.h"
#include "Hfta/Driver/Output.h"
#include "Hfta/Language/FrontEnd.h"
#include "Hfta/Planning/PlanSimulation.h"
#include "Hfta/Planning/Profile.h"
#include "Hfta/Planning/Search.h"
#include "Input.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::planning;

//===----------------------------------------------------------------------===//
// What is asked for
//===----------------------------------------------------------------------===//

static Cluster makeCluster(const Job &job) {
  Cluster cluster;
  cluster.devices = job.clusterDevices;
  cluster.memory = job.clusterMemory;
  cluster.link = static_cast<double>(job.clusterLink);
  cluster.network = static_cast<double>(job.clusterNetwork);
  cluster.pointToPoint = job.clusterPointToPoint == Job::kAuto
                             ? cluster.network
                             : static_cast<double>(job.clusterPointToPoint);
  cluster.latency = job.clusterLatency;
  // Published costs are those of links that take turns.
  bool takesTurns = job.clusterDuplex == "half" || job.planCosts == "published";
  cluster.duplex = takesTurns ? Duplex::half : Duplex::full;
  return cluster;
}

static PlanRequest makeRequest(const Job &job) {
  PlanRequest request;
  request.batch = job.batch;
  request.microBatches = job.microBatches == Job::kAuto ? 0 : job.microBatches;
  request.costs =
      job.planCosts == "published" ? CostRule::published : CostRule::units;
  request.groups = job.groups == Job::kAuto ? 0 : job.groups;
  return request;
}

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

//===----------------------------------------------------------------------===//
// Stages that are given
//===----------------------------------------------------------------------===//

namespace {

/// Makes stages of the layers that cuts name, on devices in the order of their
/// numbers.
class GivenStages {
public:
  GivenStages(const PlanningFlags &flags, const LayerModel &model,
              const Cluster &cluster, JobDiagnostics &diagnostics)
      : flags(flags), model(model), cluster(cluster), diagnostics(diagnostics) {
  }

  /// Empty after an error.
  llvm::SmallVector<Stage, 4> make();

private:
  std::optional<int64_t> findLayer(llvm::StringRef name, llvm::SMRange range);
  bool findCuts();
  bool checkDevices();

  const PlanningFlags &flags;
  const LayerModel &model;
  const Cluster &cluster;
  JobDiagnostics &diagnostics;
  llvm::SmallVector<int64_t, 4> cuts; // last layers
};

} // namespace

std::optional<int64_t> GivenStages::findLayer(llvm::StringRef name,
                                              llvm::SMRange range) {
  llvm::SmallVector<llvm::StringRef> names;
  for (auto [index, layer] : llvm::enumerate(model.layers)) {
    if (layer.name == name)
      return index;
    names.push_back(layer.name);
  }
  llvm::StringRef nearest = findNearest(name, names);
  diagnostics.error(range, "the profile has no layer '" + name + "'",
                    nearest.empty() ? "" : "did you mean '" + nearest + "'?");
  return std::nullopt;
}

/// A cut stands after all layers that it names.
bool GivenStages::findCuts() {
  const llvm::SMRange *range = flags.cutRanges.data();
  for (const std::vector<std::string> &names : flags.job.cuts) {
    int64_t last = -1;
    for (const std::string &name : names) {
      std::optional<int64_t> layer = findLayer(name, *range++);
      if (!layer)
        return false;
      last = std::max(last, *layer);
    }
    int64_t previous = cuts.empty() ? -1 : cuts.back();
    if (last <= previous)
      diagnostics.error(
          range[-1],
          last == previous
              ? "the stage that ends with '" + names.back() + "' is empty"
              : "'" + names.back() + "' comes before the cut before it",
          "cuts stand in the order of the layers");
    else if (last + 1 == static_cast<int64_t>(model.layers.size()))
      diagnostics.error(range[-1],
                        "no layer comes after '" + names.back() + "'",
                        "the last stage has no cut");
    else
      cuts.push_back(last);
    if (diagnostics.hasErrors())
      return false;
  }
  return true;
}

bool GivenStages::checkDevices() {
  int64_t wanted = 0;
  for (int64_t stage = 0; stage < flags.job.getStageCount(); ++stage)
    wanted += flags.job.getReplicas(stage);
  if (wanted <= cluster.getDeviceCount())
    return true;
  diagnostics.error(flags.replicasRange,
                    llvm::Twine(wanted) + " replicas on " +
                        llvm::Twine(cluster.getDeviceCount()) + " devices",
                    "each has a device of its own");
  return false;
}

llvm::SmallVector<Stage, 4> GivenStages::make() {
  llvm::SmallVector<Stage, 4> stages;
  if (!findCuts() || !checkDevices())
    return stages;
  cuts.push_back(model.layers.size() - 1);
  FreeDevices free(cluster.devices);
  int64_t first = 0;
  for (auto [stage, last] : llvm::enumerate(cuts)) {
    stages.push_back(
        {first, last,
         free.take(flags.job.getReplicas(stage), Placement::append)});
    first = last + 1;
  }
  return stages;
}

/// The plan with the stages that the flags give; nothing after an error.
static std::optional<PipelinePlan>
describeStages(const PlanningFlags &flags, const LayerModel &model,
               const Cluster &cluster, JobDiagnostics &diagnostics,
               llvm::raw_ostream &errors, ExitCode &code) {
  code = ExitCode::input;
  llvm::SmallVector<Stage, 4> stages =
      GivenStages(flags, model, cluster, diagnostics).make();
  if (stages.empty())
    return std::nullopt;
  PlanRequest request = makeRequest(flags.job);
  StageCosts costs(model, cluster, request.getWorkload(request.microBatches));
  for (const Stage &stage : stages) {
    int64_t replicas = stage.devices.size();
    if (costs.getMostInFlight(stage.first, stage.last, replicas) > 0)
      continue;
    errors << llvm::formatv("hftac: error: the stage from '{0}' to '{1}' "
                            "doesn't fit into {2} bytes "
                            "a device, it needs {3}\n",
                            model.layers[stage.first].name,
                            model.layers[stage.last].name, cluster.memory,
                            static_cast<int64_t>(std::ceil(costs.getPeakBytes(
                                stage.first, stage.last, replicas, 1))));
    code = ExitCode::unsupported;
    return std::nullopt;
  }
  return describePlan(costs, stages);
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// Whether a step of the plan is simulated soon.
static bool isSimulated(const PipelinePlan &plan) {
  constexpr size_t kMostDevices = 64;
  constexpr int64_t kMostMicroBatches = 512;
  size_t devices = 0;
  for (const PlannedStage &stage : plan.stages)
    devices += stage.devices.size();
  return devices <= kMostDevices && plan.microBatches <= kMostMicroBatches;
}

/// The trace of a run as a timeline. Nothing after an error.
static std::optional<Timeline> loadTrace(llvm::StringRef path,
                                         llvm::raw_ostream &errors) {
  llvm::SourceMgr sources;
  unsigned id = readText(path, sources, errors);
  if (id == 0)
    return std::nullopt;
  llvm::Expected<Timeline> trace =
      readTrace(sources.getMemoryBuffer(id)->getBuffer(), path);
  if (trace)
    return std::move(*trace);
  errors << "hftac: error: " << llvm::toString(trace.takeError()) << '\n';
  return std::nullopt;
}

/// With the options' trace beside it.
static ExitCode writeTimeline(const Timeline &timeline,
                              const DriverOptions &options,
                              llvm::raw_ostream &errors) {
  std::optional<Timeline> drawn = timeline;
  if (!options.trace.empty()) {
    drawn = loadTrace(options.trace, errors);
    if (!drawn)
      return ExitCode::input;
    drawn = layBeside(timeline, *drawn);
  }
  std::string svg;
  llvm::raw_string_ostream os(svg);
  writeSvg(*drawn, os);
  llvm::Error error = writeOutput(options.timeline, svg);
  if (!error)
    return ExitCode::done;
  errors << "hftac: error: " << llvm::toString(std::move(error)) << '\n';
  return ExitCode::cannotWrite;
}

/// Simulates the orders that the job allows; the plan gets the best one. Writes
/// it as a timeline where one is asked for.
static ExitCode simulate(PipelinePlan &plan, const LayerModel &model,
                         const Job &job, const DriverOptions &options,
                         llvm::raw_ostream &errors) {
  if (!isSimulated(plan)) {
    if (options.timeline.empty())
      return ExitCode::done;
    errors
        << "hftac: error: option '--timeline': the plan has too many devices "
           "or micro-batches to be simulated\n";
    return ExitCode::unsupported;
  }
  Workload workload = makeRequest(job).getWorkload(plan.microBatches);
  StageCosts costs(model, plan.cluster, workload);
  PlanSimulationOptions simulation;
  simulation.order =
      symbolizeOrderKind(job.order).value_or(OrderKind::automatic);
  simulation.bucket = static_cast<double>(job.bucket);
  simulation.overlaps = job.overlap;
  llvm::Expected<ChosenOrder> chosen = simulatePlan(plan, costs, simulation);
  if (!chosen) {
    errors << "hftac: error: " << llvm::toString(chosen.takeError()) << '\n';
    return ExitCode::input;
  }
  return options.timeline.empty()
             ? ExitCode::done
             : writeTimeline(getTimeline(plan, *chosen), options, errors);
}

static ExitCode writePlan(const PipelinePlan &plan,
                          const DriverOptions &options,
                          llvm::raw_ostream &errors) {
  std::string table, json;
  llvm::raw_string_ostream tableStream(table), jsonStream(json);
  printPlan(plan, tableStream);
  planning::writePlan(plan, jsonStream);
  llvm::Error error = llvm::Error::success();
  if (!options.output.empty())
    error = writeOutput(options.output, json);
  if (!error && options.output != "-" && options.timeline != "-")
    error = writeOutput("-", table);
  if (!error)
    return ExitCode::done;
  errors << "hftac: error: " << llvm::toString(std::move(error)) << '\n';
  return ExitCode::cannotWrite;
}

/// Whether both are one file, or both the standard output.
static bool isSameFile(llvm::StringRef one, llvm::StringRef other) {
  if (one.empty() || one == "-" || other == "-")
    return !one.empty() && one == other;
  return one == other || llvm::sys::fs::equivalent(one, other);
}

/// Whether no output replaces an input or the other output.
static bool checkOutputs(const DriverOptions &options,
                         llvm::raw_ostream &errors) {
  for (llvm::StringRef output : {options.output, options.timeline}) {
    bool isProfile = isSameFile(options.profile, output);
    if (!isProfile && !isSameFile(options.trace, output))
      continue;
    errors << "hftac: error: the output '" << output << "' would replace the "
           << (isProfile ? "profile" : "trace") << '\n';
    return false;
  }
  if (!isSameFile(options.output, options.timeline))
    return true;
  errors << "hftac: error: the plan and its timeline would both be '"
         << options.timeline << "'\n";
  return false;
}

/// The best plan; nothing after an error.
static std::optional<PipelinePlan>
findPlan(const Job &job, const LayerModel &model, const Cluster &cluster,
         llvm::raw_ostream &errors, ExitCode &code) {
  PlanFailure failure;
  std::optional<PipelinePlan> plan =
      planning::planPipeline(model, cluster, makeRequest(job), failure);
  if (plan)
    return plan;
  errors << llvm::formatv("hftac: error: no plan fits into {0} bytes a device\n"
                          "hint: with {1} there is one, which the stage from "
                          "'{2}' to '{3}' needs\n",
                          cluster.memory, failure.leastMemory, failure.first,
                          failure.last);
  code = ExitCode::unsupported;
  return std::nullopt;
}

ExitCode hfta::planPipeline(const DriverOptions &options,
                            llvm::raw_ostream &errors) {
  if (!checkOutputs(options, errors))
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
  Cluster cluster = makeCluster(flags->job);
  ExitCode code = ExitCode::done;
  std::optional<PipelinePlan> plan =
      flags->givesStages
          ? describeStages(*flags, *model, cluster, diagnostics, errors, code)
          : findPlan(flags->job, *model, cluster, errors, code);
  if (!plan)
    return code;
  code = simulate(*plan, *model, flags->job, options, errors);
  return code == ExitCode::done ? writePlan(*plan, options, errors) : code;
}
