//===- WarpSpecializedTilesTest.cpp - Tiles with a producer warp ----------===//
//
// Warp groups must compute the bits that warps compute on the same chip, if a
// producer warp copies both operands of a matrix product box by box.
// WarpSpecializedConvolutionsTest.cpp tests convolutions.
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

/// Returns products with all tile shapes and both layouts of each operand. They
/// have 1, 2, 4 or 7 steps, so that ring buffers have one to four places, and
/// some wrap around.
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

/// Returns products in which groups of threads share the terms.
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
        // Four groups and the producer would have more threads than a block may
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

/// Returns products with other types, and with other numbers of rows, columns
/// and terms.
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
      // The number of terms, or that of a group's terms, isn't a multiple of a
      // step's terms.
      {64, 64, 48, {64, 64, 32, 4, 4, 1}, false, false, "bf16", "bf16"},
      {72, 64, 104, {64, 64, 32, 4, 4, 1}, true, false, "bf16", "bf16"},
      {64, 64, 96, {64, 64, 32, 4, 4, 2}, true, true, "bf16", "bf16"},
      // The ring buffer wraps around many times.
      {64, 64, 2048, {64, 64, 16, 4, 4, 1}, false, true, "bf16", "bf16"},
      // These products have batches; in most, rows or columns don't fill whole
      // tiles.
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

/// Returns products whose operands can't be copied by tensor maps, so that the
/// computing threads copy them.
std::vector<ProductCase> getRefused() {
  const std::vector<MatrixProduct> products = {
      // The stored type is wider than the multiplied one.
      {64, 64, 64, {64, 64, 32, 4, 4, 1}, false, true, "f32", "f16"},
      // One side has a single row or column.
      {1, 64, 128, {64, 64, 32, 4, 4, 1}, false, false, "bf16", "bf16"},
      {64, 1, 128, {64, 64, 32, 4, 4, 1}, true, false, "bf16", "bf16"},
      // The stored rows of the turned lhs have 136 bytes, which isn't a
      // multiple of 16.
      {68, 64, 64, {64, 64, 32, 4, 4, 1}, true, false, "bf16", "bf16"}};
  std::vector<ProductCase> cases;
  for (const MatrixProduct &product : products)
    cases.push_back(product.makeCase(/*hasMaps=*/false));
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Refused, WarpSpecializedTiles,
                         testing::ValuesIn(getRefused()));

//===----------------------------------------------------------------------===//
// Copies, and orders in which threads run
//===----------------------------------------------------------------------===//

/// Returns products whose operands are either copies' own or shared by all
/// copies.
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
