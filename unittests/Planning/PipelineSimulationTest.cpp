//===- PipelineSimulationTest.cpp - An order with times -------------------===//

#include "TestPipelines.h"
#include "llvm/ADT/STLExtras.h"

#include <functional>
#include <map>
#include <random>

using namespace mlir::hfta::planning;

//===----------------------------------------------------------------------===//
// Against other models
//===----------------------------------------------------------------------===//

namespace {
/// A pipeline whose workers are machines of their own, and its parts' times: of
/// stages, and of the links between them, in seconds.
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

/// One forward, one backward as a recursion. What is even is a stage, what is
/// odd a link, where forwards and backwards don't meet.
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
