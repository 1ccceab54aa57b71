//===- OrderLengthTest.cpp - The length and memory of orders --------------===//
//
// Compares lengths with formulas of the literature, for equal stages and sends
// that take no time.
//===----------------------------------------------------------------------===//

#include "Pipelines/TestPipelines.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::hfta::planning;

namespace {
struct Measured {
  double length = 0;
  std::vector<double> inFlight, idle;
};
} // namespace

static Measured measure(OrderKind kind, const PipelineShape &shape,
                        const StageTimes &times = {}) {
  PipelineRun run =
      simulateOrder(getOrder(kind, shape), getEqualWork(shape, times));
  EXPECT_TRUE(run.result.hasEnded()) << run.getDeadlock();
  Measured measured;
  measured.length = run.getLength();
  for (int64_t worker = 0; worker < shape.getWorkers(); ++worker) {
    measured.inFlight.push_back(run.getInFlight(worker));
    measured.idle.push_back(run.getIdle(worker));
  }
  return measured;
}

using Doubles = std::vector<double>;

TEST(OrderLengthTest, FourStagesEightMicroBatches) {
  Measured all = measure(OrderKind::allForwardsFirst, getShape(4, 8));
  EXPECT_EQ(all.length, 33);
  EXPECT_EQ(all.inFlight, Doubles(4, 8));
  Measured one = measure(OrderKind::oneForwardOneBackward, getShape(4, 8));
  EXPECT_EQ(one.length, 33);
  EXPECT_EQ(one.inFlight, Doubles({4, 3, 2, 1}));
  Measured two = measure(OrderKind::interleaved, getShape(4, 8, 2));
  EXPECT_EQ(two.length, 28.5);
  EXPECT_EQ(two.inFlight, Doubles({5.5, 4.5, 3.5, 2.5}));
  EXPECT_EQ(measure(OrderKind::interleaved, getShape(4, 8, 4)).length, 26.25);
  Measured zero = measure(OrderKind::zeroBubble, getShape(4, 8));
  EXPECT_EQ(zero.length, 27);
  EXPECT_EQ(zero.inFlight, Doubles(4, 4));
  Measured v = measure(OrderKind::vShape, getShape(4, 8, 2));
  EXPECT_EQ(v.length, 25.5) << "the least that a V can take";
  EXPECT_EQ(v.inFlight, Doubles(4, 4));
}

TEST(OrderLengthTest, EightStagesSixteenMicroBatches) {
  EXPECT_EQ(measure(OrderKind::allForwardsFirst, getShape(8, 16)).length, 69);
  EXPECT_EQ(measure(OrderKind::oneForwardOneBackward, getShape(8, 16)).length,
            69);
  EXPECT_EQ(measure(OrderKind::interleaved, getShape(8, 16, 2)).length, 58.5);
  EXPECT_EQ(measure(OrderKind::zeroBubble, getShape(8, 16)).length, 55);
  EXPECT_EQ(measure(OrderKind::vShape, getShape(8, 16, 2)).length, 51.5);
}

TEST(OrderLengthTest, RoundsOfAllForwardsFirst) {
  // Returns how much longer rounds of all forwards first take than one forward,
  // one backward in the same memory.
  auto getRatio = [](int64_t positions, int64_t microBatches) {
    PipelineShape shape = getShape(positions, microBatches);
    shape.inFlight.assign(positions, positions);
    double rounds = measure(OrderKind::allForwardsFirst, shape).length;
    shape.inFlight.clear(); // Position p has positions - p in flight by
                            // default, which is no more than `positions`.
    return rounds / measure(OrderKind::oneForwardOneBackward, shape).length;
  };
  EXPECT_NEAR(getRatio(4, 32), 1.60, 0.005);
  EXPECT_NEAR(getRatio(4, 64), 1.67, 0.005);
  EXPECT_NEAR(getRatio(8, 64), 1.69, 0.005);
}

TEST(OrderLengthTest, GradientsOfWeightsFillBubbles) {
  double one =
      measure(OrderKind::oneForwardOneBackward, getShape(8, 16)).length;
  double zero = measure(OrderKind::zeroBubble, getShape(8, 16)).length;
  EXPECT_GE(one / zero, 1.2);
}

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

namespace {
/// A pipeline of equal positions, each of which needs whole seconds for
/// forward, gradients of inputs, and gradients of weights.
struct Pipeline {
  int64_t positions, microBatches;
  StageTimes times;
  double sum = times.forward + times.input + times.weight;

