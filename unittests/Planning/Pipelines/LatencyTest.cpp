//===- LatencyTest.cpp - Costs, recursion and estimate of latency ---------===//

#include "Pipelines/PublishedPlans.h"

#include "Hfta/Planning/Pipelines/Latency.h"
#include "gtest/gtest.h"

using namespace mlir::hfta::planning;

//===----------------------------------------------------------------------===//
// Published plans, reconstructed from the sums over each stage's layers
//===----------------------------------------------------------------------===//

/// Makes a model with one layer for each stage of a published plan.
static LayerModel makeModel(const GoldenRow &row) {
  LayerModel model;
  for (const GoldenRow::StageSums &sums : row.sums) {
    Layer layer;
    layer.name = "stage" + std::to_string(model.layers.size());
    layer.forward = sums.forward / 1e3 / row.profileSamples;
    layer.backward = sums.backward / 1e3 / row.profileSamples;
    layer.parameterBytes = sums.parameterBytes;
    layer.crossingBytes = sums.crossingBytes / row.profileSamples;
    model.layers.push_back(layer);
  }
  return model;
}

TEST(LatencyTest, hasTheGoldenLatenciesOfStageSums) {
  for (const GoldenRow &row : getGoldenRows()) {
    if (row.sums.empty())
      continue;
    SCOPED_TRACE(std::string(row.profile) + " to " + row.lastLayers.front());
    LayerModel model = makeModel(row);
    Cluster cluster = makePublishedCluster(row.configuration);
    StageCosts costs(model, cluster, row.getWorkload());
    std::vector<std::string> lastLayers;
    for (size_t i = 0; i + 1 < row.sums.size(); ++i)
      lastLayers.push_back(model.layers[i].name);
    checkGoldenRow(row, costs,
                   makeStages(model, cluster, lastLayers, row.replicas));
  }
}

TEST(LatencyTest, hasTheGoldenStationsOfTheFirstPlan) {
  const GoldenRow &row = getGoldenRows().front();
  LayerModel model = makeModel(row);
  Cluster cluster = makePublishedCluster('A');
  StageCosts costs(model, cluster, row.getWorkload());
  llvm::SmallVector<Station, 8> stations =
      costs.getStations(makeStages(model, cluster, {"stage0"}, {14, 2}));
  struct {
    double forward, backward, allReduce;
  } golden[] = {
      {3.1082, 6.2164, 24.997}, {6.8571, 6.8571, 0}, {2.2775, 4.5550, 20.307}};
  ASSERT_EQ(stations.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(stations[i].forward * 1e3, golden[i].forward, 6e-5);
    EXPECT_NEAR(stations[i].backward * 1e3, golden[i].backward, 6e-5);
    EXPECT_NEAR(stations[i].allReduce * 1e3, golden[i].allReduce, 6e-4);
  }
  // The estimate adds up three phases: until the first micro-batch reaches the
  // pivot (the station that limits the rate, here the link), while the pivot is
  // busy, and after its last micro-batch.
  double steady = 31 * (stations[1].forward + stations[1].backward);
  EXPECT_NEAR((stations[0].forward + stations[1].forward) * 1e3, 9.965, 6e-4);
  EXPECT_NEAR(steady * 1e3, 425.143, 6e-4);
  LatencyEstimate estimate =
      estimateLatency(stations, costs.getWorkload(), Duplex::half);
  EXPECT_NEAR((estimate.seconds - steady) * 1e3 - 9.965, 38.070, 1e-3);
}

//===----------------------------------------------------------------------===//
// Costs of sets of devices
//===----------------------------------------------------------------------===//

static DeviceSet makeSet(std::initializer_list<DeviceSet::Part> parts) {
  DeviceSet devices;
  for (const DeviceSet::Part &part : parts)
    devices.add(part.machine, part.count);
  return devices;
}

TEST(LatencyTest, costsSendsAndSums) {
  LayerModel model;
  model.layers.push_back({"layer", 1, 2, 8, 0, 0});
  Cluster cluster;
  cluster.devices = {4, 4};
  cluster.link = 100;
  cluster.network = 10;
  cluster.pointToPoint = 5;
  Workload workload{8, 8, CostRule::published};
  StageCosts costs(model, cluster, workload);
  DeviceSet one = makeSet({{0, 1}}), three = makeSet({{0, 3}}),
            both = makeSet({{0, 2}, {1, 2}}), other = makeSet({{1, 2}});
  // An all-reduce of W bytes on n devices moves 2 W (n - 1) / n bytes per
  // device. Each pair of devices of a machine has a link of its own.
  EXPECT_DOUBLE_EQ(costs.getAllReduceTime(one, 60), 0);
  EXPECT_DOUBLE_EQ(costs.getAllReduceTime(three, 60), 0.8);
  EXPECT_DOUBLE_EQ(costs.getAllReduceTime(makeSet({{0, 4}}), 60), 0.45);
  EXPECT_DOUBLE_EQ(costs.getAllReduceTime(both, 60), 9);
  EXPECT_DOUBLE_EQ(costs.getSendTime(one, three, 60), 0.6);
  // Two of the four senders are on another machine than the receivers; each
  // sends a quarter of the bytes.
  EXPECT_DOUBLE_EQ(costs.getSendTime(both, other, 60), 6);
  EXPECT_DOUBLE_EQ(costs.getSendTime(one, other, 60), 12);
  EXPECT_DOUBLE_EQ(costs.getSendTime(one, both, 60), 6);
}

