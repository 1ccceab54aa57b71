//===- ProductCases.cpp - Kernels of matrix products and convolutions -----===//

#include "ProductCases.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir::hfta;
using llvm::formatv;

static std::string printTile(const std::array<int64_t, 6> &tile) {
  std::string text;
  for (int64_t number : tile)
    text += " " + std::to_string(number);
  return text;
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

static std::string printName(const MatrixProduct &own) {
  const auto &[rows, columns, terms, tile, lhsIsTurned, rhsIsTurned, stored,
               factors, batches, apart] = own;
  std::string text = formatv("{0} of {1}, {2} x {3} x {4} in{5}", factors,
                             stored, rows, columns, terms, printTile(tile));
  if (batches > 0)
    text += formatv(", {0} batches", batches);
  if (apart > 1)
    text += formatv(", every {0}th row", apart);
  return text + (lhsIsTurned ? ", lhs turned" : "") +
         (rhsIsTurned ? ", rhs turned" : "");
}

ProductLoops mlir::hfta::getMatrixLoops(bool lhsIsTurned, bool rhsIsTurned) {
  return {"m, n, k", lhsIsTurned ? "k, m" : "m, k",
          rhsIsTurned ? "k, n" : "n, k", "m, n"};
}

ProductCase MatrixProduct::makeCase(bool hasMaps) const {
  ProductText text;
  auto add = [&](int64_t places, bool isTurned, int64_t every = 1) {
    Numbers shape = {isTurned ? terms : places, isTurned ? places : terms};
    shape.front() = (shape.front() - 1) * every + 1;
    if (batches > 0)
      shape.insert(shape.begin(), batches);
    return text.widen(text.addArgument(shape, stored));
  };
  TextTensor lhs = add(rows, lhsIsTurned, apart),
             rhs = add(columns, rhsIsTurned);
  ProductLoops loops = getMatrixLoops(lhsIsTurned, rhsIsTurned);
  if (apart > 1)
    loops.lhs.insert(1, " * " + std::to_string(apart));
  Numbers shape = {rows, columns};
  if (batches > 0) {
    shape.insert(shape.begin(), batches);
    for (std::string *own : {&loops.all, &loops.lhs, &loops.rhs, &loops.result})
      *own = "b, " + *own;
  }
  return {printName(*this),
          text.multiply(lhs, rhs, loops, shape, {factors, tile}), hasMaps};
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

static std::string printName(const Convolution &own) {
  return formatv("{0}, {1} images, {2} x {2}, {3} to {4} channels, {5} x {5} "
                 "taps, padding {6}, stride {7}, dilation {8}, in{9}",
                 own.type, own.images, own.size, own.channels, own.outputs,
                 own.taps, own.padding, own.stride, own.dilation,
                 printTile(own.tile));
}

/// Pads images by `by` zeros on each side of their rows and columns.
static TextTensor padImages(ProductText &text, const TextTensor &from,
                            int64_t by) {
  if (by == 0)
    return from;
  return text.pad(from, {{0, 0}, {by, by}, {by, by}, {0, 0}});
}

/// Adds an argument for the weights. They are stored with channels as the last
/// axis, and transposed so that taps are the last axes.
static TextTensor addWeights(ProductText &text, const Convolution &own) {
  TextTensor stored = text.addArgument(
      {own.outputs, own.taps, own.taps, own.channels}, own.type);
  return text.widen(text.rearrange(stored, {0, 3, 1, 2}));
}

ProductCase Convolution::makeForward(bool hasMaps) const {
  ProductText text;
  int64_t pixels = countPixels();
  TextTensor weights = addWeights(text, *this);
  TextTensor data = padImages(
      text,
      text.widen(text.addArgument({images, pixels, pixels, channels}, type)),
      padding);
  std::string lhs =
      formatv("n, y * {0} + i * {1}, x * {0} + j * {1}, c", stride, dilation);
  std::string made = text.multiply(
      data, weights, {"n, y, i, j, c, x, m", lhs, "m, c, i, j", "n, y, x, m"},
      {images, size, size, outputs}, {type, tile});
  return {printName(*this), made, hasMaps};
}

ProductCase Convolution::makeInputGradient(bool hasMaps) const {
  ProductText text;
  int64_t pixels = countPixels();
  TextTensor weights = addWeights(text, *this);
  TextTensor gradient = padImages(
      text, text.widen(text.addArgument({images, size, size, outputs}, type)),
      taps - 1 - padding);
  std::string lhs = formatv("n, y - i + {0}, x - j + {0}, m", taps - 1);
  std::string made =
      text.multiply(gradient, weights,
                    {"n, y, i, j, m, x, c", lhs, "m, c, i, j", "n, y, x, c"},
                    {images, pixels, pixels, channels}, {type, tile});
  return {printName(*this) + ", its input's gradient", made, hasMaps};
}

ProductCase Convolution::makeWeightGradient(int64_t imagesOfSum,
                                            bool hasMaps) const {
  ProductText text;
  int64_t pixels = countPixels(), padded = pixels + 2 * padding;
  int64_t sums = images / imagesOfSum;
  TextTensor gradient =
      text.widen(text.addArgument({images, size, size, outputs}, type));
  TextTensor data = padImages(
      text,
      text.widen(text.addArgument({images, pixels, pixels, channels}, type)),
      padding);
  const std::string groups = "[0, 1], [2], [3], [4]";
  data =
      text.expand(data, groups, {sums, imagesOfSum, padded, padded, channels});
  gradient =
      text.expand(gradient, groups, {sums, imagesOfSum, size, size, outputs});
  std::string lhs = formatv("s, t, y * {0} + i * {1}, x * {0} + j * {1}, c",
                            stride, dilation);
  std::string made = text.multiply(
      data, gradient,
      {"m, s, t, y, x, c, i, j", lhs, "s, t, y, x, m", "s, m, c, i, j"},
      {sums, outputs, channels, taps, taps}, {type, tile});
  return {printName(*this) + ", its weights' gradient", made, hasMaps};
}
