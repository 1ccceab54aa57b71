//===- PublishedPlans.cpp - Published profiles and plans ------------------===//

#include "Pipelines/PublishedPlans.h"

#include "Hfta/Planning/Pipelines/Latency.h"
#include "Hfta/Planning/Pipelines/Profile.h"
#include "Hfta/Planning/Pipelines/Search.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

#include <cstdlib>

using namespace mlir::hfta::planning;

Cluster mlir::hfta::planning::makePublishedCluster(char configuration) {
  Cluster cluster;
  cluster.devices = configuration == 'A' ? std::vector<int64_t>{8, 8}
                                         : std::vector<int64_t>(16, 1);
  cluster.link = 25e9;
  cluster.network = configuration == 'C' ? 1.2e9 : 3e9;
  cluster.pointToPoint = configuration == 'C' ? 0.32e9 : 1e9;
  cluster.duplex = Duplex::half;
  return cluster;
}

std::optional<LayerModel>
mlir::hfta::planning::loadProfile(llvm::StringRef name, int64_t samples) {
  const char *folder = std::getenv("HFTA_PROFILES");
  if (!folder)
    return std::nullopt;
  auto file = llvm::MemoryBuffer::getFile(std::string(folder) + "/" +
                                          name.str() + ".txt");
  if (!file)
    return std::nullopt;
  ProfileError error;
  std::optional<LayerModel> model =
      readProfile((*file)->getBuffer(), samples, error);
  EXPECT_TRUE(model) << name.str() << ":" << error.line << ": "
                     << error.message;
  return model;
}

llvm::SmallVector<Stage, 4> mlir::hfta::planning::makeStages(
    const LayerModel &model, const Cluster &cluster,
    llvm::ArrayRef<std::string> lastLayers, llvm::ArrayRef<int64_t> replicas) {
  FreeDevices free(cluster.devices);
  llvm::SmallVector<Stage, 4> stages;
  int64_t first = 0;
  for (size_t i = 0; i < replicas.size(); ++i) {
    int64_t last = model.layers.size() - 1;
    if (i < lastLayers.size()) {
      auto found = llvm::find_if(model.layers, [&](const Layer &layer) {
        return layer.name == lastLayers[i];
      });
      EXPECT_NE(found, model.layers.end()) << lastLayers[i];
      last = found - model.layers.begin();
    }
    // Placement::append takes devices of partly used machines first, in the
    // order of their numbers.
    stages.push_back({first, last, free.take(replicas[i], Placement::append)});
    first = last + 1;
  }
  return stages;
}

//===----------------------------------------------------------------------===//
// Golden rows
//===----------------------------------------------------------------------===//

static std::vector<std::string> everyThirdLayer() {
  std::vector<std::string> names;
  for (int layer = 2; layer < 45; layer += 3)
    names.push_back("layer_" + std::to_string(layer));
  return names;
}

const std::vector<GoldenRow> &mlir::hfta::planning::getGoldenRows() {
  static const std::vector<GoldenRow> rows = {
      {"vgg-19-pbs-32",
       32,
       'A',
       1024,
       32,
       {"MaxPool2d_4"},
       {14, 2},
       {{43.515, 87.03, 40379146, 12e6}, {4.495, 9.17, 507667876, 0}},
       473.178,
       1,
       {473.178, 691.818, 480.011},
       {362.907, 512.264},
       9.7526},
      {"vgg-19-pbs-32",
       32,
       'A',
       2048,
       32,
       {"Conv2d_5_2"},
       {15, 1},
       {{45.445, 90.89, 58383052, 12e6}, {2.565, 5.31, 489663970, 0}},
       864.616,
       1,
       {867.566, 1368.616, 872.491},
       {691.135, 997.864},
       10.6383},
      {"vgg-19-pbs-32",
       32,
       'A',
       1024,
       32,
       {"MaxPool2d_5"},
       {15, 1},
       {{47.4, 94.8, 76386958, 3e6}, {0.61, 1.4, 471660064, 0}},
       350.890,
       0,
       {350.930, 352.940, 356.100},
       {350.890, 352.940},
       13.1500},
      {"bert-48-pbs-2",
       2,
       'A',
       64,
       2,
       {"layer_23"},
       {8, 8},
       {{64.637, 107.28, 1336369152, 7864320}, {64.56, 107.28, 1213435904, 0}},
       747.965,
       2,
       {747.965, 1235.553, 769.998},
       {747.965, 984.048},
       14.7069},
      {"xlnet-36-pbs-1",
       1,
       'A',
       128,
       1,
       {"Layer_17"},
       {8, 8},
       {{61.27, 88.2, 1067e6, 9e6}, {61.66, 89.58, 936e6, 0}},
       2475.196,
       2,
       {2475.196, 4761.196, 2817.885},
       {2475.196, 3595.257},
       15.5506},
      {"xlnet-24-pbs-1",
       1,
       'A',
       128,
       1,
       {"Layer_11"},
       {8, 8},
       {{40.87, 58.8, 755e6, 9e6}, {41.26, 60.18, 624e6, 0}},
       2329.671,
       1,
       {2337.031, 3952.711, 2342.351},
       {1880.859, 2786.772},
       11.0149},
      {"bert-48-pbs-2",
       2,
       'B',
       64,
       2,
       everyThirdLayer(),
       std::vector<int64_t>(16, 1),
       {},
       1245.567,
       30,
       {1245.567, 1733.154, 1268.992},
       {1245.567, 1701.851},
       8.8315},
      {"vgg-19-pbs-32",
       32,
       'A',
       1024,
       32,
       {"MaxPool2d_3", "Conv2d_5_1", "Conv2d_5_3"},
       {8, 6, 1, 1},
       {{33.065, 66.13, 8871334, 24e6},
        {11.415, 22.83, 40509765, 12e6},
        {1.925, 3.85, 18003906, 12e6},
        {1.605, 3.39, 480662017, 0}},
       1548.555,
       1,
       {1548.555, 1719.780, 1566.952},
       {906.262, 1111.758},
       2.9800},
  };
  return rows;
}

/// Compares with a published figure. The figures have three decimals, some of
/// them truncated instead of rounded.
static void expectMilliseconds(double seconds, double golden) {
  EXPECT_NEAR(seconds * 1e3, golden, 6e-4);
}

void mlir::hfta::planning::checkGoldenRow(const GoldenRow &row,
                                          const StageCosts &costs,
                                          llvm::ArrayRef<Stage> stages) {
  Workload workload = row.getWorkload();
  llvm::SmallVector<Station, 8> stations = costs.getStations(stages);
  LatencyEstimate estimate = estimateLatency(stations, workload, Duplex::half);
  expectMilliseconds(estimate.seconds, row.estimate);
  EXPECT_EQ(estimate.pivot, row.pivot);
  std::vector<int64_t> most(stages.size(), workload.microBatches);
  double least = std::numeric_limits<double>::infinity();
  for (size_t policy = 0; policy < 3; ++policy) {
    auto inFlight =
        getInFlight(kInFlightPolicies[policy], stations, workload, most);
    double latency = getLatency(stations, inFlight, workload, Duplex::half);
    expectMilliseconds(latency, row.half[policy]);
    least = std::min(least, latency);
    if (policy < 2)
      expectMilliseconds(getLatency(stations, inFlight, workload, Duplex::full),
                         row.full[policy]);
  }
  EXPECT_NEAR(costs.getSerialTime() / least, row.speedup, 6e-5);
}
