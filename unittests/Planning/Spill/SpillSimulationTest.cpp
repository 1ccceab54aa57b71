//===- SpillSimulationTest.cpp - Simulated steps that spill ---------------===//

#include "Hfta/Planning/Spill/SpillSimulation.h"
#include "Spill/SpillSchedule.h"

#include "Spill/TestSpillModels.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir::hfta::planning;

/// Makes a chain of two blocks of one op each. Per block, the forward takes 1
/// s, the backward 2 s and the update 0.5 s; the value has 10 bytes, parameters
/// and gradients have 4 bytes each. The store reads 2 bytes and writes 1 byte
/// per second.
static SpillModel makeTwoBlocks() {
  SpillModel model = makeChain(2, 1, 2, 10);
  for (SpillBlock &block : model.blocks) {
    block.parameterBytes = block.gradientBytes = 4;
    block.update = 0.5;
  }
  model.store = {2, 1, 0, false};
  return model;
}

static SpillPlan makePlan(const SpillModel &model, Residency residency,
                          Keep keep = Keep::save) {
  SpillPlan plan;
  plan.copies = model.copies;
  plan.values.assign(model.values.size(), keep);
  for (size_t block = 0; block < model.blocks.size(); ++block) {
    auto number = static_cast<int64_t>(block);
    plan.groups.push_back({number, number + 1, residency});
  }
  return plan;
}

static std::string describe(const SpillRun &run) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const SpillEvent &event : run.events)
    os << getName(event.activity) << ' ' << event.group << ": "
       << llvm::format("%g-%g", event.begin, event.end) << '\n';
  return text;
}

TEST(SpillSimulationTest, runsWhatFitsWithoutTransfers) {
  SpillModel model = makeTwoBlocks();
  SpillRun run = simulateSpill(model, makePlan(model, Residency::everything));
  EXPECT_EQ(describe(run), "forward 0: 0-1\n"
                           "forward 1: 1-2\n"
                           "backward 1: 2-4\n"
                           "update 1: 4-4.5\n"
                           "backward 0: 4.5-6.5\n"
                           "update 0: 6.5-7\n");
  // The terms are both blocks' parameters and values, the gradients of one
  // block's parameters, and the gradient that passes from block to block.
  EXPECT_EQ(run.peakBytes, 2 * 4 + 2 * 10 + 4 + 10);
  EXPECT_EQ(run.seconds, 7);
  EXPECT_EQ(run.readBytes + run.writtenBytes, 0);
}

TEST(SpillSimulationTest, streamsParameters) {
  SpillModel model = makeTwoBlocks();
  SpillPlan plan = makePlan(model, Residency::streamed);
  plan.writeWindow = 8;
  // The first block's parameters are in memory since the previous step, the
  // last block's since its forward.
  SpillRun run = simulateSpill(model, plan);
  EXPECT_EQ(describe(run), "forward 0: 0-1\n"
                           "read 1: 0-2\n"
                           "forward 1: 2-3\n"
                           "read 0: 2-4\n"
                           "backward 1: 3-5\n"
                           "update 1: 5-5.5\n"
                           "backward 0: 5.5-7.5\n"
                           "write 1: 5.5-9.5\n"
                           "update 0: 7.5-8\n"
                           "write 0: 9.5-13.5\n");
  EXPECT_EQ(run.readBytes, 8);
  EXPECT_EQ(run.writtenBytes, 8);
  EXPECT_EQ(run.seconds, 13.5);
  // With a write window of 0, memory is reused only after its bytes are
  // written, so the next backward waits.
  plan.writeWindow = 0;
  run = simulateSpill(model, plan, run.leastBytes);
  EXPECT_EQ(run.peakBytes, run.leastBytes);
  EXPECT_EQ(run.seconds, 16);
}

