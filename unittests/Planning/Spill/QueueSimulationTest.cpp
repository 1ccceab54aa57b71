//===- QueueSimulationTest.cpp - Queues that compute and transfer ---------===//

#include "Hfta/Planning/Spill/QueueSimulation.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir::hfta::planning;

static QueuedWork compute(double seconds) {
  QueuedWork work;
  work.seconds = seconds;
  return work;
}

static QueuedWork move(QueuedWork::Kind kind, int64_t bytes) {
  QueuedWork work;
  work.kind = kind;
  work.what.activity =
      kind == QueuedWork::read ? SpillActivity::read : SpillActivity::write;
  work.what.bytes = bytes;
  return work;
}

static QueuedWork signal(QueuedWork::Kind kind, int64_t event) {
  QueuedWork work;
  work.kind = kind;
  work.event = event;
  return work;
}

static std::string describe(const SpillRun &run) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const SpillEvent &event : run.events)
    os << getName(event.activity)
       << llvm::format(" %g-%g\n", event.begin, event.end);
  return text;
}

TEST(QueueSimulationTest, waitsForEvents) {
  // The second task needs bytes that are read while the first task runs. The
  // bytes that it computes are written after it.
  std::vector<QueuedWork> tasks = {compute(2), signal(QueuedWork::await, 0),
                                   compute(1), signal(QueuedWork::record, 1)};
  std::vector<QueuedWork> reads = {move(QueuedWork::read, 30),
                                   signal(QueuedWork::record, 0)};
  std::vector<QueuedWork> writes = {signal(QueuedWork::await, 1),
                                    signal(QueuedWork::await, 7),
                                    move(QueuedWork::write, 20)};
  SpillRun run = simulateQueues({tasks, reads, writes}, {10, 5, 0.5, false});
  EXPECT_EQ(describe(run),
            "forward 0-2\nread 0-3.5\nforward 3.5-4.5\nwrite 4.5-9\n");
  EXPECT_EQ(run.seconds, 9);
  EXPECT_EQ(run.computeSeconds, 3);
  EXPECT_EQ(run.readSeconds, 3.5);
  EXPECT_EQ(run.writeSeconds, 4.5);
  EXPECT_EQ(run.readBytes, 30);
  EXPECT_EQ(run.writtenBytes, 20);
}

TEST(QueueSimulationTest, sharesChannels) {
  std::vector<QueuedWork> reads = {move(QueuedWork::read, 10)};
  std::vector<QueuedWork> writes = {move(QueuedWork::write, 30)};
  // While both transfers run, each gets half of the channel's bandwidth.
  SpillRun shared = simulateQueues({reads, writes}, {10, 10, 0, true});
  EXPECT_EQ(describe(shared), "read 0-2\nwrite 0-4\n");
  SpillRun apart = simulateQueues({reads, writes}, {10, 10, 0, false});
  EXPECT_EQ(describe(apart), "read 0-1\nwrite 0-3\n");
  SpillRun twice = simulateQueues({reads, reads}, {10, 10, 0, false});
  EXPECT_EQ(describe(twice), "read 0-2\nread 0-2\n");
}
