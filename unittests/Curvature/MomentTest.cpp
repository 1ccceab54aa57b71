//===- MomentTest.cpp - Second-moment ops compared with loops -------------===//
//
// The ops run through all of the compiler's phases, in f64 and f32, for two
// copies. NaiveMoment.h computes the expected results.
//===----------------------------------------------------------------------===//

#include "JitProgram.h"
#include "NaiveMoment.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;

namespace mlir::hfta {
/// Prints the case's name, by which GoogleTest describes a parameter.
std::ostream &operator<<(std::ostream &os, const MomentCase &moment) {
  return os << moment.name;
}
} // namespace mlir::hfta

namespace {

constexpr int64_t kCopies = 2;

std::string print(const Sizes &sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  return text;
}

std::string printType(const Sizes &shape, const std::string &element) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ", #hfta.copies<" + std::to_string(kCopies) + ">>";
}

std::string printOp(const MomentCase &moment, const std::string &types) {
  std::string op =
      moment.isPatch() ? "hfta.patch_moment %x" : "hfta.second_moment %x";
  if (moment.sum)
    op += ", %sum";
  std::string attributes = moment.ones ? "ones" : "";
  if (moment.isPatch()) {
    attributes += moment.ones ? ", " : "";
    attributes += "kernel = array<i64: " + print(moment.kernel) +
                  ">, strides = array<i64: " + print(moment.strides) +
                  ">, dilations = array<i64: " + print(moment.dilations) +
                  ">, padding = array<i64: " + print(moment.padding) +
                  ">, groups = " + std::to_string(moment.groups) + " : i64";
    if (moment.blockColumns)
      attributes +=
          ", block_columns = " + std::to_string(moment.blockColumns) + " : i64";
  } else
    op += " blocks [" + print(moment.blocks) + "] columns [" +
          print(moment.columns) + "]";
  return op + " scale " + std::to_string(moment.scale) + " {" + attributes +
         "} : " + types;
}

/// Returns the text of a module whose task `infer` squares the elements of @x
/// and stores the moment of the squares, of shape `result`, in @m; the old
/// value of @m is added if the case has a sum. The squares are passed from one
/// kernel to another. With `withConvolution`, a convolution reads them as well,
/// and they get the layout that it asks for.
std::string printModule(const MomentCase &moment, const Sizes &result,
                        const std::string &element, bool withConvolution) {
  std::string x = printType(moment.input, element);
  std::string m = printType(result, element);
  std::string text =
      "  hfta.variable @x {role = #hfta.role<parameter>} : " + x +
      "\n  hfta.variable @m {role = #hfta.role<parameter>} : " + m + "\n";
  std::string body = "    %given = hfta.read @x : " + x +
                     "\n    %x = hfta.mul %given, %given : " + x + ", " + x +
                     "\n    %sum = hfta.read @m : " + m + "\n    %r = " +
                     printOp(moment, moment.sum ? x + ", " + m : x) +
                     "\n    hfta.write %r, @m : " + m + "\n";
  if (withConvolution && !llvm::is_contained(moment.input, 0)) {
    Sizes weight = {16, moment.input[1]};
    weight.resize(moment.input.size(), 1);
    Sizes output = moment.input;
    output[1] = 16;
    size_t rank = moment.input.size() - 2;
    std::string w = printType(weight, element), y = printType(output, element);
    text += "  hfta.variable @w {role = #hfta.role<parameter>} : " + w +
            "\n  hfta.variable @y {role = #hfta.role<parameter>} : " + y + "\n";
    body += "    %w = hfta.read @w : " + w +
            "\n    %y = hfta.conv %x, %w {strides = array<i64: " +
            print(Sizes(rank, 1)) +
            ">, dilations = array<i64: " + print(Sizes(rank, 1)) +
            ">, padding = array<i64: " + print(Sizes(2 * rank, 0)) +
            ">, groups = 1 : i64} : " + x + ", " + w +
            "\n    hfta.write %y, @y : " + y + "\n";
  }
  return "module attributes {hfta.phase = \"train\"} {\n" + text +
         "  func.func @\"task/infer\"() attributes {hfta.task = "
         "#hfta.task<infer, -1>} {\n" +
         body + "    return\n  }\n}\n";
}

/// Returns a pseudo-random number in [-1, 1), which differs between copies.
double draw(int64_t copy, int64_t index) {
  uint64_t mixed = static_cast<uint64_t>(index + 1) * 2654435761u +
                   static_cast<uint64_t>(copy) * 40503u;
  return static_cast<double>(mixed % 2003) / 1001.5 - 1;
}

