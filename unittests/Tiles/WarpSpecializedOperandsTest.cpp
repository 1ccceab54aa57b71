//===- WarpSpecializedOperandsTest.cpp - Operands by tensor maps ----------===//
//
// An operand of a product may be derived from an argument by slices, pads,
// reshapes and transposes. If a tile of it is still one box of the argument, a
// producer warp copies it by a tensor map.
//===----------------------------------------------------------------------===//

#include "ProductText.h"
#include "TileKernels.h"

#include "gtest/gtest.h"

using namespace mlir::hfta;

namespace {

/// Tests of products whose left operand is derived from an argument.
class WarpSpecializedOperands : public testing::Test {
protected:
  TextTensor addArgument(Numbers shape) {
    return text.addArgument(std::move(shape), "bf16");
  }

  /// Multiplies the operand by a matrix of 40 columns, which has as many terms
  /// as the operand's last axis. The operand is a matrix, or a tensor with the
  /// indices that `loops` state. Expects a copy by tensor maps if `hasMaps`.
  void expectBits(const TextTensor &lhs, bool hasMaps) {
    expectBits(lhs, {"m, n, k", "m, k", "n, k", "m, n"}, hasMaps);
  }
  void expectBits(const TextTensor &lhs, const ProductLoops &loops,
                  bool hasMaps) {
    constexpr int64_t kColumns = 40;
    TextTensor rhs =
        text.widen(text.addArgument({kColumns, lhs.shape.back()}, "bf16"));
    Numbers shape(lhs.shape.begin(), lhs.shape.end() - 1);
    shape.push_back(kColumns);
    expectBitsOfWarps({"", multiply(lhs, rhs, loops, shape), hasMaps});
  }

  std::string multiply(const TextTensor &lhs, const TextTensor &rhs,
                       const ProductLoops &loops, Numbers shape) {
    return text.multiply(lhs, rhs, loops, std::move(shape),
                         {"bf16", {64, 32, 32, 4, 4, 1}});
  }

