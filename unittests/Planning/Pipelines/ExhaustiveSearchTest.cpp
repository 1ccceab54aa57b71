//===- ExhaustiveSearchTest.cpp - The planner against all plans -----------===//

#include "Hfta/Planning/Pipelines/Latency.h"
#include "Hfta/Planning/Pipelines/Search.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mlir::hfta::planning;

namespace {

/// An exhaustive search over the plans of a small model on a small cluster: all
/// cuts, and all assignments of devices to stages, including those that leave
/// devices idle. All plans are compared with the numbers of micro-batches in
/// flight that the policies choose; then all numbers are tried for the best
/// plans.
class Enumeration {
public:
  explicit Enumeration(const StageCosts &costs)
      : costs(costs), machines(costs.getCluster().devices) {}

  /// Returns the least latency in seconds.
  double run();
  const std::vector<Stage> &getBest() const { return best.stages; }

private:
  struct Plan {
    std::vector<Stage> stages;
    double latency = std::numeric_limits<double>::infinity();
  };

  void divideLayers(int64_t first);
  void dealMachine(size_t machine);
  void dealDevices(size_t machine, size_t stage, int64_t left);
  void judge();
  void keep(double seconds);
  void tryNumbers(const Plan &plan, std::vector<int64_t> &inFlight);
  double getLatencyOf(const std::vector<Stage> &plan,
                      llvm::ArrayRef<int64_t> inFlight) const {
    return getLatency(costs.getStations(plan), inFlight, costs.getWorkload(),
                      costs.getCluster().duplex);
  }

  const StageCosts &costs;
  const std::vector<int64_t> &machines;
  std::vector<Stage> stages;
  std::vector<Plan> bestByPolicy; // the best plans, by increasing latency
  Plan best;
  /// The numbers of devices, by machine and stage.
  std::vector<std::vector<int64_t>> dealt;
};

} // namespace

double Enumeration::run() {
  divideLayers(0);
  best = bestByPolicy.front();
  for (const Plan &plan : bestByPolicy) {
    std::vector<int64_t> inFlight;
    tryNumbers(plan, inFlight);
  }
  return best.latency;
}

/// Extends `inFlight`, the numbers of micro-batches in flight of the first
/// stages, by all possible numbers for the other stages. With published costs,
/// no stage has more in flight than the stage before it.
void Enumeration::tryNumbers(const Plan &plan, std::vector<int64_t> &inFlight) {
  if (inFlight.size() == plan.stages.size()) {
    double seconds = getLatencyOf(plan.stages, inFlight);
    if (seconds < best.latency)
      best = {plan.stages, seconds};
    return;
  }
  int64_t most = costs.getWorkload().microBatches;
  if (!inFlight.empty() && costs.getWorkload().costs == CostRule::published)
    most = inFlight.back();
  inFlight.push_back(1);
  for (; inFlight.back() <= most; ++inFlight.back())
    tryNumbers(plan, inFlight);
  inFlight.pop_back();
}

void Enumeration::keep(double seconds) {
  constexpr size_t kKept = 20;
  auto at =
      std::find_if(bestByPolicy.begin(), bestByPolicy.end(),
                   [&](const Plan &plan) { return plan.latency > seconds; });
  bestByPolicy.insert(at, {stages, seconds});
  if (bestByPolicy.size() > kKept)
    bestByPolicy.pop_back();
}

void Enumeration::divideLayers(int64_t first) {
  int64_t layers = costs.getLayerCount();
  if (first == layers) {
    dealt.assign(machines.size(), std::vector<int64_t>(stages.size()));
    return dealMachine(0);
  }
  for (int64_t last = first; last < layers; ++last) {
    stages.push_back({first, last, DeviceSet()});
    divideLayers(last + 1);
    stages.pop_back();
  }
}

void Enumeration::dealMachine(size_t machine) {
  if (machine == machines.size())
    return judge();
  dealDevices(machine, 0, machines[machine]);
}

void Enumeration::dealDevices(size_t machine, size_t stage, int64_t left) {
  if (stage == stages.size()) {
    // Tries only one of the assignments that differ by exchanging equal
    // machines.
    if (machine > 0 && machines[machine] == machines[machine - 1] &&
        dealt[machine] < dealt[machine - 1])
      return;
    return dealMachine(machine + 1);
  }
  for (int64_t count = 0; count <= left; ++count) {
    dealt[machine][stage] = count;
    dealDevices(machine, stage + 1, left - count);
  }
}

void Enumeration::judge() {
  for (size_t stage = 0; stage < stages.size(); ++stage) {
    stages[stage].devices = DeviceSet();
    for (size_t machine = 0; machine < machines.size(); ++machine)
      if (dealt[machine][stage] > 0)
        stages[stage].devices.add(machine, dealt[machine][stage]);
    int64_t count = stages[stage].devices.size();
    if (count == 0 || count > costs.getWorkload().microBatches)
      return;
  }
  llvm::SmallVector<Station, 8> stations = costs.getStations(stages);
  std::vector<int64_t> most(stages.size(), costs.getWorkload().microBatches);
  double least = std::numeric_limits<double>::infinity();
  for (InFlightPolicy policy : kInFlightPolicies)
    least = std::min(
        least, getLatencyOf(stages, getInFlight(policy, stations,
                                                costs.getWorkload(), most)));
  keep(least);
}

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

