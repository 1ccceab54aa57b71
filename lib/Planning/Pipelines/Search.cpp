//===- Search.cpp - The best pipeline for a model and a cluster -----------===//

#include "Hfta/Planning/Pipelines/Search.h"
#include "Hfta/Planning/Pipelines/Order.h"
#include "Pipelines/Candidates.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir::hfta::planning;
using llvm::ArrayRef;

/// The number of plans that are judged because of their estimates, and the
/// number of these that are improved. With these numbers, the search for a
/// large cluster takes seconds.
static constexpr size_t kJudged = 48;
static constexpr size_t kImproved = 4;
/// The work of each improvement, in the judge's units (estimates).
static constexpr int64_t kBudget = 100000;
/// Plans whose latency exceeds the best one's by this factor aren't improved.
static constexpr double kHopeless = 1.2;
/// How often the best plan is changed at random and improved again, and the
/// total work after which this stops.
static constexpr unsigned kPerturbations = 100;
static constexpr int64_t kMostWork = 2000000;
/// The most numbers of micro-batches for which plans are searched completely.
static constexpr size_t kMostSearches = 3;

//===----------------------------------------------------------------------===//
// From candidates to plans
//===----------------------------------------------------------------------===//

/// Assigns device numbers to the stages: on each of its machines, a stage gets
/// the first devices that are still free.
static void numberDevices(ArrayRef<DeviceSet> devices, const Cluster &cluster,
                          PipelinePlan &plan) {
  std::vector<int64_t> next;
  next.reserve(cluster.devices.size());
  for (size_t machine = 0; machine < cluster.devices.size(); ++machine)
    next.push_back(cluster.getFirstDevice(machine));
  for (auto [set, planned] : llvm::zip_equal(devices, plan.stages))
    for (const DeviceSet::Part &part : set.getParts())
      for (int32_t i = 0; i < part.count; ++i)
        planned.devices.push_back(next[part.machine]++);
}

/// Describes the layers of a stage as part number `number` of the model.
static PlannedPart makePart(const StageCosts &costs, const Stage &stage,
                            int64_t number) {
  Station station = costs.getStation(stage);
  PlannedPart part;
  part.number = number;
  part.first = costs.getModel().layers[stage.first].name;
  part.last = costs.getModel().layers[stage.last].name;
  part.forward = station.forward;
  part.backward = station.backward;
  part.recomputes = costs.recomputes(stage.last);
  return part;
}

/// Makes a plan without stages.
static PipelinePlan makePlan(const StageCosts &costs) {
  PipelinePlan plan;
  plan.model = costs.getModel().digest;
  plan.cluster = costs.getCluster();
  plan.microBatches = costs.getWorkload().microBatches;
  return plan;
}

static PipelinePlan makePlan(const StageCosts &costs,
                             const Candidate &candidate) {
  const Workload &workload = costs.getWorkload();
  PipelinePlan plan = makePlan(costs);
  plan.latency = candidate.latency;
  auto stations = costs.getStations(candidate.stages);
  LatencyEstimate estimate =
      estimateLatency(stations, workload, plan.cluster.duplex);
  plan.estimate = estimate.seconds;
  plan.pivot = estimate.pivot;
  plan.speedup = costs.getSerialTime() / plan.latency;
  bool allFirst = candidate.stages.size() > 1;
  llvm::SmallVector<DeviceSet, 8> devices;
  for (auto [i, stage] : llvm::enumerate(candidate.stages)) {
    const Station &station = stations[2 * i];
    PlannedStage planned;
    planned.parts = {makePart(costs, stage, static_cast<int64_t>(i))};
    planned.groups = workload.getGroups(stage.devices.size());
    planned.inFlight = candidate.inFlight[i];
    planned.allReduce = station.allReduce;
    planned.peakBytes = static_cast<int64_t>(std::ceil(costs.getPeakBytes(
        stage.first, stage.last, stage.devices.size(), candidate.inFlight[i])));
    allFirst &= planned.inFlight == station.getRounds(workload.microBatches);
    plan.stages.push_back(std::move(planned));
    devices.push_back(stage.devices);
  }
  plan.order = stringifyOrderKind(allFirst ? OrderKind::allForwardsFirst
                                           : OrderKind::oneForwardOneBackward)
                   .str();
  numberDevices(devices, costs.getCluster(), plan);
  return plan;
}

PipelinePlan
mlir::hfta::planning::describePlan(const StageCosts &costs,
                                   ArrayRef<Stage> stages,
                                   ArrayRef<int64_t> mostInFlight) {
  Judge judge(costs);
  Candidate candidate = judge.judge(stages);
  judge.chooseInFlight(candidate);
  if (!mostInFlight.empty()) {
    for (auto [own, most] : llvm::zip_equal(candidate.inFlight, mostInFlight))
      own = std::min(own, most);
    candidate.latency =
        getLatency(costs.getStations(stages), candidate.inFlight,
                   costs.getWorkload(), costs.getCluster().duplex);
  }
  return makePlan(costs, candidate);
}

//===----------------------------------------------------------------------===//
// Stages of several chunks
//===----------------------------------------------------------------------===//

