//===- OrthogonalIterationTest.cpp - Tests of hfta.orthogonal_iteration ---===//

#include "MatrixTask.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir::hfta;

namespace {

using Numbers = std::vector<double>;

/// The operands for one matrix: the packed matrix, the basis, and whether an
/// iteration is due.
struct Matrix {
  Numbers factor, start;
  double due = 1;
};

/// Iterates once on `matrices` in element type T. Matrix i belongs to copy
/// i / n of the program, where n is the number of matrices per copy.
template <typename T>
std::vector<Numbers> run(const std::vector<Matrix> &matrices, int64_t rows,
                         int64_t copies) {
  auto all = static_cast<int64_t>(matrices.size());
  int64_t count = all / copies, packed = rows * (rows + 1) / 2;
  std::string element = sizeof(T) == 8 ? "xf64" : "xf32";
  std::string batch = std::to_string(count), side = "x" + std::to_string(rows);
  std::string squares = batch + side + side + element;
  auto task = MatrixTask::compile(
      "orthogonal_iteration",
      {{"factor", batch + "x" + std::to_string(packed) + element},
       {"start", squares},
       {"due", batch + element}},
      {{"result", squares}}, copies);
  std::vector<Numbers> answers(matrices.size());
  if (!task) {
    ADD_FAILURE() << "doesn't compile";
    return answers;
  }
  auto at = [&](const std::string &name, int64_t i, int64_t size) {
    return task->at<T>(name, i / count) + i % count * size;
  };
  for (int64_t i = 0; i < all; ++i) {
    std::copy_n(matrices[i].factor.begin(), packed, at("factor", i, packed));
    std::copy_n(matrices[i].start.begin(), rows * rows,
                at("start", i, rows * rows));
    *at("due", i, 1) = matrices[i].due;
  }
  task->run();
  for (int64_t i = 0; i < all; ++i) {
    T *result = at("result", i, rows * rows);
    answers[i].assign(result, result + rows * rows);
  }
  return answers;
}

/// Returns columns of a square, each in a row.
Numbers transpose(const Numbers &square, int64_t rows) {
  Numbers result(square.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < rows; ++j)
      result[j * rows + i] = square[i * rows + j];
  return result;
}

double multiply(const double *x, const double *y, int64_t rows) {
  return std::inner_product(x, x + rows, y, 0.0);
}

/// Makes a row of `rows` orthogonal to those in `others` and its length 1, by
/// the method of Gram and Schmidt, twice for the sake of precision.
void makeOrthonormal(double *row, const std::vector<const double *> &others,
                     int64_t rows) {
  for (int pass = 0; pass < 2; ++pass)
    for (const double *other : others) {
      double part = multiply(row, other, rows);
      for (int64_t i = 0; i < rows; ++i)
        row[i] -= part * other[i];
    }
  double length = std::sqrt(multiply(row, row, rows));
  for (int64_t i = 0; i < rows; ++i)
    row[i] /= length;
}

/// Returns an orthogonal matrix.
Numbers makeBasis(int64_t rows, uint64_t seed) {
  Numbers basis = makeNumbers(rows * rows, seed);
  std::vector<const double *> done;
  for (int64_t i = 0; i < rows; ++i) {
    makeOrthonormal(&basis[i * rows], done, rows);
    done.push_back(&basis[i * rows]);
  }
  return basis;
}

/// Returns what the iteration gives, in f64, with columns of any sign.
Numbers iterate(const Matrix &matrix, int64_t rows) {
  Numbers columns = transpose(matrix.start, rows), moved(columns.size());
  Numbers quotients(rows);
  for (int64_t k = 0; k < rows; ++k) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < rows; ++j)
        moved[k * rows + i] +=
            getPacked(matrix.factor, i, j) * columns[k * rows + j];
    quotients[k] = multiply(&columns[k * rows], &moved[k * rows], rows);
  }
  std::vector<int64_t> order(rows);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return quotients[a] > quotients[b];
  });
  std::vector<const double *> done;
  for (int64_t k : order) {
    makeOrthonormal(&moved[k * rows], done, rows);
    done.push_back(&moved[k * rows]);
  }
  return transpose(moved, rows);
}

