//===- ChunkJudge.cpp - Rates cuts for stages of several chunks -----------===//

#include "Pipelines/ChunkJudge.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <cmath>

using namespace mlir::hfta::planning;

/// About the number of orders that are simulated to choose one, each with
/// several numbers of places for received values.
static constexpr int64_t kChoices = 16;

ChunkJudge::ChunkJudge(const StageCosts &costs, const ChunkRequest &request,
                       const PlanSimulationOptions &options, int64_t stages)
    : costs(costs), placement(request.placement), options(options),
      stages(stages), count(stages * request.chunks),
      layers(costs.getLayerCount()) {
  const std::vector<int64_t> &machines = costs.getCluster().devices;
  // If there are fewer stages than devices, use the machines with the most
  // devices.
  auto order = llvm::to_vector(llvm::seq<int32_t>(0, machines.size()));
  if (stages < costs.getCluster().getDeviceCount())
    llvm::stable_sort(order, [&](int32_t one, int32_t other) {
      return machines[one] > machines[other];
    });
  FreeDevices free(machines, order);
  for (int64_t stage = 0; stage < stages; ++stage)
    devices.push_back(free.take(1, Placement::append));
  shape = make(Cuts(count - 1, 0)).getShape(costs.getWorkload());
}

int64_t ChunkJudge::getWorkOfChoice() const {
  return kChoices * getWorkOfStep();
}

ChunkedStages ChunkJudge::make(const Cuts &cuts) const {
  ChunkedStages made;
  int64_t first = 0;
  for (int64_t last : cuts) {
    made.parts.push_back({first, last});
    first = last + 1;
  }
  made.parts.push_back({first, layers - 1});
  made.devices = devices;
  made.placement = placement;
  return made;
}

bool ChunkJudge::fits(const ChunkedStages &made) const {
  if (costs.getCluster().memory == 0)
    return true;
  for (int64_t stage = 0; stage < stages; ++stage)
    if (costs.getMostInFlight(made.getParts(shape, stage), 1) == 0)
      return false;
  return true;
}

/// Returns the seconds that the busiest link needs for all messages of a step.
double ChunkJudge::estimateLinks(const ChunkedStages &made) const {
  const Cluster &cluster = costs.getCluster();
  std::map<std::pair<int64_t, int64_t>, double> busy;
  double most = 0;
  for (int64_t part = 0; part + 1 < count; ++part) {
    int64_t from = shape.getPosition(part), to = shape.getPosition(part + 1);
    if (from == to)
      continue;
    int64_t there = devices[from].getParts()[0].machine;
    int64_t here = devices[to].getParts()[0].machine;
    bool isNetwork = there != here;
    // Channels within a machine have negative keys, which distinguishes them
    // from those between machines.
    auto key = isNetwork ? std::make_pair(there, here)
                         : std::make_pair(-1 - from, -1 - to);
    double seconds = costs.getCrossingBytes(made.parts[part].last) /
                         (isNetwork ? cluster.network : cluster.link) +
                     cluster.latency;
    std::pair<int64_t, int64_t> back = {key.second, key.first};
    if (cluster.duplex == Duplex::half)
      back = key = std::minmax({key.first, key.second});
    most = std::max(most, busy[key] += seconds);
    most = std::max(most, busy[back] += seconds);
  }
  return most * static_cast<double>(shape.microBatches);
}

double ChunkJudge::estimate(const Cuts &cuts) const {
  ChunkedStages made = make(cuts);
  if (!fits(made))
    return kNever;
  const Cluster &cluster = costs.getCluster();
  double longest = estimateLinks(made), ramp = 0;
  std::vector<double> load(stages, 0), before(stages, 0), after(stages, 0);
  for (int64_t part = 0; part < count; ++part) {
    auto [first, last] = made.parts[part];
    int64_t stage = shape.getPosition(part);
    // In every placement, the first `stages` parts belong to a different stage
    // each.
    if (part < stages)
      before[stage] = ramp;
    double seconds = costs.getComputeTime(first, last) * cluster.slowdown;
    load[stage] += seconds;
    after[stage] += costs.getUpdateTime(first, last);
    ramp += seconds;
    if (part + 1 < count && shape.getPosition(part + 1) != stage)
      ramp +=
          2 * (costs.getCrossingBytes(last) / cluster.link + cluster.latency);
  }
  for (int64_t stage = 0; stage < stages; ++stage)
    longest = std::max(
        longest, before[stage] + after[stage] +
                     load[stage] * static_cast<double>(shape.microBatches));
  return longest;
}

double ChunkJudge::countBytes(const Cuts &cuts) const {
  ChunkedStages made = make(cuts);
  std::vector<int64_t> one(count, 1);
  double most = 0;
  for (int64_t stage = 0; stage < stages; ++stage)
    most = std::max(most, getBytes(made, stage, one));
  return most;
}