TEST(SpillSimulationTest, spillsAndRecomputesValues) {
  SpillModel model = makeChain(3, 1, 2, 10);
  model.store = {10, 10, 0, false};
  SpillPlan plan = makePlan(model, Residency::everything);
  plan.values = {Keep::spill, Keep::save, Keep::recompute};
  SpillRun run = simulateSpill(model, plan);
  EXPECT_EQ(describe(run), "forward 0: 0-1\n"
                           "forward 1: 1-2\n"
                           "forward 2: 2-3\n"
                           "write 1: 2-3\n"
                           "recompute 2: 3-4\n"
                           "read 1: 3-4\n"
                           "backward 2: 4-6\n"
                           "backward 1: 6-8\n"
                           "backward 0: 8-10\n");
}

/// Returns the bytes read and written for parameters, gradients and state in a
/// step.
static std::pair<int64_t, int64_t> moveParameters(int64_t microBatches,
                                                  bool isFrozen) {
  SpillModel model = makeChain(4, 1, 2, 10);
  model.microBatches = microBatches;
  for (SpillBlock &block : model.blocks) {
    (isFrozen ? block.frozenBytes : block.parameterBytes) = 100;
    block.gradientBytes = isFrozen ? 0 : 100;
    block.stateBytes = isFrozen ? 0 : 200;
  }
  SpillRun run = simulateSpill(model, makePlan(model, Residency::streamed));
  return {run.readBytes, run.writtenBytes};
}

TEST(SpillSimulationTest, movesParametersOnceAStep) {
  // Each block reads its parameters for the forward and for the backward,
  // except that the first block has them in its forward and the last block in
  // its backward. Each block then reads its state.
  EXPECT_EQ(moveParameters(1, false),
            std::make_pair(int64_t(6 * 100 + 4 * 200), int64_t(4 * 300)));
  EXPECT_EQ(moveParameters(8, false), moveParameters(1, false));
  EXPECT_EQ(moveParameters(8, true),
            std::make_pair(int64_t(6 * 100), int64_t(0)));
}

TEST(SpillSimulationTest, keepsGradientsOfModelsThatClip) {
  SpillModel model = makeTwoBlocks();
  model.clips = true;
  SpillPlan plan = makePlan(model, Residency::everything);
  SpillRun run = simulateSpill(model, plan);
  EXPECT_EQ(describe(run), "forward 0: 0-1\n"
                           "forward 1: 1-2\n"
                           "backward 1: 2-4\n"
                           "backward 0: 4-6\n"
                           "update 1: 6-6.5\n"
                           "update 0: 6.5-7\n");
  EXPECT_EQ(run.peakBytes, 2 * 4 + 2 * 10 + 4 + 10);
  plan.groups[1].spillsGradients = true;
  run = simulateSpill(model, plan);
  EXPECT_EQ(run.writtenBytes, 4);
  EXPECT_EQ(run.readBytes, 4);
}

TEST(SpillSimulationTest, letsCopiesTakeTurns) {
  SpillModel model = makeTwoBlocks();
  model.copies = 3;
  SpillPlan plan = makePlan(model, Residency::everything);
  SpillRun together = simulateSpill(model, plan);
  plan.copies = 2;
  SpillRun turns = simulateSpill(model, plan);
  EXPECT_EQ(together.seconds, turns.seconds);
  // The parameters of all copies stay in memory; the other values are those of
  // the two copies of a turn.
  EXPECT_EQ(together.peakBytes, 3 * (2 * 4 + 2 * 10 + 4 + 10));
  EXPECT_EQ(turns.peakBytes, 3 * 2 * 4 + 2 * (2 * 10 + 4 + 10));
}

//===----------------------------------------------------------------------===//
// Comparison with the event simulator
//===----------------------------------------------------------------------===//

