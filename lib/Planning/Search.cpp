//===- Search.cpp - The best pipeline for a model and a cluster -----------===//

#include "Hfta/Planning/Search.h"
#include "Candidates.h"
#include "Hfta/Planning/Order.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir::hfta::planning;
using llvm::ArrayRef;

/// How many plans are judged after their estimate, and how many of these are
/// improved. With these numbers the search of a large cluster takes seconds.
static constexpr size_t kJudged = 48;
static constexpr size_t kImproved = 4;
/// Work of each improvement, in estimates.
static constexpr int64_t kBudget = 100000;
/// Plans that take so many times as long aren't improved.
static constexpr double kHopeless = 1.2;
/// How often the best plan is changed at random and improved again, and the
/// work after which that ends.
static constexpr unsigned kPerturbations = 100;
static constexpr int64_t kMostWork = 2000000;
/// Numbers of micro-batches that are searched to the end.
static constexpr size_t kMostSearches = 3;

//===----------------------------------------------------------------------===//
// From candidates to plans
//===----------------------------------------------------------------------===//

/// Gives each stage devices by number, the first free ones of its machines.
static void numberDevices(ArrayRef<Stage> stages, const Cluster &cluster,
                          PipelinePlan &plan) {
  std::vector<int64_t> next;
  next.reserve(cluster.devices.size());
  for (size_t machine = 0; machine < cluster.devices.size(); ++machine)
    next.push_back(cluster.getFirstDevice(machine));
  for (auto [stage, planned] : llvm::zip_equal(stages, plan.stages))
    for (const DeviceSet::Part &part : stage.devices.getParts())
      for (int32_t i = 0; i < part.count; ++i)
        planned.devices.push_back(next[part.machine]++);
}

static PipelinePlan makePlan(const StageCosts &costs,
                             const Candidate &candidate) {
  const Workload &workload = costs.getWorkload();
  PipelinePlan plan;
  plan.model = costs.getModel().digest;
  plan.cluster = costs.getCluster();
  plan.microBatches = workload.microBatches;
  plan.latency = candidate.latency;
  auto stations = costs.getStations(candidate.stages);
  LatencyEstimate estimate =
      estimateLatency(stations, workload, plan.cluster.duplex);
  plan.estimate = estimate.seconds;
  plan.pivot = estimate.pivot;
  plan.speedup = costs.getSerialTime() / plan.latency;
  bool allFirst = candidate.stages.size() > 1;
  for (auto [i, stage] : llvm::enumerate(candidate.stages)) {
    const Station &station = stations[2 * i];
    PlannedStage planned;
    planned.first = costs.getModel().layers[stage.first].name;
    planned.last = costs.getModel().layers[stage.last].name;
    planned.groups = workload.getGroups(stage.devices.size());
    planned.inFlight = candidate.inFlight[i];
    planned.forward = station.forward;
    planned.backward = station.backward;
    planned.allReduce = station.allReduce;
    planned.peakBytes = static_cast<int64_t>(std::ceil(costs.getPeakBytes(
        stage.first, stage.last, stage.devices.size(), candidate.inFlight[i])));
    planned.recomputes = costs.recomputes(stage.last);
    allFirst &= planned.inFlight == station.getRounds(workload.microBatches);
    plan.stages.push_back(std::move(planned));
  }
  plan.order = stringifyOrderKind(allFirst ? OrderKind::allForwardsFirst
                                           : OrderKind::oneForwardOneBackward)
                   .str();
  numberDevices(candidate.stages, costs.getCluster(), plan);
  return plan;
}

PipelinePlan mlir::hfta::planning::describePlan(const StageCosts &costs,
                                                ArrayRef<Stage> stages) {
  Judge judge(costs);
  Candidate candidate = judge.judge(stages);
  judge.chooseInFlight(candidate);
  return makePlan(costs, candidate);
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

/// Seeds by increasing latency.
static std::vector<Candidate> findSeeds(Judge &judge, size_t judged,
                                        size_t count) {
  CandidatePool pool(judge);
  addSeeds(judge, pool);
  if (judge.getCosts().getCluster().memory != 0)
    pool.add(getLeastMemoryStages(judge.getCosts()));
  return pool.takeBest(judged, count);
}

/// The best plan for one number of micro-batches; one that doesn't fit if none
/// does.
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
  // Out of the valley that the best seed lies in. Equal inputs draw equal
  // numbers.
  std::mt19937 random(1);
  for (unsigned i = 0; i < kPerturbations && judge.getWork() < kMostWork; ++i) {
    Candidate other = judge.judge(perturb(costs, best.stages, random));
    if (other.fits())
      keepBetter(std::move(other));
  }
  return best;
}

/// The numbers of micro-batches that are asked for. Of many, those of which a
/// few seeds are the best.
static std::vector<int64_t> chooseMicroBatches(const LayerModel &model,
                                               const Cluster &cluster,
                                               const PlanRequest &request) {
  if (request.microBatches != 0)
    return {request.microBatches};
  // Where nothing fits, small micro-batches need least memory.
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
