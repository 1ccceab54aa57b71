//===- PlanTest.cpp - Plans, their files and the memory they need ---------===//

#include "Hfta/Planning/Pipelines/Search.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir::hfta::planning;

/// Makes three layers that take 1, 2 and 3 s per sample, forward and backward
/// together. They have 10, 20 and 30 bytes of parameters and as many saved
/// bytes per sample; 1 and 2 bytes per sample cross to the next layer.
static LayerModel makeModel() {
  LayerModel model;
  model.digest = "0123";
  for (int i = 1; i <= 3; ++i)
    model.layers.push_back({"layer" + std::to_string(i), i / 3.0, 2 * i / 3.0,
                            10.0 * i, 10.0 * i, i < 3 ? 1.0 * i : 0.0});
  return model;
}

static Cluster makeCluster(std::vector<int64_t> devices, int64_t memory = 0) {
  Cluster cluster;
  cluster.devices = std::move(devices);
  cluster.memory = memory;
  return cluster;
}

static PipelinePlan plan(const Cluster &cluster) {
  PlanFailure failure;
  std::optional<PipelinePlan> found =
      planPipeline(makeModel(), cluster, {12, 12, CostRule::units}, failure);
  EXPECT_TRUE(found);
  return found.value_or(PipelinePlan());
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST(PlanTest, countsWhatADeviceHolds) {
  LayerModel model = makeModel();
  model.optimizerStates = 1;
  Cluster cluster = makeCluster({3}, 200);
  StageCosts units(model, cluster, {12, 12, CostRule::units});
  // The terms are parameters, gradients and optimizer state; two micro-batches
  // in flight with their received values; the gradient that is sent back; and
  // the value sent to the next stage, with its gradient.
  EXPECT_DOUBLE_EQ(units.getPeakBytes(1, 1, 1, 2), 60 + 2 * 21 + 1 + 4);
  EXPECT_EQ(units.getMostInFlight(1, 1, 1), 6);
  EXPECT_EQ(units.getMostInFlight(1, 1, 3), 4);
  StageCosts published(model, cluster, {12, 12, CostRule::published});
  EXPECT_DOUBLE_EQ(published.getPeakBytes(1, 1, 2, 2), 60 + 21 + 2.5);
}

TEST(PlanTest, countsWhatAPreconditionerKeeps) {
  LayerModel model = makeModel();
  Cluster cluster = makeCluster({3}, 200);
  StageCosts without(model, cluster, {12, 12, CostRule::units});
  model.layers[1].curvatureBytes = 7;
  model.layers[1].momentBytes = 3;
  model.layers[2].momentBytes = 100;
  StageCosts costs(model, cluster, {12, 12, CostRule::units});
  // First the moments of one group, then those of the three groups that one of
  // two replicas has.
  EXPECT_DOUBLE_EQ(costs.getPeakBytes(1, 1, 1, 2),
                   without.getPeakBytes(1, 1, 1, 2) + 7 + 3);
  Workload workload{12, 12, CostRule::units};
  workload.groups = 6;
  StageCosts grouped(model, cluster, workload);
  EXPECT_DOUBLE_EQ(
      grouped.getPeakBytes(1, 1, 2, 2) - grouped.getPeakBytes(0, 0, 2, 2),
      StageCosts(makeModel(), cluster, workload).getPeakBytes(1, 1, 2, 2) -
          StageCosts(makeModel(), cluster, workload).getPeakBytes(0, 0, 2, 2) +
          7 + 3 * 3);
}

TEST(PlanTest, countsWhatIsComputedAgain) {
  LayerModel model = makeModel();
  Cluster cluster = makeCluster({3}, 200);
  Workload workload{12, 12, CostRule::units};
  workload.recomputes = true;
  StageCosts costs(model, cluster, workload);
  // Recomputed values exist once. The values that they are recomputed from
  // exist for each micro-batch in flight.
  EXPECT_DOUBLE_EQ(costs.getPeakBytes(1, 1, 1, 3), 40 + 20 + 3 * 1 + 1 + 4);
  Station middle = costs.getStation(
      {1, 1, FreeDevices(cluster.devices).take(1, Placement::append)});
  EXPECT_DOUBLE_EQ(middle.backward, 2 * middle.forward + middle.forward);
  // The last stage has one micro-batch in flight, so it saves all values.
  EXPECT_DOUBLE_EQ(costs.getPeakBytes(2, 2, 1, 2), 60 + 2 * 32 + 2);
}

TEST(PlanTest, countsWhatDoesntGrowWithSamples) {
  LayerModel model = makeModel();
  model.layers[1].leastForward = 0.5;
  model.layers[1].leastBackward = 0.25;
  model.layers[1].update = 7;
  model.layers[1].inputBytes = 3;
  Cluster cluster = makeCluster({3});
  StageCosts costs(model, cluster, {12, 4, CostRule::units});
  Stage stage{1, 1, FreeDevices(cluster.devices).take(2, Placement::append)};
  Station station = costs.getStation(stage);
  EXPECT_DOUBLE_EQ(station.forward, 3 * 2 / 3.0 + 0.5);
  EXPECT_DOUBLE_EQ(station.backward, 3 * 4 / 3.0 + 0.25);
  EXPECT_DOUBLE_EQ(station.getEnd() - station.allReduce, 7);
  // A replica's data: three batches of two micro-batches each, one micro-batch
  // in transfer, and among the received values two in flight and one more.
  LayerModel bare = makeModel();
  StageCosts without(bare, cluster, {12, 4, CostRule::units});
  EXPECT_DOUBLE_EQ(costs.getPeakBytes(1, 1, 2, 2) -
                       without.getPeakBytes(1, 1, 2, 2),
                   9 * (3 * 2 + 1 + 2 + 1));
}

TEST(PlanTest, slowsDownWhatExchangesMessages) {
  LayerModel model = makeModel();
  model.layers[1].weightShare = 1;
  Cluster cluster = makeCluster({2});
  cluster.slowdown = 1.5;
  StageCosts costs(model, cluster, {12, 12, CostRule::units});
  FreeDevices free(cluster.devices);
  Stage part{1, 2, free.take(1, Placement::append)};
  EXPECT_DOUBLE_EQ(costs.getStation(part).forward, 1.5 * 5 / 3);
  EXPECT_DOUBLE_EQ(costs.getStation(part).backward, 1.5 * 10 / 3);
  Stage whole{0, 2, free.take(1, Placement::append)};
  EXPECT_DOUBLE_EQ(costs.getStation(whole).forward, 2);
  // The first layers have no stage before them that waits for the gradients of
  // their inputs, so their whole backward counts as gradients of weights.
  EXPECT_DOUBLE_EQ(costs.getWeightShare(1, 2), 0.7);
  EXPECT_DOUBLE_EQ(costs.getWeightShare(0, 1), 1);
}

TEST(PlanTest, countsSumsOfGradients) {
  LayerModel model = makeModel();
  Cluster cluster = makeCluster({4});
  Workload workload{12, 12, CostRule::units, /*groups=*/5};
  StageCosts costs(model, cluster, workload);
  // The first of two replicas has three of the five groups. Of each of the
  // other two groups' sums, it adds up half.
  EXPECT_DOUBLE_EQ(costs.getPeakBytes(0, 2, 2, 0), 60 * (1 + 3 + 1));
  PlanFailure failure;
  PlanRequest request{12, 12, CostRule::units, /*groups=*/2};
  std::optional<PipelinePlan> plan =
      planPipeline(model, cluster, request, failure);
  ASSERT_TRUE(plan);
  for (const PlannedStage &stage : plan->stages) {
    EXPECT_EQ(stage.groups, 2);
    EXPECT_LE(stage.devices.size(), 2u);
  }
}

TEST(PlanTest, keepsToTheMemory) {
  // A device with all layers needs 120 bytes, and 60 for each micro-batch in
  // flight.
  EXPECT_EQ(plan(makeCluster({2}, 1000)).stages.size(), 1u);
  // Only the plan with the least memory fits. Its second stage, the last layer,
  // needs 60 + 32 + 2 bytes.
  PipelinePlan tight = plan(makeCluster({2}, 97));
  ASSERT_EQ(tight.stages.size(), 2u);
  EXPECT_EQ(tight.stages[0].parts[0].last, "layer2");
  for (const PlannedStage &stage : tight.stages)
    EXPECT_LE(stage.peakBytes, 97);
}

TEST(PlanTest, saysWhatWouldFit) {
  LayerModel model = makeModel();
  struct {
    std::vector<int64_t> devices;
    int64_t least;
    const char *first, *last;
  } rows[] = {{{1}, 180, "layer1", "layer3"},
              // The first stage needs 2 (10 + 20) + 30 + 2 * 2 bytes, the
              // second one 2 * 30 + 32 + 2: both need 94.
              {{2}, 94, "layer1", "layer2"},
              {{1, 1, 1}, 94, "layer1", "layer2"}};
  for (const auto &row : rows) {
    Cluster cluster = makeCluster(row.devices, row.least - 1);
    PlanFailure failure;
    EXPECT_FALSE(
        planPipeline(model, cluster, {12, 12, CostRule::units}, failure));
    EXPECT_EQ(failure.leastMemory, row.least);
    EXPECT_EQ(failure.first, row.first);
    EXPECT_EQ(failure.last, row.last);
    cluster.memory = row.least;
    EXPECT_TRUE(
        planPipeline(model, cluster, {12, 12, CostRule::units}, failure));
  }
}

TEST(PlanTest, choosesMicroBatches) {
  LayerModel model = makeModel();
  PlanFailure failure;
  // Latency favours few, large micro-batches; idle devices favour many small
  // ones.
  Cluster cluster = makeCluster({1, 1});
  cluster.latency = 0.5;
  std::optional<PipelinePlan> best =
      planPipeline(model, cluster, {12, 0, CostRule::units}, failure);
  ASSERT_TRUE(best);
  for (int64_t count : {1, 2, 3, 4, 6, 12}) {
    std::optional<PipelinePlan> other =
        planPipeline(model, cluster, {12, count, CostRule::units}, failure);
    ASSERT_TRUE(other);
    EXPECT_LE(best->latency, other->latency);
    if (count == best->microBatches)
      EXPECT_EQ(best->latency, other->latency);
  }
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static std::string write(const PipelinePlan &plan) {
  std::string text;
  llvm::raw_string_ostream os(text);
  writePlan(plan, os);
  return text;
}

TEST(PlanTest, readsWhatItWrites) {
  PipelinePlan written = plan(makeCluster({2, 1}, 150));
  written.simulated = 0.125;
  std::string text = write(written), error;
  std::optional<PipelinePlan> read = readPlan(text, error);
  ASSERT_TRUE(read) << error;
  EXPECT_EQ(write(*read), text);
  EXPECT_EQ(read->simulated, 0.125);
  written.simulated = std::nullopt;
  read = readPlan(write(written), error);
  ASSERT_TRUE(read) << error;
  EXPECT_FALSE(read->simulated);
}

/// Describes a plan of two stages with two chunks each, which are placed in a
/// V: stage 0 has the first and last layer, stage 1 the two others.
static PipelinePlan describeChunks() {
  LayerModel model = makeModel();
  model.layers.insert(model.layers.begin(), {"layer0", 1, 1, 8, 8, 1});
  Cluster cluster = makeCluster({2, 1});
  StageCosts costs(model, cluster, {12, 12, CostRule::units});
  ChunkedStages stages;
  FreeDevices free(cluster.devices);
  for (int64_t layer = 0; layer < costs.getLayerCount(); ++layer)
    stages.parts.push_back({layer, layer});
  for (int64_t stage = 0; stage < 2; ++stage)
    stages.devices.push_back(free.take(1, Placement::append));
  stages.placement = ChunkPlacement::v;
  return describePlan(costs, stages);
}

TEST(PlanTest, hasStagesOfSeveralChunks) {
  PipelinePlan written = describeChunks();
  written.order = "v_shape";
  written.simulated = 0.125;
  EXPECT_EQ(written.getChunks(), 2);
  EXPECT_TRUE(written.isVShaped());
  EXPECT_EQ(written.stages[0].parts[1].last, "layer3");
  EXPECT_EQ(written.getParts()[2]->last, "layer2");
  EXPECT_DOUBLE_EQ(written.stages[0].getForward(), 2);
  std::string text = write(written), error;
  std::optional<PipelinePlan> read = readPlan(text, error);
  ASSERT_TRUE(read) << error;
  EXPECT_EQ(write(*read), text);
  struct {
    const char *from, *to, *message;
  } rows[] = {
      {"\"part\": 1", "\"part\": 2",
       "stages[1].chunks[0].part: expected 1, got 2"},
      {"\"part\": 3", "\"part\": 9223372036854775807",
       "stages[0].chunks[1].part: expected 2, got 9223372036854775807"},
      {"\"part\": 0", "\"part\": -1",
       "stages[0].chunks[0].part: expected a whole number of at least 0"},
      {"\"part\": 0,", "",
       "stages[0].chunks[0].part: expected a whole number of at least 0, but"},
      {"\"chunks\": [", "\"chunks\": [3,",
       "stages[0].chunks[0]: expected an object, got 3"},
      {"\"replicas\"", "\"first\": \"layer0\", \"replicas\"",
       "stages[0].first: unknown field"},
  };
  for (const auto &row : rows) {
    std::string damaged = text;
    size_t at = damaged.find(row.from);
    ASSERT_NE(at, std::string::npos) << row.from;
    damaged.replace(at, std::string(row.from).size(), row.to);
    EXPECT_FALSE(readPlan(damaged, error)) << row.to;
    EXPECT_NE(error.find(row.message), std::string::npos) << error;
  }
  written.stages[1].parts.pop_back();
  EXPECT_FALSE(readPlan(write(written), error));
  written.stages.pop_back();
  EXPECT_FALSE(readPlan(write(written), error));
  EXPECT_EQ(error, "stages[0].chunks: expected none for a plan of one stage");
}

TEST(PlanTest, refusesOtherFiles) {
  PipelinePlan good = plan(makeCluster({2, 1}, 150));
  std::string text = write(good);
  struct {
    const char *from, *to, *message;
  } rows[] = {
      {"\"model\"", "\"mode\"",
       "model: expected a text, but the field is "
       "missing"},
      {"\"latency_ms\": ", "\"latency_ms\": -",
       "latency_ms: expected a number of at least 0, got -"},
      {"\"micro_batches\": 12", "\"micro_batches\": 12.5",
       "micro_batches: expected a whole number of at least 1, got 12.5"},
      {"\"order\"", "\"colour\": 1,\n  \"order\"", "colour: unknown field"},
      {"\"duplex\": \"full\"", "\"duplex\": \"both\"",
       "cluster.duplex: expected \"full\" or \"half\", got \"both\""},
      {"\"link\": ", "\"link\": -", "cluster.link: expected a number above 0"},
      {"\"in_flight\": ", "\"in_flight\": 9",
       "stages[0].in_flight: expected at most 'micro_batches'"},
      {"\"replicas\": ", "\"replicas\": 1",
       "stages[0].replicas: expected as many as 'devices' are"},
      {"\"groups\": ", "\"groups\": 9", "stages[0].groups: expected at least"},
      {"\"pivot\": ", "\"pivot\": 9", "pivot: expected a stage or link"},
      {"\"order\"", "\"actions\": [\"0F0\"],\n  \"order\"",
       "actions: expected a row for each of 'stages'"},
      {"\"last\"", "\"cut\": [1],\n      \"last\"",
       "stages[0].cut[0]: expected a text, got 1"},
      {"\"last\"", "\"recompute\": 1,\n      \"last\"",
       "stages[0].recompute: expected true or false, got 1"},
      {"{\n", "[\n", "[2:"},
  };
  for (const auto &row : rows) {
    std::string damaged = text, error;
    size_t at = damaged.find(row.from);
    ASSERT_NE(at, std::string::npos) << row.from;
    damaged.replace(at, std::string(row.from).size(), row.to);
    EXPECT_FALSE(readPlan(damaged, error)) << row.to;
    EXPECT_NE(error.find(row.message), std::string::npos) << error;
  }
  std::string error;
  EXPECT_FALSE(readPlan("[]", error));
  EXPECT_EQ(error, "expected an object");
}

TEST(PlanTest, refusesDevicesThatArentThere) {
  PipelinePlan damaged = plan(makeCluster({2, 1}, 150));
  std::string error;
  damaged.stages[0].devices[0] = 3;
  EXPECT_FALSE(readPlan(write(damaged), error));
  EXPECT_EQ(error, "stages[0].devices[0]: the cluster has no device 3");
  damaged.stages[0].devices[0] = damaged.stages[1].devices[0];
  EXPECT_FALSE(readPlan(write(damaged), error));
  EXPECT_NE(error.find("is used twice"), std::string::npos) << error;
}
