//===- ScatterTest.cpp - Scatter ops compared with loops ------------------===//
//
// Tests hfta.scatter_add, hfta.scatter_reduce and hfta.segment_sum. They run
// through all of the compiler's phases and are compared with loops over the
// indices. Each element adds its updates in the order of the indices, so the
// results must be equal to the last bit.
//===----------------------------------------------------------------------===//

#include "JitProgram.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cstring>

using namespace mlir;
using namespace mlir::hfta;

namespace {

using Sizes = std::vector<int64_t>;

constexpr int64_t kCopies = 3;

/// A test case: a scatter_add or scatter_reduce into a tensor of shape
/// [before…, slices, after…].
struct ScatterCase {
  std::string name;
  Sizes before, indices, after;
  int64_t slices;
  /// Indices select only the first `chosen` slices, so that the other slices
  /// have no update.
  int64_t chosen;
  std::string indexType = "i64";
  /// Whether each copy has its own indices, or all copies share a variable or a
  /// constant.
  enum { ofCopies, shared, constant } owner = ofCopies;
  /// The kind of a scatter_reduce into the old value of @g. If empty, the op is
  /// a scatter_add.
  std::string reduction = "";
};

std::ostream &operator<<(std::ostream &os, const ScatterCase &scatter) {
  return os << scatter.name;
}

int64_t count(const Sizes &sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

std::string printType(std::initializer_list<Sizes> shape,
                      const std::string &element, bool isArrayed = true) {
  std::string text = "tensor<";
  for (const Sizes &sizes : shape)
    for (int64_t size : sizes)
      text += std::to_string(size) + "x";
  std::string encoding =
      isArrayed ? ", #hfta.copies<" + std::to_string(kCopies) + ">" : "";
  return text + element + encoding + ">";
}

/// Returns the text of a module whose task reads variables and adds to @g the
/// value %sum, which `ops` compute. `variables` are names and types, `result`
/// is the type of @g.
std::string
printModule(const std::vector<std::pair<std::string, std::string>> &variables,
            const std::string &ops, const std::string &result) {
  std::string declared, reads;
  for (const auto &[name, type] : variables) {
    declared += "hfta.variable @" + name +
                " {role = #hfta.role<parameter>} : " + type + "\n";
    reads += "%" + name + " = hfta.read @" + name + " : " + type + "\n";
  }
  return declared +
         "hfta.variable @g {role = #hfta.role<gradient>} : " + result + "\n" +
         "func.func @\"task/infer\"() attributes {hfta.task = "
         "#hfta.task<infer, -1>} {\n" +
         reads + "%g = hfta.read @g : " + result + "\n" + ops +
         "\n%next = hfta.add %g, %sum : " + result + ", " + result +
         "\nhfta.write %next, @g : " + result + "\nreturn\n}\n";
}

uint32_t next(uint32_t &state) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

/// Draws numbers. Floats have so many digits that additions of them round.
template <typename T>
std::vector<T> drawNumbers(int64_t count, uint32_t &state) {
  std::vector<T> numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(static_cast<T>(next(state)) / T(1000003) - T(8));
  return numbers;
}

/// Draws the indices of one copy. Some are negative and count from the end;
/// some are out of range, and their updates are ignored.
Sizes drawIndices(const ScatterCase &scatter, uint32_t &state) {
  Sizes indices;
  for (int64_t i = 0; i < count(scatter.indices); ++i) {
    int64_t slice = next(state) % scatter.chosen;
    switch (next(state) % 8) {
    case 0:
      slice -= scatter.slices;
      break;
    case 1:
      slice += i % 2 ? scatter.slices : -2 * scatter.slices;
      break;
    default:
      break;
    }
    indices.push_back(slice);
  }
  return indices;
}

template <typename T>
T combine(const std::string &reduction, T running, T update) {
  if (reduction == "max")
    return std::max(running, update);
  if (reduction == "min")
    return std::min(running, update);
  return reduction == "product" ? running * update : running + update;
}

/// Adds to `result`, the old value of @g, what the op should compute: the sum
/// of the updates of each element, or `result` itself reduced with the updates.
template <typename T>
void addScattered(const ScatterCase &scatter, const Sizes &indices,
                  const std::vector<T> &updates, std::vector<T> &result) {
  int64_t rows = count(scatter.before), columns = count(scatter.after);
  auto terms = static_cast<int64_t>(indices.size());
  std::vector<T> sums = result;
  if (scatter.reduction.empty())
    std::fill(sums.begin(), sums.end(), T(0));
  for (int64_t term = 0; term < terms; ++term) {
    int64_t slice = indices[term];
    slice += slice < 0 ? scatter.slices : 0;
    if (slice < 0 || slice >= scatter.slices)
      continue;
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column) {
        T &sum = sums[(row * scatter.slices + slice) * columns + column];
        sum = combine(scatter.reduction, sum,
                      updates[(row * terms + term) * columns + column]);
      }
  }
  for (size_t i = 0; i < sums.size(); ++i)
    result[i] += sums[i];
}

template <typename T>
void fill(JitProgram &program, const std::string &name, int64_t copy,
          const std::vector<T> &elements) {
  const hfta_tensor &tensor = *program.find(name);
  ASSERT_EQ(tensor.bytes, elements.size() * sizeof(T));
  std::memcpy(program.at(tensor, copy), elements.data(), tensor.bytes);
}

void fillIndices(JitProgram &program, const ScatterCase &scatter, int64_t copy,
                 const Sizes &indices) {
  if (scatter.indexType == "i64")
    fill(program, "i", copy, indices);
  else
    fill(program, "i", copy,
         std::vector<int32_t>(indices.begin(), indices.end()));
}

/// Compares @g of one copy with the expected elements, bit by bit.
template <typename T>
void checkResult(JitProgram &program, int64_t copy,
                 const std::vector<T> &expected) {
  const hfta_tensor &tensor = *program.find("g");
  ASSERT_EQ(tensor.bytes, expected.size() * sizeof(T));
  const T *got = static_cast<const T *>(program.at(tensor, copy));
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_EQ(std::memcmp(&got[i], &expected[i], sizeof(T)), 0)
        << "copy " << copy << ", element " << i << ": got " << got[i]
        << ", expected " << expected[i];
}

/// Returns the indices of all copies, which are equal if the copies share them.
std::vector<Sizes> drawAllIndices(const ScatterCase &scatter, uint32_t &state) {
  std::vector<Sizes> all = {drawIndices(scatter, state)};
  while (all.size() < kCopies)
    all.push_back(scatter.owner == ScatterCase::ofCopies
                      ? drawIndices(scatter, state)
                      : all.front());
  return all;
}

std::string printScatter(const ScatterCase &scatter, const std::string &element,
                         const Sizes &indices) {
  std::string u =
      printType({scatter.before, scatter.indices, scatter.after}, element);
  std::string i = printType({scatter.indices}, scatter.indexType,
                            scatter.owner == ScatterCase::ofCopies);
  std::string g =
      printType({scatter.before, {scatter.slices}, scatter.after}, element);
  std::string axis = " along " + std::to_string(scatter.before.size());
  std::string ops =
      scatter.reduction.empty()
          ? "%sum = hfta.scatter_add %u at %i" + axis + " size " +
                std::to_string(scatter.slices) + " : " + u + ", " + i
          : "%sum = hfta.scatter_reduce " + scatter.reduction +
                " %u at %i into %g" + axis + " : " + u + ", " + i + ", " + g;
  if (scatter.owner != ScatterCase::constant)
    return printModule({{"u", u}, {"i", i}}, ops, g);
  std::string numbers;
  for (int64_t index : indices)
    numbers += (numbers.empty() ? "" : ", ") + std::to_string(index);
  return printModule(
      {{"u", u}},
      "%i = hfta.constant dense<[" + numbers + "]> : " + i + "\n" + ops, g);
}

template <typename T>
void checkScatter(const ScatterCase &scatter, const std::string &element) {
  uint32_t state = 1;
  std::vector<Sizes> indices = drawAllIndices(scatter, state);
  std::unique_ptr<JitProgram> program = JitProgram::compile(
      printScatter(scatter, element, indices.front()), kCopies, /*threads=*/2);
  ASSERT_TRUE(program);
  std::vector<std::vector<T>> expected;
  for (int64_t copy = 0; copy < kCopies; ++copy) {
    int64_t rest = count(scatter.before) * count(scatter.after);
    std::vector<T> updates =
        drawNumbers<T>(rest * count(scatter.indices), state);
    std::vector<T> result = drawNumbers<T>(rest * scatter.slices, state);
    if (scatter.owner != ScatterCase::constant)
      fillIndices(*program, scatter, copy, indices[copy]);
    fill(*program, "u", copy, updates);
    fill(*program, "g", copy, result);
    addScattered(scatter, indices[copy], updates, result);
    expected.push_back(result);
  }
  program->run("infer");
  for (int64_t copy = 0; copy < kCopies; ++copy)
    checkResult(*program, copy, expected[copy]);
}

/// Returns cases with few and with many indices. With few, each thread of a GPU
/// compares all of them with its own; with many, the updates are sorted by
/// index first (SortIndices.cpp).
std::vector<ScatterCase> scatterCases() {
  return {
      {"few", {}, {9}, {5}, 4, 4},
      {"table", {}, {300}, {5}, 40, 40},
      {"narrow", {}, {300}, {5}, 40, 40, "i32"},
      {"shared", {}, {300}, {5}, 40, 40, "i64", ScatterCase::shared},
      {"constant", {}, {40}, {5}, 12, 12, "i64", ScatterCase::constant},
      {"batches", {}, {6, 50}, {3, 4}, 31, 31},
      {"rows", {3}, {4, 70}, {2}, 17, 17, "i32", ScatterCase::shared},
      {"columns_alone", {2, 3}, {260}, {}, 9, 9},
      {"long_segments", {}, {700}, {3}, 50, 2},
      {"one_slice", {}, {280}, {4}, 1, 1},
      {"many_slices", {}, {250}, {1}, 4000, 4000},
      {"no_updates", {}, {0}, {3}, 5, 5},
      {"no_columns", {}, {300}, {0}, 5, 5},
      {"maxima", {}, {300}, {5}, 40, 40, "i64", ScatterCase::ofCopies, "max"},
      {"minima", {3}, {4, 70}, {2}, 17, 17, "i32", ScatterCase::shared, "min"},
      {"products", {}, {9}, {5}, 4, 4, "i64", ScatterCase::constant, "product"},
  };
}

class ScatterTest : public testing::TestWithParam<ScatterCase> {};

TEST_P(ScatterTest, InSingle) { checkScatter<float>(GetParam(), "f32"); }
TEST_P(ScatterTest, InDouble) { checkScatter<double>(GetParam(), "f64"); }
TEST_P(ScatterTest, OfIntegers) { checkScatter<int32_t>(GetParam(), "i32"); }

INSTANTIATE_TEST_SUITE_P(Cases, ScatterTest, testing::ValuesIn(scatterCases()),
                         [](const testing::TestParamInfo<ScatterCase> &info) {
                           return info.param.name;
                         });

/// Tests segments of no, one and three updates, and one update that belongs to
/// no segment.
TEST(SegmentSum, FollowsItsTables) {
  std::string u = printType({{2, 6, 3}}, "f32"), o = printType({{6}}, "i32"),
              s = printType({{5}}, "i64", false),
              g = printType({{2, 4, 3}}, "f32");
  std::unique_ptr<JitProgram> program = JitProgram::compile(
      printModule({{"u", u}, {"o", o}, {"s", s}},
                  "%sum = hfta.segment_sum %u at %o in %s along 1 : " + u +
                      ", " + o + ", " + s,
                  g),
      kCopies, /*threads=*/2);
  ASSERT_TRUE(program);
  const Sizes offsets = {0, 3, 3, 4, 5};
  fill(*program, "s", 0, offsets);
  uint32_t state = 2;
  std::vector<std::vector<float>> expected;
  for (int64_t copy = 0; copy < kCopies; ++copy) {
    std::vector<int32_t> order = {4, 0, 2, 5, 1, 3};
    std::rotate(order.begin(), order.begin() + copy, order.end());
    std::vector<float> updates = drawNumbers<float>(36, state);
    std::vector<float> result = drawNumbers<float>(24, state);
    fill(*program, "o", copy, order);
    fill(*program, "u", copy, updates);
    fill(*program, "g", copy, result);
    for (int64_t row = 0; row < 2; ++row)
      for (int64_t slice = 0; slice < 4; ++slice)
        for (int64_t column = 0; column < 3; ++column) {
          float sum = 0;
          for (int64_t at = offsets[slice]; at < offsets[slice + 1]; ++at)
            sum += updates[(row * 6 + order[at]) * 3 + column];
          result[(row * 4 + slice) * 3 + column] += sum;
        }
    expected.push_back(result);
  }
  program->run("infer");
  for (int64_t copy = 0; copy < kCopies; ++copy)
    checkResult(*program, copy, expected[copy]);
}

} // namespace