/// Expects equal columns up to their signs.
void expectColumns(const Numbers &got, const Numbers &expected, int64_t rows,
                   double error) {
  Numbers own = transpose(got, rows), other = transpose(expected, rows);
  for (int64_t k = 0; k < rows; ++k)
    EXPECT_NEAR(std::abs(multiply(&own[k * rows], &other[k * rows], rows)), 1,
                error)
        << "column " << k << " of " << rows;
}

std::vector<Matrix> makeMatrices(int64_t rows, int64_t count) {
  std::vector<Matrix> matrices(count);
  for (int64_t i = 0; i < count; ++i)
    matrices[i] = {makePacked(rows, rows + i), makeBasis(rows, 100 + i)};
  return matrices;
}

} // namespace

class IterationOfSize : public testing::TestWithParam<int64_t> {};

TEST_P(IterationOfSize, isOneOfGramAndSchmidt) {
  int64_t rows = GetParam();
  std::vector<Matrix> matrices = makeMatrices(rows, 4);
  std::vector<Numbers> wide = run<double>(matrices, rows, 2);
  std::vector<Numbers> narrow = run<float>(matrices, rows, 2);
  for (size_t i = 0; i < matrices.size(); ++i) {
    Numbers expected = iterate(matrices[i], rows);
    expectColumns(wide[i], expected, rows, 1e-10);
    expectColumns(narrow[i], expected, rows, 1e-3);
  }
}

// A matrix has the same result in a batch as alone, beside one that isn't due
// and one with a NaN, whose bases stay.
TEST_P(IterationOfSize, dependsOnNoOther) {
  int64_t rows = GetParam();
  std::vector<Matrix> matrices = makeMatrices(rows, 6);
  matrices[1].due = 0;
  matrices[2].factor[0] = std::numeric_limits<double>::quiet_NaN();
  std::vector<Numbers> together = run<double>(matrices, rows, 3);
  for (size_t i = 0; i < matrices.size(); ++i)
    EXPECT_EQ(together[i], run<double>({matrices[i]}, rows, 1)[0]) << i;
  EXPECT_EQ(together[1], matrices[1].start);
  EXPECT_EQ(together[2], matrices[2].start);
}

INSTANTIATE_TEST_SUITE_P(Sizes, IterationOfSize,
                         testing::Values(1, 2, 3, 7, 16, 33, 64, 65, 130));

// Repeated iterations of one matrix reach its eigenvectors and, in f32, stay
// orthogonal.
TEST(OrthogonalIteration, reachesEigenvectors) {
  int64_t rows = 12;
  Matrix matrix = {Numbers(rows * (rows + 1) / 2), makeBasis(rows, 5)};
  // F = B diag(2^-k) Bᵀ for another basis B.
  Numbers own = makeBasis(rows, 6);
  for (int64_t i = 0, place = 0; i < rows; ++i)
    for (int64_t j = 0; j <= i; ++j, ++place)
      for (int64_t k = 0; k < rows; ++k)
        matrix.factor[place] +=
            std::ldexp(own[k * rows + i] * own[k * rows + j], -k);
  for (int step = 0; step < 60; ++step)
    matrix.start = run<float>({matrix}, rows, 1)[0];
  Numbers columns = transpose(matrix.start, rows);
  for (int64_t k = 0; k < rows; ++k) {
    double nearest = 0;
    for (int64_t other = 0; other < rows; ++other) {
      nearest = std::max(nearest, std::abs(multiply(&columns[k * rows],
                                                    &own[other * rows], rows)));
      EXPECT_NEAR(multiply(&columns[k * rows], &columns[other * rows], rows),
                  k == other ? 1 : 0, 1e-5);
    }
    EXPECT_NEAR(nearest, 1, 1e-3);
  }
}

// Without any gradient a factor is zero: the result is some orthogonal matrix.
TEST(OrthogonalIteration, ofZeros) {
  Numbers result = run<float>({{Numbers(6), makeBasis(3, 1)}}, 3, 1)[0];
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t j = 0; j < 3; ++j)
      EXPECT_NEAR(multiply(&result[i * 3], &result[j * 3], 3), i == j ? 1 : 0,
                  1e-6);
}
