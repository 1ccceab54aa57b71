//===- SimulatorTest.cpp - When simulated actions begin and end -----------===//

#include "Hfta/Planning/Common/Simulator.h"

#include <gtest/gtest.h>

#include <utility>

using namespace mlir::hfta::planning;

namespace {
/// A simulation that each test fills. It begins with one machine, which has as
/// many processors as it needs.
class SimulatorTest : public testing::Test {
protected:
  SimulatorTest() { plan.machines.resize(1); }

  unsigned addQueue(unsigned machine = 0) {
    plan.queues.push_back({machine, {}});
    return plan.queues.size() - 1;
  }
  unsigned addAction(unsigned queue, double seconds,
                     llvm::ArrayRef<unsigned> after = {},
                     llvm::ArrayRef<unsigned> messages = {}) {
    SimulatedAction action;
    action.queue = queue;
    action.seconds = seconds;
    action.after.assign(after.begin(), after.end());
    action.messages.assign(messages.begin(), messages.end());
    return plan.add(action);
  }
  unsigned addMessage(unsigned channel, int64_t bytes, unsigned after,
                      unsigned slot = kNone) {
    SimulatedMessage message;
    message.after = {after};
    message.channel = channel;
    message.bytes = bytes;
    message.slot = slot;
    return plan.add(message);
  }
  void run() { result = simulate(plan); }
  double getBegin(unsigned action) const {
    return toSeconds(result.actions[action].begin);
  }
  double getEnd(unsigned action) const {
    return toSeconds(result.actions[action].end);
  }
  std::string getCircle() const {
    return describeCircle(
        result.circle,
        [](unsigned action) { return "a" + std::to_string(action); },
        [](unsigned message) { return "m" + std::to_string(message); });
  }

  Simulation plan;
  SimulationResult result;
};
} // namespace

TEST_F(SimulatorTest, NothingTakesNoTime) {
  run();
  EXPECT_TRUE(result.hasEnded());
  EXPECT_EQ(result.makespan, 0);
}

TEST_F(SimulatorTest, TimesAreWholeTicks) {
  EXPECT_EQ(toTicks(1), 1000000000000);
  EXPECT_EQ(toTicks(0.1) + toTicks(0.2), toTicks(0.3));
  EXPECT_EQ(toTicks(-1), 0);
  EXPECT_EQ(toTicks(1e300), toTicks(1000));
}

TEST_F(SimulatorTest, ListsRunInOrder) {
  unsigned one = addQueue(), other = addQueue();
  unsigned a = addAction(one, 2);
  unsigned b = addAction(other, 1, {a});
  unsigned c = addAction(one, 3);
  unsigned d = addAction(other, 1);
  run();
  EXPECT_EQ(getBegin(b), 2);
  EXPECT_EQ(getBegin(c), 2);
  EXPECT_EQ(getBegin(d), 3) << "the list's first action held it up";
  EXPECT_EQ(toSeconds(result.makespan), 5);
  EXPECT_EQ(toSeconds(result.busy[one]), 5);
  EXPECT_EQ(toSeconds(result.getIdle(other)), 0);
}

TEST_F(SimulatorTest, MessagesOccupyChannelsInTurn) {
  unsigned from = addQueue(), to = addQueue();
  unsigned channel = plan.add(SimulatedChannel{0.5, 10, false});
  unsigned a = addAction(from, 1);
  unsigned first = addMessage(channel, 20, a);
  unsigned second = addMessage(channel, 10, a);
  unsigned b = addAction(to, 1, {}, {first});
  unsigned c = addAction(to, 1, {}, {second});
  run();
  EXPECT_EQ(getBegin(b), 3.5) << "latency and 2 s";
  EXPECT_EQ(getBegin(c), 5) << "the channel was busy until then";
}