PipelineShape ChunkedStages::getShape(const Workload &workload) const {
  PipelineShape shape;
  shape.microBatches = workload.microBatches;
  shape.chunks = static_cast<int64_t>(parts.size() / devices.size());
  shape.placement = placement;
  shape.replicas.clear();
  for (const DeviceSet &set : devices) {
    shape.replicas.push_back(set.size());
    shape.groups.push_back(workload.getGroups(set.size()));
  }
  return shape;
}

llvm::SmallVector<LayerRange, 4>
ChunkedStages::getParts(const PipelineShape &shape, int64_t stage) const {
  llvm::SmallVector<LayerRange, 4> own;
  for (int64_t chunk = 0; chunk < shape.chunks; ++chunk)
    own.push_back(parts[shape.getStage(stage, chunk)]);
  return own;
}

PipelinePlan mlir::hfta::planning::describePlan(const StageCosts &costs,
                                                const ChunkedStages &stages) {
  PipelinePlan plan = makePlan(costs);
  plan.order = stringifyOrderKind(OrderKind::automatic).str();
  PipelineShape shape = stages.getShape(costs.getWorkload());
  for (auto [index, devices] : llvm::enumerate(stages.devices)) {
    auto position = static_cast<int64_t>(index);
    PlannedStage planned;
    planned.groups = shape.groups[position];
    planned.inFlight =
        costs.getMostInFlight(stages.getParts(shape, position), devices.size());
    for (int64_t chunk = 0; chunk < shape.chunks; ++chunk) {
      int64_t number = shape.getStage(position, chunk);
      auto [first, last] = stages.parts[number];
      Stage part{first, last, devices};
      planned.parts.push_back(makePart(costs, part, number));
      planned.allReduce += costs.getStation(part).allReduce;
    }
    plan.stages.push_back(std::move(planned));
  }
  numberDevices(stages.devices, costs.getCluster(), plan);
  return plan;
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

/// Returns the best initial plans, sorted by latency.
static std::vector<Candidate> findSeeds(Judge &judge, size_t judged,
                                        size_t count) {
  CandidatePool pool(judge);
  addSeeds(judge, pool);
  if (judge.getCosts().getCluster().memory != 0)
    pool.add(getLeastMemoryStages(judge.getCosts()));
  return pool.takeBest(judged, count);
}

/// Returns the best plan for one number of micro-batches. If none fits into
/// memory, returns one that doesn't.
static Candidate search(const StageCosts &costs) {
  Judge judge(costs);
  Candidate best;
  auto keepBetter = [&](Candidate candidate) {
    candidate = improve(judge, std::move(candidate), kBudget);
    judge.chooseInFlight(candidate);
    if (candidate.latency < best.latency)
      best = std::move(candidate);
  };
  for (Candidate &seed : findSeeds(judge, kJudged, kImproved))
    if (seed.latency <= kHopeless * best.latency &&
        judge.getWork() <= kMostWork)
      keepBetter(std::move(seed));
  if (!best.fits())
    return best;
  // Perturbations leave the local optimum of the best seed. The fixed seed of
  // the random numbers makes the result reproducible.
  std::mt19937 random(1);
  for (unsigned i = 0; i < kPerturbations && judge.getWork() < kMostWork; ++i) {
    Candidate other = judge.judge(perturb(costs, best.stages, random));
    if (other.fits())
      keepBetter(std::move(other));
  }
  return best;
}

/// Returns the number of micro-batches that was requested, or if any may be
/// used, those with the best of a few initial plans.
static std::vector<int64_t> chooseMicroBatches(const LayerModel &model,
                                               const Cluster &cluster,
                                               const PlanRequest &request) {
  if (request.microBatches != 0)
    return {request.microBatches};
  // The count is negated so that, if nothing fits for several counts, small
  // micro-batches come first: they need the least memory.
  std::vector<std::pair<double, int64_t>> counts;
  for (int64_t count = 1; count <= request.batch; ++count) {
    if (request.batch % count != 0 || count < request.groups)
      continue;
    StageCosts costs(model, cluster, request.getWorkload(count));
    Judge judge(costs);
    std::vector<Candidate> seeds = findSeeds(judge, kJudged / 8, 1);
    counts.emplace_back(seeds.empty() ? std::numeric_limits<double>::infinity()
                                      : seeds.front().latency,
                        -count);
  }
  llvm::sort(counts);
  std::vector<int64_t> best;
  for (const auto &[latency, count] : counts)
    if (best.size() < kMostSearches)
      best.push_back(-count);
  return best;
}

std::optional<PipelinePlan> mlir::hfta::planning::planPipeline(
    const LayerModel &model, const Cluster &cluster, const PlanRequest &request,
    PlanFailure &failure) {
  std::optional<PipelinePlan> best;
  failure.leastMemory = 0;
  for (int64_t count : chooseMicroBatches(model, cluster, request)) {
    StageCosts costs(model, cluster, request.getWorkload(count));
    Candidate found = search(costs);
    if (found.fits()) {
      if (!best || found.latency < best->latency)
        best = makePlan(costs, found);
      continue;
    }
    PlanFailure least = findLeastMemory(costs);
    if (failure.leastMemory == 0 || least.leastMemory < failure.leastMemory)
      failure = least;
  }
  return best;
}
