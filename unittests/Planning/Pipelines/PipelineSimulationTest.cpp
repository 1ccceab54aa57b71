//===- PipelineSimulationTest.cpp - Simulated pipelines -------------------===//

#include "Pipelines/TestPipelines.h"
#include "llvm/ADT/STLExtras.h"

#include <functional>
#include <map>
#include <random>
#include <utility>

using namespace mlir::hfta::planning;

//===----------------------------------------------------------------------===//
// Comparison with other models
//===----------------------------------------------------------------------===//

namespace {
/// A random pipeline that has one worker per machine. Its stages and links take
/// whole seconds.
struct LinkedPipeline {
  explicit LinkedPipeline(std::mt19937 &random) {
    auto draw = [&](int64_t least, int64_t most) {
      return least + static_cast<int64_t>(random() % (most - least + 1));
    };
    int64_t positions = draw(1, 6);
    shape = getShape(positions, draw(1, 16));
    work = PipelineWork::getEqual(positions, 0, 0, 0);
    for (StageWork &stage : work.stages) {
      stage.forward = draw(1, 20);
      stage.backwardInput = draw(1, 20);
      stage.backwardWeight = draw(1, 20);
    }
    for (StageMessage &message : work.messages) {
      message.forwardBytes = draw(0, 10);
      message.backwardBytes = draw(0, 10);
    }
    for (int64_t p = 0, most = 2 * positions; p < positions; ++p)
      shape.inFlight.push_back(most = draw(1, most));
    places.cluster = Cluster();
    places.cluster->devices.assign(positions, 1);
    places.cluster->network = 1;
    places.cluster->latency = 1;
  }

  double getRecursion() const;

  PipelineShape shape;
  PipelineWork work;
  WorkerPlaces places;
};
} // namespace

/// Returns the length of the order one forward, one backward, computed by a
/// recursion over stations. Stations with even numbers are stages; those with
/// odd numbers are links, on which forwards and backwards don't wait for each
/// other.
double LinkedPipeline::getRecursion() const {
  int64_t stations = 2 * shape.getPositions() - 1, count = shape.microBatches;
  auto isLink = [](int64_t x) { return x % 2 == 1; };
  std::function<double(int64_t, int64_t)> getB, getF;
  std::map<std::pair<int64_t, int64_t>, double> knownF, knownB;
  getF = [&](int64_t i, int64_t x) -> double {
    if (i < 0 || x < 0)
      return 0;
    auto found = knownF.find({i, x});
    if (found != knownF.end())
      return found->second;
    double begin = std::max(getF(i - 1, x), getF(i, x - 1));
    double time;
    if (isLink(x)) {
      time = 1 + work.messages[x / 2].forwardBytes;
    } else {
      begin = std::max(begin, getB(i - shape.inFlight[x / 2], x));
      time = work.stages[x / 2].forward;
    }
    return knownF[{i, x}] = begin + time;
  };
  getB = [&](int64_t i, int64_t x) -> double {
    if (i < 0 || x >= stations)
      return 0;
    auto found = knownB.find({i, x});
    if (found != knownB.end())
      return found->second;
    double begin = std::max(getB(i - 1, x), getB(i, x + 1)), time;
    if (isLink(x)) {
      begin = std::max(begin, getF(i, x));
      time = 1 + work.messages[x / 2].backwardBytes;
    } else {
      int64_t last = std::min(i + shape.inFlight[x / 2], count) - 1;
      begin = std::max(begin, getF(last, x));
      time =
          work.stages[x / 2].backwardInput + work.stages[x / 2].backwardWeight;
    }
    return knownB[{i, x}] = begin + time;
  };
  double end = 0;
  for (int64_t x = 0; x < stations; ++x)
    end = std::max(end, getB(count - 1, x));
  return end;
}

