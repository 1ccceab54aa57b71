//===- WarpGroupTilesTest.cpp - Tiles that warp groups compute ------------===//
//
// Of a product's tile in whatever shape and wherever its operands lie, warp
// groups make the bits that warps make of it on the same chip.
//===----------------------------------------------------------------------===//

#include "TensorCores.h"
#include "TileKernels.h"

#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// A product of two matrices. A side whose rows are terms has its places beside
/// each other in memory.
struct TileCase {
  int64_t rows, columns, terms;
  std::array<int64_t, 6> tile;
  bool lhsIsTurned, rhsIsTurned;
  std::string stored, factors; ///< types
};

std::ostream &operator<<(std::ostream &os, const TileCase &tiles) {
  os << tiles.factors << " of " << tiles.stored << ", " << tiles.rows << " x "
     << tiles.columns << " x " << tiles.terms << " in";
  for (int64_t number : tiles.tile)
    os << " " << number;
  return os << (tiles.lhsIsTurned ? ", lhs turned" : "")
            << (tiles.rhsIsTurned ? ", rhs turned" : "");
}

std::string printShape(int64_t places, int64_t terms, bool isTurned) {
  return isTurned ? llvm::formatv("{0}x{1}", terms, places).str()
                  : llvm::formatv("{0}x{1}", places, terms).str();
}

std::string printKernel(const TileCase &tiles) {
  std::string lhs = printShape(tiles.rows, tiles.terms, tiles.lhsIsTurned);
  std::string rhs = printShape(tiles.columns, tiles.terms, tiles.rhsIsTurned);
  std::string result = llvm::formatv("{0}x{1}", tiles.rows, tiles.columns);
  const std::array<int64_t, 6> &tile = tiles.tile;
  std::string text = llvm::formatv(
      "func.func private @product(%lhs: tensor<{0}x{3}>, %rhs: "
      "tensor<{1}x{3}>) -> tensor<{2}xf32> attributes {{hfta.kernel, "
      "hfta.ties = array<i64: -1>} {{\n",
      lhs, rhs, result, tiles.stored);
  text += printWidened("lhs", lhs, tiles.stored);
  text += printWidened("rhs", rhs, tiles.stored);
  text += llvm::formatv(R"(
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{0}xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<{0}xf32>)
      -> tensor<{0}xf32>
  %product = linalg.generic {{hfta.multiply = {1}, hfta.tile =
      array<i64: {2}, {3}, {4}, {5}, {6}, {7}>, )",
                        result, tiles.factors, tile[0], tile[1], tile[2],
                        tile[3], tile[4], tile[5]);
  text += llvm::formatv(R"(
      indexing_maps = [affine_map<(m, n, k) -> ({0})>,
                       affine_map<(m, n, k) -> ({1})>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%lhs{5}, %rhs{5} : tensor<{2}xf32>, tensor<{3}xf32>)
      outs(%zeros : tensor<{4}xf32>) {{
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = math.fma %x, %y, %sum : f32
    linalg.yield %next : f32
  } -> tensor<{4}xf32>
  return %product : tensor<{4}xf32>
}
)",
                        tiles.lhsIsTurned ? "k, m" : "m, k",
                        tiles.rhsIsTurned ? "k, n" : "n, k", lhs, rhs, result,
                        tiles.stored == "f32" ? "" : "_wide");
  return text;
}

class WarpGroupTiles : public testing::TestWithParam<TileCase> {};

