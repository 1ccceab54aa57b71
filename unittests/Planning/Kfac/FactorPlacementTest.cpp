//===- FactorPlacementTest.cpp - Which rank inverts which factor ----------===//

#include "Hfta/Planning/Kfac/FactorPlacement.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mlir::hfta::planning;

static std::vector<Factor> makeFactors(llvm::ArrayRef<int64_t> sizes) {
  std::vector<Factor> factors;
  for (int64_t size : sizes)
    factors.push_back({size, 1});
  return factors;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

TEST(FactorCostsTest, countsTriangles) {
  Factor factor{4, 3};
  EXPECT_EQ(factor.getElements(), 30);
  EXPECT_EQ(factor.getCubes(), 192);
}

TEST(FactorCostsTest, interpolatesMeasurements) {
  InversionCost cost = makeMeasuredInversionCost({{64, 2, 16}, {16, 1, 1}});
  EXPECT_DOUBLE_EQ(cost(16, 3), 4);
  EXPECT_DOUBLE_EQ(cost(64, 2), 34);
  // Between measured sizes, the time per matrix here grows with the square of
  // the size, and the fixed time of a launch with its square root.
  EXPECT_DOUBLE_EQ(cost(32, 1), std::sqrt(2) + 4);
  // Beyond the measured sizes, the time per matrix grows with the cube of the
  // size, and the time of a launch is constant.
  EXPECT_DOUBLE_EQ(cost(128, 1), 2 + 128);
  EXPECT_DOUBLE_EQ(cost(8, 1), 1 + 1.0 / 8);
  // These measurements have launches that take no time.
  InversionCost free = makeMeasuredInversionCost({{16, 0, 1}, {32, 0, 8}});
  EXPECT_DOUBLE_EQ(free(16, 2), 2);
  EXPECT_NEAR(free(20, 1), 1.953125, 1e-12);
}

//===----------------------------------------------------------------------===//
// Placement by load balancing
//===----------------------------------------------------------------------===//

TEST(FactorPlacementTest, balancesSizes) {
  std::vector<Factor> factors =
      makeFactors({4608, 2304, 2304, 2048, 2048, 1152, 1024, 1023, 512, 64});
  FactorOwners owners = placeBySize(factors, 3, 1024, LoadWeight::size);
  EXPECT_EQ(owners, FactorOwners({0, 1, 2, 1, 2, 1, 2, kEveryRank, kEveryRank,
                                  kEveryRank}));
  std::vector<int64_t> loads(3, 0);
  for (size_t factor = 0; factor < factors.size(); ++factor)
    if (owners[factor] != kEveryRank)
      loads[owners[factor]] += factors[factor].size;
  EXPECT_EQ(loads, (std::vector<int64_t>{4608, 5504, 5376}));
}

TEST(FactorPlacementTest, takesTheLargestFirstWhateverTheOrder) {
  std::vector<Factor> factors = makeFactors({1, 3, 2, 3});
  EXPECT_EQ(placeBySize(factors, 2, 1, LoadWeight::size),
            FactorOwners({1, 0, 0, 1}));
  // Three blocks of size 2 have as many rows as two blocks of size 3, but need
  // less work.
  factors = {{3, 2}, {2, 3}, {1, 1}, {1, 1}};
  EXPECT_EQ(placeBySize(factors, 2, 1, LoadWeight::size),
            FactorOwners({0, 1, 0, 1}));
  EXPECT_EQ(placeBySize(factors, 2, 1, LoadWeight::cubes),
            FactorOwners({0, 1, 1, 1}));
}

//===----------------------------------------------------------------------===//
// Times computed by hand
//===----------------------------------------------------------------------===//

TEST(FactorPlacementTest, countsBatchesAndBroadcasts) {
  PlacementCosts costs{makeCubicInversionCost(1, 0, 1), {10, 1}};
  std::vector<Factor> factors = makeFactors({2, 2, 1, 1, 3});
  // Rank 0 inverts both factors of size 2 as one batch, then those of size 1.
  FactorOwners owners = {0, 0, kEveryRank, kEveryRank, 1};
  PlacementTimes times = getPlacementTimes(factors, owners, costs);
  EXPECT_DOUBLE_EQ(times.inverted, 28 + 3);
  // 6 elements are sent from 17 s to 33 s, then 6 more.
  EXPECT_DOUBLE_EQ(times.broadcast, 49);
  std::vector<FactorBroadcast> broadcasts =
      getBroadcasts(factors, owners, costs);
  ASSERT_EQ(broadcasts.size(), 2u);
  EXPECT_EQ(broadcasts[0].owner, 0);
  EXPECT_DOUBLE_EQ(broadcasts[0].ready, 17);
  EXPECT_EQ(broadcasts[0].elements, 6);
  EXPECT_EQ(broadcasts[0].factors, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(broadcasts[1].factors, std::vector<int64_t>{4});
  costs.isOverlapped = false;
  EXPECT_DOUBLE_EQ(getPlacementTimes(factors, owners, costs).broadcast,
                   31 + 16 + 16);
  costs.isMerged = false;
  EXPECT_DOUBLE_EQ(getPlacementTimes(factors, owners, costs).broadcast,
                   31 + 13 + 13 + 16);
}

TEST(FactorPlacementTest, sendsAloneWhatIsInvertedFirst) {
  PlacementCosts costs{makeCubicInversionCost(0, 0, 1), {0, 1}};
  costs.isMerged = false;
  std::vector<Factor> factors = makeFactors({1, 2, 2});
  // Both factors of size 2 are inverted after 16 s and have 3 elements each;
  // the factor of size 1 is inverted after 17 s.
  PlacementTimes times = getPlacementTimes(factors, {0, 0, 0}, costs);
  EXPECT_DOUBLE_EQ(times.inverted, 17);
  EXPECT_DOUBLE_EQ(times.broadcast, 16 + 3 + 3 + 1);
}

//===----------------------------------------------------------------------===//
// The best placement
//===----------------------------------------------------------------------===//

TEST(FactorPlacementTest, sendsOnlyWhatIsWorthIt) {
  std::vector<Factor> factors = makeFactors({100, 100, 10});
  // Inverting takes 1 s for a large factor and 1 ms for the small one; sending
  // takes 10 s. So each rank inverts all factors itself.
  PlacementCosts costs{makeCubicInversionCost(0, 0, 1e-6), {10, 0}};
  EXPECT_EQ(placeFactors(factors, 4, costs), FactorOwners(3, kEveryRank));
  // If sending takes no time, the ranks share the large factors.
  costs.broadcast = {};
  FactorOwners owners = placeFactors(factors, 4, costs);
  EXPECT_NE(owners[0], owners[1]);
  EXPECT_DOUBLE_EQ(getPlacementTimes(factors, owners, costs).broadcast, 1);
  // A single rank has no other rank to send to.
  EXPECT_EQ(placeFactors(factors, 1, costs), FactorOwners(3, kEveryRank));
  EXPECT_EQ(placeFactors({}, 4, costs), FactorOwners());
}

TEST(FactorPlacementTest, keepsBatchesTogether) {
  // A launch takes as long as 100 matrices, so all factors of a size have the
  // same owner.
  std::vector<Factor> factors = makeFactors({2, 2, 2, 2, 1, 1, 1, 1});
  PlacementCosts costs{makeCubicInversionCost(100, 1, 0), {5, 0}};
  FactorOwners owners = placeFactors(factors, 8, costs);
  for (size_t factor : {1, 2, 3}) {
    EXPECT_EQ(owners[factor], owners[0]);
    EXPECT_EQ(owners[4 + factor], owners[4]);
  }
  EXPECT_NE(owners[0], owners[4]);
}

namespace {
class RandomPlacement {
public:
  RandomPlacement(int64_t mostFactors, std::mt19937 &random) : random(random) {
    costs.invert = makeCubicInversionCost(
        1e-4 * draw(0, 20), 1e-5 * draw(0, 20), 1e-12 * draw(1, 10));
    costs.broadcast = {1e-4 * draw(0, 20), 1e-10 * draw(1, 20)};
    costs.isMerged = draw(0, 1) > 0;
    costs.isOverlapped = draw(0, 1) > 0;
    const int64_t sizes[] = {16, 64, 256, 512, 1024, 2048};
    for (int64_t i = draw(1, mostFactors); i > 0; --i)
      factors.push_back({sizes[draw(0, 5)], draw(1, 3)});
  }

  std::vector<Factor> factors;
  PlacementCosts costs;

private:
  int64_t draw(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random);
  }

  std::mt19937 &random;
};
} // namespace

/// Returns the least time among all placements.
static double searchAll(const RandomPlacement &problem, int64_t ranks) {
  FactorOwners owners(problem.factors.size(), kEveryRank);
  double best = std::numeric_limits<double>::infinity();
  while (true) {
    best = std::min(
        best,
        getPlacementTimes(problem.factors, owners, problem.costs).broadcast);
    size_t factor = 0;
    while (factor < owners.size() && owners[factor] == ranks - 1)
      owners[factor++] = kEveryRank;
    if (factor == owners.size())
      return best;
    ++owners[factor];
  }
}

TEST(FactorPlacementTest, comesCloseToTheBestOfAll) {
  std::mt19937 random(3);
  double ratios = 0, worst = 1;
  int best = 0;
  constexpr int kCases = 200;
  for (int i = 0; i < kCases; ++i) {
    SCOPED_TRACE(i);
    RandomPlacement problem(6, random);
    double least = searchAll(problem, 3);
    FactorOwners owners = placeFactors(problem.factors, 3, problem.costs);
    double found =
        getPlacementTimes(problem.factors, owners, problem.costs).broadcast;
    EXPECT_GE(found, least);
    double ratio = found / least;
    best += found == least;
    worst = std::max(worst, ratio);
    ratios += ratio;
  }
  EXPECT_GE(best, 180);
  EXPECT_LE(worst, 1.15);
  EXPECT_LE(ratios / kCases, 1.005);
}

TEST(FactorPlacementTest, isNeverSlowerThanThresholds) {
  std::mt19937 random(4);
  for (int i = 0; i < 50; ++i) {
    SCOPED_TRACE(i);
    RandomPlacement problem(40, random);
    FactorOwners owners = placeFactors(problem.factors, 8, problem.costs);
    double found =
        getPlacementTimes(problem.factors, owners, problem.costs).broadcast;
    for (LoadWeight weight : {LoadWeight::size, LoadWeight::cubes})
      for (int64_t threshold : {1, 256, 1024, 4096}) {
        owners = placeBySize(problem.factors, 8, threshold, weight);
        EXPECT_LE(found, 1.02 * getPlacementTimes(problem.factors, owners,
                                                  problem.costs)
                                    .broadcast);
      }
  }
}
