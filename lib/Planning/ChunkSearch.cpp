//===- ChunkSearch.cpp - Stages of several chunks for a model -------------===//
//
// Parts of a model are dealt to workers in a fixed way, so that only the cuts
// are to be found. First they are moved as long as that makes an estimate
// smaller, then the best ones as long as it makes a simulated step shorter.
// Work is counted, not timed, so that equal inputs have equal plans.
//===----------------------------------------------------------------------===//

#include "Hfta/Planning/ChunkSearch.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Sequence.h"

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <tuple>

using namespace mlir::hfta::planning;

/// Changes of cuts that are judged by their estimate: for all numbers of stages
/// together, and for one.
static constexpr int64_t kAllEstimates = 400000;
static constexpr int64_t kMostEstimates = 20000;
/// Actions that are simulated, for one number of stages: some seconds.
static constexpr int64_t kMostActions = 400000;
/// About how many orders are simulated for one that is chosen, with several
/// numbers of places for messages.
static constexpr int64_t kChoices = 16;
/// How often the best cuts are changed at random and moved again.
static constexpr int kPerturbations = 24;
static constexpr int kChosen = 100;
/// Cuts that are simulated after their estimate, and those that are moved by
/// what the simulation says.
static constexpr size_t kSimulated = 8;
static constexpr size_t kMoved = 3;
/// Numbers of stages, and of micro-batches, that are searched to the end.
static constexpr size_t kMostSearches = 3;

static constexpr double kNever = std::numeric_limits<double>::infinity();

namespace {

/// The last layer of each part but the last one.
using Cuts = llvm::SmallVector<int64_t, 16>;
using Objective = llvm::function_ref<double(const Cuts &)>;

struct JudgedCuts {
  Cuts cuts;
  double value = kNever;

  bool operator<(const JudgedCuts &other) const {
    return std::tie(value, cuts) < std::tie(other.value, other.cuts);
  }
};

/// Searches the cuts for one number of stages and of micro-batches.
class ChunkSearch {
public:
  ChunkSearch(const StageCosts &costs, const ChunkRequest &request,
              const PlanSimulationOptions &options, int64_t stages)
      : costs(costs), request(request), options(options), stages(stages),
        count(stages * request.chunks), layers(costs.getLayerCount()) {
    const std::vector<int64_t> &machines = costs.getCluster().devices;
    // Few stages have the machines with most devices.
    auto order = llvm::to_vector(llvm::seq<int32_t>(0, machines.size()));
    if (stages < costs.getCluster().getDeviceCount())
      llvm::stable_sort(order, [&](int32_t one, int32_t other) {
        return machines[one] > machines[other];
      });
    FreeDevices free(machines, order);
    for (int64_t stage = 0; stage < stages; ++stage)
      devices.push_back(free.take(1, Placement::append));
    shape = make(spread([](int64_t layer) {
              return 1.0;
            })).getShape(costs.getWorkload());
  }

  /// Finds cuts with so many estimates; whether any fit into memory.
  bool findSeeds(int64_t estimates);
  /// Of the best of them.
  double getEstimate() const { return seeds.front().value; }
  /// Moves cuts by what the simulator says, and takes the shortest plan; none
  /// where no order fits into memory.
  std::optional<PipelinePlan> improve();
  /// What the stages need that need least.
  PlanFailure findLeastMemory();

private:
  ChunkedStages make(const Cuts &cuts) const;
  Cuts spread(llvm::function_ref<double(int64_t)> weigh) const;
  double estimate(const Cuts &cuts) const;
  double estimateLinks(const ChunkedStages &made) const;
  bool fits(const ChunkedStages &made) const;
  double countBytes(const Cuts &cuts) const;
  JudgedCuts findSmallest() const;
  double simulate(const Cuts &cuts);
  std::optional<PipelinePlan> describeCuts(const Cuts &cuts) const;
  double chooseOrder(const Cuts &cuts);
  const Order *getOrder(llvm::ArrayRef<int64_t> inFlight);
  bool limitToMemory(const ChunkedStages &made, const Order &order,
                     llvm::SmallVectorImpl<int64_t> &inFlight) const;
  double getBytes(const ChunkedStages &made, int64_t stage,
                  llvm::ArrayRef<int64_t> instances) const;
  void descend(JudgedCuts &judged, Objective judge, int64_t &work) const;
  bool move(JudgedCuts &judged, Objective judge, int64_t &work) const;
  bool tryMove(JudgedCuts &judged, size_t one, int64_t by, size_t other,
               int64_t otherBy, Objective judge, int64_t &work) const;
  Cuts perturb(const Cuts &cuts);

