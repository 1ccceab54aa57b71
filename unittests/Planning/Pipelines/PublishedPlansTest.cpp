//===- PublishedPlansTest.cpp - Plans of published profiles ---------------===//
//
// The tests skip themselves unless the environment variable HFTA_PROFILES names
// a folder with the profiles that DAPPLE and PipeDream publish.
//===----------------------------------------------------------------------===//

#include "Pipelines/PublishedPlans.h"

#include "Hfta/Planning/Pipelines/Search.h"
#include "gtest/gtest.h"

using namespace mlir::hfta::planning;

TEST(PublishedPlansTest, hasTheGoldenLatencies) {
  for (const GoldenRow &row : getGoldenRows()) {
    SCOPED_TRACE(std::string(row.profile) + " to " + row.lastLayers.front());
    std::optional<LayerModel> model =
        loadProfile(row.profile, row.profileSamples);
    if (!model)
      GTEST_SKIP() << "HFTA_PROFILES names no folder with " << row.profile;
    Cluster cluster = makePublishedCluster(row.configuration);
    StageCosts costs(*model, cluster, row.getWorkload());
    checkGoldenRow(row, costs,
                   makeStages(*model, cluster, row.lastLayers, row.replicas));
  }
}

TEST(PublishedPlansTest, readsWhatProfilesHold) {
  struct {
    const char *name;
    int64_t layers;
    double forward, backward, megabytes; // forward and backward in ms
  } files[] = {{"vgg-19-pbs-32", 25, 48.01, 96.20, 548.05},
               {"bert-48-pbs-2", 53, 129.20, 214.56, 2549.8},
               {"xlnet-24-pbs-1", 30, 82.13, 118.98, 1379},
               {"xlnet-36-pbs-1", 42, 122.93, 177.78, 2003},
               {"vgg16", 40, 233.90, 438.63, 553.43},
               {"resnet50-pipedream", 176, 182.49, 260.93, 102.23}};
  for (const auto &file : files) {
    SCOPED_TRACE(file.name);
    std::optional<LayerModel> model = loadProfile(file.name, 1);
    if (!model)
      GTEST_SKIP() << "HFTA_PROFILES names no folder with " << file.name;
    double forward = 0, backward = 0, bytes = 0;
    for (const Layer &layer : model->layers) {
      forward += layer.forward * 1e3;
      backward += layer.backward * 1e3;
      bytes += layer.parameterBytes;
    }
    EXPECT_EQ(static_cast<int64_t>(model->layers.size()), file.layers);
    EXPECT_NEAR(forward, file.forward, 6e-3);
    EXPECT_NEAR(backward, file.backward, 6e-3);
    EXPECT_NEAR(bytes / 1e6, file.megabytes, 6e-2);
    EXPECT_EQ(model->layers.back().crossingBytes, 0);
  }
}

//===----------------------------------------------------------------------===//
// Searches
//===----------------------------------------------------------------------===//

namespace {

struct SearchRow {
  const char *profile;
  int64_t profileSamples, batch, samples;
  double speedups[3]; // on clusters A, B and C
};

} // namespace

static PipelinePlan plan(const LayerModel &model, char configuration,
                         int64_t batch, int64_t samples) {
  PlanRequest request{batch, batch / samples, CostRule::published};
  PlanFailure failure;
  std::optional<PipelinePlan> found = planPipeline(
      model, makePublishedCluster(configuration), request, failure);
  EXPECT_TRUE(found);
  return found ? *found : PipelinePlan();
}

class PublishedSearchTest : public ::testing::TestWithParam<int> {};

TEST_P(PublishedSearchTest, findsPlansAsGood) {
  static const SearchRow rows[] = {
      {"vgg-19-pbs-32", 32, 1024, 32, {13.150, 13.046, 8.779}},
      {"vgg-19-pbs-32", 32, 2048, 32, {14.106, 14.046, 11.920}},
      {"bert-48-pbs-2", 2, 64, 2, {14.707, 8.832, 8.545}},
      {"xlnet-24-pbs-1", 1, 128, 1, {14.094, 13.848, 11.251}},
      {"xlnet-36-pbs-1", 1, 128, 1, {15.551, 13.880, 12.439}},
      {"vgg16", 128, 2048, 32, {14.479, 14.426, 12.590}},
  };
  const SearchRow &row = rows[GetParam() / 3];
  std::optional<LayerModel> model =
      loadProfile(row.profile, row.profileSamples);
  if (!model)
    GTEST_SKIP() << "HFTA_PROFILES names no folder with " << row.profile;
  char configuration = "ABC"[GetParam() % 3];
  PipelinePlan best = plan(*model, configuration, row.batch, row.samples);
  RecordProperty("speedup", std::to_string(best.speedup));
  EXPECT_GE(best.speedup, 0.999 * row.speedups[GetParam() % 3]);
}

INSTANTIATE_TEST_SUITE_P(All, PublishedSearchTest, ::testing::Range(0, 18));

TEST(PublishedPlansTest, beatsThePlanOfPipeDream) {
  std::optional<LayerModel> model = loadProfile("vgg-19-pbs-32", 32);
  if (!model)
    GTEST_SKIP() << "HFTA_PROFILES names no folder with vgg-19-pbs-32";
  EXPECT_GE(1548.555e-3 / plan(*model, 'A', 1024, 32).latency, 4.41);
}

TEST(PublishedPlansTest, trainsSmallModelsDataParallel) {
  std::optional<LayerModel> model = loadProfile("resnet50-pipedream", 32);
  if (!model)
    GTEST_SKIP() << "HFTA_PROFILES names no folder with resnet50-pipedream";
  PipelinePlan best = plan(*model, 'A', 2048, 32);
  EXPECT_EQ(best.stages.size(), 1u);
  EXPECT_NEAR(best.speedup, 15.444, 6e-4);
}
