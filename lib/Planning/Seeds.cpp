//===- Seeds.cpp - Plans from which the search begins ---------------------===//

#include "Candidates.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <numeric>

using namespace mlir::hfta::planning;
using llvm::ArrayRef;
using llvm::SmallVector;

//===----------------------------------------------------------------------===//
// One and two stages
//===----------------------------------------------------------------------===//

/// The most numbers of devices that are tried.
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
    // No machine is partly used yet, so that devices can't be appended.
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

/// Plans chains of stages for an order of the devices, a number of stages and a
/// bound on the time between micro-batches: the plan in which the first
/// micro-batch is soonest at the last stage and the last one soonest back, with
/// consecutive devices for each stage. It goes from the last stage to the
/// first, so that all later stages are known.
class ChainPlanner {
public:
  ChainPlanner(const StageCosts &costs, Placement placement,
               ArrayRef<int32_t> machines);

  /// Adds plans that need at most `mostPace` seconds between two micro-batches
  /// of a stage or link, for all small numbers of stages. Returns their
  /// greatest pace, or nothing if there are none.
  std::optional<double> addPlans(double mostPace, CandidatePool &pool);

private:
  /// The costs of a stage on a range of devices.
  struct Place {
    DeviceSet devices;
    double share = 1;     // part of a micro-batch that each device computes
    double paceShare = 1; // part of the time between micro-batches
    double reduceStart = 0, reduceRate = 0; // seconds, and seconds per byte
  };

  /// The stages from a cut on, on the devices from a slot on, in seconds.
  struct State {
    double forward = std::numeric_limits<double>::infinity();
    double backward = 0;
    /// The time from the last micro-batch's backward in the last stage to the
    /// last all-reduce.
    double end = 0;
    int32_t cut = -1, slot = -1; // where the first of them ends

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
  /// Layers before which a stage may begin, and the number of layers.
  SmallVector<int64_t, 64> cuts;
  int64_t slots = 0;
  std::vector<Place> places;
  int64_t lengths = 0;       ///< one more than the most stages
  std::vector<State> states; ///< by number of stages, cut and slot
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

/// Selects all cuts; if there are many, the cut that the fewest bytes cross in
/// each run of layers with an equal share of the time.
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

/// Groups devices into slots that are assigned together, so that there aren't
/// too many.
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

/// Returns the link from a stage on the slots from `begin` to `end` that ends
/// at `cut`.
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

/// Prepends stages that end at `cut`, on the slots from `begin` to `end`.
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

/// Adds the plan on the devices from `slot` on, and returns its pace.
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
    // Plans use all devices, or leave out some of the first.
    for (int64_t slot = 0; slot < slots; ++slot)
      if (getState(length, 0, slot).exists())
        pace = std::max(pace.value_or(0), addPlan(length, slot, pool));
  return pace;
}

/// Lowers the bound step by step below what earlier plans have needed.
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
  // When scattered, machines of one device are in the same order.
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
