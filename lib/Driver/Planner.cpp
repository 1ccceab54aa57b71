//===- Planner.cpp - Plans what a job or flags ask for --------------------===//

#include "Planner.h"

#include "Hfta/Dialect/Hfta/IR/JobOrder.h"
#include "Hfta/Planning/Search.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::planning;

//===----------------------------------------------------------------------===//
// What is asked for
//===----------------------------------------------------------------------===//

Cluster hfta::makeCluster(const Job &job) {
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

static PlanRequest makeRequest(const PlanningProblem &problem) {
  const Job &job = problem.job;
  const PipelineRequest &pipeline = problem.pipeline;
  bool plansBoth = pipeline.plansStages && pipeline.plansMicroBatches;
  PlanRequest request;
  request.batch = job.batch;
  request.microBatches = plansBoth ? 0 : job.microBatches;
  request.costs =
      job.planCosts == "published" ? CostRule::published : CostRule::units;
  request.groups = std::max(job.groups, pipeline.groups);
  request.recomputes = problem.recomputes;
  request.bucket = static_cast<double>(job.bucket);
  return request;
}

//===----------------------------------------------------------------------===//
// Stages that are given
//===----------------------------------------------------------------------===//

namespace {

/// Makes stages of the layers that cuts name, on devices in the order of their
/// numbers.
class GivenStages {
public:
  GivenStages(const PlanningProblem &problem, JobDiagnostics &diagnostics)
      : problem(problem), job(problem.job), layers(problem.model.layers),
        diagnostics(diagnostics) {}

  /// Empty after an error.
  llvm::SmallVector<Stage, 4> make();

private:
  std::optional<int64_t> findLayer(llvm::StringRef name, llvm::SMRange range);
  bool findCuts();
  bool checkDevices();

  const PlanningProblem &problem;
  const Job &job;
  llvm::ArrayRef<Layer> layers;
  JobDiagnostics &diagnostics;
  llvm::SmallVector<int64_t, 4> cuts; // last layers
};

} // namespace

std::optional<int64_t> GivenStages::findLayer(llvm::StringRef name,
                                              llvm::SMRange range) {
  llvm::SmallVector<llvm::StringRef> names;
  for (auto [index, layer] : llvm::enumerate(layers)) {
    if (layer.name == name)
      return index;
    names.push_back(layer.name);
  }
  llvm::StringRef nearest = findNearest(name, names);
  diagnostics.error(range, problem.what + " has no layer '" + name + "'",
                    nearest.empty() ? "" : "did you mean '" + nearest + "'?");
  return std::nullopt;
}

/// A cut stands after all layers that it names.
bool GivenStages::findCuts() {
  if (!problem.lastLayers.empty()) {
    cuts.assign(problem.lastLayers.begin(), problem.lastLayers.end());
    return true;
  }
  const llvm::SMRange *range = problem.pipeline.cutRanges.data();
  for (const std::vector<std::string> &names : job.cuts) {
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
    else if (last + 1 == static_cast<int64_t>(layers.size()))
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
  for (int64_t stage = 0; stage < job.getStageCount(); ++stage)
    wanted += job.getReplicas(stage);
  int64_t devices = problem.cluster.getDeviceCount();
  if (wanted <= devices)
    return true;
  diagnostics.error(problem.pipeline.replicasRange,
                    llvm::Twine(wanted) + " replicas on " +
                        llvm::Twine(devices) + " devices",
                    "each has a device of its own");
  return false;
}

llvm::SmallVector<Stage, 4> GivenStages::make() {
  llvm::SmallVector<Stage, 4> stages;
  if (!findCuts() || !checkDevices())
    return stages;
  cuts.push_back(static_cast<int64_t>(layers.size()) - 1);
  FreeDevices free(problem.cluster.devices);
  int64_t first = 0;
  for (auto [stage, last] : llvm::enumerate(cuts)) {
    stages.push_back(
        {first, last, free.take(job.getReplicas(stage), Placement::append)});
    first = last + 1;
  }
  return stages;
}

/// The plan with the stages that are given; nothing after an error.
static std::optional<PipelinePlan>
describeStages(const PlanningProblem &problem, JobDiagnostics &diagnostics,
               PlanFailure &shortage, ExitCode &code) {
  code = ExitCode::input;
  llvm::SmallVector<Stage, 4> stages = GivenStages(problem, diagnostics).make();
  if (stages.empty())
    return std::nullopt;
  const std::vector<Layer> &layers = problem.model.layers;
  PlanRequest request = makeRequest(problem);
  StageCosts costs(problem.model, problem.cluster,
                   request.getWorkload(request.microBatches));
  bool fits = true;
  for (const Stage &stage : stages) {
    int64_t replicas = stage.devices.size();
    fits &= costs.getMostInFlight(stage.first, stage.last, replicas) > 0;
    auto bytes = static_cast<int64_t>(
        std::ceil(costs.getPeakBytes(stage.first, stage.last, replicas, 1)));
    if (bytes > shortage.leastMemory)
      shortage = {bytes, layers[stage.first].name, layers[stage.last].name};
  }
  if (fits)
    return describePlan(costs, stages);
  code = ExitCode::unsupported;
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

/// Simulates the orders that the job allows; the plan gets the best one.
static ExitCode simulate(const PlanningProblem &problem,
                         llvm::raw_ostream &errors, SimulatedPlan &result) {
  const Job &job = problem.job;
  if (!isSimulated(result.plan))
    return ExitCode::done;
  Workload workload =
      makeRequest(problem).getWorkload(result.plan.microBatches);
  StageCosts costs(problem.model, result.plan.cluster, workload);
  PlanSimulationOptions simulation;
  simulation.order =
      symbolizeOrderKind(job.order).value_or(OrderKind::automatic);
  simulation.bucket = static_cast<double>(job.bucket);
  simulation.overlaps = job.overlap;
  simulation.inFlight = job.inFlight;
  if (!job.orderRows.empty()) {
    llvm::Expected<Order> order = makeOrder(job);
    if (!order) {
      errors << "hftac: error: " << llvm::toString(order.takeError()) << '\n';
      return ExitCode::input;
    }
    simulation.given = std::move(*order);
  }
  llvm::Expected<ChosenOrder> chosen =
      simulatePlan(result.plan, costs, simulation);
  if (!chosen) {
    errors << "hftac: error: " << llvm::toString(chosen.takeError()) << '\n';
    return ExitCode::input;
  }
  result.step = std::move(*chosen);
  return ExitCode::done;
}

void hfta::tellShortage(const PlanningProblem &problem, int64_t memory,
                        const PlanFailure &shortage,
                        llvm::raw_ostream &errors) {
  const char *text =
      problem.pipeline.plansStages
          ? "hftac: error: no plan fits into {0} bytes a device\n"
            "hint: with {1} there is one, which the stage from "
            "'{2}' to '{3}' needs\n"
          : "hftac: error: the stage from '{2}' to '{3}' doesn't "
            "fit into {0} bytes a device, it needs {1}\n";
  errors << llvm::formatv(text, memory, shortage.leastMemory, shortage.first,
                          shortage.last);
}

ExitCode hfta::makePlan(const PlanningProblem &problem,
                        JobDiagnostics &diagnostics, llvm::raw_ostream &errors,
                        SimulatedPlan &result) {
  ExitCode code = ExitCode::unsupported;
  result.shortage = PlanFailure();
  std::optional<PipelinePlan> plan =
      problem.pipeline.plansStages
          ? planning::planPipeline(problem.model, problem.cluster,
                                   makeRequest(problem), result.shortage)
          : describeStages(problem, diagnostics, result.shortage, code);
  if (!plan)
    return code;
  result.plan = std::move(*plan);
  return simulate(problem, errors, result);
}