TEST_F(SimulatorTest, ReceivesArePostedWhenTheirPlaceIsFree) {
  unsigned from = addQueue(), to = addQueue();
  plan.slotCount = 1;
  unsigned channel = plan.add(SimulatedChannel{0, 10, false});
  unsigned a = addAction(from, 1), b = addAction(from, 1);
  unsigned first = addMessage(channel, 10, a, 0);
  unsigned second = addMessage(channel, 10, b, 0);
  unsigned c = addAction(to, 4, {}, {first});
  unsigned d = addAction(to, 1, {}, {first});
  unsigned e = addAction(to, 1, {}, {second});
  run();
  EXPECT_EQ(getBegin(c), 2);
  EXPECT_EQ(getEnd(d), 7) << "the last reader";
  EXPECT_EQ(toSeconds(result.messages[second].begin), 7);
  EXPECT_EQ(getBegin(e), 8);
}

TEST_F(SimulatorTest, RunningActionsShareProcessors) {
  plan.machines = {{2}};
  unsigned a = addAction(addQueue(), 2), b = addAction(addQueue(), 2);
  unsigned c = addAction(addQueue(), 4);
  run();
  // Three actions share two processors: each has two thirds of one until two of
  // them end.
  EXPECT_EQ(getEnd(a), 3);
  EXPECT_EQ(getEnd(b), 3);
  EXPECT_EQ(getEnd(c), 5);
}

TEST_F(SimulatorTest, SharingBeginsAndEndsWithWhatRuns) {
  plan.machines = {{1}};
  unsigned one = addQueue(), other = addQueue();
  unsigned a = addAction(one, 3);
  unsigned b = addAction(other, 1);
  unsigned c = addAction(one, 1);
  run();
  EXPECT_EQ(getEnd(b), 2);
  EXPECT_EQ(getEnd(a), 4);
  EXPECT_EQ(getEnd(c), 5);
}

TEST_F(SimulatorTest, MachinesShareNothing) {
  plan.machines = {{1}, {1}};
  unsigned a = addAction(addQueue(0), 3), b = addAction(addQueue(1), 2);
  run();
  EXPECT_EQ(getEnd(a), 3);
  EXPECT_EQ(getEnd(b), 2);
}

TEST_F(SimulatorTest, PeaksCountBothEndsOfWhatHappensAtOnce) {
  plan.memoryCount = 1;
  unsigned one = addQueue(), other = addQueue();
  plan.actions.reserve(4);
  unsigned a = addAction(one, 1), b = addAction(other, 1, {a});
  plan.actions[a].memory = {{0, 5, -5}};
  plan.actions[b].memory = {{0, 7, -3}};
  run();
  EXPECT_EQ(result.peaks[0], 7) << "what ends gives back first";
}

TEST_F(SimulatorTest, MessagesTakeAndGiveBackMemory) {
  // A shard is fetched, used and dropped.
  plan.memoryCount = 2;
  unsigned queue = addQueue();
  unsigned channel = plan.add(SimulatedChannel{0, 100, false});
  SimulatedMessage fetch;
  fetch.channel = channel;
  fetch.bytes = 50;
  fetch.memory = {{0, 50, 0}};
  unsigned fetched = plan.add(fetch);
  unsigned use = addAction(queue, 1, {}, {fetched});
  plan.actions[use].memory = {{0, 8, -58}};
  run();
  EXPECT_EQ(getBegin(use), 0.5);
  EXPECT_EQ(result.peaks[0], 58);
  EXPECT_EQ(result.peaks[1], 0);
}

TEST_F(SimulatorTest, CircleOfLists) {
  unsigned one = addQueue(), other = addQueue();
  unsigned a = addAction(one, 1), b = addAction(one, 1);
  unsigned c = addAction(other, 1), d = addAction(other, 1);
  plan.actions[a].after = {d};
  plan.actions[c].after = {b};
  run();
  EXPECT_FALSE(result.hasEnded());
  EXPECT_EQ(
      getCircle(),
      "a0 waits for a3, which comes in its list after a2, which waits for "
      "a1, which comes in its list after a0");
}

