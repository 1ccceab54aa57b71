//===- WarpGroupTilesTest.cpp - Tiles that warp groups compute ------------===//
//
// Of a product's tile in whatever shape and wherever its operands lie, warp
// groups make the bits that warps make of it on the same chip. Here it is their
// threads that copy the operands: terms aren't whole steps, or what is stored
// is wider than what is multiplied.
//===----------------------------------------------------------------------===//

#include "ProductCases.h"

#include "gtest/gtest.h"

using namespace mlir::hfta;

namespace {

class WarpGroupTiles : public testing::TestWithParam<MatrixProduct> {};

TEST_P(WarpGroupTiles, HaveTheBitsOfWarps) {
  // Of rows so far apart there is no box.
  MatrixProduct product = GetParam();
  product.apart = 9;
  expectBitsOfWarps(product.makeCase(/*hasMaps=*/false));
}

/// All tiles, where operands lie in each way.
std::vector<MatrixProduct> getTiles() {
  std::vector<MatrixProduct> cases;
  for (const TileShape &shape : kTileShapes)
    for (unsigned turned = 0; turned < 4; ++turned) {
      // Places of one term of two warp groups with 8 columns each aren't read.
      if (shape.columns == 16 && turned / 2 == 1)
        continue;
      cases.push_back({shape.rows + 8, shape.columns + 8, 80,
                       shape.makeTile(/*termsOfWord=*/2), turned % 2 == 1,
                       turned / 2 == 1, "bf16", "bf16"});
    }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Bf16, WarpGroupTiles, testing::ValuesIn(getTiles()));

using Case = MatrixProduct;

INSTANTIATE_TEST_SUITE_P(
    Others, WarpGroupTiles,
    testing::Values(
        // Two groups of threads, which have half of the terms each.
        Case{64, 64, 200, {64, 64, 16, 4, 4, 2}, false, true, "bf16", "bf16"},
        Case{72, 32, 200, {64, 32, 16, 2, 4, 4}, true, false, "bf16", "bf16"},
        // Few terms, and of an odd number.
        Case{64, 64, 8, {64, 64, 16, 4, 4, 1}, true, true, "bf16", "bf16"},
        Case{64, 64, 37, {64, 64, 32, 4, 4, 1}, false, false, "bf16", "bf16"},
        // One side's places aren't whole units.
        Case{68, 60, 40, {64, 64, 32, 4, 4, 1}, true, true, "bf16", "bf16"},
        // What is stored wider is narrowed where it is shared.
        Case{128, 64, 64, {128, 64, 32, 4, 8, 1}, false, true, "f32", "bf16"},
        Case{128, 64, 72, {128, 64, 32, 4, 8, 1}, true, false, "f16", "f16"},
        Case{64, 64, 72, {64, 64, 32, 4, 4, 1}, false, false, "f16", "f16"},
        Case{
            128, 128, 56, {128, 128, 16, 8, 8, 1}, false, false, "f32", "tf32"},
        Case{64, 40, 100, {64, 32, 32, 2, 4, 1}, false, false, "f32", "tf32"},
        Case{64, 16, 72, {64, 16, 32, 2, 2, 1}, false, false, "f32", "tf32"}));

} // namespace