  PipelineShape getShape(int64_t chunks = 1) const {
    return mlir::hfta::planning::getShape(positions, microBatches, chunks);
  }
};
} // namespace

static void forEach(llvm::function_ref<void(const Pipeline &)> test) {
  for (int64_t positions : {1, 2, 3, 4, 8})
    for (int64_t microBatches : {1, 4, 6, 8, 16, 24})
      for (const StageTimes &times :
           {StageTimes{1, 1, 1}, StageTimes{2, 2, 1}, StageTimes{4, 5, 3},
            StageTimes{4, 6, 2}}) {
        SCOPED_TRACE(testing::Message()
                     << positions << " positions, " << microBatches
                     << " micro-batches, forward " << times.forward
                     << ", backward " << times.input << " + " << times.weight);
        test({positions, microBatches, times});
      }
}

TEST(OrderFormulaTest, AllForwardsFirst) {
  forEach([](const Pipeline &p) {
    Measured all = measure(OrderKind::allForwardsFirst, p.getShape(), p.times);
    EXPECT_EQ(all.length, (p.microBatches + p.positions - 1) * p.sum);
    EXPECT_EQ(all.inFlight, Doubles(p.positions, p.microBatches));
    for (int64_t round : {1, 2, 4}) {
      PipelineShape shape = p.getShape();
      shape.inFlight.assign(p.positions, round);
      Measured rounds = measure(OrderKind::allForwardsFirst, shape, p.times);
      if (p.microBatches % round == 0)
        EXPECT_EQ(rounds.length,
                  p.microBatches / round * (round + p.positions - 1) * p.sum);
      EXPECT_EQ(rounds.inFlight,
                Doubles(p.positions, std::min(round, p.microBatches)));
    }
  });
}

TEST(OrderFormulaTest, OneForwardOneBackward) {
  forEach([](const Pipeline &p) {
    Measured one =
        measure(OrderKind::oneForwardOneBackward, p.getShape(), p.times);
    EXPECT_EQ(one.length, (p.microBatches + p.positions - 1) * p.sum);
    for (int64_t i = 0; i < p.positions; ++i)
      EXPECT_EQ(one.inFlight[i], std::min(p.positions - i, p.microBatches));
  });
}

TEST(OrderFormulaTest, Interleaved) {
  forEach([](const Pipeline &p) {
    for (int64_t chunks : {2, 4}) {
      Measured many =
          measure(OrderKind::interleaved, p.getShape(chunks), p.times);
      if (p.microBatches % p.positions != 0)
        continue;
      EXPECT_EQ(many.length,
                p.microBatches * p.sum + (p.positions - 1) * p.sum / chunks);
      for (int64_t i = 0; i < p.positions; ++i) {
        double steps =
            (p.positions - i - 1) * 2 + (chunks - 1) * p.positions + 1;
        EXPECT_EQ(many.inFlight[i],
                  std::min(steps, double(p.microBatches * chunks)) / chunks);
      }
    }
  });
}

TEST(OrderFormulaTest, ZeroBubble) {
  forEach([](const Pipeline &p) {
    Measured zero = measure(OrderKind::zeroBubble, p.getShape(), p.times);
    if (p.microBatches < p.positions)
      return;
    double bubble = p.times.forward + p.times.input - p.times.weight;
    EXPECT_EQ(zero.length, p.microBatches * p.sum + (p.positions - 1) * bubble);
    EXPECT_EQ(zero.inFlight, Doubles(p.positions, p.positions));
  });
}

TEST(OrderFormulaTest, ZeroBubbleWithTwiceTheMemory) {
  forEach([](const Pipeline &p) {
    PipelineShape shape = p.getShape();
    shape.inFlight.assign(p.positions, 2 * p.positions - 1);
    Measured zero = measure(OrderKind::zeroBubble, shape, p.times);
    if (p.microBatches < 2 * p.positions - 1)
      return;
    EXPECT_EQ(zero.inFlight, Doubles(p.positions, 2 * p.positions - 1));
    double bubble = p.times.forward + p.times.input - 2 * p.times.weight;
    EXPECT_EQ(*llvm::max_element(zero.idle), (p.positions - 1) * bubble);
  });
}

TEST(OrderFormulaTest, VShape) {
  forEach([](const Pipeline &p) {
    Measured v = measure(OrderKind::vShape, p.getShape(2), p.times);
    EXPECT_GE(v.length,
              p.microBatches * p.sum + (p.positions - 1) * p.times.forward / 2);
    if (p.microBatches >= 2 * p.positions - 1)
      EXPECT_EQ(v.inFlight, Doubles(p.positions, p.positions));
  });
}