/// Compiles the case for `kCopies` copies and compares each element of the
/// result with `computeMoment`. `tolerance` is relative to the expected value
/// plus one.
template <typename T>
void check(const MomentCase &moment, const std::string &element,
           bool withConvolution, int threads, double tolerance) {
  int64_t elements = 1;
  for (int64_t size : moment.input)
    elements *= size;
  std::vector<double> probe(elements, 0);
  std::vector<MomentRows> rows = getRows(moment, probe);
  int64_t columns = rows.front().columns;
  int64_t side = moment.blockColumns ? moment.blockColumns : columns;
  int64_t ofEach = moment.blockColumns ? (columns + side - 1) / side : 1;
  Sizes result = {static_cast<int64_t>(rows.size()) * ofEach,
                  side * (side + 1) / 2};
  std::unique_ptr<JitProgram> program = JitProgram::compile(
      printModule(moment, result, element, withConvolution), kCopies, threads);
  ASSERT_TRUE(program);
  const hfta_tensor *x = program->find("x"), *m = program->find("m");
  ASSERT_TRUE(x && m);
  std::vector<std::vector<double>> inputs(kCopies);
  for (int64_t copy = 0; copy < kCopies; ++copy) {
    T *given = static_cast<T *>(program->at(*x, copy));
    for (int64_t index = 0; index < elements; ++index) {
      given[index] = static_cast<T>(draw(copy, index));
      inputs[copy].push_back(static_cast<double>(given[index] * given[index]));
    }
    T *sums = static_cast<T *>(program->at(*m, copy));
    for (int64_t index = 0; index < result[0] * result[1]; ++index)
      sums[index] = static_cast<T>(draw(copy + 7, index));
  }
  program->run("infer");
  for (int64_t copy = 0; copy < kCopies; ++copy) {
    std::vector<double> expected = computeMoment(moment, inputs[copy]);
    T *got = static_cast<T *>(program->at(*m, copy));
    for (size_t index = 0; index < expected.size(); ++index) {
      double before = moment.sum ? static_cast<T>(draw(copy + 7, index)) : 0;
      double wanted = expected[index] + before;
      ASSERT_NEAR(got[index], wanted, tolerance * (1 + std::abs(wanted)))
          << "copy " << copy << ", element " << index;
    }
  }
}

MomentCase second(const std::string &name, Sizes input, Sizes blocks,
                  Sizes columns, bool ones, bool sum) {
  MomentCase moment;
  moment.name = name;
  moment.input = std::move(input);
  moment.blocks = std::move(blocks);
  moment.columns = std::move(columns);
  moment.ones = ones;
  moment.sum = sum;
  return moment;
}

std::vector<MomentCase> secondMoments() {
  return {
      second("dense", {12, 7}, {}, {1}, false, false),
      second("dense_ones", {12, 7}, {}, {1}, true, false),
      second("dense_sum", {12, 7}, {}, {1}, false, true),
      second("dense_ones_sum", {12, 7}, {}, {1}, true, true),
      second("positions", {3, 5, 19}, {}, {2}, true, true),
      second("columns_first", {19, 4, 5}, {}, {0}, true, true),
      second("columns_in_the_middle", {3, 9, 4, 5}, {}, {1}, true, false),
      second("several_columns", {5, 3, 4, 2}, {}, {3, 1}, true, true),
      second("columns_in_order", {5, 3, 4, 2}, {}, {2, 3}, false, true),
      second("heads", {6, 5, 4, 8}, {2}, {3}, true, true),
      second("heads_apart", {4, 6, 5, 8}, {2, 0}, {3}, true, true),
      second("head_columns_before", {6, 8, 5, 4}, {3}, {1}, false, true),
      second("blocks_alone", {3, 4}, {0, 1}, {}, true, true),
      second("one_number", {9}, {}, {}, true, true),
      second("no_rows", {5}, {}, {0}, true, true),
      second("empty_rows", {0, 5}, {}, {1}, true, true),
      second("no_columns", {4, 0}, {}, {1}, true, true),
      second("wide", {33, 150}, {}, {1}, true, true),
      second("wide_without", {20, 128}, {}, {1}, false, false),
      second("wide_odd", {9, 193}, {}, {1}, false, true),
      second("long", {700, 40}, {}, {1}, true, true),
      second("wide_blocks", {10, 3, 97}, {1}, {2}, true, true),
      second("wide_columns_first", {97, 30}, {}, {0}, true, true),
  };
}