/// Returns the ticks of the same step, simulated as queues of actions, with a
/// write window of 0.
static Ticks simulateEvents(const SpillSchedule &schedule, int64_t budget) {
  std::vector<int64_t> occupied = schedule.occupied;
  std::vector<int64_t> begins = schedule.placeFetches(occupied, budget, 0);
  std::vector<unsigned> reads(schedule.spans.size(), kNone);
  Simulation simulation;
  simulation.machines.resize(3);
  simulation.queues.resize(3);
  for (unsigned queue : {0u, 1u, 2u})
    simulation.queues[queue].machine = queue;
  std::vector<unsigned> tasks;
  unsigned lastWrite = kNone;
  for (size_t number = 0; number < schedule.tasks.size(); ++number) {
    SimulatedAction task;
    task.seconds = toSeconds(schedule.tasks[number].ticks);
    auto position = static_cast<int64_t>(number);
    for (auto [of, span] : llvm::enumerate(schedule.spans)) {
      // Memory is free once all bytes that were written before have left it.
      if (!span.isRead && span.first == position && lastWrite != kNone)
        task.after.push_back(lastWrite);
      if (begins[of] != position)
        continue;
      SimulatedAction read;
      read.queue = 1;
      read.seconds = toSeconds(schedule.getTransferTicks(false, span.bytes));
      if (!tasks.empty())
        read.after.push_back(tasks.back());
      if (lastWrite != kNone)
        read.after.push_back(lastWrite);
      reads[of] = simulation.add(read);
    }
    for (auto [of, span] : llvm::enumerate(schedule.spans))
      if (span.isRead && span.first == position)
        task.after.push_back(reads[of]);
    tasks.push_back(simulation.add(task));
    for (const SpillSpan &span : schedule.spans) {
      if (!span.isWritten || span.last != position)
        continue;
      SimulatedAction write;
      write.queue = 2;
      write.seconds = toSeconds(schedule.getTransferTicks(true, span.bytes));
      write.after.push_back(tasks.back());
      lastWrite = simulation.add(write);
    }
  }
  SimulationResult result = simulate(simulation);
  EXPECT_TRUE(result.hasEnded());
  return result.makespan;
}

TEST(SpillSimulationTest, agreesWithTheSimulatorOfEvents) {
  std::mt19937 random(5);
  int moved = 0;
  for (int number = 0; number < 200; ++number) {
    SCOPED_TRACE(number);
    SpillModel model =
        makeRandomChain(random, {2 + number % 7, 2, true, number % 2 == 0,
                                 1 + number % 3, 1 + number % 2});
    SpillPlan plan = makePlan(model, static_cast<Residency>(random() % 4),
                              random() % 2 == 0 ? Keep::save : Keep::spill);
    for (SpillGroup &group : plan.groups)
      group.streamsInputs = group.firstBlock > 0 && random() % 2 == 0;
    ASSERT_FALSE(checkPlan(model, plan));
    SpillSchedule schedule(model, SpillIndex(model), plan);
    moved += schedule.readBytes > 0 && schedule.writtenBytes > 0;
    Ticks last = 0;
    for (int64_t budget :
         {schedule.leastBytes, schedule.leastBytes * 11 / 10, kEveryByte}) {
      Ticks ticks = schedule.run(budget, 0);
      EXPECT_EQ(ticks, simulateEvents(schedule, budget));
      // A larger budget lets fetches begin earlier, which never lengthens the
      // step.
      if (last > 0)
        EXPECT_LE(ticks, last);
      last = ticks;
    }
  }
  EXPECT_GT(moved, 100);
}

TEST(SpillSimulationTest, draws) {
  SpillModel model = makeTwoBlocks();
  SpillRun run = simulateSpill(model, makePlan(model, Residency::streamed));
  Timeline timeline = getTimeline(run, "two blocks");
  ASSERT_EQ(timeline.bars.size(), run.events.size());
  EXPECT_EQ(timeline.bars[1].kind, BarKind::read);
  EXPECT_EQ(timeline.bars[1].title,
            "read, block 1, micro-batch 0, turn 0, 4 bytes");
  std::string svg;
  llvm::raw_string_ostream os(svg);
  writeSvg(timeline, os);
  EXPECT_NE(svg.find("writes to the store"), std::string::npos);
}
