//===- Planner.cpp - Plans a pipeline -------------------------------------===//

#include "Plan/Planner.h"

#include "Hfta/Dialect/Hfta/Job/JobOrder.h"
#include "Hfta/Planning/Pipelines/ChunkSearch.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::planning;

//===----------------------------------------------------------------------===//
// The request
//===----------------------------------------------------------------------===//

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
// Given stages
//===----------------------------------------------------------------------===//

namespace {

/// Makes the stages whose cuts the job gives by names of layers or as last
/// layers. Devices are assigned in ascending order.
class GivenStages {
public:
  GivenStages(const PlanningProblem &problem, JobDiagnostics &diagnostics)
      : problem(problem), job(problem.job), layers(problem.model.layers),
        diagnostics(diagnostics) {}

  /// Returns the parts of the model and the devices of each stage, with chunks
  /// placed as a loop. Returns nothing after an error, which was reported.
  std::optional<ChunkedStages> make();

private:
  std::optional<int64_t> findLayer(llvm::StringRef name, llvm::SMRange range);
  bool findCuts();
  bool checkDevices();

  const PlanningProblem &problem;
  const Job &job;
  llvm::ArrayRef<Layer> layers;
  JobDiagnostics &diagnostics;
  // The last layer of each part, except that of the last part.
  llvm::SmallVector<int64_t, 4> cuts;
};

} // namespace

std::optional<int64_t> GivenStages::findLayer(llvm::StringRef name,
                                              llvm::SMRange range) {
  if (std::optional<int64_t> found = problem.model.findLayer(name))
    return found;
  llvm::SmallVector<llvm::StringRef> names;
  for (const Layer &layer : layers)
    names.push_back(layer.name);
  llvm::StringRef nearest = findNearest(name, names);
  diagnostics.error(range, problem.what + " has no layer '" + name + "'",
                    nearest.empty() ? "" : "did you mean '" + nearest + "'?");
  return std::nullopt;
}

/// Places each cut after the last of the layers that it names.
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

std::optional<ChunkedStages> GivenStages::make() {
  if (!findCuts() || !checkDevices())
    return std::nullopt;
  // With a single stage, its chunks follow each other, so the cuts don't
  // matter.
  if (job.getStageCount() == 1)
    cuts.clear();
  cuts.push_back(static_cast<int64_t>(layers.size()) - 1);
  ChunkedStages stages;
  int64_t first = 0;
  for (int64_t last : cuts) {
    stages.parts.push_back({first, last});
    first = last + 1;
  }
  FreeDevices free(problem.cluster.devices);
  for (int64_t stage = 0; stage < job.getStageCount(); ++stage)
    stages.devices.push_back(
        free.take(job.getReplicas(stage), Placement::append));
  return stages;
}

/// Returns whether all stages fit into memory with one micro-batch in flight.
/// Each must have one chunk. Sets `shortage` to the needs of the largest stage.
static bool fitsIntoMemory(const StageCosts &costs, const ChunkedStages &stages,
                           PlanFailure &shortage) {
  const std::vector<Layer> &layers = costs.getModel().layers;
  bool fits = true;
  for (auto [part, devices] : llvm::zip_equal(stages.parts, stages.devices)) {
    fits &= costs.getMostInFlight(part, devices.size()) > 0;
    double needed =
        costs.getPeakBytes(part.first, part.last, devices.size(), 1);
    auto bytes = static_cast<int64_t>(std::ceil(needed));
    if (bytes > shortage.leastMemory)
      shortage = {bytes, layers[part.first].name, layers[part.last].name};
  }
  return fits;
}

/// Returns the number of chunks of each stage.
static int64_t getChunks(const PlanningProblem &problem) {
  return problem.pipeline.plansStages ? problem.pipeline.chunks
                                      : problem.job.chunks;
}

/// Returns the placements of chunks to try, depending on the order that the job
/// names.
static llvm::SmallVector<ChunkPlacement, 2>
getPlacements(const PlanningProblem &problem) {
  const Job &job = problem.job;
  if (!job.orderRows.empty())
    return {job.isVShaped() ? ChunkPlacement::v : ChunkPlacement::loop};
  if (job.order == Job::kVShape)
    return {ChunkPlacement::v};
  constexpr int64_t kChunksOfV = 2;
  bool mayBeV =
      job.order == "auto" && getChunks(problem) == kChunksOfV &&
      (problem.pipeline.plansStages || getPipelineShape(job).isUniform());
  if (mayBeV)
    return {ChunkPlacement::loop, ChunkPlacement::v};
  return {ChunkPlacement::loop};
}

