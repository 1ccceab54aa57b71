//===- WarpSpecializedTilesTest.cpp - Tiles that a producer warp fills ----===//
//
// Where both operands are boxes in memory a warp copies them by tensor maps:
// what warp groups then make of them has the bits that warps make of it on the
// same chip, and what isn't a box is left to others.
//===----------------------------------------------------------------------===//

#include "TileKernels.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// An operand: as it is stored, and what is done to it before it is multiplied.
struct Operand {
  std::string stored; ///< shape
  std::string steps;  ///< MLIR that makes %NAME_moved of %NAME
  std::string moved;  ///< the shape of that; empty: nothing is done
  std::string map;    ///< results of the indexing map

  std::string getShape() const { return moved.empty() ? stored : moved; }
};

struct BoxCase {
  std::string name;
  std::array<Operand, 2> operands;
  std::string result, resultMap; ///< a shape, and results of its map
  std::string loops;             ///< names
  unsigned terms;                ///< how many of these, at the end
  std::array<int64_t, 6> tile;
  bool hasMaps = true;
  std::string stored = "bf16", factors = "bf16";
  unsigned copies = 1;
};

std::ostream &operator<<(std::ostream &os, const BoxCase &box) {
  return os << box.name;
}

size_t countElements(llvm::StringRef shape) {
  size_t count = 1;
  for (llvm::StringRef size : llvm::split(shape, 'x'))
    count *= std::stoul(size.str());
  return count;
}

/// An op that does nothing has another name for what it is given.
std::string printOperand(const BoxCase &box, unsigned number) {
  const Operand &operand = box.operands[number];
  std::string name = number == 0 ? "lhs" : "rhs", text = operand.steps;
  for (size_t at; (at = text.find("NAME")) != std::string::npos;)
    text.replace(at, 4, name);
  for (size_t at; (at = text.find("TYPE")) != std::string::npos;)
    text.replace(at, 4, box.stored);
  std::string last = operand.moved.empty() ? name : name + "_moved";
  return text + printWidened(last, operand.getShape(), box.stored);
}

std::string getWide(const BoxCase &box, unsigned number) {
  std::string name = number == 0 ? "%lhs" : "%rhs";
  name += box.operands[number].moved.empty() ? "" : "_moved";
  return box.stored == "f32" ? name : name + "_wide";
}

std::string printKernel(const BoxCase &box) {
  SmallVector<llvm::StringRef> names;
  llvm::StringRef(box.loops).split(names, ' ');
  std::string dims = llvm::join(names, ", "), kinds;
  for (size_t i = 0; i < names.size(); ++i)
    kinds += std::string(i > 0 ? ", " : "") +
             (i + box.terms < names.size() ? "\"parallel\"" : "\"reduction\"");
  const std::array<int64_t, 6> &tile = box.tile;
  std::string text = llvm::formatv(
      "func.func private @product(%lhs: tensor<{0}x{3}>, %rhs: "
      "tensor<{1}x{3}>) -> tensor<{2}xf32> attributes {{hfta.kernel, "
      "hfta.ties = array<i64: -1>} {{\n  %none = arith.constant 0.0 : {3}\n",
      box.operands[0].stored, box.operands[1].stored, box.result, box.stored);
  text += printOperand(box, 0) + printOperand(box, 1);
  text += llvm::formatv(R"(
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{0}xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<{0}xf32>)
      -> tensor<{0}xf32>
  %product = linalg.generic {{hfta.multiply = {1}, hfta.tile =
      array<i64: {2}, {3}, {4}, {5}, {6}, {7}>, )",
                        box.result, box.factors, tile[0], tile[1], tile[2],
                        tile[3], tile[4], tile[5]);
  text += llvm::formatv(R"(
      indexing_maps = [affine_map<({0}) -> ({1})>, affine_map<({0}) -> ({2})>,
                       affine_map<({0}) -> ({3})>], iterator_types = [{4}]}
      ins({5}, {6} : tensor<{7}xf32>, tensor<{8}xf32>)
      outs(%zeros : tensor<{9}xf32>) {{
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = math.fma %x, %y, %sum : f32
    linalg.yield %next : f32
  } -> tensor<{9}xf32>
  return %product : tensor<{9}xf32>
}
)",
                        dims, box.operands[0].map, box.operands[1].map,
                        box.resultMap, kinds, getWide(box, 0), getWide(box, 1),
                        box.operands[0].getShape(), box.operands[1].getShape(),
                        box.result);
  return text;
}

