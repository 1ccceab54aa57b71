//===- StageRanksTest.cpp - Tests of ranks that run stages ----------------===//

#include "FakeStages.h"
#include "RuntimeTest.h"

extern "C" {
#include "command_line/command.h"
#include "command_line/rank_name.h"
#include "command_line/ranks.h"
#include "text/ranges.h"
#include "workload/memory_plan.h"
#include "workload/share.h"
}

namespace {
FakeStages makeStages(const std::vector<int64_t> &replicas,
                      bool isUncut = false,
                      const std::vector<int64_t> &places = {}) {
  StagesOptions options;
  options.places = places;
  options.replicas = replicas;
  options.microBatches = 6;
  options.groups = 6;
  options.isUncut = isUncut;
  return FakeStages(options);
}

std::string nameOf(const FakeStages &program, int rank, int ranks) {
  return hfta_name_rank(program.get(), rank, ranks).text;
}

/// Returns the bytes that workers don't share with other workers of their rank.
uint64_t bytesOf(const hfta_memory_plan &plan) {
  return plan.peak - plan.scratch - plan.prefetch;
}
} // namespace

TEST(StageRanks, HaveNames) {
  FakeStages program = makeStages({1, 3, 1, 1});
  EXPECT_EQ(nameOf(program, 0, 6), "rank 0 (stage 0, replica 0)");
  EXPECT_EQ(nameOf(program, 3, 6), "rank 3 (stage 1, replica 2)");
  EXPECT_EQ(nameOf(program, 5, 6), "rank 5 (stage 3, replica 0)");
  EXPECT_EQ(nameOf(program, 0, 3), "rank 0 (stages 0 to 1)");
  EXPECT_EQ(nameOf(program, 1, 3), "rank 1 (stage 1, replicas 1 to 2)");
  EXPECT_EQ(nameOf(program, 2, 3), "rank 2 (stages 2 to 3)");
  FakeStages uncut = makeStages({1, 1}, /*isUncut=*/true);
  EXPECT_EQ(nameOf(uncut, 0, 1), "rank 0 (replica 0)");
}

/// Returns the numbers of each rank's workers. Checks that the inverse function
/// agrees.
static std::vector<std::vector<int64_t>> deal(const hfta_program *program,
                                              int ranks) {
  std::vector<std::vector<int64_t>> dealt(ranks);
  for (int rank = 0; rank < ranks; ++rank)
    for (int64_t i = 0; i < hfta_rank_worker_count(program, ranks, rank); ++i) {
      dealt[rank].push_back(hfta_rank_worker(program, ranks, rank, i));
      EXPECT_EQ(hfta_rank_of_worker(program, ranks, dealt[rank].back()), rank);
    }
  return dealt;
}

TEST(StageRanks, HaveWorkersInTheOrderOfTheirPlaces) {
  using Dealt = std::vector<std::vector<int64_t>>;
  FakeStages inOrder = makeStages({1, 2, 1});
  EXPECT_EQ(deal(inOrder.get(), 4), (Dealt{{0}, {1}, {2}, {3}}));
  EXPECT_EQ(deal(inOrder.get(), 3), (Dealt{{0}, {1}, {2, 3}}));
  FakeStages program = makeStages({1, 2, 1}, /*isUncut=*/false, {2, 0, 1, 3});
  EXPECT_EQ(deal(program.get(), 4), (Dealt{{1}, {2}, {0}, {3}}));
  EXPECT_EQ(deal(program.get(), 3), (Dealt{{1}, {2}, {0, 3}}));
  EXPECT_EQ(deal(program.get(), 2), (Dealt{{1, 2}, {0, 3}}));
  EXPECT_EQ(deal(program.get(), 1), (Dealt{{0, 1, 2, 3}}));
  EXPECT_EQ(nameOf(program, 0, 4), "rank 0 (stage 1, replica 0)");
  EXPECT_EQ(nameOf(program, 0, 2), "rank 0 (stage 1, replicas 0 to 1)");
  EXPECT_EQ(nameOf(program, 1, 2), "rank 1 (stages 0, 2)");
}

