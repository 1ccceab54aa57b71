//===- PlanSimulation.cpp - A plan's order, chosen and simulated ----------===//

#include "Hfta/Planning/PlanSimulation.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

/// So that times can be given as bytes, to the picosecond.
static constexpr double kTicksPerSecond = 1e12;

namespace {
/// What the simulator is to know of a plan.
class PlanReader {
public:
  PlanReader(const PipelinePlan &plan, const StageCosts &costs,
             const PlanSimulationOptions &options)
      : plan(plan), costs(costs), options(options),
        isDivided(costs.getWorkload().costs == CostRule::published) {}

  PlannedPipeline read();
  /// After the order has been chosen.
  void update(PipelinePlan &changed, const ChosenOrder &chosen) const;

private:
  int64_t findLayer(llvm::StringRef name) const;
  Stage getStage(const PlannedStage &planned) const;
  StageWork getWork(const PlannedStage &planned, const Stage &stage) const;
  std::vector<BlockSum> getSums(const Stage &stage) const;
  StageMessage getMessage(int64_t from) const;

  const PipelinePlan &plan;
  const StageCosts &costs;
  const PlanSimulationOptions &options;
  bool isDivided;
  std::vector<Stage> stages;
};
} // namespace

int64_t PlanReader::findLayer(llvm::StringRef name) const {
  const std::vector<Layer> &layers = costs.getModel().layers;
  return llvm::find_if(layers,
                       [&](const Layer &layer) { return layer.name == name; }) -
         layers.begin();
}

Stage PlanReader::getStage(const PlannedStage &planned) const {
  Stage stage{findLayer(planned.first), findLayer(planned.last), {}};
  for (int64_t device : planned.devices)
    stage.devices.add(static_cast<int32_t>(plan.cluster.getMachineOf(device)),
                      1);
  return stage;
}

/// The backward goes through the layers from the last one on; a bucket is
/// complete when it has been through all of its own.
std::vector<BlockSum> PlanReader::getSums(const Stage &stage) const {
  std::vector<BlockSum> sums;
  double all = costs.getBackwardTime(stage.first, stage.last), bytes = 0;
  for (int64_t layer = stage.last; layer >= stage.first; --layer) {
    bytes += costs.getParameterBytes(layer, layer);
    if (bytes == 0 || (bytes < options.bucket && layer > stage.first))
      continue;
    double share = costs.getBackwardTime(layer, stage.last) / all;
    bool isEarlier = options.overlaps && all > 0 && share > 0 && share < 1;
    sums.push_back(
        {isEarlier ? share : 1, static_cast<int64_t>(std::llround(bytes))});
    bytes = 0;
  }
  return sums;
}

StageWork PlanReader::getWork(const PlannedStage &planned,
                              const Stage &stage) const {
  StageWork result;
  result.forward = planned.forward;
  double again = planned.recomputes ? planned.forward : 0;
  result.backwardWeight = (planned.backward - again) *
                          costs.getWeightShare(stage.first, stage.last);
  result.backwardInput = planned.backward - result.backwardWeight;
  result.update = costs.getUpdateTime(stage.first, stage.last);
  if (isDivided)
    result.update += planned.allReduce;
  else
    result.sums = getSums(stage);
  return result;
}

/// To the next stage. What published costs say of links isn't a matter of
/// channels: it is a time.
StageMessage PlanReader::getMessage(int64_t from) const {
  double bytes = costs.getCrossingBytes(stages[from].last);
  if (isDivided)
    bytes =
        costs.getLink(stages[from], stages[from + 1]).forward * kTicksPerSecond;
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
  for (const PlannedStage &planned : plan.stages) {
    const Stage &stage = stages.emplace_back(getStage(planned));
    int64_t count = stage.devices.size();
    shape.replicas.push_back(isDivided ? 1 : count);
    shape.groups.push_back(isDivided ? 1 : planned.groups);
    shape.inFlight.push_back(
        costs.getMostInFlight(stage.first, stage.last, count));
    pipeline.work.stages.push_back(getWork(planned, stage));
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

/// Whether the order's name and its numbers in flight are enough to make it.
static bool isMadeByName(const Order &order, OrderKind kind) {
  PipelineShape shape = order.shape;
  std::vector<int64_t> inFlight = getInstances(order);
  shape.inFlight.assign(inFlight.begin(), inFlight.end());
  llvm::Expected<Order> made = makeLimitedOrder(kind, shape);
  if (made)
    return made->workers == order.workers;
  llvm::consumeError(made.takeError());
  return false;
}

void PlanReader::update(PipelinePlan &changed,
                        const ChosenOrder &chosen) const {
  const Order &order = chosen.run.order;
  std::vector<int64_t> inFlight = getInstances(order);
  // What a list scheduler or a file has made has no name that a job can give.
  bool hasName = order.kind != OrderKind::list && order.kind != OrderKind::file;
  OrderKind kind = hasName ? order.kind : OrderKind::automatic;
  changed.order = stringifyOrderKind(kind).str();
  changed.actions.clear();
  if (!isDivided && !isMadeByName(order, order.kind))
    changed.actions = namePositionLists(order);
  changed.simulated = chosen.run.getLength();
  for (auto [index, planned] : llvm::enumerate(changed.stages)) {
    const Stage &stage = stages[index];
    planned.inFlight = inFlight[index];
    // Of one in flight there is nothing to compute again.
    if (planned.recomputes && planned.inFlight == 1) {
      planned.recomputes = false;
      planned.backward -= planned.forward;
    }
    planned.peakBytes = static_cast<int64_t>(std::ceil(costs.getPeakBytes(
        stage.first, stage.last, stage.devices.size(), inFlight[index])));
  }
}

PlannedPipeline planning::getPipeline(const PipelinePlan &plan,
                                      const StageCosts &costs,
                                      const PlanSimulationOptions &options) {
  return PlanReader(plan, costs, options).read();
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
  auto choose = [&](const PipelineShape &shape) {
    return chooseOrder(options.order, shape, pipeline.work, pipeline.places);
  };
  PipelineShape asPlanned = pipeline.shape;
  for (auto [most, planned] : llvm::zip_equal(asPlanned.inFlight, plan.stages))
    most = std::min(most, planned.inFlight);
  llvm::Expected<ChosenOrder> chosen = choose(asPlanned);
  if (!chosen)
    return chosen;
  llvm::Expected<ChosenOrder> other = choose(pipeline.shape);
  if (!other)
    return other;
  // More memory than planned is for what makes a difference.
  if (other->run.getLength() * 1.001 < chosen->run.getLength())
    chosen = std::move(other);
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
