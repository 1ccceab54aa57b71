//===- ChunkSearchTest.cpp - Search of chunks against all cuts ------------===//

#include "Pipelines/ChunkJudge.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mlir::hfta::planning;

namespace {

/// A random small model and cluster. In some instances, transfers matter for
/// the length of a step.
struct Instance {
  explicit Instance(unsigned seed);

  /// Returns a random number, log-uniform over `decades` decades from `least`
  /// on. Unlike std's distributions, it gives the same numbers on all machines.
  double draw(double least, double decades) {
    return least * std::pow(10.0, decades * (random() / 0x1p32));
  }

  std::mt19937 random;
  LayerModel model;
  Cluster cluster;
  PlanRequest request;
  ChunkRequest chunks;
  PlanSimulationOptions options;
};

/// An exhaustive search over all numbers of stages and all cuts into chunks.
class Enumeration {
public:
  explicit Enumeration(const Instance &instance)
      : instance(instance),
        costs(instance.model, instance.cluster,
              instance.request.getWorkload(instance.request.microBatches)) {}

  /// Returns the seconds of the shortest step; infinity if no plan fits into
  /// memory.
  double run();

private:
  void cut(int64_t first, int64_t parts);
  void judge();

  const Instance &instance;
  StageCosts costs;
  ChunkedStages stages;
  double least = std::numeric_limits<double>::infinity();
};

} // namespace

Instance::Instance(unsigned seed) : random(seed) {
  auto layers = static_cast<int64_t>(7 + random() % 4);
  double activations = draw(1e3, 3);
  for (int64_t i = 0; i < layers; ++i) {
    Layer layer;
    layer.name = "layer" + std::to_string(i);
    layer.forward = draw(1e-3, 1);
    layer.backward = 2 * layer.forward;
    layer.crossingBytes = i + 1 < layers ? draw(activations, 2) : 0;
    layer.savedBytes = draw(activations, 1);
    layer.parameterBytes = draw(1e5, 1);
    model.layers.push_back(layer);
  }
  static const std::vector<int64_t> clusters[] = {{2}, {3}, {1, 1}, {2, 1}};
  cluster.devices = clusters[random() % 4];
  cluster.link = 1e9;
  cluster.network = cluster.pointToPoint = 1e8;
  request.batch = request.microBatches = static_cast<int64_t>(4 + random() % 8);
  chunks.chunks = static_cast<int64_t>(2 + random() % 2);
  options.order = OrderKind::interleaved;
  if (chunks.chunks == 2 && random() % 2 == 0) {
    chunks.placement = ChunkPlacement::v;
    options.order = OrderKind::vShape;
  }
}

double Enumeration::run() {
  int64_t most = countChunkedStages(instance.model, instance.cluster,
                                    instance.chunks.chunks);
  stages.placement = instance.chunks.placement;
  for (int64_t count = 2; count <= most; ++count) {
    FreeDevices free(instance.cluster.devices);
    stages.devices.clear();
    for (int64_t stage = 0; stage < count; ++stage)
      stages.devices.push_back(free.take(1, Placement::append));
    cut(0, count * instance.chunks.chunks);
  }
  return least;
}

void Enumeration::cut(int64_t first, int64_t parts) {
  int64_t layers = costs.getLayerCount();
  if (parts == 1) {
    stages.parts.push_back({first, layers - 1});
    judge();
    stages.parts.pop_back();
    return;
  }
  for (int64_t last = first; last + parts <= layers; ++last) {
    stages.parts.push_back({first, last});
    cut(last + 1, parts - 1);
    stages.parts.pop_back();
  }
}

void Enumeration::judge() {
  PipelinePlan plan = describePlan(costs, stages);
  for (const PlannedStage &stage : plan.stages)
    if (stage.inFlight == 0)
      return;
  llvm::Expected<ChosenOrder> chosen =
      simulatePlan(plan, costs, instance.options);
  if (!chosen)
    return llvm::consumeError(chosen.takeError());
  bool fits = instance.cluster.memory == 0 ||
              llvm::all_of(plan.stages, [&](const PlannedStage &stage) {
                return stage.peakBytes <= instance.cluster.memory;
              });
  if (fits)
    least = std::min(least, plan.getLength());
}

static std::optional<PipelinePlan> plan(const Instance &instance,
                                        PlanFailure &failure) {
  std::optional<PipelinePlan> found =
      planChunks(instance.model, instance.cluster, instance.request,
                 instance.chunks, instance.options, failure);
  if (!found)
    return found;
  StageCosts costs(instance.model, instance.cluster,
                   instance.request.getWorkload(instance.request.microBatches));
  llvm::Expected<ChosenOrder> chosen =
      simulatePlan(*found, costs, instance.options);
  EXPECT_TRUE(!!chosen);
  if (!chosen)
    llvm::consumeError(chosen.takeError());
  return found;
}