class WarpSpecializedTiles : public testing::TestWithParam<BoxCase> {};

TEST_P(WarpSpecializedTiles, HaveTheBitsOfWarps) {
  const BoxCase &box = GetParam();
  TileKernels kernels;
  std::string text = printKernel(box);
  ASSERT_TRUE(kernels.compile(text)) << text;
  EXPECT_EQ(kernels.hasMaps(), box.hasMaps);
  std::mt19937 random(1);
  size_t elementBytes = box.stored == "f32" ? 4 : 2;
  std::array<std::vector<char>, 2> operands;
  std::array<size_t, 3> bytes;
  for (unsigned side = 0; side < 2; ++side) {
    size_t count = countElements(box.operands[side].stored);
    bytes[side] = count * elementBytes;
    operands[side].resize(bytes[side] * box.copies);
    for (size_t at = 0; at < count * box.copies; ++at)
      storeNumber(box.stored, drawNumber(random), int64_t(at),
                  operands[side].data());
  }
  size_t results = countElements(box.result);
  bytes[2] = results * sizeof(float);
  std::array<std::vector<float>, 2> sums;
  for (unsigned i = 0; i < 2; ++i) {
    sums[i].assign(results * box.copies, NAN);
    void *buffers[] = {operands[0].data(), operands[1].data(), sums[i].data()};
    const char *name =
        i == 0 ? TileKernels::kOfWarps : TileKernels::kOfWarpGroups;
    ASSERT_TRUE(kernels.run(name, buffers, bytes, box.copies)) << name;
  }
  for (size_t at = 0; at < sums[0].size(); ++at) {
    ASSERT_FALSE(std::isnan(sums[0][at])) << at;
    ASSERT_EQ(0, std::memcmp(&sums[0][at], &sums[1][at], sizeof(float)))
        << "element " << at << ": " << sums[0][at] << " of warps, "
        << sums[1][at] << " of warp groups";
  }
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

BoxCase makeMatrices(const std::string &name, int64_t rows, int64_t columns,
                     int64_t terms, std::array<int64_t, 6> tile,
                     bool lhsIsTurned, bool rhsIsTurned) {
  auto print = [&](int64_t places, bool isTurned) {
    return isTurned ? llvm::formatv("{0}x{1}", terms, places).str()
                    : llvm::formatv("{0}x{1}", places, terms).str();
  };
  BoxCase box = {};
  box.name = name;
  box.operands[0] = {print(rows, lhsIsTurned), "", "",
                     lhsIsTurned ? "k, m" : "m, k"};
  box.operands[1] = {print(columns, rhsIsTurned), "", "",
                     rhsIsTurned ? "k, n" : "n, k"};
  box.result = llvm::formatv("{0}x{1}", rows, columns);
  box.resultMap = "m, n";
  box.loops = "m n k";
  box.terms = 1;
  box.tile = tile;
  box.stored = box.factors = "bf16";
  box.hasMaps = true;
  box.copies = 1;
  return box;
}

/// Tiles of each shape, where operands lie in each way; one to several rounds
/// of buffers, and sides that end within a tile.
std::vector<BoxCase> getMatrices() {
  std::vector<BoxCase> cases;
  const std::array<int64_t, 5> shapes[] = {{128, 128, 32, 8, 8},
                                           {128, 64, 32, 4, 8},
                                           {64, 128, 32, 4, 8},
                                           {64, 64, 32, 4, 4},
                                           {64, 32, 64, 2, 4}};
  for (const auto &[rows, columns, terms, threadRows, threadColumns] : shapes)
    for (unsigned turned = 0; turned < 4; ++turned)
      for (int64_t steps : {1, 3, 12})
        cases.push_back(
            makeMatrices(llvm::formatv("{0}x{1}, turned {2}, {3} steps", rows,
                                       columns, turned, steps),
                         rows + 8, columns + 8, terms * steps,
                         {rows, columns, terms, threadRows, threadColumns, 1},
                         turned % 2 == 1, turned / 2 == 1));
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Matrices, WarpSpecializedTiles,
                         testing::ValuesIn(getMatrices()));

std::vector<BoxCase> getOthers() {
  constexpr std::array<int64_t, 6> kTile = {64, 64, 32, 4, 4, 1};
  auto make = [&](const std::string &name, int64_t terms,
                  std::array<int64_t, 6> tile, bool lhsIsTurned,
                  bool rhsIsTurned) {
    return makeMatrices(name, 72, 80, terms, tile, lhsIsTurned, rhsIsTurned);
  };
  std::vector<BoxCase> cases = {
      make("two groups", 256, {64, 64, 32, 4, 4, 2}, false, true),
      make("four groups", 384, {64, 32, 32, 4, 4, 4}, true, false),
      make("terms end in rows", 72, kTile, false, false),
      make("terms end in rows of one", 100, kTile, true, true),
      make("groups whose terms end", 104, {64, 64, 16, 4, 4, 2}, true, true)};
  for (auto [stored, factors] : {std::pair("f16", "f16"), {"f32", "tf32"}}) {
    cases.push_back(make(factors, 192, {64, 64, 16, 4, 4, 1}, false, false));
    cases.back().stored = stored;
    cases.back().factors = factors;
  }
  for (unsigned copies : {2, 3}) {
    cases.push_back(make("copies", 96, kTile, copies == 2, false));
    cases.back().copies = copies;
  }
  // Terms' rows aren't of whole units, or have been rounded by nobody.
  cases.push_back(make("odd rows", 68, kTile, false, false));
  cases.back().hasMaps = false;
  cases.push_back(make("wider", 128, kTile, false, false));
  cases.back().stored = "f32";
  cases.back().hasMaps = false;
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Others, WarpSpecializedTiles,
                         testing::ValuesIn(getOthers()));

//===----------------------------------------------------------------------===//
// What is moved
//===----------------------------------------------------------------------===//

/// An operand of 128 rows of 64 terms, with another one of 64 columns, as it
/// comes from somewhere.
BoxCase makeMoved(const std::string &name, const std::string &stored,
                  const std::string &steps, const std::string &map = "m, k") {
  BoxCase box =
      makeMatrices(name, 128, 64, 64, {64, 64, 32, 4, 4, 1}, false, false);
  box.operands[0] = {stored, steps, map == "m, k" ? "128x64" : "", map};
  return box;
}

std::vector<BoxCase> getMoved() {
  std::vector<BoxCase> cases = {
      makeMoved("slice", "3x130x64", R"(
  %NAME_moved = tensor.extract_slice %NAME[1, 2, 0] [1, 128, 64] [1, 1, 1]
      : tensor<3x130x64xTYPE> to tensor<128x64xTYPE>
)"),
      makeMoved("columns of a slice", "128x3x64", R"(
  %NAME_moved = tensor.extract_slice %NAME[0, 2, 0] [128, 1, 64] [1, 1, 1]
      : tensor<128x3x64xTYPE> to tensor<128x64xTYPE>
)"),
      makeMoved("collapsed", "4x32x64", R"(
  %NAME_moved = tensor.collapse_shape %NAME [[0, 1], [2]]
      : tensor<4x32x64xTYPE> into tensor<128x64xTYPE>
)"),
      makeMoved("expanded", "8192", R"(
  %NAME_moved = tensor.expand_shape %NAME [[0, 1]] output_shape [128, 64]
      : tensor<8192xTYPE> into tensor<128x64xTYPE>
)"),
      makeMoved("transposed", "64x128", R"(
  %NAME_empty2 = tensor.empty() : tensor<128x64xTYPE>
  %NAME_moved = linalg.transpose ins(%NAME : tensor<64x128xTYPE>)
      outs(%NAME_empty2 : tensor<128x64xTYPE>) permutation = [1, 0]
)"),
      makeMoved("padded", "120x64", R"(
  %NAME_moved = tensor.pad %NAME low[3, 0] high[5, 0] {
  ^bb0(%a: index, %b: index):
    tensor.yield %none : TYPE
  } : tensor<120x64xTYPE> to tensor<128x64xTYPE>
)"),
      makeMoved("inserted", "120x64", R"(
  %NAME_some = tensor.empty() : tensor<128x64xTYPE>
  %NAME_zeros = linalg.fill ins(%none : TYPE)
      outs(%NAME_some : tensor<128x64xTYPE>) -> tensor<128x64xTYPE>
  %NAME_moved = tensor.insert_slice %NAME into %NAME_zeros[2, 0] [120, 64]
      [1, 1] : tensor<120x64xTYPE> into tensor<128x64xTYPE>
)"),
      makeMoved("every third row", "382x64", "", "m * 3, k"),
      makeMoved("every ninth row", "1144x64", "", "m * 9, k"),
      // Beyond the slice there is more than zeros.
      makeMoved("a padded slice", "128x64", R"(
  %NAME_part = tensor.extract_slice %NAME[4, 0] [100, 64] [1, 1]
      : tensor<128x64xTYPE> to tensor<100x64xTYPE>
  %NAME_moved = tensor.pad %NAME_part low[8, 0] high[20, 0] {
  ^bb0(%a: index, %b: index):
    tensor.yield %none : TYPE
  } : tensor<100x64xTYPE> to tensor<128x64xTYPE>
)"),
      makeMoved("padded with ones", "120x64", R"(
  %one = arith.constant 1.0 : TYPE
  %NAME_moved = tensor.pad %NAME low[3, 0] high[5, 0] {
  ^bb0(%a: index, %b: index):
    tensor.yield %one : TYPE
  } : tensor<120x64xTYPE> to tensor<128x64xTYPE>
)"),
      makeMoved("every other row inserted", "64x64", R"(
  %NAME_some = tensor.empty() : tensor<128x64xTYPE>
  %NAME_zeros = linalg.fill ins(%none : TYPE)
      outs(%NAME_some : tensor<128x64xTYPE>) -> tensor<128x64xTYPE>
  %NAME_moved = tensor.insert_slice %NAME into %NAME_zeros[0, 0] [64, 64]
      [2, 1] : tensor<64x64xTYPE> into tensor<128x64xTYPE>
)"),
  };
  // Rows that memory doesn't tell from each other aren't cut.
  const char *others[] = {"expanded", "every ninth row", "a padded slice",
                          "padded with ones", "every other row inserted"};
  for (BoxCase &box : cases)
    box.hasMaps = !llvm::is_contained(others, box.name);
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Moved, WarpSpecializedTiles,
                         testing::ValuesIn(getMoved()));

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Of square images and windows, channels last.
struct Convolution {
  int64_t images, size, channels, filters, window, stride, dilation, padding;
  std::array<int64_t, 6> tile;
  bool hasMaps = true;

  int64_t getPadded() const { return size + 2 * padding; }
  int64_t getResult() const {
    return (getPadded() - (window - 1) * dilation - 1) / stride + 1;
  }
};

std::string printPadding(const Convolution &own) {
  if (own.padding == 0)
    return "";
  return llvm::formatv(R"(
  %NAME_moved = tensor.pad %NAME low[0, {0}, {0}, 0] high[0, {0}, {0}, 0] {{
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %none : TYPE
  } : tensor<{1}x{2}x{2}x{4}xTYPE> to tensor<{1}x{3}x{3}x{4}xTYPE>
)",
                       own.padding, own.images, own.size, own.getPadded(),
                       own.channels);
}

std::string printImages(int64_t images, int64_t size, int64_t channels) {
  return llvm::formatv("{0}x{1}x{1}x{2}", images, size, channels);
}

/// Which image's element a window's meets.
std::string printWindow(const Convolution &own) {
  return llvm::formatv("b, h * {0} + i * {1}, w * {0} + j * {1}, c", own.stride,
                       own.dilation);
}

BoxCase makeConvolution(const Convolution &own) {
  BoxCase box = {};
  box.name = llvm::formatv(
      "{0} images of {1}, {2} to {3} channels, {4}x{4} by {5}, {6}, padded {7}",
      own.images, own.size, own.channels, own.filters, own.window, own.stride,
      own.dilation, own.padding);
  box.operands[0] = {
      printImages(own.images, own.size, own.channels), printPadding(own),
      own.padding > 0 ? printImages(own.images, own.getPadded(), own.channels)
                      : "",
      printWindow(own)};
  box.operands[1] = {
      llvm::formatv("{0}x{1}x{1}x{2}", own.filters, own.window, own.channels),
      "", "", "o, i, j, c"};
  box.result = printImages(own.images, own.getResult(), own.filters);
  box.resultMap = "b, h, w, o";
  box.loops = "b h w o i j c";
  box.terms = 3;
  box.tile = own.tile;
  box.stored = box.factors = "bf16";
  box.hasMaps = own.hasMaps;
  box.copies = 2;
  return box;
}

/// Of the same convolution the weight's gradient: terms are positions.
BoxCase makeWeightGradient(const Convolution &own) {
  BoxCase box = makeConvolution(own);
  box.name = "weight's gradient of " + box.name;
  std::swap(box.operands[0], box.operands[1]);
  box.operands[0] = {printImages(own.images, own.getResult(), own.filters), "",
                     "", "b, h, w, o"};
  box.result =
      llvm::formatv("{0}x{1}x{1}x{2}", own.filters, own.window, own.channels);
  box.resultMap = "o, i, j, c";
  box.loops = "o i j c b h w";
  box.copies = 1;
  return box;
}

constexpr std::array<int64_t, 6> kTile = {64, 64, 32, 4, 4, 1};

INSTANTIATE_TEST_SUITE_P(
    Convolutions, WarpSpecializedTiles,
    testing::Values(
        // Tiles of several rows, of several images and of a row's part.
        makeConvolution({3, 8, 64, 64, 3, 1, 1, 1, kTile}),
        makeConvolution({5, 4, 32, 72, 3, 1, 1, 1, kTile}),
        makeConvolution({1, 64, 32, 64, 1, 1, 1, 0, kTile}),
        makeConvolution({2, 16, 128, 64, 1, 1, 1, 0, kTile}),
        makeConvolution({2, 16, 64, 64, 3, 2, 1, 1, kTile}),
        makeConvolution({2, 24, 32, 64, 5, 3, 1, 2, kTile}),
        makeConvolution({2, 8, 32, 64, 3, 1, 2, 2, kTile}),
        // Images in one row are neighbours of the next one's.
        makeConvolution({7, 5, 64, 64, 1, 1, 1, 0, kTile}),
        // Rows that a tile would cut, and steps of two places' channels.
        makeConvolution({2, 6, 64, 64, 3, 1, 1, 1, kTile, false}),
        makeConvolution({2, 8, 24, 64, 3, 1, 1, 1, kTile, false}),
        makeConvolution({1, 73, 32, 64, 1, 9, 1, 0, kTile, false})));

INSTANTIATE_TEST_SUITE_P(
    WeightGradients, WarpSpecializedTiles,
    testing::Values(makeWeightGradient({2, 8, 64, 64, 3, 1, 1, 1, kTile}),
                    makeWeightGradient({4, 4, 64, 128, 3, 1, 1, 1, kTile}),
                    makeWeightGradient({2, 16, 64, 64, 3, 2, 1, 1, kTile}),
                    makeWeightGradient({1, 10, 64, 64, 1, 1, 1, 0, kTile}),
                    makeWeightGradient({3, 7, 64, 64, 3, 1, 1, 1, kTile,
                                        false})));

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

BoxCase makeBatches(const std::string &lhs, const std::string &lhsMap,
                    const std::string &rhs, const std::string &rhsMap) {
  BoxCase box = makeMatrices("batches of " + lhs + " and " + rhs, 64, 64, 64,
                             kTile, false, false);
  box.operands[0] = {lhs, "", "", lhsMap};
  box.operands[1] = {rhs, "", "", rhsMap};
  box.result = "3x2x80x72";
  box.resultMap = "b, h, m, n";
  box.loops = "b h m n k";
  return box;
}

INSTANTIATE_TEST_SUITE_P(
    Batches, WarpSpecializedTiles,
    testing::Values(
        makeBatches("3x2x80x64", "b, h, m, k", "3x2x72x64", "b, h, n, k"),
        makeBatches("3x80x2x64", "b, m, h, k", "3x72x2x64", "b, n, h, k"),
        makeBatches("3x80x2x64", "b, m, h, k", "3x64x2x72", "b, k, h, n")));

} // namespace