TEST_P(WarpGroupTiles, HaveTheBitsOfWarps) {
  const TileCase &tiles = GetParam();
  TileKernels kernels;
  ASSERT_TRUE(kernels.compile(printKernel(tiles)));
  std::mt19937 random(1);
  size_t bytes = tiles.stored == "f32" ? 4 : 2;
  std::vector<float> numbers[2];
  std::vector<char> operands[2];
  int64_t places[2] = {tiles.rows, tiles.columns};
  bool isTurned[2] = {tiles.lhsIsTurned, tiles.rhsIsTurned};
  for (unsigned side = 0; side < 2; ++side) {
    operands[side].resize(places[side] * tiles.terms * bytes);
    for (int64_t place = 0; place < places[side]; ++place)
      for (int64_t term = 0; term < tiles.terms; ++term) {
        numbers[side].push_back(drawNumber(random));
        int64_t at = isTurned[side] ? term * places[side] + place
                                    : place * tiles.terms + term;
        storeNumber(tiles.stored, numbers[side].back(), at,
                    operands[side].data());
      }
  }
  std::vector<float> sums[2];
  for (std::vector<float> &own : sums)
    own.assign(tiles.rows * tiles.columns, NAN);
  for (unsigned i = 0; i < 2; ++i) {
    void *buffers[] = {operands[0].data(), operands[1].data(), sums[i].data()};
    size_t sizes[] = {operands[0].size(), operands[1].size(),
                      sums[i].size() * sizeof(float)};
    const char *name =
        i == 0 ? TileKernels::kOfWarps : TileKernels::kOfWarpGroups;
    ASSERT_TRUE(kernels.run(name, buffers, sizes)) << name;
  }
  EXPECT_EQ(0, std::memcmp(sums[0].data(), sums[1].data(),
                           sums[0].size() * sizeof(float)));
  for (int64_t row = 0; row < tiles.rows; ++row)
    for (int64_t column = 0; column < tiles.columns; ++column) {
      double sum = 0, size = 0;
      for (int64_t term = 0; term < tiles.terms; ++term) {
        double product = double(numbers[0][row * tiles.terms + term]) *
                         numbers[1][column * tiles.terms + term];
        sum += product;
        size += std::abs(product);
      }
      ASSERT_NEAR(sums[1][row * tiles.columns + column], sum,
                  1e-6 * size + 1e-30)
          << "row " << row << ", column " << column;
    }
}

/// All tiles with 64 rows or more, where operands lie in each way.
std::vector<TileCase> getTiles() {
  std::vector<TileCase> cases;
  const std::array<int64_t, 5> shapes[] = {
      {128, 128, 16, 8, 8}, {128, 64, 16, 4, 8}, {64, 128, 16, 4, 8},
      {64, 64, 16, 4, 4},   {128, 32, 16, 4, 4}, {64, 32, 32, 2, 4},
      {64, 16, 32, 2, 2}};
  for (const auto &[rows, columns, words, threadRows, threadColumns] : shapes)
    for (unsigned turned = 0; turned < 4; ++turned) {
      // Places of one term of two warp groups with 8 columns each aren't read.
      if (columns == 16 && turned / 2 == 1)
        continue;
      cases.push_back({rows + 8,
                       columns + 8,
                       80,
                       {rows, columns, words * 2, threadRows, threadColumns, 1},
                       turned % 2 == 1,
                       turned / 2 == 1,
                       "bf16",
                       "bf16"});
    }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Bf16, WarpGroupTiles, testing::ValuesIn(getTiles()));

INSTANTIATE_TEST_SUITE_P(
    Others, WarpGroupTiles,
    testing::Values(
        // Two groups of threads, which have half of the terms each.
        TileCase{
            64, 64, 200, {64, 64, 16, 4, 4, 2}, false, true, "bf16", "bf16"},
        TileCase{
            72, 32, 200, {64, 32, 16, 2, 4, 4}, true, false, "bf16", "bf16"},
        // Few terms, and of an odd number.
        TileCase{64, 64, 16, {64, 64, 16, 4, 4, 1}, true, true, "bf16", "bf16"},
        TileCase{
            64, 64, 37, {64, 64, 32, 4, 4, 1}, false, false, "bf16", "bf16"},
        // One side's places aren't whole units.
        TileCase{68, 60, 40, {64, 64, 32, 4, 4, 1}, true, true, "bf16", "bf16"},
        // What is stored wider is narrowed where it is shared.
        TileCase{
            128, 64, 64, {128, 64, 32, 4, 8, 1}, false, true, "f32", "bf16"},
        TileCase{
            128, 64, 64, {128, 64, 32, 4, 8, 1}, true, false, "f16", "f16"},
        TileCase{64, 64, 64, {64, 64, 32, 4, 4, 1}, false, false, "f16", "f16"},
        TileCase{
            128, 128, 48, {128, 128, 16, 8, 8, 1}, false, false, "f32", "tf32"},
        TileCase{
            64, 40, 100, {64, 32, 32, 2, 4, 1}, false, false, "f32", "tf32"},
        TileCase{
            64, 16, 72, {64, 16, 32, 2, 2, 1}, false, false, "f32", "tf32"}));

} // namespace