MomentCase patch(const std::string &name, Sizes input, Sizes kernel,
                 Sizes strides, Sizes dilations, Sizes padding, int64_t groups,
                 bool ones, bool sum) {
  MomentCase moment;
  moment.name = name;
  moment.input = std::move(input);
  moment.kernel = std::move(kernel);
  moment.strides = std::move(strides);
  moment.dilations = std::move(dilations);
  moment.padding = std::move(padding);
  moment.groups = groups;
  moment.ones = ones;
  moment.sum = sum;
  return moment;
}

std::vector<MomentCase> patchMoments() {
  return {
      patch("line", {3, 4, 9}, {3}, {1}, {1}, {1, 1}, 1, true, true),
      patch("line_without", {3, 4, 9}, {3}, {1}, {1}, {0, 0}, 1, false, false),
      patch("line_strided", {3, 4, 10}, {3}, {2}, {1}, {1, 0}, 2, true, true),
      patch("line_dilated", {2, 3, 11}, {3}, {1}, {3}, {3, 2}, 1, true, true),
      patch("line_far", {2, 3, 2}, {3}, {1}, {2}, {5, 6}, 1, true, true),
      patch("plane", {2, 3, 6, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 1,
            true, true),
      patch("plane_bare", {2, 3, 6, 7}, {3, 3}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 1,
            false, false),
      patch("plane_uneven", {2, 3, 6, 7}, {2, 3}, {1, 1}, {1, 1}, {0, 2, 1, 0},
            1, true, true),
      patch("plane_groups", {2, 6, 5, 6}, {3, 2}, {1, 1}, {1, 2}, {1, 0, 1, 2},
            3, true, true),
      patch("plane_strided", {2, 4, 7, 8}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1},
            2, true, true),
      patch("plane_mixed", {2, 4, 7, 8}, {3, 2}, {1, 2}, {2, 1}, {2, 0, 1, 1},
            1, false, true),
      patch("plane_cut", {2, 3, 9, 8}, {2, 2}, {1, 1}, {1, 1}, {-1, 0, 0, -2},
            1, true, false),
      patch("plane_small", {2, 3, 1, 2}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1},
            1, true, true),
      patch("plane_five", {2, 2, 6, 5}, {5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}, 1,
            true, true),
      patch("plane_sample", {1, 2, 3, 2}, {3, 2}, {1, 1}, {1, 1}, {0, 0, 0, 0},
            1, true, true),
      patch("sample_groups", {1, 32, 5, 4}, {3, 3}, {1, 1}, {1, 1},
            {1, 1, 1, 1}, 2, true, true),
      patch("point", {3, 20, 4, 4}, {1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 1,
            true, true),
      patch("point_strided", {3, 5, 4, 4}, {1, 1}, {2, 2}, {1, 1}, {0, 0, 0, 0},
            1, true, true),
      patch("depthwise", {2, 16, 5, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1},
            16, true, true),
      patch("channels", {2, 16, 5, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 1,
            true, true),
      patch("channels_groups", {2, 32, 5, 4}, {3, 3}, {1, 1}, {1, 1},
            {1, 1, 1, 1}, 2, false, true),
      patch("channels_strided", {2, 16, 7, 6}, {3, 3}, {2, 2}, {1, 1},
            {1, 1, 1, 1}, 1, true, true),
      patch("volume", {2, 2, 4, 3, 5}, {2, 2, 3}, {1, 1, 1}, {1, 1, 1},
            {1, 0, 1, 0, 1, 1}, 1, true, true),
      patch("volume_mixed", {2, 4, 4, 5, 6}, {2, 1, 2}, {2, 1, 1}, {1, 1, 2},
            {0, 1, 1, 1, 0, 1}, 2, true, true),
      patch("tiles", {2, 40, 4, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 1,
            true, true),
      patch("tiles_groups", {2, 72, 3, 4}, {2, 3}, {1, 1}, {1, 2}, {0, 1, 2, 1},
            2, true, true),
      patch("tiles_strided", {2, 36, 5, 6}, {3, 2}, {2, 2}, {1, 1},
            {1, 0, 1, 0}, 1, true, true),
      patch("tiles_line", {2, 96, 7}, {3}, {1}, {1}, {1, 1}, 1, false, false),
      patch("tiles_volume", {2, 34, 3, 2, 3}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1},
            {1, 0, 0, 0, 1, 1}, 1, true, true),
      patch("tiles_none", {2, 37, 4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1},
            1, true, true),
      patch("tiles_prime_strided", {2, 37, 4, 5}, {3, 3}, {2, 1}, {1, 1},
            {1, 1, 1, 1}, 1, true, true),
      patch("many_pieces", {2, 3, 7, 8}, {4, 4}, {1, 1}, {1, 1}, {0, 0, 0, 0},
            1, true, true),
      patch("many_pieces_groups", {2, 32, 7, 8}, {4, 4}, {1, 1}, {1, 2},
            {0, 0, 0, 0}, 2, true, true),
      patch("no_samples", {0, 3, 4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 1,
            true, true),
      patch("no_channels", {2, 0, 4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1},
            1, true, true),
      patch("padding_alone", {2, 3, 0, 4}, {3, 3}, {1, 1}, {1, 1}, {2, 1, 2, 1},
            1, true, true),
      patch("one_channel", {6, 1, 8, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1},
            1, true, true),
  };
}

/// Returns the cases of `patchMoments` with only the diagonal blocks of each
/// matrix, for several block sizes. A block ends between the taps of two
/// channels, within the taps of a channel, or beyond the last column.
std::vector<MomentCase> cutPatchMoments() {
  std::vector<MomentCase> cases;
  for (const MomentCase &whole : patchMoments())
    for (int64_t columns : {1, 4, 9, 50, 400}) {
      MomentCase cut = whole;
      cut.name += "_by_" + std::to_string(columns);
      cut.blockColumns = columns;
      if (cut.input[1] > 0 || cut.ones)
        cases.push_back(cut);
    }
  return cases;
}

class MomentTest : public testing::TestWithParam<MomentCase> {};

TEST_P(MomentTest, InDouble) {
  check<double>(GetParam(), "f64", false, 1, 1e-13);
}
TEST_P(MomentTest, InSingle) {
  check<float>(GetParam(), "f32", false, 2, 2e-5);
}

class PatchMomentTest : public testing::TestWithParam<MomentCase> {};

TEST_P(PatchMomentTest, InDouble) {
  check<double>(GetParam(), "f64", false, 1, 1e-13);
}
TEST_P(PatchMomentTest, BesideAConvolution) {
  check<float>(GetParam(), "f32", true, 2, 2e-5);
}

std::string printName(const testing::TestParamInfo<MomentCase> &info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Second, MomentTest, testing::ValuesIn(secondMoments()),
                         printName);
INSTANTIATE_TEST_SUITE_P(Patch, PatchMomentTest,
                         testing::ValuesIn(patchMoments()), printName);
INSTANTIATE_TEST_SUITE_P(CutPatch, PatchMomentTest,
                         testing::ValuesIn(cutPatchMoments()), printName);

/// Tests matrices with no rows, and with fewer, as many and more rows than a
/// vector has elements.
TEST(UnpackSymmetric, GivesWholeMatrices) {
  for (int64_t side : {0, 1, 5, 15, 16, 17, 31, 32, 33, 40, 131}) {
    Sizes packed = {3, side * (side + 1) / 2}, whole = {3, side, side};
    std::string p = printType(packed, "f32"), w = printType(whole, "f32");
    std::unique_ptr<JitProgram> program = JitProgram::compile(
        "module attributes {hfta.phase = \"train\"} {\n"
        "  hfta.variable @p {role = #hfta.role<parameter>} : " +
            p + "\n  hfta.variable @w {role = #hfta.role<parameter>} : " + w +
            "\n  func.func @\"task/infer\"() attributes {hfta.task = "
            "#hfta.task<infer, -1>} {\n    %p = hfta.read @p : " +
            p + "\n    %w = hfta.unpack_symmetric %p : " + p +
            "\n    hfta.write %w, @w : " + w + "\n    return\n  }\n}\n",
        kCopies, 2);
    ASSERT_TRUE(program);
    const hfta_tensor *from = program->find("p"), *to = program->find("w");
    ASSERT_TRUE(from && to);
    for (int64_t copy = 0; copy < kCopies; ++copy)
      for (int64_t index = 0; index < 3 * packed[1]; ++index)
        static_cast<float *>(program->at(*from, copy))[index] =
            static_cast<float>(draw(copy, index));
    program->run("infer");
    for (int64_t copy = 0; copy < kCopies; ++copy) {
      const auto *given = static_cast<float *>(program->at(*from, copy));
      const auto *got = static_cast<float *>(program->at(*to, copy));
      for (int64_t block = 0; block < 3; ++block)
        for (int64_t row = 0; row < side; ++row)
          for (int64_t column = 0; column < side; ++column) {
            int64_t large = std::max(row, column);
            int64_t small = std::min(row, column);
            ASSERT_EQ(
                got[(block * side + row) * side + column],
                given[block * packed[1] + large * (large + 1) / 2 + small])
                << side << " " << row << " " << column;
          }
    }
  }
}

} // namespace
