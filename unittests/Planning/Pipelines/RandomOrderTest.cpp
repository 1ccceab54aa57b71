//===- RandomOrderTest.cpp - Orders of random pipelines -------------------===//

#include "Pipelines/TestPipelines.h"
#include "llvm/ADT/STLExtras.h"

#include <random>
#include <set>
#include <utility>

using namespace mlir::hfta::planning;

namespace {
/// A random pipeline with uneven times, and the machines that run it.
class RandomPipeline {
public:
  explicit RandomPipeline(unsigned seed) : random(seed) {
    shape.replicas.clear();
    int64_t positions = draw(1, 6);
    bool isUniform = draw(0, 1), isLimited = draw(0, 1);
    int64_t replicas = draw(1, 3);
    shape.chunks = draw(1, 3);
    for (int64_t p = 0; p < positions; ++p) {
      shape.replicas.push_back(isUniform ? replicas : draw(1, 3));
      if (isLimited)
        shape.inFlight.push_back(draw(0, 2 * positions));
    }
    if (draw(0, 3) == 0)
      for (int64_t each : shape.replicas)
        shape.groups.push_back(isUniform ? replicas + 2 : each + draw(0, 3));
    shape.microBatches = draw(3, 20);
    work = PipelineWork::getEqual(shape.getStages(), 0, 0, 0);
    for (StageWork &stage : work.stages)
      stage.forward = drawSeconds(), stage.backwardInput = drawSeconds(),
      stage.backwardWeight = drawSeconds();
    for (StageMessage &message : work.messages)
      message.forwardBytes = message.backwardBytes = draw(0, 1000);
    Cluster cluster;
    cluster.devices = {shape.getWorkers() / 2 + 1, shape.getWorkers()};
    cluster.link = 1000;
    cluster.network = 500;
    cluster.latency = 0.01;
    cluster.duplex = draw(0, 1) ? Duplex::full : Duplex::half;
    places.cluster = cluster;
  }

  int64_t draw(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % (most - least + 1));
  }
  double drawSeconds() { return static_cast<double>(draw(1, 100)) / 10; }

  /// Returns the seconds of a step in which nothing overlaps, an upper bound.
  double getSerialTime() const {
    double seconds = 0;
    for (const StageWork &stage : work.stages)
      seconds += stage.forward + stage.backwardInput + stage.backwardWeight;
    for (const StageMessage &message : work.messages)
      seconds +=
          2 * 0.01 + (message.forwardBytes + message.backwardBytes) / 500.;
    return seconds * static_cast<double>(shape.microBatches);
  }
  /// Returns the seconds that the busiest worker computes, a lower bound.
  double getLeastTime() const {
    double least = 0;
    for (int64_t worker = 0; worker < shape.getWorkers(); ++worker) {
      double seconds = 0;
      for (int64_t m : shape.getMicroBatches(worker))
        for (auto [number, stage] : llvm::enumerate(work.stages))
          if (shape.getWorker(number, m) == worker)
            seconds +=
                stage.forward + stage.backwardInput + stage.backwardWeight;
      least = std::max(least, seconds);
    }
    return least;
  }

  PipelineShape shape;
  PipelineWork work;
  WorkerPlaces places;

private:
  std::mt19937 random;
};
} // namespace

/// Checks that an order is valid and within the limits, and that it ends
/// without deadlock with strict and with lenient transport.
static void check(const RandomPipeline &pipeline, const Order &order) {
  std::optional<OrderProblem> problem = verifyOrder(order);
  ASSERT_FALSE(problem) << problem->message << "\n" << writeOrder(order);
  for (auto [worker, peak] : llvm::enumerate(getPeaks(order)))
    EXPECT_LE(peak, pipeline.shape.getLimit(
                        pipeline.shape.getPositionOfWorker(worker)));
  PipelineTransport transport;
  transport.isStrict = true;
  transport.slots = chooseSlots(order, pipeline.work, pipeline.places);
  for (bool isStrict : {true, false}) {
    transport.isStrict = isStrict;
    PipelineRun run =
        simulateOrder(order, pipeline.work, pipeline.places, transport);
    EXPECT_TRUE(run.result.hasEnded()) << run.getDeadlock();
    EXPECT_LE(run.getLength(), pipeline.getSerialTime() + 1e-6);
    PipelineShape placed = pipeline.shape;
    placed.placement = order.shape.placement;
    RandomPipeline other = pipeline;
    other.shape = placed;
    EXPECT_GE(run.getLength(), other.getLeastTime() - 1e-6);
  }
}

TEST(RandomOrderTest, NamedOrders) {
  int made = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    RandomPipeline pipeline(seed);
    SCOPED_TRACE(seed);
    for (OrderKind kind :
         {OrderKind::allForwardsFirst, OrderKind::oneForwardOneBackward,
          OrderKind::interleaved, OrderKind::zeroBubble, OrderKind::vShape}) {
      llvm::Expected<Order> order = makeOrder(kind, pipeline.shape);
      if (!order) {
        llvm::consumeError(order.takeError());
        continue;
      }
      SCOPED_TRACE(stringifyOrderKind(kind).str());
      check(pipeline, *order);
      ++made;
    }
  }
  EXPECT_GT(made, 700);
}

