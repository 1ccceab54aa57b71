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
  Workload workload{job.batch, plan.microBatches, makeRequest(job).costs};
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

ExitCode hfta::planPipeline(const DriverOptions &options,
                            llvm::raw_ostream &errors) {
  if (!checkOutputs(options, errors))
    return ExitCode::usage;
  llvm::SourceMgr sources;
  JobDiagnostics diagnostics(sources, errors);
  std::optional<Job> job = readPlanningFlags(options.jobFlags, diagnostics);
  if (!job)
    return ExitCode::input;
  std::optional<LayerModel> model = loadProfile(options, sources, errors);
  if (!model)
    return ExitCode::input;
  Cluster cluster = makeCluster(*job);
  PlanFailure failure;
  std::optional<PipelinePlan> plan =
      planning::planPipeline(*model, cluster, makeRequest(*job), failure);
  if (plan) {
    ExitCode code = simulate(*plan, *model, *job, options, errors);
    return code == ExitCode::done ? writePlan(*plan, options, errors) : code;
  }
  errors << llvm::formatv("hftac: error: no plan fits into {0} bytes a device\n"
                          "hint: with {1} there is one, which the stage from "
                          "'{2}' to '{3}' needs\n",
                          cluster.memory, failure.leastMemory, failure.first,
                          failure.last);
  return ExitCode::unsupported;
}
