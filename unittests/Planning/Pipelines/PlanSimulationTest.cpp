//===- PlanSimulationTest.cpp - Plans whose orders are simulated ----------===//

#include "Hfta/Planning/Pipelines/PlanSimulation.h"

#include "Hfta/Planning/Pipelines/Latency.h"
#include "Hfta/Planning/Pipelines/Search.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir::hfta::planning;

/// Makes layers whose forward and backward take 0.1 ms to 1 ms per sample each.
static LayerModel makeModel(std::mt19937 &random, int64_t layers) {
  LayerModel model;
  auto draw = [&] { return 1e-4 * static_cast<double>(1 + random() % 10); };
  for (int64_t i = 0; i < layers; ++i) {
    Layer layer;
    layer.name = "layer" + std::to_string(i);
    layer.forward = draw();
    layer.backward = draw();
    layer.parameterBytes = static_cast<double>(random() % 100) * 1e4;
    layer.savedBytes = static_cast<double>(random() % 100) * 1e3;
    layer.crossingBytes =
        i + 1 == layers ? 0 : static_cast<double>(random() % 100) * 1e2;
    model.layers.push_back(layer);
  }
  return model;
}

static Stage makeStage(int64_t first, int64_t last, int32_t machine,
                       int32_t devices) {
  Stage stage{first, last, {}};
  stage.devices.add(machine, devices);
  return stage;
}

TEST(PlanSimulationTest, DividedMicroBatchesAreTheRecursion) {
  std::mt19937 random(4);
  for (int i = 0; i < 50; ++i) {
    LayerModel model = makeModel(random, 6);
    Cluster cluster;
    cluster.devices = {2, 1, 3};
    cluster.network = cluster.pointToPoint = 1e7;
    StageCosts costs(model, cluster, {16, 8, CostRule::published});
    PipelinePlan plan =
        describePlan(costs, {makeStage(0, 1, 0, 2), makeStage(2, 2, 1, 1),
                             makeStage(3, 5, 2, 3)});
    PlannedPipeline pipeline = getPipeline(plan, costs, {});
    for (size_t stage = 0; stage < 3; ++stage)
      pipeline.shape.inFlight[stage] = plan.stages[stage].inFlight;
    llvm::Expected<Order> order =
        makeOrder(OrderKind::oneForwardOneBackward, pipeline.shape);
    ASSERT_TRUE(!!order) << llvm::toString(order.takeError());
    PipelineRun run = simulateOrder(*order, pipeline.work, pipeline.places);
    EXPECT_NEAR(run.getLength(), plan.latency, 1e-9 * plan.latency);
    llvm::Expected<ChosenOrder> chosen = simulatePlan(plan, costs);
    ASSERT_TRUE(!!chosen) << llvm::toString(chosen.takeError());
    EXPECT_GE(*plan.simulated, plan.latency * (1 - 1e-9));
    EXPECT_LE(*plan.simulated, plan.latency * 1.1);
    EXPECT_EQ(plan.order, "one_f_one_b");
    EXPECT_EQ(
        getTimeline(plan, *chosen).rows,
        std::vector<std::string>(
            {"stage 0, 2 devices", "stage 1, device 2", "stage 2, 3 devices"}));
  }
}

TEST(PlanSimulationTest, BucketsAreSummedUnderTheBackward) {
  // Two devices compute one micro-batch each: the forward takes 1 s, the
  // backward 1 s per layer.
  LayerModel model;
  for (int i = 0; i < 2; ++i) {
    Layer layer;
    layer.name = "layer" + std::to_string(i);
    layer.forward = 0.5;
    layer.backward = 1;
    layer.parameterBytes = 100;
    model.layers.push_back(layer);
  }
  Cluster cluster;
  cluster.devices = {1, 1};
  cluster.network = 100;
  StageCosts costs(model, cluster, {2, 2, CostRule::units});
  Stage stage{0, 1, {}};
  stage.devices.add(0, 1);
  stage.devices.add(1, 1);
  auto simulate = [&](PlanSimulationOptions options) {
    PipelinePlan plan = describePlan(costs, stage);
    llvm::Expected<ChosenOrder> chosen = simulatePlan(plan, costs, options);
    EXPECT_TRUE(!!chosen);
    return chosen ? *plan.simulated : 0;
  };
  PlanSimulationOptions options;
  options.bucket = 100;
  // Computing takes 3 s. The last bucket follows: half of it is sent in each
  // direction, then the sums are sent back.
  EXPECT_DOUBLE_EQ(simulate(options), 4);
  options.overlaps = false;
  EXPECT_DOUBLE_EQ(simulate(options), 5);
  options.bucket = 1000;
  EXPECT_DOUBLE_EQ(simulate(options), 5);
}

TEST(PlanSimulationTest, MemoryLimitsWhatIsInFlight) {
  std::mt19937 random(5);
  int limited = 0;
  for (int i = 0; i < 100; ++i) {
    LayerModel model = makeModel(random, 5);
    Cluster cluster;
    cluster.devices = {4};
    cluster.memory = 2000000 + random() % 2000000;
    StageCosts costs(model, cluster, {16, 8, CostRule::units});
    llvm::SmallVector<Stage, 4> stages = {
        makeStage(0, 1, 0, 2), makeStage(2, 3, 0, 1), makeStage(4, 4, 0, 1)};
    bool fits = true;
    for (const Stage &stage : stages)
      fits &= costs.getMostInFlight(stage.first, stage.last,
                                    stage.devices.size()) > 0;
    if (!fits)
      continue;
    PipelinePlan plan = describePlan(costs, stages);
    PlanSimulationOptions options;
    options.order = OrderKind::automatic;
    llvm::Expected<ChosenOrder> chosen = simulatePlan(plan, costs, options);
    ASSERT_TRUE(!!chosen) << llvm::toString(chosen.takeError());
    EXPECT_FALSE(verifyOrder(chosen->run.order));
    EXPECT_EQ(
        getTimeline(plan, *chosen).rows,
        std::vector<std::string>({"stage 0, device 0", "stage 0, device 1",
                                  "stage 1, device 2", "stage 2, device 3"}));
    EXPECT_LE(*plan.simulated, plan.latency * 1.05);
    for (const PlannedStage &stage : plan.stages)
      EXPECT_LE(stage.peakBytes, cluster.memory);
    ++limited;
  }
  EXPECT_GT(limited, 20);
}