TEST_F(SimulatorTest, OrderedChannelsHoldUpWhatIsBehind) {
  // The second message needs the slot of the first one. The slot is freed when
  // the first one's last reader ends, but this action also waits for the third
  // message, which an ordered channel sends only after the second one.
  for (bool isOrdered : {false, true}) {
    plan = Simulation();
    plan.machines.resize(1);
    plan.slotCount = 1;
    unsigned from = addQueue(), to = addQueue();
    unsigned channel = plan.add(SimulatedChannel{0, 0, isOrdered});
    unsigned a = addAction(from, 1), b = addAction(from, 1),
             c = addAction(from, 1);
    unsigned first = addMessage(channel, 0, a, 0);
    unsigned second = addMessage(channel, 0, b, 0);
    unsigned third = addMessage(channel, 0, c);
    addAction(to, 1, {}, {first});
    addAction(to, 1, {}, {first, third});
    addAction(to, 1, {}, {second});
    run();
    EXPECT_EQ(result.hasEnded(), !isOrdered);
  }
  EXPECT_EQ(getCircle(), "a4 waits for m2, which goes through its channel "
                         "after m1, which has no place before the end of a4");
}

TEST_F(SimulatorTest, ChoosersOrderActions) {
  unsigned queue = addQueue();
  unsigned a = addAction(queue, 1), b = addAction(queue, 2);
  unsigned next[] = {b, a, kNone};
  const unsigned *at = next;
  result = simulate(plan, [&](const SimulationState &state, unsigned) {
    if (*at != kNone)
      EXPECT_TRUE(state.canBegin(*at));
    return *at == kNone ? kNone : *at++;
  });
  EXPECT_EQ(getBegin(b), 0);
  EXPECT_EQ(getBegin(a), 2);
}

TEST_F(SimulatorTest, ChoosersSeeWhatComes) {
  unsigned from = addQueue(), to = addQueue();
  unsigned channel = plan.add(SimulatedChannel{1, 0, false});
  unsigned a = addAction(from, 2);
  unsigned message = addMessage(channel, 0, a);
  unsigned b = addAction(to, 1, {}, {message});
  bool hasSeen = false;
  result = simulate(plan, [&](const SimulationState &state, unsigned queue) {
    if (queue == from)
      return state.canBegin(a) ? a : kNone;
    if (!hasSeen && state.getTime() == 0 && state.getArrival(b)) {
      hasSeen = true;
      EXPECT_EQ(toSeconds(*state.getArrival(b)), 3);
    }
    return state.canBegin(b) ? b : kNone;
  });
  EXPECT_TRUE(hasSeen);
  EXPECT_EQ(getBegin(b), 3);
}

TEST_F(SimulatorTest, ModelsGoToTheDeviceThatIsFree) {
  // Three models of two units each run on two devices.
  for (int device = 0; device < 2; ++device)
    addQueue();
  std::vector<unsigned> units;
  for (double seconds : {4.0, 1.0, 2.0})
    for (int unit = 0; unit < 2; ++unit)
      units.push_back(addAction(kNone, seconds,
                                unit == 0 ? llvm::ArrayRef<unsigned>()
                                          : llvm::ArrayRef(units.back())));
  std::vector<unsigned> left = units;
  result = simulate(plan, [&](const SimulationState &state, unsigned) {
    for (unsigned &unit : left)
      if (unit != kNone && state.canBegin(unit))
        return std::exchange(unit, kNone);
    return kNone;
  });
  std::vector<unsigned> queues = {0, 0, 1, 1, 1, 1};
  EXPECT_EQ(result.queues, queues);
  EXPECT_EQ(toSeconds(result.makespan), 8);
  EXPECT_EQ(getBegin(units[5]), 4);
  EXPECT_EQ(toSeconds(result.busy[1]), 6);
  EXPECT_EQ(result.getIdle(1), 0);
}
