//===- WarpGroupTilesTest.cpp - Tiles that warp groups compute ------------===//
//
// Warp groups must compute the bits that warps compute on the same chip,
// whatever the shape of a tile and the layout of its operands. In this file,
// the computing threads copy the operands themselves, because terms don't fill
// whole steps or the stored type is wider than the multiplied one.
//===----------------------------------------------------------------------===//

#include "ProductCases.h"

#include "gtest/gtest.h"

using namespace mlir::hfta;

namespace {

class WarpGroupTiles : public testing::TestWithParam<MatrixProduct> {};

TEST_P(WarpGroupTiles, HaveTheBitsOfWarps) {
  // With rows this far apart, operands can't be copied by tensor maps.
  MatrixProduct product = GetParam();
  product.apart = 9;
  expectBitsOfWarps(product.makeCase(/*hasMaps=*/false));
}

/// Returns products with all tile shapes and with both layouts of each operand.
std::vector<MatrixProduct> getTiles() {
  std::vector<MatrixProduct> cases;
  for (const TileShape &shape : kTileShapes)
    for (unsigned turned = 0; turned < 4; ++turned) {
      // Two warp groups with 8 columns each can't read a turned rhs.
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
        // Two or four groups of threads share the terms.
        Case{64, 64, 200, {64, 64, 16, 4, 4, 2}, false, true, "bf16", "bf16"},
        Case{72, 32, 200, {64, 32, 16, 2, 4, 4}, true, false, "bf16", "bf16"},
        // The terms are few, or their number is odd.
        Case{64, 64, 8, {64, 64, 16, 4, 4, 1}, true, true, "bf16", "bf16"},
        Case{64, 64, 37, {64, 64, 32, 4, 4, 1}, false, false, "bf16", "bf16"},
        // The stored rows of the turned operands, 68 and 60 elements, aren't
        // multiples of 16 bytes.
        Case{68, 60, 40, {64, 64, 32, 4, 4, 1}, true, true, "bf16", "bf16"},
        // Numbers of a wider type are narrowed in shared memory; other types
        // follow.
        Case{128, 64, 64, {128, 64, 32, 4, 8, 1}, false, true, "f32", "bf16"},
        Case{128, 64, 72, {128, 64, 32, 4, 8, 1}, true, false, "f16", "f16"},
        Case{64, 64, 72, {64, 64, 32, 4, 4, 1}, false, false, "f16", "f16"},
        Case{
            128, 128, 56, {128, 128, 16, 8, 8, 1}, false, false, "f32", "tf32"},
        Case{64, 40, 100, {64, 32, 32, 2, 4, 1}, false, false, "f32", "tf32"},
        Case{64, 16, 72, {64, 16, 32, 2, 2, 1}, false, false, "f32", "tf32"}));

} // namespace
