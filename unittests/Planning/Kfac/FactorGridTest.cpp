//===- FactorGridTest.cpp - Grids of ranks that keep inverses -------------===//

#include "Hfta/Planning/Kfac/FactorGrid.h"

#include "gtest/gtest.h"

using namespace mlir::hfta::planning;

/// Six layers and their factors, whose placements the tests know.
struct SixLayers {
  SixLayers() {
    const int64_t sizes[][2] = {{147, 64},   {576, 64},   {1152, 128},
                                {2304, 256}, {4608, 512}, {513, 10}};
    for (auto [input, output] : sizes) {
      int64_t number = factors.size();
      factors.push_back({input, 1});
      factors.push_back({output, 1});
      layers.push_back({number, number + 1});
    }
  }

  GridPlacement place(double fraction, FactorPairing pairing) const {
    return placeOnGrid(factors, layers,
                       llvm::cantFail(makeFactorGrid(fraction, 4)), pairing);
  }

  std::vector<Factor> factors;
  std::vector<FactorPair> layers;
};

TEST(FactorGridTest, placesHalfTogether) {
  FactorGrid grid = llvm::cantFail(makeFactorGrid(0.5, 4));
  EXPECT_EQ(grid.rows, 2);
  EXPECT_EQ(grid.columns, 2);
  for (int64_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(grid.getColumn(rank), rank % 2);
    EXPECT_EQ(grid.getRank(grid.getRow(rank), grid.getColumn(rank)), rank);
  }
  GridPlacement placement = SixLayers().place(0.5, FactorPairing::together);
  EXPECT_EQ(placement.owners,
            FactorOwners({3, 3, 3, 3, 3, 3, 1, 1, 0, 0, 3, 3}));
  EXPECT_EQ(placement.columns.layers, (std::vector<int64_t>{1, 1, 1, 1, 0, 1}));
}

TEST(FactorGridTest, placesHalfApart) {
  GridPlacement placement = SixLayers().place(0.5, FactorPairing::apart);
  EXPECT_EQ(placement.owners,
            FactorOwners({3, 3, 3, 3, 3, 3, 1, 3, 0, 2, 3, 3}));
}

TEST(FactorGridTest, placesAQuarter) {
  for (FactorPairing pairing :
       {FactorPairing::together, FactorPairing::apart}) {
    GridPlacement placement = SixLayers().place(0.25, pairing);
    EXPECT_EQ(placement.owners,
              FactorOwners({3, 3, 3, 3, 2, 2, 1, 1, 0, 0, 3, 3}));
    EXPECT_EQ(placement.columns.layers,
              (std::vector<int64_t>{3, 3, 2, 1, 0, 3}));
  }
}

TEST(FactorGridTest, placesAllApart) {
  GridPlacement placement = SixLayers().place(1, FactorPairing::apart);
  EXPECT_EQ(placement.owners,
            FactorOwners({1, 1, 1, 1, 3, 1, 2, 3, 0, 1, 1, 1}));
  EXPECT_EQ(placement.columns.layers, std::vector<int64_t>(6, 0));
}

TEST(FactorGridTest, keepsLayersWithOneInputTogether) {
  // Three layers share an input, one has its own, and one has no input factor.
  std::vector<Factor> factors = {{8, 1}, {5, 1}, {6, 1}, {7, 1},
                                 {9, 1}, {4, 1}, {3, 1}, {2, 1}};
  std::vector<FactorPair> layers = {
      {0, 1}, {0, 2}, {0, 3}, {4, 5}, {kNoFactor, 6}};
  GridPlacement placement =
      placeOnGrid(factors, layers, FactorGrid{1, 2}, FactorPairing::together);
  EXPECT_EQ(placement.columns.layers, (std::vector<int64_t>{0, 0, 0, 1, 1}));
  EXPECT_EQ(placement.columns.factors,
            (std::vector<int64_t>{0, 0, 0, 0, 1, 1, 1, 0}));
  EXPECT_EQ(placement.owners, FactorOwners({0, 0, 0, 0, 1, 1, 1, 0}));
}

static std::string getError(double fraction, int64_t ranks) {
  llvm::Expected<FactorGrid> grid = makeFactorGrid(fraction, ranks);
  return grid ? "" : llvm::toString(grid.takeError());
}

TEST(FactorGridTest, saysWhichFractionsThereAre) {
  EXPECT_EQ(getError(0.3, 4),
            "a fraction of 0.3 of 4 ranks is 1.2: expected a whole number "
            "that divides the ranks");
  EXPECT_EQ(getError(0.75, 4),
            "a fraction of 0.75 of 4 ranks is 3: expected a whole number that "
            "divides the ranks");
  EXPECT_EQ(getError(0, 4),
            "a fraction of 0 of the ranks keeps inverses: expected more than 0 "
            "and at most 1");
  EXPECT_EQ(getError(1.5, 4),
            "a fraction of 1.5 of the ranks keeps inverses: expected more than "
            "0 and at most 1");
  // Even the smallest fraction gives a grid of at least one row.
  EXPECT_EQ(llvm::cantFail(makeFactorGrid(0.01, 4)).rows, 1);
  EXPECT_EQ(llvm::cantFail(makeFactorGrid(1.0 / 3, 6)).rows, 2);
  EXPECT_EQ(llvm::cantFail(makeFactorGrid(0.3333333333, 3)).rows, 1);
}
