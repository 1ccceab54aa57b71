//===- QuasiRandomTest.cpp - Sobol's and Halton's sequences ---------------===//

extern "C" {
#include "search/halton.h"
#include "search/sobol.h"
}

#include "gtest/gtest.h"

#include <cmath>
#include <set>
#include <vector>

// These points, and the hash of 1024 points in 128 dimensions, are those of
// scipy.stats.qmc.Sobol(128, scramble=False, bits=32), SciPy 1.17.
TEST(Sobol, PointsAreSciPys) {
  const double expected[][2] = {{0, 0},       {.5, .5},     {.75, .25},
                                {.25, .75},   {.375, .375}, {.875, .875},
                                {.625, .125}, {.125, .625}};
  for (uint32_t i = 0; i < 8; ++i)
    for (int64_t j = 0; j < 2; ++j)
      EXPECT_EQ(hfta_sobol(i, j) * 0x1p-32, expected[i][j]);
  const int64_t dimensions[] = {0, 1, 2, 5, 20, 63, 100, 127};
  const uint32_t point777[] = {0xb1400000, 0xefc00000, 0x29c00000, 0x5b400000,
                               0x3cc00000, 0x6d400000, 0xd7c00000, 0x1e400000};
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(hfta_sobol(777, dimensions[i]), point777[i]);
  uint64_t hash = 0xcbf29ce484222325;
  for (uint32_t i = 0; i < 1024; ++i)
    for (int64_t j = 0; j < HFTA_MOST_DIMENSIONS; ++j)
      hash = (hash ^ hfta_sobol(i, j)) * 0x100000001b3;
  EXPECT_EQ(hash, 0x20dfe98b2dca2325u);
}

// Each of 2^m parts of each dimension has one of the first 2^m points, and of
// any 2^m that follow them.
TEST(Sobol, ScrambledPointsAreBalanced) {
  for (uint64_t seed = 0; seed < 5; ++seed)
    for (int64_t dimension = 0; dimension < HFTA_MOST_DIMENSIONS; ++dimension)
      for (int m : {0, 3, 6, 10})
        for (uint32_t block = 0; block < 2; ++block) {
          std::set<int> parts;
          for (uint32_t i = 0; i < 1u << m; ++i) {
            double unit =
                hfta_sobol_scrambled(seed, (block << m) + i, dimension);
            EXPECT_TRUE(unit > 0 && unit < 1);
            parts.insert(int(std::ldexp(unit, m)));
          }
          EXPECT_EQ(parts.size(), size_t(1) << m);
        }
}

// In the first two dimensions, also each rectangle of area 2^-m has one point.
TEST(Sobol, ScrambledPointsAreBalancedInRectangles) {
  const int m = 8;
  for (uint64_t seed = 0; seed < 20; ++seed)
    for (int split = 0; split <= m; ++split) {
      std::set<int> parts;
      for (uint32_t i = 0; i < 1u << m; ++i)
        parts.insert(
            int(std::ldexp(hfta_sobol_scrambled(seed, i, 0), split)) * 1024 +
            int(std::ldexp(hfta_sobol_scrambled(seed, i, 1), m - split)));
      EXPECT_EQ(parts.size(), size_t(1) << m);
    }
}

// Over seeds, each point is uniformly distributed, and two points' orders
// differ.
TEST(Sobol, ScramblingIsRandom) {
  const int seeds = 4000;
  for (uint32_t point : {0u, 1u, 80u})
    for (int64_t dimension : {0, 1, 50}) {
      std::vector<int> tenths(10);
      int larger = 0;
      for (uint64_t seed = 0; seed < seeds; ++seed) {
        double unit = hfta_sobol_scrambled(seed, point, dimension);
        ++tenths[int(unit * 10)];
        larger += unit > hfta_sobol_scrambled(seed, point + 1, dimension);
      }
      for (int count : tenths)
        EXPECT_NEAR(count, seeds / 10, 90);
      EXPECT_NEAR(larger, seeds / 2, 200);
    }
}

// Integrals get far more exact than with random points.
TEST(Sobol, IntegratesSmoothFunctions) {
  double error = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    double sum = 0;
    for (uint32_t i = 0; i < 256; ++i) {
      double product = 1;
      for (int64_t j = 0; j < 4; ++j)
        product *= 2 * hfta_sobol_scrambled(seed, i, j);
      sum += product;
    }
    error += std::pow(sum / 256 - 1, 2) / 50;
  }
  // Random points have a variance of ((4/3)^4 - 1) / 256 = 0.0084.
  EXPECT_LT(error, 0.0084 / 30);
}

// These points are those of scipy.stats.qmc.Halton(128, scramble=False).
TEST(Halton, PointsAreSciPys) {
  const double expected[][2] = {
      {0, 0}, {.5, 1.0 / 3}, {.25, 2.0 / 3}, {.75, 1.0 / 9}};
  for (uint32_t i = 0; i < 4; ++i)
    for (int64_t j = 0; j < 2; ++j)
      EXPECT_DOUBLE_EQ(hfta_halton(i, j), expected[i][j]);
  EXPECT_DOUBLE_EQ(hfta_halton(1999, 0), 0.95263671875);
  EXPECT_DOUBLE_EQ(hfta_halton(1999, 1), 0.3616826703246456);
  EXPECT_DOUBLE_EQ(hfta_halton(1999, 7), 0.23895611605190262);
  EXPECT_DOUBLE_EQ(hfta_halton(1999, 50), 0.5795465011328262);
  EXPECT_DOUBLE_EQ(hfta_halton(1999, 127), 0.7802542164689406);
}

// Each of b^m parts of a dimension has one of the first b^m points.
TEST(Halton, ScrambledPointsAreBalanced) {
  const int bases[] = {2, 3, 5, 7, 11};
  for (uint64_t seed = 0; seed < 5; ++seed)
    for (int64_t dimension = 0; dimension < 5; ++dimension) {
      int count = bases[dimension] * bases[dimension];
      std::set<int> parts;
      for (uint32_t i = 0; i < uint32_t(count); ++i)
        parts.insert(int(hfta_halton_scrambled(seed, i, dimension) * count));
      EXPECT_EQ(parts.size(), size_t(count));
    }
}

TEST(Halton, ScramblingIsRandom) {
  const int seeds = 2000;
  for (uint32_t point : {0u, 1u, 80u})
    for (int64_t dimension : {0, 1, 20}) {
      std::vector<int> tenths(10);
      for (uint64_t seed = 0; seed < seeds; ++seed) {
        double unit = hfta_halton_scrambled(seed, point, dimension);
        EXPECT_TRUE(unit >= 0 && unit < 1);
        ++tenths[int(unit * 10)];
      }
      for (int count : tenths)
        EXPECT_NEAR(count, seeds / 10, 70);
    }
}

// Settings of trials depend on these numbers, so they must never change.
TEST(QuasiRandom, StaysAsItIs) {
  EXPECT_EQ(hfta_sobol_scrambled(1, 5, 2), 0x1.a0b35d76p-2);
  EXPECT_EQ(hfta_halton_scrambled(1, 5, 2), 0x1.d8345849ba246p-1);
}