TEST(ChunkSearchTest, isNearTheBestOfAllCuts) {
  constexpr unsigned kInstances = 40;
  double sum = 0, worst = 0;
  for (unsigned seed = 1; seed <= kInstances; ++seed) {
    Instance instance(seed);
    PlanFailure failure;
    std::optional<PipelinePlan> found = plan(instance, failure);
    ASSERT_TRUE(found) << "instance " << seed;
    double ratio = found->getLength() / Enumeration(instance).run();
    sum += ratio;
    worst = std::max(worst, ratio);
    EXPECT_LE(ratio, 1.05) << "instance " << seed;
  }
  EXPECT_LE(sum / kInstances, 1.01);
  ::testing::Test::RecordProperty("mean", std::to_string(sum / kInstances));
  ::testing::Test::RecordProperty("worst", std::to_string(worst));
}

/// Six layers are cut into six chunks on two devices. Five values cross the
/// link, for one second each, and five gradients cross it on the way back. In
/// half duplex, these ten seconds per micro-batch add up.
TEST(ChunkSearchTest, linksOfHalfDuplexAreSharedByBothDirections) {
  LayerModel model;
  for (int64_t i = 0; i < 6; ++i) {
    Layer &layer = model.layers.emplace_back();
    layer.name = "layer" + std::to_string(i);
    layer.forward = layer.backward = 1e-6;
    layer.crossingBytes = i < 5 ? 1e9 : 0;
  }
  Cluster cluster;
  PlanSimulationOptions options;
  for (const std::vector<int64_t> &devices :
       {std::vector<int64_t>{2}, std::vector<int64_t>{1, 1}}) {
    cluster.devices = devices;
    cluster.link = cluster.network = 1e9;
    cluster.duplex = Duplex::half;
    StageCosts half(model, cluster, {4, 4});
    ChunkJudge halfJudge(half, {3, ChunkPlacement::loop}, options, 2);
    EXPECT_DOUBLE_EQ(halfJudge.estimate({0, 1, 2, 3, 4}), 4 * 10);
    cluster.duplex = Duplex::full;
    StageCosts full(model, cluster, {4, 4});
    ChunkJudge fullJudge(full, {3, ChunkPlacement::loop}, options, 2);
    EXPECT_DOUBLE_EQ(fullJudge.estimate({0, 1, 2, 3, 4}), 4 * 5);
  }
}

TEST(ChunkSearchTest, keepsToTheMemory) {
  int limited = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Instance instance(seed);
    instance.cluster.memory = 1;
    PlanFailure failure;
    EXPECT_FALSE(plan(instance, failure));
    ASSERT_GT(failure.leastMemory, 1);
    int64_t least = failure.leastMemory;
    EXPECT_FALSE(failure.first.empty() || failure.last.empty());
    for (int64_t memory : {least, least + least / 8}) {
      instance.cluster.memory = memory;
      std::optional<PipelinePlan> found = plan(instance, failure);
      ASSERT_TRUE(found) << memory;
      for (const PlannedStage &stage : found->stages)
        EXPECT_LE(stage.peakBytes, memory);
      limited += found->stages[0].inFlight < found->microBatches;
    }
  }
  EXPECT_GT(limited, 20);
}

TEST(ChunkSearchTest, plansLargeModels) {
  Instance instance(3);
  Layer layer = instance.model.layers.front();
  instance.model.layers.assign(100, layer);
  for (int64_t i = 0; i < 100; ++i) {
    instance.model.layers[i].name = "layer" + std::to_string(i);
    instance.model.layers[i].forward = instance.draw(1e-3, 1);
    instance.model.layers[i].backward = 2 * instance.model.layers[i].forward;
    instance.model.layers[i].crossingBytes = 1e4;
  }
  instance.cluster.devices = {4, 4};
  instance.request.batch = 64;
  instance.request.microBatches = 0;
  instance.chunks = {2, ChunkPlacement::loop};
  instance.options.order = OrderKind::automatic;
  PlanFailure failure;
  std::optional<PipelinePlan> found =
      planChunks(instance.model, instance.cluster, instance.request,
                 instance.chunks, instance.options, failure);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->stages.size(), 8u);
  EXPECT_GT(found->speedup, 6.5);
}
