//===- FactorBucketsTest.cpp - Buckets of factors to all-reduce -----------===//

#include "Hfta/Planning/Kfac/FactorBuckets.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <limits>
#include <random>

using namespace mlir::hfta::planning;

using Numbers = std::vector<int64_t>;

/// Makes factors of these sizes. Factor i is ready `gaps[i]` milliseconds after
/// factor i - 1.
static BucketProblem makeProblem(llvm::ArrayRef<int64_t> sizes,
                                 llvm::ArrayRef<double> gaps) {
  BucketProblem problem;
  problem.allReduce = {9.29e-4, 1.4335e-9};
  double ready = 0;
  for (auto [size, gap] : llvm::zip_equal(sizes, gaps)) {
    ready += gap * 1e-3;
    problem.factors.push_back({ready, Factor{size}.getElements(), true});
  }
  return problem;
}

static Numbers getLengths(const BucketPlan &plan) {
  Numbers lengths;
  for (const Bucket &bucket : plan)
    lengths.push_back(bucket.last - bucket.first + 1);
  return lengths;
}

static void expectMilliseconds(const BucketPlan &plan, double golden) {
  EXPECT_NEAR(plan.back().end * 1e3, golden, 5e-7);
}

//===----------------------------------------------------------------------===//
// Published costs
//===----------------------------------------------------------------------===//

TEST(FactorBucketsTest, endsBeforeTheGreedyRule) {
  Numbers sizes = {64,  64,  64,  64,  64,   64,  64,  64,
                   256, 256, 256, 256, 1024, 512, 2048};
  BucketProblem problem = makeProblem(sizes, std::vector<double>(15, 0.2));
  BucketPlan greedy = mergeGreedily(problem);
  EXPECT_EQ(getLengths(greedy), Numbers({15}));
  expectMilliseconds(greedy, 8.089774);
  BucketPlan best = planBuckets(problem);
  EXPECT_EQ(getLengths(best), Numbers({5, 5, 5}));
  expectMilliseconds(best, 8.003865);
  expectMilliseconds(getBucketTimes(problem, Numbers(15, 1)), 18.295774);
}

TEST(FactorBucketsTest, endsWithTheTail) {
  Numbers sizes = {147, 64, 576, 64, 256, 256, 1152, 128, 4608, 512};
  BucketProblem problem = makeProblem(
      sizes, std::vector<double>{.5, .2, 1, 2, .3, .3, 3, .4, 6, 1});
  for (const BucketPlan &plan :
       {mergeGreedily(problem), planBuckets(problem)}) {
    EXPECT_EQ(getLengths(plan), Numbers({2, 1, 3, 2, 1, 1}));
    expectMilliseconds(plan, 30.968790);
  }
  expectMilliseconds(getBucketTimes(problem, Numbers(10, 1)), 30.968790);
}

//===----------------------------------------------------------------------===//
// Times computed by hand
//===----------------------------------------------------------------------===//

TEST(FactorBucketsTest, saysWhenEachBucketIsSent) {
  BucketProblem problem{{{1, 10}, {2, 20}, {9, 30}}, {2, 0.1}, {}};
  BucketPlan plan = getBucketTimes(problem, Numbers{2, 1});
  ASSERT_EQ(plan.size(), 2u);
  EXPECT_EQ(plan[0].elements, 30);
  EXPECT_DOUBLE_EQ(plan[0].begin, 2);
  EXPECT_DOUBLE_EQ(plan[0].end, 7);
  EXPECT_EQ(plan[1].first, 2);
  EXPECT_DOUBLE_EQ(plan[1].begin, 9);
  EXPECT_DOUBLE_EQ(plan[1].end, 14);
}

TEST(FactorBucketsTest, planNothingOfNothing) {
  BucketProblem problem;
  EXPECT_TRUE(planBuckets(problem).empty());
  EXPECT_TRUE(mergeGreedily(problem).empty());
}

TEST(FactorBucketsTest, endsBucketsWithBlocks) {
  // If each factor ends a block, each is sent in a bucket of its own as soon as
  // it is ready.
  BucketProblem problem{{{1, 1}, {5, 1}, {9, 1}}, {1, 0.1}, {}};
  EXPECT_EQ(getLengths(planBuckets(problem)), Numbers({1, 1, 1}));
  EXPECT_EQ(getLengths(mergeGreedily(problem)), Numbers({1, 1, 1}));
  problem.factors[0].endsBlock = false;
  EXPECT_EQ(getLengths(planBuckets(problem)), Numbers({2, 1}));
  EXPECT_EQ(getLengths(mergeGreedily(problem)), Numbers({2, 1}));
  // The last factor ends a bucket even if it doesn't end a block.
  problem.factors[1].endsBlock = problem.factors[2].endsBlock = false;
  EXPECT_EQ(getLengths(planBuckets(problem)), Numbers({3}));
  EXPECT_EQ(getLengths(mergeGreedily(problem)), Numbers({3}));
}

