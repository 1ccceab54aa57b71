//===- WarpSpecializedConvolutionsTest.cpp - Images by tensor maps --------===//
//
// Warp groups must compute the bits that warps compute, for convolutions and
// their gradients, if a producer warp copies images and weights box by box.
//===----------------------------------------------------------------------===//

#include "ProductCases.h"

#include "gtest/gtest.h"

using namespace mlir::hfta;

namespace {

class WarpSpecializedConvolutions : public testing::TestWithParam<ProductCase> {
};

TEST_P(WarpSpecializedConvolutions, HaveTheBitsOfWarps) {
  expectBitsOfWarps(GetParam());
}

using Tile = std::array<int64_t, 6>;
constexpr Tile kSmall = {64, 32, 32, 4, 4, 1}, kHigh = {128, 32, 32, 4, 4, 1},
               kWide = {64, 64, 64, 4, 4, 1}, kGroups = {64, 32, 32, 4, 4, 2};

/// Returns convolutions in which the rows of a tile are part of an image,
/// several images, or part of an image's row.
std::vector<ProductCase> getForward() {
  const std::vector<Convolution> convolutions = {
      // A tile has several rows of an image; the padding is 0, 1 and 2.
      {2, 16, 32, 32, 3, 0, 1, 1, kSmall},
      {2, 16, 32, 32, 3, 1, 1, 1, kSmall},
      {1, 16, 32, 40, 5, 2, 1, 1, kHigh},
      {1, 16, 32, 32, 3, 2, 1, 1, kHigh},
      // A tile has several images, and the number of images may be odd.
      {5, 8, 64, 64, 3, 1, 1, 1, kHigh},
      {3, 8, 64, 72, 1, 0, 1, 1, kHigh},
      {7, 4, 128, 32, 3, 1, 1, 1, kHigh},
      {33, 2, 64, 64, 3, 1, 1, 1, kSmall},
      // A tile has a part of a row.
      {1, 64, 32, 32, 3, 1, 1, 1, kSmall},
      {1, 128, 32, 32, 1, 0, 1, 1, kSmall},
      // These convolutions have strides.
      {3, 8, 32, 32, 3, 1, 2, 1, kHigh},
      {3, 8, 64, 32, 1, 0, 2, 1, kHigh},
      {2, 16, 32, 32, 5, 2, 2, 1, kSmall},
      {2, 8, 64, 64, 3, 1, 3, 1, kWide},
      {1, 32, 32, 32, 3, 1, 8, 1, kSmall},
      // These have dilations, the last one also strides.
      {2, 16, 32, 32, 3, 2, 1, 2, kSmall},
      {2, 8, 64, 64, 3, 3, 1, 3, kWide},
      {3, 8, 32, 32, 3, 2, 2, 2, kHigh},
      // These have many channels, groups of threads, or another type.
      {2, 8, 128, 136, 3, 1, 1, 1, {128, 128, 64, 8, 8, 1}},
      {2, 8, 128, 64, 1, 0, 1, 1, {64, 64, 64, 4, 4, 1}},
      {2, 8, 32, 32, 3, 1, 1, 1, kWide},
      {2, 8, 64, 32, 3, 1, 1, 1, kGroups},
      {3, 8, 64, 64, 3, 1, 1, 1, kWide, "f16"},
      {2, 16, 32, 40, 3, 1, 2, 1, kSmall, "f16"}};
  std::vector<ProductCase> cases;
  for (const Convolution &convolution : convolutions)
    cases.push_back(convolution.makeForward(/*hasMaps=*/true));
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Forward, WarpSpecializedConvolutions,
                         testing::ValuesIn(getForward()));

std::vector<ProductCase> getInputGradients() {
  const std::vector<Convolution> convolutions = {
      {2, 16, 32, 32, 3, 1, 1, 1, kSmall},
      {3, 8, 32, 64, 3, 1, 1, 1, kHigh},
      // The input is larger or smaller than the result.
      {2, 14, 64, 64, 3, 0, 1, 1, kWide},
      {1, 18, 32, 32, 3, 2, 1, 1, kHigh},
      {1, 16, 32, 32, 5, 2, 1, 1, kSmall},
      {3, 8, 128, 32, 1, 0, 1, 1, kSmall},
      {2, 16, 40, 64, 3, 1, 1, 1, kWide, "f16"},
      {2, 8, 32, 64, 3, 1, 1, 1, kGroups}};
  std::vector<ProductCase> cases;
  for (const Convolution &convolution : convolutions)
    cases.push_back(convolution.makeInputGradient(/*hasMaps=*/true));
  return cases;
}

INSTANTIATE_TEST_SUITE_P(InputGradients, WarpSpecializedConvolutions,
                         testing::ValuesIn(getInputGradients()));

/// Returns gradients by weights, with the number of images in each sum.
std::vector<ProductCase> getWeightGradients() {
  const std::vector<std::pair<Convolution, int64_t>> convolutions = {
      {{4, 16, 64, 32, 3, 1, 1, 1, kSmall}, 2},
      {{4, 8, 64, 64, 3, 1, 1, 1, kSmall}, 4},
      {{6, 8, 128, 32, 3, 1, 1, 1, kSmall}, 2},
      {{5, 8, 64, 40, 3, 1, 1, 1, kSmall}, 1},
      {{5, 8, 64, 64, 1, 0, 1, 1, kSmall}, 5},
      // A step has several images.
      {{16, 4, 64, 32, 3, 1, 1, 1, kSmall}, 8},
      {{2, 8, 64, 32, 3, 1, 2, 1, kSmall}, 2},
      {{2, 8, 64, 32, 3, 2, 1, 2, kSmall}, 2},
      {{2, 16, 64, 64, 5, 2, 1, 1, kWide}, 1},
      {{2, 16, 64, 32, 3, 1, 1, 1, kGroups}, 2},
      {{2, 8, 64, 64, 3, 1, 3, 1, kWide, "f16"}, 2},
      // With one tap, the rows of all channels are neighbours in memory, though
      // the rows of a tap don't fill a tile.
      {{2, 16, 32, 32, 1, 0, 1, 1, kSmall}, 2}};
  std::vector<ProductCase> cases;
  for (const auto &[convolution, images] : convolutions)
    cases.push_back(convolution.makeWeightGradient(images, /*hasMaps=*/true));
  return cases;
}

INSTANTIATE_TEST_SUITE_P(WeightGradients, WarpSpecializedConvolutions,
                         testing::ValuesIn(getWeightGradients()));

/// Returns convolutions whose operands can't be copied by tensor maps, so that
/// the computing threads copy them.
std::vector<ProductCase> getRefused() {
  const std::vector<Convolution> convolutions = {
      // Tiles end within rows or within images.
      {2, 14, 32, 32, 3, 1, 1, 1, kSmall},
      {4, 7, 32, 32, 3, 1, 1, 1, kSmall},
      {2, 24, 32, 32, 3, 1, 1, 1, kSmall},
      // The channels of a tap don't fill whole steps, or the stride is too
      // large.
      {2, 8, 48, 32, 3, 1, 1, 1, kSmall},
      {1, 8, 32, 32, 1, 0, 9, 1, kSmall},
      // A box would span more than 256 elements along an axis.
      {1, 64, 32, 32, 3, 1, 5, 1, kSmall}};
  std::vector<ProductCase> cases;
  for (const Convolution &convolution : convolutions)
    cases.push_back(convolution.makeForward(/*hasMaps=*/false));
  const Convolution narrow = {2, 16, 32, 32, 3, 1, 1, 1, kSmall};
  cases.push_back(narrow.makeWeightGradient(2, /*hasMaps=*/false));
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Refused, WarpSpecializedConvolutions,
                         testing::ValuesIn(getRefused()));

} // namespace