double ChunkJudge::getBytes(const ChunkedStages &made, int64_t stage,
                            llvm::ArrayRef<int64_t> instances) const {
  double bytes = 0;
  for (int64_t chunk = 0; chunk < shape.chunks; ++chunk) {
    int64_t part = shape.getStage(stage, chunk);
    auto [first, last] = made.parts[part];
    bytes += costs.getPeakBytes(first, last, 1, instances[part]);
  }
  return bytes;
}

/// Returns an order that doesn't depend on times, with the given numbers in
/// flight; null if there is none. Orders are made once and kept.
const Order *ChunkJudge::getOrder(llvm::ArrayRef<int64_t> inFlight) {
  auto [entry, isNew] = orders.try_emplace(inFlight.vec());
  std::optional<Order> &order = entry->second;
  if (!isNew)
    return order ? &*order : nullptr;
  PipelineShape limited = shape;
  limited.inFlight.assign(inFlight.begin(), inFlight.end());
  llvm::Expected<Order> made =
      makeOrder(shape.placement == ChunkPlacement::v ? OrderKind::vShape
                                                     : OrderKind::interleaved,
                limited);
  if (!made) {
    llvm::consumeError(made.takeError());
    // The list scheduler can make orders with less in flight. It needs times;
    // equal times for all stages are good enough.
    Order listed = makeListOrder(
        limited, PipelineWork::getEqual(limited.getStages(), 1, 1, 1), {}, {});
    if (!verifyOrder(listed))
      order = std::move(listed);
    return order ? &*order : nullptr;
  }
  order = std::move(*made);
  return &*order;
}

/// Returns, for each stage, whether it needs more memory than its device has.
llvm::SmallVector<bool> ChunkJudge::findTooLarge(const ChunkedStages &made,
                                                 const Order &order) const {
  auto memory = static_cast<double>(costs.getCluster().memory);
  std::vector<int64_t> instances = getInstances(order);
  llvm::SmallVector<bool> isTooLarge;
  for (int64_t stage = 0; stage < stages; ++stage)
    isTooLarge.push_back(memory != 0 &&
                         getBytes(made, stage, instances) > memory);
  return isTooLarge;
}

double ChunkJudge::simulate(const Cuts &cuts) {
  ChunkedStages made = make(cuts);
  if (!fits(made))
    return kNever;
  PlannedPipeline pipeline =
      getPipeline(describePlan(costs, made), costs, options);
  llvm::SmallVector<int64_t> inFlight = pipeline.shape.inFlight;
  while (const Order *order = getOrder(inFlight)) {
    llvm::SmallVector<bool> isTooLarge = findTooLarge(made, *order);
    if (llvm::is_contained(isTooLarge, true)) {
      if (!shrinkInFlight(inFlight, isTooLarge))
        break;
      continue;
    }
    work += getWorkOfStep();
    PipelineRun run = simulateOrder(*order, pipeline.work, pipeline.places);
    return run.result.hasEnded() ? run.getLength() : kNever;
  }
  return kNever;
}

std::optional<PipelinePlan> ChunkJudge::plan(const Cuts &cuts) const {
  ChunkedStages made = make(cuts);
  if (!fits(made))
    return std::nullopt;
  PipelinePlan plan = describePlan(costs, made);
  llvm::Expected<ChosenOrder> chosen = simulatePlan(plan, costs, options);
  if (!chosen) {
    llvm::consumeError(chosen.takeError());
    return std::nullopt;
  }
  int64_t memory = costs.getCluster().memory;
  for (const PlannedStage &stage : plan.stages)
    if (memory != 0 && stage.peakBytes > memory)
      return std::nullopt;
  return plan;
}

double ChunkJudge::chooseOrder(const Cuts &cuts) {
  auto [entry, isNew] = lengths.try_emplace(cuts, kNever);
  if (isNew) {
    work += getWorkOfChoice();
    std::optional<PipelinePlan> next = plan(cuts);
    if (next)
      entry->second = next->getLength();
    if (next &&
        (!shortest.second || next->getLength() < shortest.second->getLength()))
      shortest = {cuts, std::move(next)};
  }
  return entry->second;
}

std::optional<PipelinePlan> ChunkJudge::describe(const Cuts &cuts) {
  return cuts == shortest.first ? shortest.second : plan(cuts);
}

PlanFailure ChunkJudge::measureShortage(const Cuts &cuts) {
  ChunkedStages made = make(cuts);
  int64_t inFlight = 1;
  const Order *order = nullptr;
  while (!(order = getOrder(std::vector<int64_t>(stages, inFlight))) &&
         inFlight < shape.microBatches)
    ++inFlight;
  PlanFailure failure;
  std::vector<int64_t> instances(count, inFlight);
  if (order)
    for (auto [most, own] : llvm::zip_equal(instances, getInstances(*order)))
      most = std::max(most, own);
  for (int64_t stage = 0; stage < stages; ++stage) {
    auto bytes =
        static_cast<int64_t>(std::ceil(getBytes(made, stage, instances)));
    if (bytes <= failure.leastMemory)
      continue;
    auto parts = made.getParts(shape, stage);
    const std::vector<Layer> &names = costs.getModel().layers;
    failure = {bytes, names[parts.front().first].name,
               names[parts.back().last].name};
  }
  return failure;
}
