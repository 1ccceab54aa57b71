//===- Seeds.cpp - Plans from which the search begins ---------------------===//

#include "Pipelines/Candidates.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <numeric>

using namespace mlir::hfta::planning;
using llvm::ArrayRef;
using llvm::SmallVector;

//===----------------------------------------------------------------------===//
// One and two stages
//===----------------------------------------------------------------------===//

/// The most numbers of devices that are tried for a stage.
static constexpr int64_t kMostCounts = 64;
/// The most cuts that are tried.
static constexpr int64_t kMostCuts = 128;

static void addOneStage(const StageCosts &costs, CandidatePool &pool) {
  const Cluster &cluster = costs.getCluster();
  int64_t devices = cluster.getDeviceCount();
  for (int64_t count : sampleRange(1, devices, devices, kMostCounts))
    for (Placement placement : kPlacements) {
      FreeDevices free(cluster.devices);
      pool.add({{0, costs.getLayerCount() - 1, free.take(count, placement)}});
    }
}

static void addTwoStages(const StageCosts &costs, CandidatePool &pool) {
  const Cluster &cluster = costs.getCluster();
  int64_t devices = cluster.getDeviceCount();
  int64_t last = costs.getLayerCount() - 1;
  if (last == 0 || devices == 1)
    return;
  for (int64_t count : sampleRange(1, devices - 1, devices / 2, kMostCounts))
    // No machine is partly used yet, so Placement::append would do the same as
    // Placement::fresh.
    for (Placement placement : {Placement::fresh, Placement::scatter}) {
      FreeDevices free(cluster.devices);
      DeviceSet front = free.take(count, placement);
      for (int64_t cut : sampleRange(0, last - 1, last / 2, kMostCuts)) {
        pool.add({{0, cut, front}, {cut + 1, last, free.getRest()}});
        pool.add({{0, cut, free.getRest()}, {cut + 1, last, front}});
      }
    }
}

//===----------------------------------------------------------------------===//
// More stages: dynamic programming
//===----------------------------------------------------------------------===//

namespace {

/// Plans chains of stages by dynamic programming, from the last stage to the
/// first, so that all later stages are known. It is given an order of the
/// devices, a number of stages and a bound on the time between micro-batches.
/// Each stage gets consecutive devices. The plan minimizes the time until the
/// first micro-batch has reached the last stage, plus the time for the last one
/// to get back.
class ChainPlanner {
public:
  ChainPlanner(const StageCosts &costs, Placement placement,
               ArrayRef<int32_t> machines);

  /// Adds plans that need at most `mostPace` seconds between two micro-batches
  /// in each stage and link, for each number of stages up to a limit. Returns
  /// the greatest number of seconds that any of them needs, or nothing if there
  /// are no plans.
  std::optional<double> addPlans(double mostPace, CandidatePool &pool);

private:
  /// The costs of a stage on a range of devices.
  struct Place {
    DeviceSet devices;
    // The part of a micro-batch that each device computes.
    double share = 1;
    // The time between two micro-batches, as a part of one's computing time.
    double paceShare = 1;
    // An all-reduce: seconds, and seconds per byte.
    double reduceStart = 0, reduceRate = 0;
  };

  /// The stages after a cut, on the devices from a slot on. Times are in
  /// seconds.
  struct State {
    double forward = std::numeric_limits<double>::infinity();
    double backward = 0;
    /// The time from the last micro-batch's backward in the last stage to the
    /// last all-reduce.
    double end = 0;
    // The cut and the slot at which the first of these stages ends.
    int32_t cut = -1, slot = -1;

    bool exists() const { return !std::isinf(forward); }
    double getTime() const { return forward + end; }
  };

  void selectCuts();
  void makeSlots(Placement placement, ArrayRef<int32_t> machines);
  Place &getPlace(int64_t begin, int64_t end) {
    return places[begin * (slots + 1) + end];
  }
  State &getState(int64_t length, int64_t cut, int64_t slot) {
    return states[(length * cuts.size() + cut) * (slots + 1) + slot];
  }
  void fillPlace(Place &place);
  void prepend(int64_t length, int64_t cut, int64_t begin, int64_t end,
               double mostPace);
  Station getLink(int64_t length, int64_t cut, int64_t begin, int64_t end);
  double getLinkPace(const Station &link) const;
  double addPlan(int64_t length, int64_t slot, CandidatePool &pool);

  const StageCosts &costs;
  /// The layers before which a stage may begin, and as the last entry the
  /// number of layers.
  SmallVector<int64_t, 64> cuts;
  int64_t slots = 0;
  std::vector<Place> places;
  int64_t lengths = 0;       ///< one more than the greatest number of stages
  std::vector<State> states; ///< indexed by number of stages, cut and slot
};

} // namespace