TEST(PipelineSimulationTest, IsTheRecursionOfOneForwardOneBackward) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    LinkedPipeline pipeline(random);
    Order order = getOrder(OrderKind::oneForwardOneBackward, pipeline.shape);
    PipelineRun run = simulateOrder(order, pipeline.work, pipeline.places);
    EXPECT_EQ(run.getLength(), pipeline.getRecursion());
  }
}

/// Returns when each action begins if it waits only for the action before it in
/// its worker's list and for the results that it needs. This is the longest
/// path to the action.
static std::map<std::string, double> getLongestPaths(const Order &order,
                                                     const PipelineWork &work) {
  std::map<std::string, double> begins, ends;
  auto getEnd = [&](ActionKind kind, int64_t stage, int64_t m) {
    auto found = ends.find(nameAction({kind, stage, m}));
    return found == ends.end() ? 0 : found->second;
  };
  for (bool hasChanged = true; std::exchange(hasChanged, false);)
    for (const ActionList &list : order.workers) {
      double end = 0;
      for (const Action &action : list) {
        const StageWork &stage = work.stages[action.stage];
        int64_t x = action.stage, m = action.microBatch;
        double begin = end, time = stage.forward;
        if (action.kind == ActionKind::forward) {
          begin = std::max(begin, getEnd(action.kind, x - 1, m));
        } else {
          begin = std::max(begin, getEnd(ActionKind::backward, x + 1, m));
          begin = std::max(begin, getEnd(ActionKind::backwardInput, x + 1, m));
          time =
              (action.kind == ActionKind::backwardWeight
                   ? 0
                   : stage.backwardInput) +
              (action.kind == ActionKind::backwardInput ? 0
                                                        : stage.backwardWeight);
        }
        std::string name = nameAction(action);
        begins[name] = begin;
        end = begin + time;
        hasChanged |= std::exchange(ends[name], end) != end;
      }
    }
  return begins;
}

TEST(PipelineSimulationTest, ActionsBeginAsSoonAsTheyCan) {
  std::mt19937 random(2);
  for (int i = 0; i < 60; ++i) {
    PipelineShape shape = getShape(1 + random() % 5, 1 + random() % 9);
    for (int64_t &replicas : shape.replicas)
      replicas = 1 + random() % 2;
    shape.chunks = 1 + random() % 2;
    PipelineWork work = PipelineWork::getEqual(shape.getStages(), 0, 0, 0);
    for (StageWork &stage : work.stages) {
      stage.forward = random() % 9;
      stage.backwardInput = random() % 9;
      stage.backwardWeight = random() % 9;
    }
    OrderKind kinds[] = {OrderKind::allForwardsFirst, OrderKind::zeroBubble,
                         OrderKind::interleaved, OrderKind::interleaved};
    Order order = getOrder(kinds[shape.chunks * 2 - 2 + random() % 2], shape);
    PipelineRun run = simulateOrder(order, work);
    std::map<std::string, double> begins = getLongestPaths(order, work);
    for (auto [number, step] : llvm::enumerate(run.steps))
      EXPECT_EQ(toSeconds(run.result.actions[number].begin),
                begins.at(nameAction(step.what)))
          << nameAction(step.what);
  }
}

//===----------------------------------------------------------------------===//
// Messages, processors and memory
//===----------------------------------------------------------------------===//

/// Places each worker on a machine of its own, with links of 10 bytes per
/// second.
static WorkerPlaces getMachines(int64_t count, Duplex duplex = Duplex::full) {
  WorkerPlaces places;
  places.cluster = Cluster();
  places.cluster->devices.assign(count, 1);
  places.cluster->network = 10;
  places.cluster->duplex = duplex;
  return places;
}

TEST(PipelineSimulationTest, DirectionsTakeTurnsInHalfDuplex) {
  PipelineShape shape = getShape(2, 3);
  shape.inFlight = {3, 1};
  PipelineWork work = PipelineWork::getEqual(2, 1, 1, 0);
  work.messages = {{0, 1, 20, 10}};
  Order order = getOrder(OrderKind::oneForwardOneBackward, shape);
  auto getFirstGradient = [&](Duplex duplex) {
    PipelineRun run = simulateOrder(order, work, getMachines(2, duplex));
    for (auto [number, send] : llvm::enumerate(run.sends))
      if (send.kind == SimulatedSend::gradient && send.microBatch == 0)
        return toSeconds(run.result.messages[number].begin);
    return -1.0;
  };
  EXPECT_EQ(getFirstGradient(Duplex::full), 5);
  EXPECT_EQ(getFirstGradient(Duplex::half), 7) << "behind the third value";
}