TEST(StageRanks, MayNotHaveAWorkerTwice) {
  for (const std::vector<int64_t> &places :
       std::vector<std::vector<int64_t>>{{0, 0, 1}, {0, 1, 3}, {-1, 0, 1}}) {
    FakeStages program = makeStages({2, 1}, /*isUncut=*/false, places);
    hfta_error error;
    EXPECT_EQ(hfta_program_check(program.get(), &error), HFTA_INTERNAL);
    EXPECT_STREQ(error.message,
                 "program 'stages': the places of its 3 workers aren't the "
                 "numbers from 0 on, each once");
  }
  FakeStages program = makeStages({2, 1}, /*isUncut=*/false, {2, 0, 1});
  EXPECT_EQ(hfta_program_check(program.get(), nullptr), HFTA_OK);
}

TEST(StageRanks, NeedWhatTheirWorkersNeed) {
  for (const std::vector<int64_t> &replicas :
       {std::vector<int64_t>{1, 1}, {2, 1, 3}}) {
    std::vector<int64_t> places;
    for (int64_t count : replicas)
      for (int64_t i = 0; i < count; ++i)
        places.insert(places.begin(), static_cast<int64_t>(places.size()));
    FakeStages program = makeStages(replicas, /*isUncut=*/false, places);
    int workers = static_cast<int>(program.get()->workers);
    for (int ranks = 1; ranks <= workers; ++ranks) {
      uint64_t all = 0;
      for (int rank = 0; rank < ranks; ++rank)
        all += bytesOf(hfta_rank_memory(program.get(), rank, ranks, 1));
      EXPECT_EQ(all, bytesOf(hfta_program_memory(program.get(), 1)));
    }
    for (uint32_t stage = 0; stage < replicas.size(); ++stage) {
      int first =
          static_cast<int>(hfta_first_worker(program.get(), int32_t(stage)));
      EXPECT_EQ(hfta_stage_memory(program.get(), stage, 1).peak,
                hfta_rank_memory(program.get(), workers - 1 - first, workers, 1)
                    .peak);
    }
  }
}

static std::string infoOf(const FakeStages &program) {
  char *text = nullptr;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  const hfta_program *only = program.get();
  EXPECT_EQ(hfta_write_info_json(&only, 1, file, nullptr), HFTA_OK);
  fclose(file);
  std::string json(text, size);
  free(text);
  return json;
}

TEST(StageRanks, AreInTheFormForPrograms) {
  FakeStages program = makeStages({2, 1});
  std::string json = infoOf(program);
  for (uint32_t stage = 0; stage < 2; ++stage) {
    std::string expected =
        "{\"replicas\":" + std::to_string(2 - stage) +
        ",\"groups\":6,\"in_flight\":2,\"memory\":{\"parameters\":" +
        std::to_string(hfta_stage_memory(program.get(), stage, 1).parameters) +
        ",";
    EXPECT_NE(json.find(expected), std::string::npos) << expected << json;
  }
}

TEST(StageRanks, AreToldWhereTheirWorkersAre) {
  FakeStages program = makeStages({2, 1}, /*isUncut=*/false, {2, 0, 1});
  std::string json = infoOf(program);
  EXPECT_NE(json.find("\"in_flight\":2,\"places\":[2,0],"), std::string::npos);
  EXPECT_NE(json.find("\"in_flight\":2,\"places\":[1],"), std::string::npos);
}

TEST(Ranges, AreInTheOrderOfTheNumbers) {
  hfta_ranges ranges = {};
  for (int64_t number : {0, 1, 1, 2, 5, 3, 4, 9})
    hfta_ranges_add(&ranges, number);
  EXPECT_STREQ(ranges.text, "0 to 2, 5, 3 to 4, 9");
  EXPECT_EQ(ranges.count, 7);
  for (int64_t number = 1000000; number < 1000400; number += 2)
    hfta_ranges_add(&ranges, number);
  EXPECT_TRUE(testing::IsSubstring("", "", ", ...", ranges.text));
  EXPECT_LT(std::string(ranges.text).size(), sizeof(ranges.text));
}