TEST(LatencyTest, dividesForwardAndBackwardByTheRule) {
  LayerModel model;
  model.layers.push_back({"layer", 2, 7, 8, 0, 0});
  Cluster cluster;
  cluster.devices = {4};
  Stage stage{0, 0, makeSet({{0, 3}})};
  Workload published{8, 4, CostRule::published}, units{8, 4, CostRule::units};
  Station shared = StageCosts(model, cluster, published).getStation(stage);
  EXPECT_DOUBLE_EQ(shared.forward, 2);
  EXPECT_DOUBLE_EQ(shared.backward, 4);
  EXPECT_EQ(shared.lanes, 1);
  Station whole = StageCosts(model, cluster, units).getStation(stage);
  EXPECT_DOUBLE_EQ(whole.forward, 4);
  EXPECT_DOUBLE_EQ(whole.backward, 14);
  EXPECT_EQ(whole.lanes, 3);
  EXPECT_EQ(whole.getRounds(4), 2);
}

//===----------------------------------------------------------------------===//
// Small recursions, computed by hand
//===----------------------------------------------------------------------===//

static Station makeStage(double forward, double backward, int64_t lanes = 1) {
  Station station;
  station.forward = forward;
  station.backward = backward;
  station.lanes = lanes;
  return station;
}

static Station makeLink(double seconds) {
  Station station = makeStage(seconds, seconds);
  station.isLink = true;
  return station;
}

TEST(LatencyTest, runsWholeMicroBatchesOnReplicas) {
  // One of the two replicas gets three of the five micro-batches.
  std::vector<Station> stations = {makeStage(1, 2, /*lanes=*/2)};
  Workload workload{5, 5, CostRule::units};
  for (int64_t inFlight : {1, 2, 3})
    EXPECT_DOUBLE_EQ(getLatency(stations, {inFlight}, workload, Duplex::full),
                     9);
  EXPECT_DOUBLE_EQ(estimateLatency(stations, workload, Duplex::full).seconds,
                   9);
}

TEST(LatencyTest, runsTwoEqualStages) {
  // If sends take no time, S equal stages need (M + S - 1) (F + B) seconds for
  // M micro-batches, whether forwards and backwards alternate or all forwards
  // come first.
  std::vector<Station> stations = {makeStage(1, 2), makeLink(0),
                                   makeStage(1, 2)};
  Workload workload{6, 6, CostRule::published};
  EXPECT_DOUBLE_EQ(getLatency(stations, {2, 1}, workload, Duplex::full), 21);
  EXPECT_DOUBLE_EQ(getLatency(stations, {6, 6}, workload, Duplex::full), 21);
  // With one micro-batch in flight, stages never overlap.
  EXPECT_DOUBLE_EQ(getLatency(stations, {1, 1}, workload, Duplex::full), 36);
}

TEST(LatencyTest, lowersNumbersThatWouldWaitForever) {
  std::vector<Station> stations = {makeStage(1, 1), makeLink(1),
                                   makeStage(1, 1)};
  Workload workload{4, 4, CostRule::published};
  for (Duplex duplex : {Duplex::full, Duplex::half})
    EXPECT_DOUBLE_EQ(getLatency(stations, {1, 4}, workload, duplex),
                     getLatency(stations, {1, 1}, workload, duplex));
}

TEST(LatencyTest, countsWhatPoliciesLetIn) {
  std::vector<Station> stations = {makeStage(1, 1), makeLink(1),
                                   makeStage(1, 1), makeLink(1),
                                   makeStage(1, 1)};
  Workload workload{8, 8, CostRule::published};
  std::vector<int64_t> most = {8, 2, 8};
  using Numbers = llvm::SmallVector<int64_t, 8>;
  EXPECT_EQ(getInFlight(InFlightPolicy::withLinks, stations, workload, most),
            (Numbers{5, 2, 1}));
  EXPECT_EQ(getInFlight(InFlightPolicy::withoutLinks, stations, workload, most),
            (Numbers{3, 2, 1}));
  EXPECT_EQ(getInFlight(InFlightPolicy::all, stations, workload, most),
            (Numbers{8, 2, 8}));
}