TEST(PipelineSimulationTest, SkipConnectionsGoStraightToTheirReaders) {
  PipelineShape shape = getShape(3, 1);
  PipelineWork work = PipelineWork::getEqual(3, 1, 1, 0);
  work.messages.push_back({0, 2, 100, 0});
  PipelineRun run = simulateOrder(
      getOrder(OrderKind::oneForwardOneBackward, shape), work, getMachines(3));
  // The skipped value arrives 10 s after the end of the first forward; four
  // more actions of 1 s follow.
  EXPECT_EQ(run.getLength(), 15);
}

TEST(PipelineSimulationTest, WorkersShareTheirMachine) {
  PipelineShape shape = getShape(1, 2);
  shape.replicas = {2};
  Order order = getOrder(OrderKind::oneForwardOneBackward, shape);
  PipelineWork work = PipelineWork::getEqual(1, 1, 1, 1);
  WorkerPlaces places;
  EXPECT_EQ(simulateOrder(order, work, places).getLength(), 3);
  places.processors = 1;
  EXPECT_EQ(simulateOrder(order, work, places).getLength(), 6);
}

TEST(PipelineSimulationTest, MemoryIsOfWhatIsInFlight) {
  PipelineShape shape = getShape(3, 8);
  PipelineWork work = PipelineWork::getEqual(3, 1, 1, 1);
  for (auto [number, stage] : llvm::enumerate(work.stages))
    stage.savedBytes = 100 + static_cast<int64_t>(number);
  PipelineRun run =
      simulateOrder(getOrder(OrderKind::oneForwardOneBackward, shape), work);
  EXPECT_EQ(run.getPeakBytes(0), 300);
  EXPECT_EQ(run.getPeakBytes(1), 202);
  EXPECT_EQ(run.getPeakBytes(2), 102);
  EXPECT_EQ(run.getBubble(0), 6);
  EXPECT_EQ(run.getIdle(2), 0);
}

//===----------------------------------------------------------------------===//
// All-reduces
//===----------------------------------------------------------------------===//

namespace {
/// Two workers compute one micro-batch each. The forward ends after 1 s and the
/// backward after 3 s. Then the workers all-reduce 100 bytes.
class SumTest : public testing::Test {
protected:
  SumTest() {
    shape.replicas = {2};
    work.stages[0].sums = {{1, 100}};
  }
  double getLength(const WorkerPlaces &places) {
    return simulateOrder(getOrder(OrderKind::oneForwardOneBackward, shape),
                         work, places)
        .getLength();
  }

  PipelineShape shape = getShape(1, 2);
  PipelineWork work = PipelineWork::getEqual(1, 1, 1, 1);
};
} // namespace

TEST_F(SumTest, PartsAreSentAddedUpAndSentBack) {
  work.addedBytesPerSecond = 25;
  WorkerPlaces places = getMachines(2);
  places.cluster->latency = 0.5;
  // 5.5 s to send, 2 s to add, 5.5 s to send back, after 3 s of computing.
  EXPECT_EQ(getLength(places), 16);
  work.stages[0].update = 4;
  EXPECT_EQ(getLength(places), 20);
}

TEST_F(SumTest, HalfDuplexTakesTwice) {
  EXPECT_EQ(getLength(getMachines(2, Duplex::half)), 23);
}