/// Returns the plans with the given stages, one for each placement of chunks.
/// After an error, returns none and sets `code`.
static std::vector<PipelinePlan> describeStages(const PlanningProblem &problem,
                                                JobDiagnostics &diagnostics,
                                                PlanFailure &shortage,
                                                ExitCode &code) {
  code = ExitCode::input;
  std::optional<ChunkedStages> stages =
      GivenStages(problem, diagnostics).make();
  if (!stages)
    return {};
  PlanRequest request = makeRequest(problem);
  Workload workload = request.getWorkload(request.microBatches);
  bool hasChunks = stages->parts.size() > stages->devices.size();
  Cluster cluster = problem.cluster;
  if (hasChunks)
    // How much memory they need depends on their order, which isn't known yet.
    cluster.memory = 0;
  StageCosts costs(problem.model, cluster, workload);
  std::vector<PipelinePlan> plans;
  if (hasChunks) {
    for (ChunkPlacement placement : getPlacements(problem)) {
      stages->placement = placement;
      plans.push_back(describePlan(costs, *stages));
      plans.back().cluster = problem.cluster;
    }
  } else if (fitsIntoMemory(costs, *stages, shortage)) {
    llvm::SmallVector<Stage, 4> plain;
    for (auto [part, devices] : llvm::zip(stages->parts, stages->devices))
      plain.push_back({part.first, part.last, devices});
    plans.push_back(describePlan(costs, plain, problem.job.inFlight));
  } else {
    code = ExitCode::unsupported;
  }
  return plans;
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

/// Returns whether the plan is small enough for simulating its step.
static bool isSimulated(const PipelinePlan &plan) {
  int64_t devices = 0;
  for (const PlannedStage &stage : plan.stages)
    devices += static_cast<int64_t>(stage.devices.size());
  return planning::isSimulated(devices, plan.microBatches);
}

static PlanSimulationOptions getSimulationOptions(const Job &job) {
  PlanSimulationOptions simulation;
  simulation.order =
      symbolizeOrderKind(job.order).value_or(OrderKind::automatic);
  simulation.bucket = static_cast<double>(job.bucket);
  simulation.overlaps = job.overlap;
  simulation.inFlight = job.inFlight;
  return simulation;
}

PlanFailure hfta::findLargestStage(const PipelinePlan &plan) {
  PlanFailure largest;
  for (const PlannedStage &stage : plan.stages)
    if (stage.peakBytes > largest.leastMemory)
      largest = {stage.peakBytes, stage.parts.front().first,
                 stage.parts.back().last};
  return largest;
}

/// Returns the memory with which the plan's stages have an order that the job
/// allows: what they need in the order with the fewest micro-batches in flight.
/// The error says why there is no such order with any amount of memory.
static llvm::Expected<PlanFailure>
measureNeeds(const PlanningProblem &problem, PipelinePlan plan,
             const PlanSimulationOptions &simulation) {
  plan.cluster.memory = 0;
  StageCosts costs(problem.model, plan.cluster,
                   makeRequest(problem).getWorkload(plan.microBatches));
  for (PlannedStage &stage : plan.stages)
    stage.inFlight = plan.microBatches;
  for (int64_t most = 1;; ++most) {
    PlanSimulationOptions limited = simulation;
    limited.inFlight.resize(plan.stages.size(), most);
    for (int64_t &inFlight : limited.inFlight)
      inFlight = std::min(inFlight, most);
    PipelinePlan next = plan;
    llvm::Expected<ChosenOrder> chosen = simulatePlan(next, costs, limited);
    if (chosen)
      return findLargestStage(next);
    if (most >= plan.microBatches)
      return chosen.takeError();
    llvm::consumeError(chosen.takeError());
  }
}

/// Simulates the orders whose stages fit into memory, and stores the best one
/// in the plan. Returns whether it fits: an order that the job gives may need
/// more memory than there is.
static llvm::Expected<bool> chooseOrder(const StageCosts &costs,
                                        const PlanSimulationOptions &simulation,
                                        SimulatedPlan &result) {
  bool fits =
      llvm::all_of(getPipeline(result.plan, costs, simulation).shape.inFlight,
                   [](int64_t most) { return most > 0; });
  if (!fits)
    return false;
  llvm::Expected<ChosenOrder> chosen =
      simulatePlan(result.plan, costs, simulation);
  if (!chosen)
    return chosen.takeError();
  result.step = std::move(*chosen);
  int64_t memory = costs.getCluster().memory;
  return !simulation.given || memory == 0 ||
         findLargestStage(result.plan).leastMemory <= memory;
}

/// Simulates the orders that the job allows, and stores the best one in the
/// plan. Returns `unsupported`, with the shortage in `result`, if none fits
/// into memory.
static ExitCode simulate(const PlanningProblem &problem,
                         llvm::raw_ostream &errors, SimulatedPlan &result) {
  const Job &job = problem.job;
  if (!isSimulated(result.plan))
    return ExitCode::done;
  Workload workload =
      makeRequest(problem).getWorkload(result.plan.microBatches);
  StageCosts costs(problem.model, result.plan.cluster, workload);
  PlanSimulationOptions simulation = getSimulationOptions(job);
  // A plan with a single stage has one chunk, whatever the job says.
  if (getChunks(problem) != result.plan.getChunks())
    simulation.order = OrderKind::automatic;
  if (!job.orderRows.empty()) {
    llvm::Expected<Order> order = makeOrder(job);
    if (!order) {
      errors << "hftac: error: " << llvm::toString(order.takeError()) << '\n';
      return ExitCode::input;
    }
    simulation.given = std::move(*order);
  }
  llvm::Expected<bool> fits = chooseOrder(costs, simulation, result);
  if (fits && *fits)
    return ExitCode::done;
  llvm::Error refusal = fits ? llvm::Error::success() : fits.takeError();
  if (problem.cluster.memory != 0) {
    llvm::consumeError(std::move(refusal));
    llvm::Expected<PlanFailure> needed =
        measureNeeds(problem, result.plan, simulation);
    if (needed) {
      result.shortage = std::move(*needed);
      return ExitCode::unsupported;
    }
    refusal = needed.takeError();
  }
  errors << "hftac: error: " << llvm::toString(std::move(refusal)) << '\n';
  return ExitCode::input;
}

void hfta::tellShortage(const PlanningProblem &problem, int64_t memory,
                        const PlanFailure &shortage,
                        llvm::raw_ostream &errors) {
  const char *text =
      problem.pipeline.plansStages
          ? "hftac: error: no plan fits into devices of {0} bytes\n"
            "hint: {1} bytes are enough; the stage {2} needs them\n"
          : "hftac: error: the stage {2} doesn't fit into {0} bytes a device, "
            "it needs {1}\n";
  // With several chunks, a stage isn't a contiguous range of layers.
  const char *layers = getChunks(problem) == 1
                           ? "from '{0}' to '{1}'"
                           : "whose parts begin with '{0}' and end with '{1}'";
  std::string which =
      llvm::formatv(layers, shortage.first, shortage.last).str();
  errors << llvm::formatv(text, memory, shortage.leastMemory, which);
}

static SimulatedPlan takeBest(std::vector<SimulatedPlan> plans) {
  llvm::SmallVector<OrderMeasure, 2> measures;
  for (const SimulatedPlan &next : plans) {
    OrderMeasure &measure = measures.emplace_back();
    measure.length = next.plan.getLength();
    for (const PlannedStage &stage : next.plan.stages)
      measure.inFlight +=
          stage.inFlight * static_cast<int64_t>(stage.devices.size());
  }
  return std::move(plans[*pickBest(measures)]);
}

/// The beginning of error messages about problems that are too large to
/// simulate.
static constexpr llvm::StringLiteral kSimulated =
    "stages of several chunks are planned by simulation, of at most ";

/// Checks that there are few enough micro-batches for simulating a step.
static bool checkMicroBatches(const PlanningProblem &problem,
                              JobDiagnostics &diagnostics) {
  PlanRequest request = makeRequest(problem);
  int64_t parts = std::max(request.microBatches, request.groups);
  std::string simulated = kSimulated.str() +
                          std::to_string(kMostSimulatedMicroBatches) +
                          " micro-batches, ";
  llvm::SMRange range = problem.pipeline.microBatchesRange;
  if (!range.isValid())
    range = problem.pipeline.range;
  if (parts > kMostSimulatedMicroBatches)
    diagnostics.error(range, simulated + "not " + llvm::Twine(parts));
  else if (listMicroBatches(request).empty())
    diagnostics.error(range, simulated + "but no number from " +
                                 llvm::Twine(request.groups) +
                                 " groups on divides the batch of " +
                                 llvm::Twine(request.batch));
  return !diagnostics.hasErrors();
}

/// Checks that the given stages are few enough for simulation, if their time
/// can be found only by simulation.
static bool checkGivenStages(const PlanningProblem &problem,
                             JobDiagnostics &diagnostics) {
  const Job &job = problem.job;
  if (job.chunks == 1 || job.getStageCount() == 1)
    return true;
  if (job.getWorkers() > kMostSimulatedDevices)
    diagnostics.error(problem.pipeline.replicasRange,
                      kSimulated + llvm::Twine(kMostSimulatedDevices) +
                          " devices, not " + llvm::Twine(job.getWorkers()));
  return !diagnostics.hasErrors() && checkMicroBatches(problem, diagnostics);
}

/// Checks that stages of several chunks can be planned: the model needs enough
/// layers, the cluster enough devices for two stages, and the step few enough
/// micro-batches.
static bool checkChunks(const PlanningProblem &problem,
                        JobDiagnostics &diagnostics) {
  int64_t chunks = getChunks(problem);
  if (!checkMicroBatches(problem, diagnostics))
    return false;
  if (countChunkedStages(problem.model, problem.cluster, chunks) > 1)
    return true;
  int64_t devices = problem.cluster.getDeviceCount();
  auto layers = problem.model.layers.size();
  std::string stages =
      "stages of " + std::to_string(chunks) + " chunks are planned for ";
  if (devices < 2)
    diagnostics.error(problem.pipeline.range,
                      stages + "2 devices or more, the cluster has " +
                          llvm::Twine(devices));
  else
    diagnostics.error(problem.pipeline.range,
                      stages + "models of " + llvm::Twine(2 * chunks) +
                          " layers or more, " + problem.what + " has " +
                          llvm::Twine(layers));
  return false;
}

/// Returns the best plans with stages of several chunks, one for each
/// placement; none if nothing fits.
static std::vector<PipelinePlan>
planChunkedStages(const PlanningProblem &problem, PlanFailure &shortage) {
  std::vector<PipelinePlan> plans;
  for (ChunkPlacement placement : getPlacements(problem)) {
    PlanFailure failure;
    std::optional<PipelinePlan> plan =
        planChunks(problem.model, problem.cluster, makeRequest(problem),
                   {getChunks(problem), placement},
                   getSimulationOptions(problem.job), failure);
    if (plan)
      plans.push_back(std::move(*plan));
    else
      shortage.takeLess(failure);
  }
  return plans;
}

ExitCode hfta::makePlan(const PlanningProblem &problem,
                        JobDiagnostics &diagnostics, llvm::raw_ostream &errors,
                        SimulatedPlan &result) {
  ExitCode code = ExitCode::unsupported;
  result.shortage = PlanFailure();
  std::vector<PipelinePlan> plans;
  bool plansChunks = problem.pipeline.plansStages && getChunks(problem) > 1;
  bool isAllowed = plansChunks ? checkChunks(problem, diagnostics)
                               : problem.pipeline.plansStages ||
                                     checkGivenStages(problem, diagnostics);
  if (!isAllowed)
    return ExitCode::input;
  if (plansChunks)
    plans = planChunkedStages(problem, result.shortage);
  else if (!problem.pipeline.plansStages)
    plans = describeStages(problem, diagnostics, result.shortage, code);
  else if (std::optional<PipelinePlan> plan =
               planning::planPipeline(problem.model, problem.cluster,
                                      makeRequest(problem), result.shortage))
    plans.push_back(std::move(*plan));
  std::vector<SimulatedPlan> simulated;
  for (PipelinePlan &plan : plans) {
    SimulatedPlan next = {std::move(plan), std::nullopt, {}};
    code = simulate(problem, errors, next);
    if (code == ExitCode::done)
      simulated.push_back(std::move(next));
    else if (code == ExitCode::unsupported)
      result.shortage.takeLess(next.shortage);
    else
      return code;
  }
  if (simulated.empty())
    return code;
  result = takeBest(std::move(simulated));
  return ExitCode::done;
}
