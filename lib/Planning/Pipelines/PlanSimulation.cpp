//===- PlanSimulation.cpp - Chooses and simulates a plan's order ----------===//

#include "Hfta/Planning/Pipelines/PlanSimulation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

/// Bytes per second of a link on which one byte takes a picosecond.
static constexpr double kTicksPerSecond = 1e12;

namespace {
/// Translates a plan into the simulator's terms.
class PlanReader {
public:
  PlanReader(const PipelinePlan &plan, const StageCosts &costs,
             const PlanSimulationOptions &options)
      : plan(plan), costs(costs), options(options),
        isDivided(costs.getWorkload().costs == CostRule::published) {}

  PlannedPipeline read();
  std::vector<int64_t> getPeakBytes(const Order &order) const;
  /// Updates a plan's fields after its order has been chosen.
  void update(PipelinePlan &changed, const ChosenOrder &chosen) const;

private:
  Stage getPart(const PlannedPart &planned,
                const std::vector<int64_t> &devices) const;
  StageWork getWork(const PlannedPart &planned, const Stage &part) const;
  std::vector<BlockSum> getSums(const Stage &part) const;
  StageMessage getMessage(int64_t from) const;

  const PipelinePlan &plan;
  const StageCosts &costs;
  const PlanSimulationOptions &options;
  bool isDivided;
  /// The parts of the model, with the devices of their stages.
  std::vector<Stage> parts;
};
} // namespace

Stage PlanReader::getPart(const PlannedPart &planned,
                          const std::vector<int64_t> &devices) const {
  const LayerModel &model = costs.getModel();
  Stage part{
      *model.findLayer(planned.first), *model.findLayer(planned.last), {}};
  for (int64_t device : devices)
    part.devices.add(static_cast<int32_t>(plan.cluster.getMachineOf(device)),
                     1);
  return part;
}

/// Returns the all-reduces of a part's gradients, one for each bucket. Backward
/// goes through the layers from the last to the first; a bucket is complete
/// when its last layer has been reached.
std::vector<BlockSum> PlanReader::getSums(const Stage &part) const {
  std::vector<BlockSum> sums;
  double all = costs.getBackwardTime(part.first, part.last), bytes = 0;
  for (int64_t layer = part.last; layer >= part.first; --layer) {
    bytes += costs.getParameterBytes(layer, layer);
    if (bytes == 0 || (bytes < options.bucket && layer > part.first))
      continue;
    double share = costs.getBackwardTime(layer, part.last) / all;
    bool isEarlier = options.overlaps && all > 0 && share > 0 && share < 1;
    sums.push_back(
        {isEarlier ? share : 1, static_cast<int64_t>(std::llround(bytes))});
    bytes = 0;
  }
  return sums;
}

StageWork PlanReader::getWork(const PlannedPart &planned,
                              const Stage &part) const {
  StageWork result;
  result.forward = planned.forward;
  double again = planned.recomputes ? planned.forward : 0;
  result.backwardWeight =
      (planned.backward - again) * costs.getWeightShare(part.first, part.last);
  result.backwardInput = planned.backward - result.backwardWeight;
  result.update = costs.getUpdateTime(part.first, part.last);
  if (isDivided)
    result.update += costs.getStation(part).allReduce;
  else
    result.sums = getSums(part);
  return result;
}

/// Returns the message from a part to the next. With published costs, a link
/// has a time rather than a rate, which is expressed in bytes.
StageMessage PlanReader::getMessage(int64_t from) const {
  double bytes = costs.getCrossingBytes(parts[from].last);
  if (isDivided)
    bytes =
        costs.getLink(parts[from], parts[from + 1]).forward * kTicksPerSecond;
  auto whole = static_cast<int64_t>(std::llround(bytes));
  return {from, from + 1, whole, whole};
}