  const StageCosts &costs;
  const ChunkRequest &request;
  const PlanSimulationOptions &options;
  int64_t stages, count, layers;
  llvm::SmallVector<DeviceSet, 8> devices;
  PipelineShape shape;
  std::vector<JudgedCuts> seeds;  ///< by increasing estimate
  std::vector<JudgedCuts> judged; ///< by increasing length
  std::map<std::vector<int64_t>, std::optional<Order>> orders;
  std::map<Cuts, double> lengths; ///< with the order that is chosen
  std::mt19937 random{1};
  int64_t work = 0; ///< in actions
};

} // namespace

ChunkedStages ChunkSearch::make(const Cuts &cuts) const {
  ChunkedStages made;
  int64_t first = 0;
  for (int64_t last : cuts) {
    made.parts.push_back({first, last});
    first = last + 1;
  }
  made.parts.push_back({first, layers - 1});
  made.devices = devices;
  made.placement = request.placement;
  return made;
}

/// Parts that weigh about the same.
Cuts ChunkSearch::spread(llvm::function_ref<double(int64_t)> weigh) const {
  double all = 0, before = 0;
  for (int64_t layer = 0; layer < layers; ++layer)
    all += weigh(layer);
  Cuts cuts;
  int64_t layer = 0;
  for (int64_t part = 1; part < count; ++part) {
    double wanted =
        all * static_cast<double>(part) / static_cast<double>(count);
    // Each part has a layer, also those that are to come.
    int64_t most = layers - 1 - (count - part);
    before += weigh(layer);
    while (layer < most && before + weigh(layer + 1) / 2 <= wanted)
      before += weigh(++layer);
    cuts.push_back(layer++);
  }
  return cuts;
}

//===----------------------------------------------------------------------===//
// Judging cuts
//===----------------------------------------------------------------------===//

bool ChunkSearch::fits(const ChunkedStages &made) const {
  if (costs.getCluster().memory == 0)
    return true;
  for (int64_t stage = 0; stage < stages; ++stage)
    if (costs.getMostInFlight(made.getParts(shape, stage), 1) == 0)
      return false;
  return true;
}

/// Seconds in which the busiest link has sent everything.
double ChunkSearch::estimateLinks(const ChunkedStages &made) const {
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
    // Channels within a machine are told apart from those between machines.
    auto key = isNetwork ? std::make_pair(there, here)
                         : std::make_pair(-1 - from, -1 - to);
    double seconds = costs.getCrossingBytes(made.parts[part].last) /
                         (isNetwork ? cluster.network : cluster.link) +
                     cluster.latency;
    std::pair<int64_t, int64_t> back = {key.second, key.first};
    if (cluster.duplex == Duplex::half)
      back = key = std::minmax(key.first, key.second);
    most = std::max(most, busy[key] += seconds);
    most = std::max(most, busy[back] += seconds);
  }
  return most * static_cast<double>(shape.microBatches);
}