TEST(FactorBucketsTest, letsGradientsGoBetweenBuckets) {
  BucketProblem problem{
      {{1, 10}, {4, 10}}, {1, 0.1}, {{1, 4}, {2, 1}, {3.5, 1}, {20, 5}}};
  BucketPlan plan = getBucketTimes(problem, Numbers{1, 1});
  // 4 seconds of gradients are sent before the first factor. Before the second
  // factor, 2 more seconds of gradients are ready and are sent first.
  EXPECT_DOUBLE_EQ(plan[0].begin, 5);
  EXPECT_DOUBLE_EQ(plan[0].end, 7);
  EXPECT_DOUBLE_EQ(plan[1].begin, 9);
  EXPECT_DOUBLE_EQ(plan[1].end, 11);
  // If both factors are in one bucket, the last sum ends a second earlier.
  EXPECT_EQ(getLengths(planBuckets(problem)), Numbers({2}));
  EXPECT_DOUBLE_EQ(planBuckets(problem).back().end, 10);
}

//===----------------------------------------------------------------------===//
// Random problems
//===----------------------------------------------------------------------===//

namespace {
class RandomProblem {
public:
  explicit RandomProblem(int64_t most, std::mt19937 &random) : random(random) {
    problem.allReduce = {1e-4 * draw(1, 50), 1e-9 * draw(1, 100)};
    int64_t count = draw(1, most);
    double ready = 0;
    for (int64_t factor = 0; factor < count; ++factor) {
      ready += 1e-4 * draw(0, 30);
      problem.factors.push_back(
          {ready, Factor{draw(1, 2048)}.getElements(), draw(0, 3) > 0});
    }
    for (int64_t other = draw(0, 6); other > 0; --other)
      problem.others.push_back({1e-4 * draw(0, 30 * count), 1e-4 * draw(0, 9)});
  }

  BucketProblem problem;

private:
  int64_t draw(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  }

  std::mt19937 &random;
};
} // namespace

/// Checks that buckets are contiguous, end only at the end of a block or at the
/// last factor, and have the times that getBucketTimes computes.
static void expectValid(const BucketProblem &problem, const BucketPlan &plan) {
  int64_t next = 0;
  for (const Bucket &bucket : plan) {
    EXPECT_EQ(bucket.first, next);
    EXPECT_GE(bucket.last, bucket.first);
    next = bucket.last + 1;
    EXPECT_TRUE(next == static_cast<int64_t>(problem.factors.size()) ||
                problem.factors[bucket.last].endsBlock);
    EXPECT_GE(bucket.begin, problem.factors[bucket.last].ready);
  }
  EXPECT_EQ(next, static_cast<int64_t>(problem.factors.size()));
  EXPECT_EQ(getBucketTimes(problem, getLengths(plan)).back().end,
            plan.back().end);
}

TEST(FactorBucketsTest, neverEndsAfterTheGreedyRule) {
  std::mt19937 random(1);
  int earlier = 0;
  for (int i = 0; i < 1000; ++i) {
    SCOPED_TRACE(i);
    BucketProblem problem = RandomProblem(60, random).problem;
    BucketPlan best = planBuckets(problem), greedy = mergeGreedily(problem);
    expectValid(problem, best);
    expectValid(problem, greedy);
    EXPECT_LE(best.back().end, greedy.back().end);
    earlier += best.back().end < greedy.back().end;
  }
  EXPECT_GT(earlier, 300);
}

/// Returns the earliest end among all divisions into buckets.
static double searchAll(const BucketProblem &problem) {
  int64_t count = problem.factors.size();
  double best = std::numeric_limits<double>::infinity();
  for (int64_t cuts = 0; cuts < int64_t(1) << (count - 1); ++cuts) {
    Numbers lengths = {1};
    bool mayBe = true;
    for (int64_t factor = 0; factor + 1 < count; ++factor) {
      if ((cuts >> factor & 1) == 0) {
        ++lengths.back();
        continue;
      }
      mayBe &= problem.factors[factor].endsBlock;
      lengths.push_back(1);
    }
    if (mayBe)
      best = std::min(best, getBucketTimes(problem, lengths).back().end);
  }
  return best;
}

TEST(FactorBucketsTest, endsAsSoonAsTheBestOfAll) {
  std::mt19937 random(2);
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE(i);
    BucketProblem problem = RandomProblem(10, random).problem;
    EXPECT_EQ(planBuckets(problem).back().end, searchAll(problem));
  }
}