PlannedPipeline PlanReader::read() {
  PlannedPipeline pipeline;
  PipelineShape &shape = pipeline.shape;
  WorkerPlaces &places = pipeline.places;
  shape.microBatches = plan.microBatches;
  shape.replicas.clear();
  places.cluster = plan.cluster;
  shape.chunks = plan.getChunks();
  if (plan.isVShaped())
    shape.placement = ChunkPlacement::v;
  parts.resize(plan.getParts().size());
  pipeline.work.stages.resize(parts.size());
  for (const PlannedStage &planned : plan.stages) {
    llvm::SmallVector<LayerRange, 4> ranges;
    for (const PlannedPart &chunk : planned.parts) {
      const Stage &part = parts[chunk.number] = getPart(chunk, planned.devices);
      pipeline.work.stages[chunk.number] = getWork(chunk, part);
      ranges.push_back({part.first, part.last});
    }
    auto count = static_cast<int64_t>(planned.devices.size());
    shape.replicas.push_back(isDivided ? 1 : count);
    shape.groups.push_back(isDivided ? 1 : planned.groups);
    shape.inFlight.push_back(costs.getMostInFlight(ranges, count));
    llvm::append_range(places.devices, planned.devices);
  }
  for (auto [most, given] : llvm::zip(shape.inFlight, options.inFlight))
    most = std::min(most, given);
  for (int64_t from = 0; from + 1 < shape.getStages(); ++from)
    pipeline.work.messages.push_back(getMessage(from));
  if (!isDivided)
    return pipeline;
  places.devices.clear();
  places.cluster->devices.assign(plan.stages.size(), 1);
  places.cluster->network = kTicksPerSecond;
  places.cluster->latency = 0;
  return pipeline;
}

/// Returns, for each stage, the most micro-batches for which a worker holds
/// saved values, counted in whole stages.
static std::vector<int64_t> countInFlight(const Order &order) {
  const PipelineShape &shape = order.shape;
  if (shape.chunks == 1)
    return getInstances(order);
  std::vector<int64_t> inFlight(shape.getPositions(), 0);
  for (auto [worker, peak] : llvm::enumerate(getPeaks(order))) {
    int64_t &most =
        inFlight[shape.getPositionOfWorker(static_cast<int64_t>(worker))];
    most = std::max<int64_t>(most, llvm::divideCeil(peak, shape.chunks));
  }
  return inFlight;
}

/// Returns whether the order is the one that follows from the order's kind and
/// its numbers in flight.
static bool isMadeByName(const Order &order, OrderKind kind) {
  PipelineShape shape = order.shape;
  std::vector<int64_t> inFlight = countInFlight(order);
  shape.inFlight.assign(inFlight.begin(), inFlight.end());
  llvm::Expected<Order> made = makeLimitedOrder(kind, shape);
  if (made)
    return made->workers == order.workers;
  llvm::consumeError(made.takeError());
  return false;
}

/// Returns whether a job can specify the order by its name. It can't for orders
/// of the list scheduler or of a file, nor for an order of several chunks in
/// which all forwards come first.
static bool hasName(const Order &order) {
  bool isListed =
      order.kind == OrderKind::list || order.kind == OrderKind::file;
  return !isListed &&
         (order.shape.chunks == 1 || order.kind != OrderKind::allForwardsFirst);
}

/// Returns the bytes that a device of each stage needs, with as many instances
/// of each part's values as the order needs.
std::vector<int64_t> PlanReader::getPeakBytes(const Order &order) const {
  std::vector<int64_t> instances = getInstances(order), peaks;
  for (const PlannedStage &planned : plan.stages) {
    double bytes = 0;
    for (const PlannedPart &chunk : planned.parts) {
      const Stage &part = parts[chunk.number];
      bytes += costs.getPeakBytes(part.first, part.last, part.devices.size(),
                                  instances[chunk.number]);
    }
    peaks.push_back(static_cast<int64_t>(std::ceil(bytes)));
  }
  return peaks;
}

void PlanReader::update(PipelinePlan &changed,
                        const ChosenOrder &chosen) const {
  const Order &order = chosen.run.order;
  std::vector<int64_t> inFlight = countInFlight(order);
  std::vector<int64_t> instances = getInstances(order);
  std::vector<int64_t> peaks = getPeakBytes(order);
  bool isNamed = hasName(order);
  changed.order =
      stringifyOrderKind(isNamed ? order.kind : OrderKind::automatic).str();
  changed.actions.clear();
  if (!isDivided && !(isNamed && isMadeByName(order, order.kind)))
    changed.actions = namePositionLists(order);
  changed.simulated = chosen.run.getLength();
  if (changed.latency == 0)
    changed.speedup = costs.getSerialTime() / *changed.simulated;
  for (auto [index, planned] : llvm::enumerate(changed.stages)) {
    planned.inFlight = inFlight[index];
    planned.peakBytes = peaks[index];
    // With one micro-batch in flight, recomputing saves no memory.
    for (PlannedPart &chunk : planned.parts)
      if (chunk.recomputes && instances[chunk.number] == 1) {
        chunk.recomputes = false;
        chunk.backward -= chunk.forward;
      }
  }
}

