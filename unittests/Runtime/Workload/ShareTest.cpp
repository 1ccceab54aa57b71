//===- ShareTest.cpp - Which part of a step a rank does -------------------===//

#include "gtest/gtest.h"

#include <vector>

extern "C" {
#include "workload/share.h"
}

namespace {

/// A program of a single stage.
class OneStage : public hfta_program {
public:
  OneStage(int64_t microBatches, int64_t groups, int64_t replicas)
      : hfta_program(), stage{replicas, groups, 1} {
    micro_batches = microBatches;
    workers = replicas;
    stages = &stage;
    stage_count = 1;
  }
  OneStage(const OneStage &) = delete;

private:
  hfta_stage stage;
};

std::vector<int64_t> takeOwn(const hfta_program &program, int rank, int ranks) {
  hfta_share share;
  hfta_error error;
  EXPECT_EQ(hfta_share_create(&share, &program, -1, rank, ranks, &error),
            HFTA_OK);
  EXPECT_EQ(share.micro_batch_count,
            hfta_rank_micro_batches(&program, program.stages, ranks, rank));
  EXPECT_EQ(share.group_count, hfta_rank_groups(program.stages, ranks, rank));
  for (int64_t i = 0; i < share.micro_batch_count; ++i)
    EXPECT_EQ(share.groups[share.group_of[i]],
              share.micro_batches[i] % program.stages->groups);
  std::vector<int64_t> own(share.micro_batches,
                           share.micro_batches + share.micro_batch_count);
  hfta_share_destroy(&share);
  return own;
}

TEST(Share, WorkersTakeMicroBatchesInTurn) {
  OneStage program(8, 4, 4);
  EXPECT_EQ(takeOwn(program, 0, 4), (std::vector<int64_t>{0, 4}));
  EXPECT_EQ(takeOwn(program, 3, 4), (std::vector<int64_t>{3, 7}));
}

TEST(Share, ARankDoesWhatConsecutiveWorkersDo) {
  OneStage program(8, 8, 4);
  // Worker 0 has the groups 0 and 4.
  EXPECT_EQ(takeOwn(program, 0, 2), (std::vector<int64_t>{0, 1, 4, 5}));
  EXPECT_EQ(takeOwn(program, 1, 3), (std::vector<int64_t>{1, 5}));
  EXPECT_EQ(takeOwn(program, 2, 3), (std::vector<int64_t>{2, 3, 6, 7}));
}

TEST(Share, RanksBeginAtTheirWorkers) {
  for (int64_t workers = 1; workers <= 9; ++workers)
    for (int ranks = 1; ranks <= workers; ++ranks) {
      OneStage program(workers, workers, workers);
      for (int64_t worker = 0; worker < workers; ++worker) {
        int rank = hfta_rank_of_group(program.stages, ranks, worker);
        EXPECT_LE(rank * workers / ranks, worker);
        EXPECT_GT((rank + 1) * workers / ranks, worker);
      }
    }
}

TEST(Share, EachMicroBatchIsOneRanksOwn) {
  for (int64_t groups = 1; groups <= 7; ++groups)
    for (int64_t workers = 1; workers <= groups; ++workers)
      for (int ranks = 1; ranks <= workers; ++ranks) {
        OneStage program(11, groups, workers);
        std::vector<int> times(11);
        for (int rank = 0; rank < ranks; ++rank) {
          std::vector<int64_t> own = takeOwn(program, rank, ranks);
          EXPECT_FALSE(own.empty());
          for (int64_t number : own)
            ++times[number];
        }
        EXPECT_EQ(times, std::vector<int>(11, 1));
      }
}

TEST(Share, CountsThoseOfABatchThatIsNotFull) {
  OneStage program(8, 4, 4);
  hfta_share share;
  hfta_error error;
  ASSERT_EQ(hfta_share_create(&share, &program, -1, 2, 4, &error), HFTA_OK);
  EXPECT_EQ(hfta_share_count(&share, 8), 2);
  EXPECT_EQ(hfta_share_count(&share, 6), 1);
  EXPECT_EQ(hfta_share_count(&share, 2), 0);
  hfta_share_destroy(&share);
}

} // namespace
