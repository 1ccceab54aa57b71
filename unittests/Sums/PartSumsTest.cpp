//===- PartSumsTest.cpp - Tests of sums of parts of a tensor --------------===//
//
// Tests hfta.part_sums. The ops run through all phases of the compiler. Even if
// they are computed in the kernel that computes the terms, the sums must have
// the same bits as sums in a loop over the stored rows.
//===----------------------------------------------------------------------===//

#include "JitProgram.h"

#include "gtest/gtest.h"

#include <cstring>
#include <utility>

using namespace mlir;
using namespace mlir::hfta;

namespace {

using Sizes = std::vector<int64_t>;

constexpr int64_t kCopies = 2;

/// A case. `ops` compute the tensor `y` of shape `shape`, whose parts of
/// `length` rows are summed for each index of the axis `column`. If `hasOther`,
/// they also compute `z` of the same shape, which is summed too.
struct PartsCase {
  std::string name;
  /// The names and shapes of the tensors that `ops` read. In the text of `ops`,
  /// ELEMENT stands for the element type.
  std::vector<std::pair<std::string, Sizes>> inputs;
  std::string ops;
  Sizes shape;
  size_t column;
  int64_t length;
  bool hasOther = false;
  bool isSingle = false; ///< whether only f32 is tested
};

std::ostream &operator<<(std::ostream &os, const PartsCase &parts) {
  return os << parts.name;
}

int64_t count(const Sizes &sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

std::string printType(const Sizes &shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + "ELEMENT, #hfta.copies<" + std::to_string(kCopies) + ">>";
}

void replaceAll(std::string &text, const std::string &from,
                const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// Prints a module with a task that writes y, and z if the case has it, and
/// their sums. In `ops`, COPIES stands for the element type and the encoding of
/// an arrayed tensor, and TYPE for the type of y.
std::string printModule(const PartsCase &parts, const std::string &element) {
  std::string type = printType(parts.shape), declared, reads, sums, writes;
  Sizes rows = parts.shape;
  int64_t columns = std::exchange(rows[parts.column], 1);
  std::string sumsType = printType({count(rows) / parts.length, columns});
  for (const auto &[name, shape] : parts.inputs) {
    std::string own = printType(shape);
    declared += "hfta.variable @" + name +
                " {role = #hfta.role<parameter>} : " + own + "\n";
    reads += "%" + name + " = hfta.read @" + name + " : " + own + "\n";
  }
  auto write = [&](const std::string &name, const std::string &own) {
    declared += "hfta.variable @" + name + "_out" +
                " {role = #hfta.role<output>} : " + own + "\n";
    writes += "hfta.write %" + name + ", @" + name + "_out : " + own + "\n";
  };
  for (const char *name : {"y", "z"}) {
    if (*name == 'z' && !parts.hasOther)
      continue;
    std::string of = " = hfta.part_sums %" + std::string(name) + " of " +
                     std::to_string(parts.length) + " along " +
                     std::to_string(parts.column);
    sums += "%" + std::string(name) + "_sums" + of + " : " + type + "\n%" +
            name + "_squares" + of + " {centered} : " + type + "\n";
    write(name, type);
    write(std::string(name) + "_sums", sumsType);
    write(std::string(name) + "_squares", sumsType);
  }
  std::string text = declared +
                     "func.func @\"task/infer\"() attributes {hfta.task = "
                     "#hfta.task<infer, -1>} {\n" +
                     reads + parts.ops + "\n" + sums + writes + "return\n}\n";
  replaceAll(text, "TYPE", type);
  replaceAll(text, "COPIES",
             "ELEMENT, #hfta.copies<" + std::to_string(kCopies) + ">");
  replaceAll(text, "ELEMENT", element);
  return text;
}

template <typename T>
void fill(JitProgram &program, const std::string &name, int64_t copy) {
  const hfta_tensor &tensor = *program.find(name);
  uint32_t state = static_cast<uint32_t>(name[0]) + 7 * copy;
  T *elements = static_cast<T *>(program.at(tensor, copy));
  for (size_t i = 0; i < tensor.bytes / sizeof(T); ++i) {
    state = state * 1664525u + 1013904223u;
    elements[i] = static_cast<T>(state >> 8) / T(1 << 22) - T(1.7);
  }
}

template <typename T>
const T *find(JitProgram &program, const std::string &name, int64_t copy) {
  return static_cast<const T *>(program.at(*program.find(name), copy));
}

/// Returns the linear indices of a column's elements, in the order of the rows.
Sizes findRows(const PartsCase &parts, int64_t column) {
  Sizes numbers;
  int64_t inner = 1;
  for (size_t axis = parts.column + 1; axis < parts.shape.size(); ++axis)
    inner *= parts.shape[axis];
  int64_t columns = parts.shape[parts.column];
  for (int64_t i = 0; i < count(parts.shape); ++i)
    if (i / inner % columns == column)
      numbers.push_back(i);
  return numbers;
}

template <typename T>
void checkSums(JitProgram &program, const PartsCase &parts,
               const std::string &name, int64_t copy) {
  const T *elements = find<T>(program, name + "_out", copy);
  const T *sums = find<T>(program, name + "_sums_out", copy);
  const T *squares = find<T>(program, name + "_squares_out", copy);
  int64_t columns = parts.shape[parts.column];
  for (int64_t column = 0; column < columns; ++column) {
    Sizes rows = findRows(parts, column);
    for (size_t first = 0; first < rows.size(); first += parts.length) {
      volatile T sum = 0, square = 0;
      for (int64_t row = 0; row < parts.length; ++row)
        sum = sum + elements[rows[first + row]];
      for (int64_t row = 0; row < parts.length; ++row) {
        volatile T rest = elements[rows[first + row]] - sum / T(parts.length);
        volatile T squared = rest * rest;
        square = square + squared;
      }
      int64_t at =
          static_cast<int64_t>(first) / parts.length * columns + column;
      ASSERT_EQ(sums[at], sum) << name << ", copy " << copy << ", sum " << at;
      ASSERT_EQ(squares[at], square)
          << name << ", copy " << copy << ", square " << at;
    }
  }
}

template <typename T>
void checkParts(const PartsCase &parts, const std::string &element) {
  std::unique_ptr<JitProgram> program =
      JitProgram::compile(printModule(parts, element), kCopies, /*threads=*/2);
  ASSERT_TRUE(program);
  for (int64_t copy = 0; copy < kCopies; ++copy)
    for (const auto &input : parts.inputs)
      fill<T>(*program, input.first, copy);
  program->run("infer");
  for (int64_t copy = 0; copy < kCopies; ++copy) {
    checkSums<T>(*program, parts, "y", copy);
    if (parts.hasOther)
      checkSums<T>(*program, parts, "z", copy);
  }
}

/// Prints a convolution %c and its relu, %y.
std::string printConvolution(const std::string &attributes,
                             const std::string &types) {
  return "%c = hfta.conv %x, %w {dilations = array<i64: 1, 1>, " + attributes +
         ", strides = array<i64: 1, 1>} : " + types +
         "\n%y = hfta.relu %c : TYPE";
}

std::string printProduct(const std::string &maps, const std::string &attributes,
                         const std::string &types) {
  return "%y = hfta.contract %x, %w maps [" + maps + "] " + attributes + " : " +
         types;
}

const char *const kPadded = "groups = 1 : i64, padding = array<i64: 1, 1, 1, "
                            "1>";
const char *const kRows = "affine_map<(m, n, k) -> (m, k)>, "
                          "affine_map<(m, n, k) -> (n, k)>, "
                          "affine_map<(m, n, k) -> (m, n)>";

/// Returns the cases: elementwise ops in both layouts; products in tiles whose
/// parts lie along rows or along columns, with and without tensor cores; and
/// parts that end where either side of a product ends.
std::vector<PartsCase> partsCases() {
  return {
      {"alone", {{"x", {64, 10}}}, "%y = hfta.neg %x : TYPE", {64, 10}, 1, 16},
      {"elements",
       {{"x", {6, 40, 4, 8}}, {"w", {6, 40, 4, 8}}},
       "%y = hfta.mul %x, %w : TYPE, TYPE\n%z = hfta.sub %y, %x : TYPE, TYPE",
       {6, 40, 4, 8},
       1,
       32,
       true},
      {"many_columns",
       {{"x", {3, 20, 70}}},
       "%y = hfta.abs %x : TYPE",
       {3, 20, 70},
       2,
       20},
      {"channels_first",
       {{"x", {4, 3, 64}}},
       "%y = hfta.neg %x : TYPE",
       {4, 3, 64},
       1,
       32},
      {"no_columns",
       {{"x", {64, 0}}},
       "%y = hfta.neg %x : TYPE",
       {64, 0},
       1,
       16},
      {"as_parts",
       {{"x", {4, 32, 70}}},
       "%y = hfta.neg %x : TYPE",
       {4, 32, 70},
       2,
       32},
      {"last_axis",
       {{"x", {4, 8, 6, 8}}, {"w", {20, 8, 3, 3}}},
       printConvolution(kPadded, "tensor<4x8x6x8xCOPIES>, "
                                 "tensor<20x8x3x3xCOPIES>"),
       {4, 20, 6, 8},
       3,
       16},
      {"groups_of_one",
       {{"x", {4, 2, 6, 8}}, {"w", {12, 1, 3, 3}}},
       printConvolution("groups = 2 : i64, padding = array<i64: 1, 1, 1, 1>",
                        "tensor<4x2x6x8xCOPIES>, tensor<12x1x3x3xCOPIES>"),
       {4, 12, 6, 8},
       1,
       32},
      {"one_part",
       {{"x", {8, 4, 9}}},
       "%y = hfta.neg %x : TYPE",
       {8, 4, 9},
       2,
       32},
      {"convolution",
       {{"x", {4, 8, 6, 8}}, {"w", {20, 8, 3, 3}}},
       printConvolution(kPadded, "tensor<4x8x6x8xCOPIES>, "
                                 "tensor<20x8x3x3xCOPIES>"),
       {4, 20, 6, 8},
       1,
       32},
      {"two_sums",
       {{"x", {4, 8, 6, 8}}, {"w", {20, 8, 3, 3}}, {"v", {4, 20, 6, 8}}},
       printConvolution(kPadded, "tensor<4x8x6x8xCOPIES>, "
                                 "tensor<20x8x3x3xCOPIES>") +
           "\n%z = hfta.mul %y, %v : TYPE, TYPE",
       {4, 20, 6, 8},
       1,
       32,
       true},
      {"short_parts",
       {{"x", {2, 8, 6, 8}}, {"w", {20, 8, 3, 3}}},
       printConvolution(kPadded, "tensor<2x8x6x8xCOPIES>, "
                                 "tensor<20x8x3x3xCOPIES>"),
       {2, 20, 6, 8},
       1,
       16},
      {"depthwise",
       {{"x", {4, 12, 6, 8}}, {"w", {12, 1, 3, 3}}},
       printConvolution("groups = 12 : i64, padding = array<i64: 1, 1, 1, 1>",
                        "tensor<4x12x6x8xCOPIES>, tensor<12x1x3x3xCOPIES>"),
       {4, 12, 6, 8},
       1,
       32},
      {"groups",
       {{"x", {4, 12, 6, 8}}, {"w", {12, 6, 3, 3}}},
       printConvolution("groups = 2 : i64, padding = array<i64: 1, 1, 1, 1>",
                        "tensor<4x12x6x8xCOPIES>, tensor<12x6x3x3xCOPIES>"),
       {4, 12, 6, 8},
       1,
       32},
      {"product",
       {{"x", {96, 24}}, {"w", {21, 24}}},
       printProduct(kRows, "", "tensor<96x24xCOPIES>, tensor<21x24xCOPIES>"),
       {96, 21},
       1,
       32},
      {"product_of_columns",
       {{"x", {21, 24}}, {"w", {96, 24}}},
       printProduct("affine_map<(m, n, k) -> (m, k)>, "
                    "affine_map<(m, n, k) -> (n, k)>, "
                    "affine_map<(m, n, k) -> (n, m)>",
                    "", "tensor<21x24xCOPIES>, tensor<96x24xCOPIES>"),
       {96, 21},
       1,
       32},
      {"long_product",
       {{"x", {64, 300}}, {"w", {9, 300}}},
       printProduct(kRows, "", "tensor<64x300xCOPIES>, tensor<9x300xCOPIES>"),
       {64, 9},
       1,
       32},
      {"tensor_cores",
       {{"x", {96, 64}}, {"w", {24, 64}}},
       printProduct(kRows, "{hfta.multiply = bf16}",
                    "tensor<96x64xCOPIES>, tensor<24x64xCOPIES>"),
       {96, 24},
       1,
       32,
       false,
       true},
      {"tensor_cores_of_columns",
       {{"x", {24, 64}}, {"w", {96, 64}}},
       printProduct("affine_map<(m, n, k) -> (m, k)>, "
                    "affine_map<(m, n, k) -> (n, k)>, "
                    "affine_map<(m, n, k) -> (n, m)>",
                    "{hfta.multiply = tf32}",
                    "tensor<24x64xCOPIES>, tensor<96x64xCOPIES>"),
       {96, 24},
       1,
       16,
       false,
       true},
  };
}

class PartSumsTest : public testing::TestWithParam<PartsCase> {};

TEST_P(PartSumsTest, InSingle) { checkParts<float>(GetParam(), "f32"); }
TEST_P(PartSumsTest, InDouble) {
  if (!GetParam().isSingle)
    checkParts<double>(GetParam(), "f64");
}

INSTANTIATE_TEST_SUITE_P(Cases, PartSumsTest, testing::ValuesIn(partsCases()),
                         [](const testing::TestParamInfo<PartsCase> &info) {
                           return info.param.name;
                         });

} // namespace