PlannedPipeline planning::getPipeline(const PipelinePlan &plan,
                                      const StageCosts &costs,
                                      const PlanSimulationOptions &options) {
  return PlanReader(plan, costs, options).read();
}

/// Chooses an order that fits into memory. With several chunks, an order may
/// have more in flight of a chunk that saves much than was planned. Then the
/// limit of its stage is lowered, or the limits of all stages.
static llvm::Expected<ChosenOrder> chooseThatFits(const PlanReader &reader,
                                                  PlannedPipeline pipeline,
                                                  OrderKind kind) {
  int64_t memory = pipeline.places.cluster->memory;
  llvm::SmallVector<int64_t> &inFlight = pipeline.shape.inFlight;
  llvm::SmallVector<bool> isTooLarge;
  auto fits = [&](const Order &order) {
    bool all = true;
    for (auto [stage, peak] : llvm::enumerate(reader.getPeakBytes(order)))
      if (peak > memory) {
        isTooLarge[stage] = true;
        all = false;
      }
    return all;
  };
  bool isFiltered = memory != 0 && pipeline.shape.chunks > 1;
  while (true) {
    isTooLarge.assign(inFlight.size(), false);
    llvm::Expected<ChosenOrder> chosen =
        chooseOrder(kind, pipeline.shape, pipeline.work, pipeline.places,
                    isFiltered ? OrderFilter(fits) : nullptr);
    if (chosen || !isFiltered || !shrinkInFlight(inFlight, isTooLarge))
      return chosen;
    llvm::consumeError(chosen.takeError());
  }
}

/// Chooses an order with the plan's numbers in flight. If one with as many in
/// flight as memory allows is shorter by a thousandth, returns that instead.
static llvm::Expected<ChosenOrder> chooseWithinMemory(const PipelinePlan &plan,
                                                      const PlanReader &reader,
                                                      PlannedPipeline pipeline,
                                                      OrderKind kind) {
  constexpr double kDifference = 1.001;
  PlannedPipeline asPlanned = pipeline;
  for (auto [most, planned] :
       llvm::zip_equal(asPlanned.shape.inFlight, plan.stages))
    most = std::min(most, planned.inFlight);
  bool isAll = asPlanned.shape.inFlight == pipeline.shape.inFlight;
  llvm::Expected<ChosenOrder> chosen =
      chooseThatFits(reader, std::move(asPlanned), kind);
  if (!chosen || isAll)
    return chosen;
  llvm::Expected<ChosenOrder> other =
      chooseThatFits(reader, std::move(pipeline), kind);
  if (!other)
    return other;
  bool isShorter =
      other->run.getLength() * kDifference < chosen->run.getLength();
  return isShorter ? std::move(other) : std::move(chosen);
}

llvm::Expected<ChosenOrder>
planning::simulatePlan(PipelinePlan &plan, const StageCosts &costs,
                       const PlanSimulationOptions &options) {
  PlanReader reader(plan, costs, options);
  PlannedPipeline pipeline = reader.read();
  if (options.given) {
    ChosenOrder given;
    given.run = simulateOrder(*options.given, pipeline.work, pipeline.places);
    given.slots = chooseSlots(*options.given, pipeline.work, pipeline.places);
    reader.update(plan, given);
    return given;
  }
  llvm::Expected<ChosenOrder> chosen =
      chooseWithinMemory(plan, reader, std::move(pipeline), options.order);
  if (!chosen)
    return chosen;
  reader.update(plan, *chosen);
  return chosen;
}

Timeline planning::getTimeline(const PipelinePlan &plan,
                               const ChosenOrder &chosen) {
  const PipelineShape &shape = chosen.run.order.shape;
  std::string title = (stringifyOrderKind(chosen.run.order.kind) + ", " +
                       llvm::Twine(plan.microBatches) + " micro-batches")
                          .str();
  Timeline timeline = getTimeline(chosen.run, title);
  timeline.rows.clear();
  for (auto [index, planned] : llvm::enumerate(plan.stages)) {
    std::string stage = "stage " + std::to_string(index);
    size_t count = planned.devices.size();
    if (count > 1 && shape.replicas[index] == 1) {
      timeline.rows.push_back(stage + ", " + std::to_string(count) +
                              " devices");
      continue;
    }
    for (int64_t device : planned.devices)
      timeline.rows.push_back(stage + ", device " + std::to_string(device));
  }
  return timeline;
}
