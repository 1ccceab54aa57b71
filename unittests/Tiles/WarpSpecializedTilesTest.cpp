//===- WarpSpecializedTilesTest.cpp - Tiles with a producer warp ----------===//
//
// Where a producer warp copies both operands box by box, warp groups compute
// the bits that warps compute of a product on the same chip. Convolutions are
// tested by WarpSpecializedConvolutionsTest.cpp.
//===----------------------------------------------------------------------===//

#include "ProductCases.h"

#include "gtest/gtest.h"

using namespace mlir::hfta;

namespace {

class WarpSpecializedTiles : public testing::TestWithParam<ProductCase> {};

TEST_P(WarpSpecializedTiles, HaveTheBitsOfWarps) {
  expectBitsOfWarps(GetParam());
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// Returns all tiles with both layouts of each operand, for several numbers of
/// steps: ring buffers of one to four places, and some that go around more than
/// once.
std::vector<ProductCase> getTiles() {
  std::vector<ProductCase> cases;
  for (const TileShape &shape : kTileShapes)
    for (unsigned turned = 0; turned < 4; ++turned) {
      if (shape.columns == 16 && turned / 2 == 1)
        continue;
      for (int64_t steps : {1, 2, 4, 7}) {
        MatrixProduct product = {shape.rows + 8,
                                 shape.columns + 8,
                                 steps * shape.words * 2,
                                 shape.makeTile(2),
                                 turned % 2 == 1,
                                 turned / 2 == 1,
                                 "bf16",
                                 "bf16"};
        cases.push_back(product.makeCase(/*hasMaps=*/true));
      }
    }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Bf16, WarpSpecializedTiles,
                         testing::ValuesIn(getTiles()));

/// Returns tiles whose groups of threads each have a part of the terms.
std::vector<ProductCase> getGroups() {
  std::vector<ProductCase> cases;
  for (int64_t groups : {2, 4})
    for (int64_t steps : {1, 2, 3, 8})
      for (bool isTurned : {false, true}) {
        MatrixProduct product = {72,
                                 40,
                                 groups * steps * 32,
                                 {64, 32, 32, 2, 4, groups},
                                 isTurned,
                                 !isTurned,
                                 "bf16",
                                 "bf16"};
        // The groups and the producer would be more threads than a block may
        // have.
        bool hasMaps = groups == 2;
        cases.push_back(product.makeCase(hasMaps));
        product.tile = {64, 32, 32, 4, 4, groups};
        cases.push_back(product.makeCase(/*hasMaps=*/true));
      }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Groups, WarpSpecializedTiles,
                         testing::ValuesIn(getGroups()));

/// Returns products of other types, numbers of places, and numbers of terms.
std::vector<ProductCase> getOthers() {
  const std::vector<MatrixProduct> products = {
      {64, 64, 16, {64, 64, 16, 4, 4, 1}, true, true, "bf16", "bf16"},
      {128, 64, 64, {128, 64, 32, 4, 8, 1}, true, false, "f16", "f16"},
      {130, 66, 64, {64, 64, 32, 4, 4, 1}, false, false, "f16", "f16"},
      {200, 136, 384, {64, 64, 32, 4, 4, 1}, true, true, "f16", "f16"},
      {128, 128, 48, {128, 128, 16, 8, 8, 1}, false, false, "f32", "tf32"},
      {133, 70, 512, {64, 64, 16, 4, 4, 1}, false, false, "f32", "tf32"},
      {64, 40, 96, {64, 32, 32, 2, 4, 1}, false, false, "f32", "tf32"},
      {64, 16, 192, {64, 16, 32, 2, 2, 2}, false, false, "f32", "tf32"},
      // The terms, or those of a group, end within a step.
      {64, 64, 48, {64, 64, 32, 4, 4, 1}, false, false, "bf16", "bf16"},
      {72, 64, 104, {64, 64, 32, 4, 4, 1}, true, false, "bf16", "bf16"},
      {64, 64, 96, {64, 64, 32, 4, 4, 2}, true, true, "bf16", "bf16"},
      // The ring buffer goes around many times.
      {64, 64, 2048, {64, 64, 16, 4, 4, 1}, false, true, "bf16", "bf16"},
      // There are batches, with places that don't fill whole tiles.
      {64, 64, 64, {64, 64, 32, 4, 4, 1}, false, false, "bf16", "bf16", 3},
      {72, 40, 96, {64, 64, 32, 4, 4, 1}, true, false, "bf16", "bf16", 2},
      {40, 72, 128, {64, 32, 32, 4, 4, 2}, false, true, "f16", "f16", 4},
      {200, 136, 32, {128, 128, 32, 8, 8, 1}, true, true, "bf16", "bf16", 2},
      {67, 33, 64, {64, 32, 32, 2, 4, 1}, false, false, "f32", "tf32", 5}};
  std::vector<ProductCase> cases;
  for (const MatrixProduct &product : products)
    cases.push_back(product.makeCase(/*hasMaps=*/true));
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Others, WarpSpecializedTiles,
                         testing::ValuesIn(getOthers()));

/// Returns products whose operands the threads have to copy.
std::vector<ProductCase> getRefused() {
  const std::vector<MatrixProduct> products = {
      // The stored type is wider than the multiplied one.
      {64, 64, 64, {64, 64, 32, 4, 4, 1}, false, true, "f32", "f16"},
      // One side has a single place.
      {1, 64, 128, {64, 64, 32, 4, 4, 1}, false, false, "bf16", "bf16"},
      {64, 1, 128, {64, 64, 32, 4, 4, 1}, true, false, "bf16", "bf16"},
      // Rows of places aren't multiples of 16 bytes.
      {68, 64, 64, {64, 64, 32, 4, 4, 1}, true, false, "bf16", "bf16"}};
  std::vector<ProductCase> cases;
  for (const MatrixProduct &product : products)
    cases.push_back(product.makeCase(/*hasMaps=*/false));
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Refused, WarpSpecializedTiles,
                         testing::ValuesIn(getRefused()));

//===----------------------------------------------------------------------===//
// Copies, and orders of threads
//===----------------------------------------------------------------------===//

/// Returns products of operands of each copy, or of operands that all copies
/// share.
std::vector<ProductCase> getCopies() {
  const MatrixProduct matrices = {72,   72,    384,    {64, 64, 32, 4, 4, 1},
                                  true, false, "bf16", "bf16"};
  const Convolution images = {3, 8, 32, 32, 3, 1, 1, 1, {128, 32, 32, 4, 4, 1}};
  const std::vector<std::vector<size_t>> shares = {{}, {0}, {1}, {0, 1}};
  std::vector<ProductCase> cases;
  for (ProductCase own : {matrices.makeCase(true), images.makeForward(true)})
    for (const std::vector<size_t> &shared : shares) {
      own.copies = 3;
      own.shared = shared;
      cases.push_back(own);
    }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Copies, WarpSpecializedTiles,
                         testing::ValuesIn(getCopies()));

std::vector<ProductCase> getOrders() {
  const std::vector<MatrixProduct> products = {
      {64, 64, 512, {64, 64, 32, 4, 4, 1}, false, false, "bf16", "bf16"},
      {72, 72, 224, {64, 64, 32, 4, 4, 1}, true, true, "bf16", "bf16"},
      {64, 32, 512, {64, 32, 32, 4, 4, 2}, false, true, "f16", "f16"},
      {128, 128, 160, {128, 128, 16, 8, 8, 1}, false, false, "f32", "tf32"}};
  std::vector<ProductCase> cases;
  for (const MatrixProduct &product : products) {
    cases.push_back(product.makeCase(/*hasMaps=*/true));
    cases.back().seeds = 10;
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Orders, WarpSpecializedTiles,
                         testing::ValuesIn(getOrders()));

} // namespace