TEST_F(SumTest, BlocksBeginBeforeTheBackwardEnds) {
  work.stages[0].sums = {{1, 50}, {1, 50}};
  EXPECT_EQ(getLength(getMachines(2)), 13);
  // The first sum begins in the middle of the backward, and the channel is busy
  // from then on.
  work.stages[0].sums = {{0.5, 50}, {1, 50}};
  EXPECT_EQ(getLength(getMachines(2)), 12);
}

TEST_F(SumTest, PairsOfAMachineHaveChannelsOfTheirOwn) {
  shape = getShape(1, 4);
  shape.replicas = {4};
  WorkerPlaces places;
  places.cluster = Cluster();
  places.cluster->devices = {4};
  places.cluster->link = 10;
  EXPECT_EQ(getLength(places), 3 + 2.5 + 2.5);
}

TEST_F(SumTest, ReductionsHoldUpLaterMessages) {
  // Gradients of the last stage are all-reduced while the first stage still
  // computes.
  shape = getShape(2, 2);
  shape.replicas = {2, 2};
  work = PipelineWork::getEqual(2, 1, 1, 1);
  work.stages[1].sums = {{1, 60}};
  WorkerPlaces places = getMachines(4);
  // Parts of the sums are sent from 4 s to 7 s and the results from 7 s to 10
  // s; the first stage ends after 6 s.
  EXPECT_EQ(getLength(places), 10);
  work.stages[1].sums = {{1, 10}};
  EXPECT_EQ(getLength(places), 6);
}

//===----------------------------------------------------------------------===//
// Deadlocks
//===----------------------------------------------------------------------===//

TEST(PipelineSimulationTest, TooFewSlotsAreADeadlock) {
  Order order = getOrder(OrderKind::allForwardsFirst, getShape(2, 2));
  PipelineWork work = PipelineWork::getEqual(2, 1, 1, 1);
  PipelineTransport transport;
  transport.slots = {2, 1};
  PipelineRun run = simulateOrder(order, work, {}, transport);
  EXPECT_FALSE(run.result.hasEnded());
  EXPECT_EQ(
      run.getDeadlock(),
      "worker 1's 1B0 comes in its list after worker 1's 1F1, which waits "
      "for the value of micro-batch 1 for stage 1 from worker 0 to worker "
      "1, which has no place before the end of worker 1's 1B0");
  transport.slots = {2, 2};
  EXPECT_TRUE(simulateOrder(order, work, {}, transport).result.hasEnded());
}

TEST(PipelineSimulationTest, MessagesHoldEachOtherUpInOneOrderedChannel) {
  // Worker 0 sends two values to stage 1 before it runs stage 2, but worker 1
  // has only one slot for them. To free this slot, worker 1 must first send the
  // value from stage 1 to stage 2; in an ordered channel, this message waits
  // behind the second value.
  Order order{OrderKind::file, getShape(2, 2, 2), {}};
  llvm::Expected<Order> read = readOrder(
      "0F0,0F1,2F0,2B0,0B0,2F1,2B1,0B1\n1F0,3F0,3B0,1B0,1F1,3F1,3B1,1B1\n", "x",
      order.shape);
  ASSERT_TRUE(!!read) << llvm::toString(read.takeError());
  PipelineWork work = PipelineWork::getEqual(4, 1, 1, 1);
  PipelineTransport transport;
  transport.slots = getInstances(*read);
  EXPECT_EQ(transport.slots, std::vector<int64_t>({2, 1, 1, 1}));
  EXPECT_TRUE(simulateOrder(*read, work, {}, transport).result.hasEnded());
  transport.isStrict = true;
  PipelineRun run = simulateOrder(*read, work, {}, transport);
  EXPECT_FALSE(run.result.hasEnded());
  EXPECT_NE(
      run.getDeadlock().find("goes through its channel after the value of "
                             "micro-batch 1 for stage 1"),
      std::string::npos)
      << run.getDeadlock();
  transport.slots = chooseSlots(*read, work);
  EXPECT_EQ(transport.slots, std::vector<int64_t>({2, 2, 1, 1}));
  EXPECT_TRUE(simulateOrder(*read, work, {}, transport).result.hasEnded());
}
