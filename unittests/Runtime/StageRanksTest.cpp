//===- StageRanksTest.cpp - What is told of stages on ranks ---------------===//

#include "FakeStages.h"
#include "RuntimeTest.h"

extern "C" {
#include "commands/command.h"
#include "commands/ranks.h"
#include "schedule/share.h"
}

namespace {
FakeStages makeStages(const std::vector<int64_t> &replicas,
                      bool isUncut = false) {
  StagesOptions options;
  options.replicas = replicas;
  options.microBatches = 6;
  options.groups = 6;
  options.isUncut = isUncut;
  return FakeStages(options);
}

std::string nameOf(const FakeStages &program, int rank, int ranks) {
  return hfta_name_rank(program.get(), rank, ranks).text;
}

/// What workers have for themselves.
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

TEST(StageRanks, NeedWhatTheirWorkersNeed) {
  for (const std::vector<int64_t> &replicas :
       {std::vector<int64_t>{1, 1}, {2, 1, 3}}) {
    FakeStages program = makeStages(replicas);
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
                hfta_rank_memory(program.get(), first, workers, 1).peak);
    }
  }
}

TEST(StageRanks, AreInTheFormForPrograms) {
  FakeStages program = makeStages({2, 1});
  char *text = nullptr;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  ASSERT_EQ(hfta_write_info_json(program.get(), 1, file, nullptr), HFTA_OK);
  fclose(file);
  std::string json(text, size);
  free(text);
  for (uint32_t stage = 0; stage < 2; ++stage) {
    std::string expected =
        "{\"replicas\":" + std::to_string(2 - stage) +
        ",\"groups\":6,\"in_flight\":2,\"memory\":{\"parameters\":" +
        std::to_string(hfta_stage_memory(program.get(), stage, 1).parameters) +
        ",";
    EXPECT_NE(json.find(expected), std::string::npos) << expected << json;
  }
}
