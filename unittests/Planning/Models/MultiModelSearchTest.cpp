//===- MultiModelSearchTest.cpp - Exact search for several models ---------===//

#include "Models/TestWorkloads.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <algorithm>

using namespace mlir::hfta::planning;

/// Returns the runs of all schedulers, Hfta's own scheduler first.
static std::vector<MultiModelRun> runAll(const MultiModelWorkload &workload) {
  std::vector<MultiModelRun> runs;
  for (SchedulerKind kind : kSchedulerKinds)
    runs.push_back(simulateModels(workload, kind));
  return runs;
}

static const MultiModelRun &
getShortest(const std::vector<MultiModelRun> &runs) {
  return *llvm::min_element(
      runs, [](const MultiModelRun &one, const MultiModelRun &other) {
        return one.makespan < other.makespan;
      });
}

TEST(MultiModelSearchTest, provesSmallWorkloads) {
  std::mt19937 random(1);
  constexpr int kWorkloads = 100;
  double sum = 0, worst = 0;
  for (int number = 0; number < kWorkloads; ++number) {
    SCOPED_TRACE(number);
    MultiModelWorkload workload = makeSmallWorkload(random);
    std::vector<MultiModelRun> runs = runAll(workload);
    int64_t visited = 0;
    std::optional<MultiModelRun> best =
        findBestRun(workload, getShortest(runs), &visited);
    ASSERT_TRUE(best);
    // A search of this many nodes takes about half a second.
    EXPECT_LE(visited, 500000);
    EXPECT_GE(best->makespan, toTicks(workload.getLowerBound()) - 1);
    EXPECT_LE(toSeconds(best->makespan), 1.02 * workload.getLowerBound());
    for (const MultiModelRun &run : runs)
      EXPECT_LE(best->makespan, run.makespan);
    double ratio = static_cast<double>(runs.front().makespan) /
                   static_cast<double>(best->makespan);
    sum += ratio;
    worst = std::max(worst, ratio);
  }
  EXPECT_LE(sum / kWorkloads, 1.02);
  EXPECT_LE(worst, 1.10);
}

//===----------------------------------------------------------------------===//
// Comparison with all schedules
//===----------------------------------------------------------------------===//

namespace {
/// Enumerates all interleavings of the models' units, and assigns each unit to
/// the device that becomes free first. This finds an optimal schedule: if a
/// schedule's units are assigned this way in the order of their begins, none of
/// them begins later than in that schedule.
class AllSchedules {
public:
  explicit AllSchedules(const MultiModelWorkload &workload)
      : workload(workload), begun(workload.models.size()),
        ready(workload.models.size()), free(workload.devices) {}
  double getLeast() {
    visit(0);
    return least;
  }

private:
  void visit(double end) {
    bool isEnd = true;
    for (auto [number, model] : llvm::enumerate(workload.models)) {
      if (begun[number] == model.getUnitCount())
        continue;
      isEnd = false;
      auto device = llvm::min_element(free);
      double wasFree = *device, wasReady = ready[number];
      double now = std::max(wasFree, wasReady) +
                   model.units[begun[number] % model.units.size()].seconds;
      *device = ready[number] = now;
      ++begun[number];
      visit(std::max(end, now));
      --begun[number];
      *device = wasFree;
      ready[number] = wasReady;
    }
    if (isEnd)
      least = std::min(least, end);
  }

  const MultiModelWorkload &workload;
  std::vector<int64_t> begun;
  std::vector<double> ready, free;
  double least = 1e9;
};
} // namespace

TEST(MultiModelSearchTest, findsTheBestOfAllSchedules) {
  std::mt19937 random(2);
  int better = 0;
  for (int number = 0; number < 60; ++number) {
    SCOPED_TRACE(number);
    MultiModelWorkload workload;
    workload.devices = 2;
    for (int model = 0; model < 3; ++model)
      workload.models.push_back(
          makeModel(std::to_string(model), 1,
                    {static_cast<double>(1 + random() % 10),
                     static_cast<double>(1 + random() % 10)}));
    MultiModelRun fifo = simulateModels(workload, SchedulerKind::fifo);
    std::optional<MultiModelRun> best = findBestRun(workload, fifo);
    ASSERT_TRUE(best);
    EXPECT_EQ(toSeconds(best->makespan), AllSchedules(workload).getLeast());
    better += best->makespan < fifo.makespan;
  }
  EXPECT_GT(better, 20);
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

TEST(MultiModelSearchTest, isNeverWorseWithTransfers) {
  std::mt19937 random(3);
  int better = 0;
  for (int number = 0; number < 30; ++number) {
    SCOPED_TRACE(number);
    MultiModelWorkload workload = makeMovingWorkload(random);
    workload.models.resize(2);
    for (ShardedModel &model : workload.models)
      model.batches = 1;
    std::vector<MultiModelRun> runs = runAll(workload);
    std::optional<MultiModelRun> best =
        findBestRun(workload, getShortest(runs));
    ASSERT_TRUE(best);
    EXPECT_GE(best->makespan, toTicks(workload.getLowerBound()) - 1);
    EXPECT_LE(best->makespan, getShortest(runs).makespan);
    better += best->makespan < getShortest(runs).makespan;
  }
  EXPECT_GT(better, 0);
}

TEST(MultiModelSearchTest, givesUpOnLargeWorkloads) {
  MultiModelWorkload workload = makeHydraWorkload(12e12, 12e9);
  EXPECT_FALSE(
      findBestRun(workload, simulateModels(workload, SchedulerKind::lrtf)));
}