/// Limits that keep one run of dynamic programming under a few million steps.
static constexpr int64_t kMostChainCuts = 48;
static constexpr int64_t kMostSlots = 32;

ChainPlanner::ChainPlanner(const StageCosts &costs, Placement placement,
                           ArrayRef<int32_t> machines)
    : costs(costs) {
  constexpr int64_t kMostStages = 16;
  selectCuts();
  makeSlots(placement, machines);
  lengths = 1 + std::min<int64_t>({kMostStages, slots,
                                   static_cast<int64_t>(cuts.size()) - 1});
}

/// Selects all cuts. If there are too many, divides the layers into runs that
/// take equally long, and selects the cut of each run that the fewest bytes
/// cross.
void ChainPlanner::selectCuts() {
  int64_t layers = costs.getLayerCount();
  cuts.push_back(0);
  double total = costs.getComputeTime(0, layers - 1);
  int64_t run = 0;
  for (int64_t layer = 1; layer < layers; ++layer) {
    int64_t current =
        layers <= kMostChainCuts || total <= 0
            ? layer
            : 1 + static_cast<int64_t>(costs.getComputeTime(0, layer - 1) /
                                       total * (kMostChainCuts - 1));
    if (current != run)
      cuts.push_back(layer);
    else if (costs.getCrossingBytes(layer - 1) <
             costs.getCrossingBytes(cuts.back() - 1))
      cuts.back() = layer;
    run = current;
  }
  cuts.push_back(layers);
}

/// Groups devices into slots, which are assigned as a whole, so that there are
/// at most kMostSlots.
void ChainPlanner::makeSlots(Placement placement, ArrayRef<int32_t> machines) {
  const Cluster &cluster = costs.getCluster();
  int64_t devices = cluster.getDeviceCount();
  int64_t grain = (devices + kMostSlots - 1) / kMostSlots;
  slots = (devices + grain - 1) / grain;
  FreeDevices free(cluster.devices, machines);
  std::vector<DeviceSet> single;
  single.reserve(slots);
  for (int64_t slot = 0; slot < slots; ++slot)
    single.push_back(free.take(std::min(grain, free.getCount()),
                               placement == Placement::fresh && slot > 0
                                   ? Placement::append
                                   : placement));
  places.resize((slots + 1) * (slots + 1));
  for (int64_t begin = 0; begin < slots; ++begin) {
    DeviceSet devicesOf;
    for (int64_t end = begin + 1; end <= slots; ++end) {
      for (const DeviceSet::Part &part : single[end - 1].getParts())
        devicesOf.add(part.machine, part.count);
      getPlace(begin, end).devices = devicesOf;
      fillPlace(getPlace(begin, end));
    }
  }
}

void ChainPlanner::fillPlace(Place &place) {
  const Workload &workload = costs.getWorkload();
  int64_t replicas = place.devices.size();
  place.paceShare = 1.0 / replicas;
  if (workload.costs == CostRule::published) {
    place.share = place.paceShare;
  } else {
    int64_t rounds = (workload.microBatches + replicas - 1) / replicas;
    place.paceShare = static_cast<double>(rounds) / workload.microBatches;
  }
  place.reduceStart = costs.getAllReduceTime(place.devices, 0);
  place.reduceRate =
      costs.getAllReduceTime(place.devices, 1) - place.reduceStart;
}

/// Returns the link to the next stage from a stage that ends at `cut` and runs
/// on slots [begin, end).
Station ChainPlanner::getLink(int64_t length, int64_t cut, int64_t begin,
                              int64_t end) {
  if (cut + 1 == static_cast<int64_t>(cuts.size()))
    return Station();
  Stage from{cuts[cut] - 1, cuts[cut] - 1, getPlace(begin, end).devices};
  Stage to{cuts[cut], cuts[cut],
           getPlace(end, getState(length, cut, end).slot).devices};
  return costs.getLink(from, to);
}

double ChainPlanner::getLinkPace(const Station &link) const {
  bool isFull = costs.getCluster().duplex == Duplex::full;
  return (isFull ? std::max(link.forward, link.backward)
                 : link.forward + link.backward) /
         link.lanes;
}