TEST(RandomOrderTest, ListOrders) {
  int all = 0, made = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    RandomPipeline pipeline(seed);
    SCOPED_TRACE(seed);
    for (ChunkPlacement placement : {ChunkPlacement::loop, ChunkPlacement::v}) {
      if (placement == ChunkPlacement::v && pipeline.shape.chunks != 2)
        continue;
      PipelineShape shape = pipeline.shape;
      shape.placement = placement;
      for (bool splitsBackward : {false, true})
        for (double patience : {0.0, 0.5}) {
          Order order = makeListOrder(shape, pipeline.work, pipeline.places,
                                      {splitsBackward, patience});
          ++all;
          if (!shape.isUniform() && verifyOrder(order))
            continue;
          ++made;
          check(pipeline, order);
        }
    }
  }
  EXPECT_GT(10 * made, 9 * all);
}

//===----------------------------------------------------------------------===//
// Damaged orders
//===----------------------------------------------------------------------===//

/// Executes the order without times: workers take turns, and each runs its
/// actions until one has to wait. Returns whether all workers reach the ends of
/// their lists.
static bool comesToAnEnd(const Order &order) {
  std::set<std::string> done;
  std::vector<size_t> next(order.workers.size(), 0);
  auto isDone = [&](ActionKind kind, int64_t stage, int64_t m) {
    return done.count(nameAction({kind, stage, m})) != 0;
  };
  auto canBegin = [&](const Action &action) {
    int64_t stage = action.stage, m = action.microBatch;
    if (action.kind == ActionKind::forward)
      return stage == 0 || isDone(ActionKind::forward, stage - 1, m);
    return stage == order.shape.getStages() - 1 ||
           isDone(ActionKind::backward, stage + 1, m) ||
           isDone(ActionKind::backwardInput, stage + 1, m);
  };
  for (bool hasChanged = true; std::exchange(hasChanged, false);)
    for (auto [worker, list] : llvm::enumerate(order.workers))
      while (next[worker] < list.size() && canBegin(list[next[worker]])) {
        done.insert(nameAction(list[next[worker]++]));
        hasChanged = true;
      }
  return llvm::all_of(llvm::enumerate(order.workers), [&](auto entry) {
    return next[entry.index()] == entry.value().size();
  });
}

TEST(RandomOrderTest, CirclesAreFound) {
  int refused = 0, circles = 0, accepted = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    RandomPipeline pipeline(seed);
    pipeline.shape.replicas.assign(pipeline.shape.getPositions(), 1);
    pipeline.shape.groups.clear();
    pipeline.shape.inFlight.clear();
    OrderKind kind = pipeline.shape.chunks > 1 ? OrderKind::interleaved
                                               : OrderKind::zeroBubble;
    Order order = getOrder(kind, pipeline.shape);
    ActionList &list = order.workers[seed % order.workers.size()];
    size_t from = pipeline.draw(0, list.size() - 1);
    size_t to = std::min<size_t>(list.size() - 1, from + pipeline.draw(1, 8));
    std::rotate(list.begin() + from, list.begin() + to, list.begin() + to + 1);
    std::optional<OrderProblem> problem = verifyOrder(order);
    bool isCircle = problem && problem->message.find("wait for each other") !=
                                   std::string::npos;
    if (!problem || isCircle)
      EXPECT_EQ(comesToAnEnd(order), !isCircle) << writeOrder(order);
    ++(isCircle ? circles : problem ? refused : accepted);
  }
  EXPECT_GT(refused, 300);
  EXPECT_GT(circles, 100);
  EXPECT_GT(accepted, 300);
}

//===----------------------------------------------------------------------===//
// Choice of the best order
//===----------------------------------------------------------------------===//

TEST(RandomOrderTest, ChosenIsAsGoodAsTheShortest) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    RandomPipeline pipeline(seed);
    SCOPED_TRACE(seed);
    llvm::Expected<ChosenOrder> best = chooseOrder(
        OrderKind::automatic, pipeline.shape, pipeline.work, pipeline.places);
    ASSERT_TRUE(!!best) << llvm::toString(best.takeError());
    check(pipeline, best->run.order);
    for (OrderKind kind :
         {OrderKind::allForwardsFirst, OrderKind::oneForwardOneBackward,
          OrderKind::interleaved, OrderKind::zeroBubble, OrderKind::vShape,
          OrderKind::list}) {
      bool placesOthers = pipeline.shape.chunks > 1 &&
                          (kind == OrderKind::vShape) !=
                              (pipeline.shape.placement == ChunkPlacement::v);
      if (placesOthers)
        continue;
      llvm::Expected<ChosenOrder> other =
          chooseOrder(kind, pipeline.shape, pipeline.work, pipeline.places);
      if (!other) {
        llvm::consumeError(other.takeError());
        continue;
      }
      EXPECT_LE(best->run.getLength(), 1.01 * other->run.getLength());
    }
  }
}