/// Seconds in which the busiest worker has done all of its own, after the first
/// micro-batch has come to it and until the last one has gone back from it.
double ChunkSearch::estimate(const Cuts &cuts) const {
  ChunkedStages made = make(cuts);
  if (!fits(made))
    return kNever;
  const Cluster &cluster = costs.getCluster();
  double longest = estimateLinks(made), ramp = 0;
  std::vector<double> load(stages, 0), before(stages, 0), after(stages, 0);
  for (int64_t part = 0; part < count; ++part) {
    auto [first, last] = made.parts[part];
    int64_t stage = shape.getPosition(part);
    // However they are placed, the first parts are one of each stage.
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

/// Of the device that needs most with one micro-batch in flight.
double ChunkSearch::countBytes(const Cuts &cuts) const {
  ChunkedStages made = make(cuts);
  std::vector<int64_t> one(count, 1);
  double most = 0;
  for (int64_t stage = 0; stage < stages; ++stage)
    most = std::max(most, getBytes(made, stage, one));
  return most;
}

double ChunkSearch::getBytes(const ChunkedStages &made, int64_t stage,
                             llvm::ArrayRef<int64_t> instances) const {
  double bytes = 0;
  for (int64_t chunk = 0; chunk < shape.chunks; ++chunk) {
    int64_t part = shape.getStage(stage, chunk);
    auto [first, last] = made.parts[part];
    bytes += costs.getPeakBytes(first, last, 1, instances[part]);
  }
  return bytes;
}

/// The order that needs no times, with so much in flight; null if there is
/// none.
const Order *ChunkSearch::getOrder(llvm::ArrayRef<int64_t> inFlight) {
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
    // With less in flight, one of a list scheduler; even times will do.
    Order listed = makeListOrder(
        limited, PipelineWork::getEqual(limited.getStages(), 1, 1, 1), {}, {});
    if (!verifyOrder(listed))
      order = std::move(listed);
    return order ? &*order : nullptr;
  }
  order = std::move(*made);
  return &*order;
}

/// Whether it fits into memory; otherwise stages that need too much get less in
/// flight, or all of them, and none is left where all have one.
bool ChunkSearch::limitToMemory(
    const ChunkedStages &made, const Order &order,
    llvm::SmallVectorImpl<int64_t> &inFlight) const {
  int64_t memory = costs.getCluster().memory;
  if (memory == 0)
    return true;
  std::vector<int64_t> instances = getInstances(order);
  bool fits = true, canShrink = false;
  auto shrink = [&](int64_t &most) {
    canShrink |= most > 1;
    most = std::max<int64_t>(1, most - 1);
  };
  for (int64_t stage = 0; stage < stages; ++stage) {
    if (getBytes(made, stage, instances) <= static_cast<double>(memory))
      continue;
    fits = false;
    shrink(inFlight[stage]);
  }
  if (!fits && !canShrink)
    llvm::for_each(inFlight, shrink);
  if (!fits && !canShrink)
    inFlight.clear();
  return fits;
}

double ChunkSearch::simulate(const Cuts &cuts) {
  ChunkedStages made = make(cuts);
  if (!fits(made))
    return kNever;
  PlannedPipeline pipeline =
      getPipeline(describePlan(costs, made), costs, options);
  llvm::SmallVector<int64_t> inFlight = pipeline.shape.inFlight;
  while (const Order *order = getOrder(inFlight)) {
    if (!limitToMemory(made, *order, inFlight)) {
      if (inFlight.empty())
        break;
      continue;
    }
    work += 2 * count * shape.microBatches;
    PipelineRun run = simulateOrder(*order, pipeline.work, pipeline.places);
    return run.result.hasEnded() ? run.getLength() : kNever;
  }
  return kNever;
}

//===----------------------------------------------------------------------===//
// Moving cuts
//===----------------------------------------------------------------------===//

/// Moves one cut, or two; keeps that if it is better.
bool ChunkSearch::tryMove(JudgedCuts &judged, size_t one, int64_t by,
                          size_t other, int64_t otherBy, Objective judge,
                          int64_t &work) const {
  Cuts next = judged.cuts;
  next[one] += by;
  next[other] += otherBy;
  for (size_t cut : {one, other}) {
    int64_t before = cut == 0 ? -1 : next[cut - 1];
    int64_t after = cut + 1 == next.size() ? layers - 1 : next[cut + 1];
    if (next[cut] <= before || next[cut] >= after)
      return false;
  }
  --work;
  double value = judge(next);
  if (value >= judged.value)
    return false;
  judged = {std::move(next), value};
  return true;
}

/// Tries all moves once; whether any was good.
bool ChunkSearch::move(JudgedCuts &judged, Objective judge,
                       int64_t &work) const {
  bool isBetter = false;
  size_t cuts = judged.cuts.size();
  for (size_t one = 0; one < cuts; ++one)
    for (int64_t by : {1, -1, 2, -2, 4, -4})
      if (work > 0)
        isBetter |= tryMove(judged, one, by, one, 0, judge, work);
  for (size_t one = 0; one < cuts; ++one)
    for (size_t other = one + 1; other < cuts; ++other)
      for (int64_t by : {1, -1})
        for (int64_t otherBy : {1, -1})
          if (work > 0)
            isBetter |= tryMove(judged, one, by, other, otherBy, judge, work);
  return isBetter;
}

void ChunkSearch::descend(JudgedCuts &judged, Objective judge,
                          int64_t &work) const {
  while (work > 0 && move(judged, judge, work))
    ;
}

/// Moves a few cuts anywhere between their neighbours, or draws all anew.
Cuts ChunkSearch::perturb(const Cuts &cuts) {
  constexpr int kWays = 3;
  if (random() % kWays == 0) {
    std::vector<double> weights;
    for (int64_t layer = 0; layer < layers; ++layer)
      weights.push_back(static_cast<double>(random() % layers));
    return spread([&](int64_t layer) { return weights[layer]; });
  }
  Cuts next = cuts;
  for (size_t changes = 1 + random() % next.size(); changes > 0; --changes) {
    size_t cut = random() % next.size();
    int64_t before = cut == 0 ? -1 : next[cut - 1];
    int64_t after = cut + 1 == next.size() ? layers - 1 : next[cut + 1];
    next[cut] =
        before + 1 + static_cast<int64_t>(random() % (after - before - 1));
  }
  return next;
}

bool ChunkSearch::findSeeds(int64_t estimates) {
  int64_t left = estimates;
  auto judge = [&](const Cuts &cuts) { return estimate(cuts); };
  std::vector<JudgedCuts> found;
  auto add = [&](Cuts cuts) {
    JudgedCuts next{std::move(cuts), kNever};
    next.value = judge(next.cuts);
    if (next.value == kNever) {
      // Parts that need less memory may fit.
      auto count = [&](const Cuts &other) { return countBytes(other); };
      next.value = countBytes(next.cuts);
      descend(next, count, left);
      next.value = judge(next.cuts);
    }
    if (next.value == kNever)
      return;
    descend(next, judge, left);
    if (llvm::none_of(found, [&](const JudgedCuts &other) {
          return other.cuts == next.cuts;
        }))
      found.push_back(std::move(next));
  };
  add(spread(
      [&](int64_t layer) { return costs.getComputeTime(layer, layer); }));
  add(spread([](int64_t) { return 1.0; }));
  if (costs.getCluster().memory != 0)
    add(spread(
        [&](int64_t layer) { return costs.getPeakBytes(layer, layer, 1, 1); }));
  for (int i = 0; i < kPerturbations && !found.empty() && left > 0; ++i)
    add(perturb(llvm::min_element(found)->cuts));
  llvm::sort(found);
  if (found.size() > kSimulated)
    found.resize(kSimulated);
  seeds = std::move(found);
  // An order may need more than the estimate counts with.
  if (costs.getCluster().memory != 0 && !seeds.empty())
    seeds.push_back(findSmallest());
  return !seeds.empty();
}

std::optional<PipelinePlan> ChunkSearch::improve() {
  auto judge = [&](const Cuts &cuts) { return simulate(cuts); };
  for (const JudgedCuts &seed : seeds)
    if (work < kMostActions || judged.empty())
      judged.push_back({seed.cuts, simulate(seed.cuts)});
  llvm::sort(judged);
  // As many moves as there is work for.
  int64_t each = std::max<int64_t>(1, 2 * count * shape.microBatches);
  for (size_t i = 0; i < std::min(kMoved, judged.size()); ++i) {
    int64_t left =
        (kMostActions - work) / each / static_cast<int64_t>(kMoved - i);
    if (judged[i].value < kNever)
      descend(judged[i], judge, left);
  }
  llvm::sort(judged);
  if (judged.size() > kMoved)
    judged.resize(kMoved);
  // The order that is chosen may be another one.
  auto choose = [&](const Cuts &cuts) { return chooseOrder(cuts); };
  JudgedCuts best;
  for (const JudgedCuts &next : judged)
    if (best.value == kNever || work < 2 * kMostActions)
      best = std::min(best, {next.cuts, choose(next.cuts)});
  if (best.value == kNever)
    return std::nullopt;
  auto countLeft = [&] {
    return std::max<int64_t>(0, 2 * kMostActions - work) / (kChoices * each);
  };
  int64_t left = countLeft();
  descend(best, choose, left);
  for (int i = 0; i < kChosen && (left = countLeft()) > 0; ++i) {
    JudgedCuts next{perturb(best.cuts), kNever};
    next.value = choose(next.cuts);
    descend(next, choose, left);
    best = std::min(best, next);
  }
  return describeCuts(best.cuts);
}

/// With the shortest order; none where none fits into memory.
std::optional<PipelinePlan> ChunkSearch::describeCuts(const Cuts &cuts) const {
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

double ChunkSearch::chooseOrder(const Cuts &cuts) {
  auto [entry, isNew] = lengths.try_emplace(cuts, kNever);
  if (isNew) {
    work += kChoices * 2 * count * shape.microBatches;
    if (std::optional<PipelinePlan> plan = describeCuts(cuts))
      entry->second = plan->getLength();
  }
  return entry->second;
}

/// Parts that need about as little memory as any.
JudgedCuts ChunkSearch::findSmallest() const {
  int64_t left = kMostEstimates;
  auto judge = [&](const Cuts &cuts) { return countBytes(cuts); };
  JudgedCuts least{spread([&](int64_t layer) {
                     return costs.getPeakBytes(layer, layer, 1, 1);
                   }),
                   kNever};
  least.value = judge(least.cuts);
  descend(least, judge, left);
  return least;
}

/// With the order that has least in flight.
PlanFailure ChunkSearch::findLeastMemory() {
  ChunkedStages made = make(findSmallest().cuts);
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

//===----------------------------------------------------------------------===//
// Numbers of stages and micro-batches
//===----------------------------------------------------------------------===//

int64_t mlir::hfta::planning::countChunkedStages(const LayerModel &model,
                                                 const Cluster &cluster,
                                                 int64_t chunks) {
  return std::min(cluster.getDeviceCount(),
                  static_cast<int64_t>(model.layers.size()) / chunks);
}

/// As many micro-batches as are asked for, or could be.
static std::vector<int64_t> getMicroBatches(const PlanRequest &request) {
  if (request.microBatches != 0)
    return {request.microBatches};
  std::vector<int64_t> counts;
  for (int64_t count = std::max<int64_t>(1, request.groups);
       count <= std::min(request.batch, kMostSimulatedMicroBatches); ++count)
    if (request.batch % count == 0)
      counts.push_back(count);
  return counts;
}

namespace {
/// A search, and what it reads.
struct Attempt {
  std::unique_ptr<StageCosts> costs;
  std::unique_ptr<ChunkSearch> search;
};
} // namespace

/// Searches for each number of stages and of micro-batches.
static std::vector<Attempt> makeAttempts(const LayerModel &model,
                                         const Cluster &cluster,
                                         const PlanRequest &request,
                                         const ChunkRequest &chunks,
                                         const PlanSimulationOptions &options) {
  int64_t most = std::min(countChunkedStages(model, cluster, chunks.chunks),
                          kMostSimulatedDevices);
  std::vector<Attempt> attempts;
  for (int64_t microBatches : getMicroBatches(request))
    for (int64_t stages = 2; stages <= most; ++stages) {
      Attempt &next = attempts.emplace_back();
      next.costs = std::make_unique<StageCosts>(
          model, cluster, request.getWorkload(microBatches));
      next.search =
          std::make_unique<ChunkSearch>(*next.costs, chunks, options, stages);
    }
  return attempts;
}

std::optional<PipelinePlan> mlir::hfta::planning::planChunks(
    const LayerModel &model, const Cluster &cluster, const PlanRequest &request,
    const ChunkRequest &chunks, const PlanSimulationOptions &options,
    PlanFailure &failure) {
  std::vector<Attempt> attempts =
      makeAttempts(model, cluster, request, chunks, options);
  int64_t estimates = std::min(
      kMostEstimates, kAllEstimates / static_cast<int64_t>(attempts.size()));
  std::vector<ChunkSearch *> promising;
  for (Attempt &attempt : attempts)
    if (attempt.search->findSeeds(estimates))
      promising.push_back(attempt.search.get());
  llvm::stable_sort(promising, [](auto *one, auto *other) {
    return one->getEstimate() < other->getEstimate();
  });
  std::optional<PipelinePlan> best;
  size_t searched = 0;
  for (ChunkSearch *search : promising) {
    if (searched == kMostSearches)
      break;
    std::optional<PipelinePlan> plan = search->improve();
    if (!plan)
      continue;
    ++searched;
    if (!best || plan->getLength() < best->getLength())
      best = std::move(plan);
  }
  if (best)
    return best;
  failure.leastMemory = 0;
  for (Attempt &attempt : attempts) {
    PlanFailure least = attempt.search->findLeastMemory();
    if (failure.leastMemory == 0 || least.leastMemory < failure.leastMemory)
      failure = least;
  }
  return std::nullopt;
}