/// Prepends to the chain after `cut` all possible stages that end at `cut` and
/// run on slots [begin, end), and keeps the best chains.
void ChainPlanner::prepend(int64_t length, int64_t cut, int64_t begin,
                           int64_t end, double mostPace) {
  Station link = getLink(length, cut, begin, end);
  if (getLinkPace(link) > mostPace)
    return;
  const State behind = getState(length, cut, end);
  const Place &place = getPlace(begin, end);
  bool limited = costs.getCluster().memory != 0;
  int64_t last = cuts[cut] - 1;
  for (int64_t first = cut - 1; first >= 0; --first) {
    double compute = costs.getComputeTime(cuts[first], last);
    if (compute * place.paceShare > mostPace)
      break;
    if (limited &&
        costs.getMostInFlight(cuts[first], last, place.devices.size()) == 0)
      continue;
    double backward = costs.getBackwardTime(cuts[first], last) * place.share;
    double reduce =
        place.reduceStart +
        place.reduceRate * costs.getParameterBytes(cuts[first], last);
    State state;
    state.forward =
        behind.forward + link.forward + compute * place.share - backward;
    state.backward = behind.backward + link.backward + backward;
    state.end = std::max(behind.end, state.backward + reduce);
    state.cut = cut;
    state.slot = end;
    State &known = getState(length + 1, first, begin);
    if (state.getTime() < known.getTime())
      known = state;
  }
}

/// Adds the plan on the devices from `slot` on. Returns the seconds that it
/// needs between two micro-batches.
double ChainPlanner::addPlan(int64_t length, int64_t slot,
                             CandidatePool &pool) {
  double pace = 0;
  int64_t cut = 0;
  Stages stages;
  for (; length > 0; --length) {
    const State &state = getState(length, cut, slot);
    const Place &place = getPlace(slot, state.slot);
    Stage stage{cuts[cut], cuts[state.cut] - 1, place.devices};
    pace = std::max(
        {pace, getLinkPace(getLink(length - 1, state.cut, slot, state.slot)),
         costs.getComputeTime(stage.first, stage.last) * place.paceShare});
    stages.push_back(std::move(stage));
    cut = state.cut;
    slot = state.slot;
  }
  pool.add(stages);
  return pace;
}

std::optional<double> ChainPlanner::addPlans(double mostPace,
                                             CandidatePool &pool) {
  int64_t last = cuts.size() - 1;
  states.assign(lengths * cuts.size() * (slots + 1), State());
  getState(0, last, slots).forward = 0;
  for (int64_t length = 0; length + 1 < lengths; ++length)
    for (int64_t cut = last; cut > 0; --cut)
      for (int64_t end = slots; end > 0; --end)
        if (getState(length, cut, end).exists())
          for (int64_t begin = end - 1; begin >= 0; --begin)
            prepend(length, cut, begin, end, mostPace);
  std::optional<double> pace;
  for (int64_t length = 1; length < lengths; ++length)
    // A plan uses all devices, or all but the first slots.
    for (int64_t slot = 0; slot < slots; ++slot)
      if (getState(length, 0, slot).exists())
        pace = std::max(pace.value_or(0), addPlan(length, slot, pool));
  return pace;
}

/// Adds plans for ever lower bounds on the time between micro-batches. Each
/// bound is below the time that the plans before needed.
static void addChainsInOrder(ChainPlanner &planner, double mostPace,
                             CandidatePool &pool) {
  constexpr double kStep = 0.96;
  while (std::optional<double> pace = planner.addPlans(mostPace, pool))
    mostPace = std::min(*pace * (1 - 1e-9), mostPace * kStep);
}

static void addChains(const StageCosts &costs, double leastEstimate,
                      CandidatePool &pool) {
  if (costs.getLayerCount() < 2 || costs.getCluster().getDeviceCount() < 2)
    return;
  ArrayRef<int64_t> machines = costs.getCluster().devices;
  double most =
      std::isinf(leastEstimate) ? costs.getSerialTime() : leastEstimate;
  double mostPace = most / costs.getWorkload().microBatches;
  SmallVector<int32_t, 16> order(machines.size());
  std::iota(order.begin(), order.end(), 0);
  ChainPlanner inOrder(costs, Placement::fresh, order);
  addChainsInOrder(inOrder, mostPace, pool);
  if (machines.size() == 1)
    return;
  if (!llvm::all_equal(machines)) {
    std::reverse(order.begin(), order.end());
    ChainPlanner backwards(costs, Placement::fresh, order);
    addChainsInOrder(backwards, mostPace, pool);
  }
  // If each machine has one device, scattering them makes no difference.
  if (llvm::all_of(machines, [](int64_t count) { return count == 1; }))
    return;
  ChainPlanner scattered(costs, Placement::scatter, order);
  addChainsInOrder(scattered, mostPace, pool);
}

void mlir::hfta::planning::addSeeds(Judge &judge, CandidatePool &pool) {
  const StageCosts &costs = judge.getCosts();
  addOneStage(costs, pool);
  addTwoStages(costs, pool);
  addChains(costs, pool.getLeastEstimate(), pool);
}