  ProductText text;
};

/// The loops of a convolution with filters of one tap.
const ProductLoops kImages = {"n, y, k, x, m", "n, y, x, k", "m, k",
                              "n, y, x, m"};

TEST_F(WarpSpecializedOperands, AreWidenedByTheProduct) {
  expectBits(addArgument({72, 64}), true);
}

TEST_F(WarpSpecializedOperands, AreWidenedBefore) {
  expectBits(text.widen(addArgument({72, 64})), true);
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

TEST_F(WarpSpecializedOperands, AreOneOfABatch) {
  TextTensor all = text.widen(addArgument({5, 72, 64}));
  expectBits(text.slice(all, {2, 0, 0}, {1, 72, 64}, {72, 64}), true);
}

TEST_F(WarpSpecializedOperands, AreTheLastOnesOfABatch) {
  TextTensor all = addArgument({5, 8, 8, 64});
  expectBits(text.widen(text.slice(all, {2, 0, 0, 0}, {3, 8, 8, 64})), kImages,
             true);
}

TEST_F(WarpSpecializedOperands, AreSomePlacesAndTerms) {
  TextTensor all = text.widen(addArgument({100, 136}));
  expectBits(text.slice(all, {9, 24}, {72, 64}), true);
}

TEST_F(WarpSpecializedOperands, ArePartOfImages) {
  TextTensor all = text.widen(addArgument({3, 11, 13, 40}));
  expectBits(text.slice(all, {0, 1, 4, 8}, {3, 8, 8, 32}), kImages, true);
}

TEST_F(WarpSpecializedOperands, AreSlicesTwice) {
  TextTensor all = text.widen(addArgument({5, 100, 80}));
  TextTensor some = text.slice(all, {1, 10, 8}, {3, 80, 72});
  expectBits(text.slice(some, {1, 3, 8}, {1, 72, 64}, {72, 64}), true);
}

/// A tensor map has zeros only outside of the argument's memory, but here they
/// must begin where the slice ends.
TEST_F(WarpSpecializedOperands, AreAPaddedSlice) {
  TextTensor all = text.widen(addArgument({3, 10, 10, 32}));
  TextTensor some = text.slice(all, {0, 2, 2, 0}, {3, 6, 6, 32});
  TextTensor padded = text.pad(some, {{0, 0}, {1, 1}, {1, 1}, {0, 0}});
  expectBits(padded, kImages, false);
}

TEST_F(WarpSpecializedOperands, AreASliceOfWhatIsPadded) {
  TextTensor all = text.widen(addArgument({3, 10, 10, 32}));
  TextTensor padded = text.pad(all, {{0, 0}, {2, 2}, {1, 1}, {0, 0}});
  expectBits(text.slice(padded, {0, 0, 4, 0}, {3, 8, 8, 32}), kImages, true);
}

TEST_F(WarpSpecializedOperands, HaveRowsThatAreNoUnits) {
  TextTensor all = text.widen(addArgument({72, 68}));
  expectBits(text.slice(all, {0, 2}, {72, 64}), false);
}

//===----------------------------------------------------------------------===//
// Pads
//===----------------------------------------------------------------------===//

TEST_F(WarpSpecializedOperands, ArePaddedOnOneSide) {
  TextTensor image = text.widen(addArgument({3, 7, 5, 32}));
  expectBits(text.pad(image, {{0, 0}, {1, 0}, {0, 3}, {0, 0}}), kImages, true);
}

TEST_F(WarpSpecializedOperands, ArePaddedByTerms) {
  TextTensor matrix = text.widen(addArgument({72, 40}));
  expectBits(text.pad(matrix, {{0, 0}, {8, 16}}), true);
}

TEST_F(WarpSpecializedOperands, ArePaddedByPlaces) {
  TextTensor matrix = text.widen(addArgument({40, 64}));
  expectBits(text.pad(matrix, {{7, 25}, {0, 0}}), true);
}

TEST_F(WarpSpecializedOperands, ArePaddedAlongTwoAxesInTurn) {
  TextTensor image = text.widen(addArgument({3, 6, 5, 32}));
  TextTensor higher = text.pad(image, {{0, 0}, {1, 1}, {0, 0}, {0, 0}});
  expectBits(text.pad(higher, {{0, 0}, {0, 0}, {2, 1}, {0, 0}}), kImages, true);
}

TEST_F(WarpSpecializedOperands, ArePaddedTwice) {
  TextTensor image = text.widen(addArgument({3, 8, 4, 32}));
  TextTensor wider = text.pad(image, {{0, 0}, {0, 0}, {1, 1}, {0, 0}});
  expectBits(text.pad(wider, {{0, 0}, {0, 0}, {1, 1}, {0, 0}}), kImages, false);
}

TEST_F(WarpSpecializedOperands, ArePaddedAndOfOneRow) {
  TextTensor image = text.widen(addArgument({9, 1, 8, 32}));
  expectBits(text.pad(image, {{0, 0}, {3, 4}, {0, 0}, {0, 0}}), kImages, true);
}

TEST_F(WarpSpecializedOperands, ArePaddedByOnes) {
  TextTensor image = text.widen(addArgument({3, 6, 6, 32}));
  TextTensor padded = text.pad(image, {{0, 0}, {1, 1}, {1, 1}, {0, 0}}, "1.0");
  expectBits(padded, kImages, false);
}

TEST_F(WarpSpecializedOperands, ArePaddedByNegativeZeros) {
  TextTensor image = text.widen(addArgument({3, 6, 6, 32}));
  TextTensor padded = text.pad(image, {{0, 0}, {1, 1}, {1, 1}, {0, 0}}, "-0.0");
  expectBits(padded, kImages, false);
}

TEST_F(WarpSpecializedOperands, ArePaddedBeforeTheyAreWidened) {
  TextTensor image = addArgument({3, 6, 6, 32});
  TextTensor padded = text.pad(image, {{0, 0}, {1, 1}, {1, 1}, {0, 0}});
  expectBits(text.widen(padded), kImages, true);
}

//===----------------------------------------------------------------------===//
// Transposes
//===----------------------------------------------------------------------===//

TEST_F(WarpSpecializedOperands, AreTransposed) {
  TextTensor matrix = text.widen(addArgument({64, 72}));
  expectBits(text.transpose(matrix, {1, 0}), true);
}

TEST_F(WarpSpecializedOperands, AreTransposedByAnotherOp) {
  TextTensor matrix = text.rearrange(addArgument({64, 72}), {1, 0});
  expectBits(text.widen(matrix), true);
}

TEST_F(WarpSpecializedOperands, AreImagesOfAnotherOrder) {
  TextTensor images = text.widen(addArgument({8, 2, 8, 32}));
  expectBits(text.transpose(images, {1, 0, 2, 3}), kImages, true);
}

/// The padding is transposed together with its axis.
TEST_F(WarpSpecializedOperands, AreTransposedAndPadded) {
  TextTensor images = text.widen(addArgument({6, 2, 7, 32}));
  TextTensor turned = text.transpose(images, {1, 0, 2, 3});
  expectBits(text.pad(turned, {{0, 0}, {1, 1}, {0, 1}, {0, 0}}), kImages, true);
}

TEST_F(WarpSpecializedOperands, ArePaddedAndTransposed) {
  TextTensor images = text.widen(addArgument({6, 2, 7, 32}));
  TextTensor padded = text.pad(images, {{1, 1}, {0, 0}, {0, 1}, {0, 0}});
  expectBits(text.transpose(padded, {1, 0, 2, 3}), kImages, true);
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

TEST_F(WarpSpecializedOperands, AreCollapsed) {
  TextTensor images = text.widen(addArgument({3, 8, 8, 64}));
  expectBits(text.collapse(images, "[0, 1, 2], [3]", {192, 64}), true);
}

TEST_F(WarpSpecializedOperands, AreCollapsedInTerms) {
  TextTensor images = text.widen(addArgument({72, 4, 32}));
  expectBits(text.collapse(images, "[0], [1, 2]", {72, 128}), true);
}

TEST_F(WarpSpecializedOperands, AreCollapsedAndTurned) {
  TextTensor images = text.widen(addArgument({2, 4, 8, 72}));
  TextTensor matrix = text.collapse(images, "[0, 1, 2], [3]", {64, 72});
  expectBits(text.transpose(matrix, {1, 0}), true);
}

TEST_F(WarpSpecializedOperands, AreASliceThatIsCollapsed) {
  TextTensor images = text.widen(addArgument({5, 8, 8, 64}));
  TextTensor some = text.slice(images, {1, 0, 0, 0}, {3, 8, 8, 64});
  expectBits(text.collapse(some, "[0, 1, 2], [3]", {192, 64}), true);
}

/// The distance between rows of the matrix isn't constant, so no box has them.
TEST_F(WarpSpecializedOperands, ArePartsOfImagesThatAreCollapsed) {
  TextTensor images = text.widen(addArgument({3, 8, 10, 64}));
  TextTensor some = text.slice(images, {0, 0, 1, 0}, {3, 8, 8, 64});
  expectBits(text.collapse(some, "[0, 1, 2], [3]", {192, 64}), false);
}

TEST_F(WarpSpecializedOperands, AreCollapsedAndPadded) {
  TextTensor images = text.widen(addArgument({3, 4, 6, 64}));
  TextTensor matrix = text.collapse(images, "[0, 1, 2], [3]", {72, 64});
  expectBits(text.pad(matrix, {{3, 5}, {0, 0}}), false);
}

TEST_F(WarpSpecializedOperands, ArePaddedAndCollapsed) {
  TextTensor images = text.widen(addArgument({3, 6, 7, 32}));
  TextTensor padded = text.pad(images, {{0, 0}, {1, 1}, {0, 1}, {0, 0}});
  expectBits(text.collapse(padded, "[0, 1, 2], [3]", {192, 32}), false);
}

/// A tile that is part of a row of the tensor is one box of the matrix; with
/// shorter rows, it would be several boxes.
TEST_F(WarpSpecializedOperands, AreExpandedIntoLongRows) {
  TextTensor matrix = text.widen(addArgument({256, 32}));
  expectBits(text.expand(matrix, "[0, 1, 2], [3]", {1, 2, 128, 32}), kImages,
             true);
}

TEST_F(WarpSpecializedOperands, AreExpandedIntoShortRows) {
  TextTensor matrix = text.widen(addArgument({192, 32}));
  expectBits(text.expand(matrix, "[0, 1, 2], [3]", {3, 8, 8, 32}), kImages,
             false);
}

TEST_F(WarpSpecializedOperands, HaveAxesOfOneElement) {
  TextTensor images = text.widen(addArgument({72, 1, 1, 64}));
  expectBits(text.collapse(images, "[0, 1, 2], [3]", {72, 64}), true);
}

//===----------------------------------------------------------------------===//
// Computed and shared operands
//===----------------------------------------------------------------------===//

TEST_F(WarpSpecializedOperands, AreComputed) {
  expectBits(text.makePositive(text.widen(addArgument({72, 64}))), false);
}

/// Both operands are derived: the left one is transposed, the right one is a
/// slice.
TEST_F(WarpSpecializedOperands, AreOnBothSides) {
  TextTensor lhs = text.widen(addArgument({64, 72}));
  TextTensor all = text.widen(addArgument({100, 56}));
  TextTensor rhs = text.slice(all, {3, 8}, {64, 40});
  ProductLoops loops = {"m, n, k", "m, k", "k, n", "m, n"};
  expectBitsOfWarps(
      {"", multiply(text.transpose(lhs, {1, 0}), rhs, loops, {72, 40}), true});
}

TEST_F(WarpSpecializedOperands, AreComputedOnTheRight) {
  TextTensor lhs = addArgument({72, 64});
  TextTensor rhs = text.makePositive(text.widen(addArgument({40, 64})));
  ProductLoops loops = {"m, n, k", "m, k", "n, k", "m, n"};
  expectBitsOfWarps({"", multiply(lhs, rhs, loops, {72, 40}), false});
}

/// Both operands are the same argument.
TEST_F(WarpSpecializedOperands, AreTheSame) {
  TextTensor both = text.widen(addArgument({72, 64}));
  ProductLoops loops = {"m, n, k", "m, k", "n, k", "m, n"};
  expectBitsOfWarps({"", multiply(both, both, loops, {72, 72}), true});
}

} // namespace