namespace {

/// Random numbers that are the same on all machines, unlike those of std's
/// distributions.
class Draw {
public:
  explicit Draw(unsigned seed) : random(seed) {}

  /// Returns an integer between `least` and `most`, both included.
  int64_t whole(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % (most - least + 1));
  }
  /// Returns a number that is log-uniform over `count` decades from `least` on.
  double decades(double least, double count) {
    return least * std::pow(10.0, count * (random() / 0x1p32));
  }

private:
  std::mt19937 random;
};

struct Instance {
  LayerModel model;
  Cluster cluster;
  Workload workload;
};

enum class Kind { dataParallel, pipeline, hybrid, oneDevice };

} // namespace

static Instance drawInstance(unsigned seed, CostRule costs) {
  Draw draw(seed);
  Instance instance;
  // These factors scale the bytes of all layers. They decide which kind of plan
  // is best.
  double activations = draw.decades(1e3, 3), parameters = draw.decades(1e6, 2);
  int64_t layers = draw.whole(2, 7);
  for (int64_t i = 0; i < layers; ++i) {
    Layer layer;
    layer.name = "layer" + std::to_string(i);
    layer.forward = draw.decades(1e-3, 2);
    layer.backward = 2 * layer.forward;
    layer.crossingBytes = i + 1 < layers ? draw.decades(activations, 2) : 0;
    layer.savedBytes = layer.crossingBytes;
    layer.parameterBytes = draw.decades(parameters, 2);
    instance.model.layers.push_back(layer);
  }
  static const std::vector<int64_t> clusters[] = {
      {2},    {4},    {6},       {1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1, 1, 1},
      {2, 2}, {3, 3}, {2, 2, 2}, {4, 2}};
  instance.cluster.devices = clusters[draw.whole(0, 9)];
  instance.cluster.link = 5e9;
  instance.cluster.network = instance.cluster.pointToPoint = 1e9;
  instance.cluster.duplex =
      costs == CostRule::published ? Duplex::half : Duplex::full;
  int64_t microBatches = draw.whole(4, 8);
  instance.workload = {microBatches, microBatches, costs};
  return instance;
}

static Kind getKind(llvm::ArrayRef<Stage> stages) {
  bool isReplicated = false;
  for (const Stage &stage : stages)
    isReplicated |= stage.devices.size() > 1;
  if (stages.size() == 1)
    return isReplicated ? Kind::dataParallel : Kind::oneDevice;
  return isReplicated ? Kind::hybrid : Kind::pipeline;
}

static void compareWithAllPlans(CostRule rule) {
  constexpr unsigned kInstances = 200;
  double sum = 0, worst = 0;
  int kinds[4] = {};
  for (unsigned seed = 1; seed <= kInstances; ++seed) {
    Instance instance = drawInstance(seed, rule);
    StageCosts costs(instance.model, instance.cluster, instance.workload);
    Enumeration all(costs);
    double least = all.run();
    ++kinds[static_cast<int>(getKind(all.getBest()))];
    PlanFailure failure;
    std::optional<PipelinePlan> plan = planPipeline(
        instance.model, instance.cluster,
        {instance.workload.batch, instance.workload.microBatches, rule},
        failure);
    ASSERT_TRUE(plan) << "instance " << seed;
    double ratio = plan->latency / least;
    sum += ratio;
    worst = std::max(worst, ratio);
    EXPECT_LE(ratio, 1.05) << "instance " << seed;
  }
  EXPECT_LE(sum / kInstances, 1.01);
  for (Kind kind : {Kind::dataParallel, Kind::pipeline, Kind::hybrid})
    EXPECT_GE(kinds[static_cast<int>(kind)], 20)
        << "kind " << static_cast<int>(kind);
  ::testing::Test::RecordProperty("mean", std::to_string(sum / kInstances));
  ::testing::Test::RecordProperty("worst", std::to_string(worst));
}

TEST(ExhaustiveSearchTest, isNearTheBestPlanWithPublishedCosts) {
  compareWithAllPlans(CostRule::published);
}

TEST(ExhaustiveSearchTest, isNearTheBestPlanOfWholeMicroBatches) {
  compareWithAllPlans(CostRule::units);
}

//===----------------------------------------------------------------------===//
// Large models and clusters
//===----------------------------------------------------------------------===//

TEST(ExhaustiveSearchTest, plansForAThousandDevices) {
  for (CostRule rule : {CostRule::published, CostRule::units}) {
    Draw draw(7);
    LayerModel model;
    for (int64_t i = 0; i < 100; ++i)
      model.layers.push_back({"layer" + std::to_string(i),
                              draw.decades(1e-3, 1), draw.decades(2e-3, 1),
                              draw.decades(1e6, 2), draw.decades(1e6, 1),
                              i < 99 ? draw.decades(1e6, 1) : 0});
    Cluster cluster;
    cluster.devices.assign(128, 8);
    PlanFailure failure;
    std::optional<PipelinePlan> plan =
        planPipeline(model, cluster, {4096, 1024, rule}, failure);
    ASSERT_TRUE(plan);
    EXPECT_GT(plan->speedup, 700);
  }
}
