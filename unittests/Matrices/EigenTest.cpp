//===- EigenTest.cpp - Tests of hfta.symmetric_eigen ----------------------===//

#include "MatrixTask.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir::hfta;

namespace {

using Numbers = std::vector<double>;

/// The operands for one matrix: the packed matrix, and the basis from which the
/// iteration starts (empty: zeros).
struct Matrix {
  Numbers factor, start;
};

struct Answer {
  Numbers basis, values;
};

/// Decomposes `matrices` in element type T. Matrix i belongs to copy i / n of
/// the program, where n is the number of matrices per copy.
template <typename T>
std::vector<Answer> run(const std::vector<Matrix> &matrices, int64_t rows,
                        int64_t copies) {
  int64_t count = matrices.size() / copies, packed = rows * (rows + 1) / 2;
  std::string element = sizeof(T) == 8 ? "xf64" : "xf32";
  std::string batch = std::to_string(count), side = "x" + std::to_string(rows);
  std::string squares = batch + side + side + element;
  auto task = MatrixTask::compile(
      "symmetric_eigen",
      {{"factor", batch + "x" + std::to_string(packed) + element},
       {"start", squares}},
      {{"basis", squares}, {"values", batch + side + element}}, copies);
  std::vector<Answer> answers(matrices.size());
  if (!task) {
    ADD_FAILURE() << "doesn't compile";
    return answers;
  }
  auto copyIn = [&](const std::string &name, int64_t i, const Numbers &from,
                    int64_t size) {
    T *to = task->at<T>(name, i / count) + i % count * size;
    for (int64_t j = 0; j < size; ++j)
      to[j] = from.empty() ? 0 : from[j];
  };
  for (int64_t i = 0; i < static_cast<int64_t>(matrices.size()); ++i) {
    copyIn("factor", i, matrices[i].factor, packed);
    copyIn("start", i, matrices[i].start, rows * rows);
  }
  task->run();
  for (int64_t i = 0; i < static_cast<int64_t>(matrices.size()); ++i) {
    T *basis = task->at<T>("basis", i / count) + i % count * rows * rows;
    T *values = task->at<T>("values", i / count) + i % count * rows;
    answers[i].basis.assign(basis, basis + rows * rows);
    answers[i].values.assign(values, values + rows);
  }
  return answers;
}

/// Returns the largest absolute element of F q - λ q over all eigenpairs,
/// divided by the largest eigenvalue if that is positive.
double getResidual(const Numbers &packed, const Answer &answer, int64_t rows) {
  double worst = 0, largest = 0;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < rows; ++j) {
      double sum = -answer.values[j] * answer.basis[i * rows + j];
      for (int64_t k = 0; k < rows; ++k)
        sum += getPacked(packed, i, k) * answer.basis[k * rows + j];
      worst = std::abs(sum) <= worst ? worst : std::abs(sum);
      largest = std::max(largest, answer.values[j]);
    }
  return largest > 0 ? worst / largest : worst;
}

/// Returns the largest absolute element of QᵀQ - I, which is 0 for an
/// orthogonal basis Q.
double getSkew(const Answer &answer, int64_t rows) {
  double worst = 0;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < rows; ++j) {
      double sum = i == j ? -1 : 0;
      for (int64_t k = 0; k < rows; ++k)
        sum += answer.basis[k * rows + i] * answer.basis[k * rows + j];
      worst = std::abs(sum) <= worst ? worst : std::abs(sum);
    }
  return worst;
}

void expectRight(const Numbers &packed, const Answer &answer, int64_t rows,
                 double error) {
  EXPECT_LT(getResidual(packed, answer, rows), error);
  EXPECT_LT(getSkew(answer, rows), error);
}

bool equal(const Answer &a, const Answer &b) {
  auto same = [](const Numbers &x, const Numbers &y) {
    return x.size() == y.size() &&
           std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0;
  };
  return same(a.basis, b.basis) && same(a.values, b.values);
}

} // namespace

class EigenOfSize : public testing::TestWithParam<int64_t> {};

// The first run has no start. The second run decomposes slightly different
// matrices, starting with the bases of the first run.
TEST_P(EigenOfSize, areThoseOfTheMatrix) {
  int64_t rows = GetParam();
  std::vector<Matrix> matrices(4);
  for (size_t i = 0; i < matrices.size(); ++i)
    matrices[i].factor = makePacked(rows, rows + i);
  std::vector<Answer> wide = run<double>(matrices, rows, 2);
  std::vector<Answer> narrow = run<float>(matrices, rows, 2);
  for (size_t i = 0; i < matrices.size(); ++i) {
    expectRight(matrices[i].factor, wide[i], rows, 1e-9);
    expectRight(matrices[i].factor, narrow[i], rows, 1e-4);
    Numbers change = makePacked(rows, 1000 + i);
    for (size_t j = 0; j < change.size(); ++j)
      matrices[i].factor[j] = 0.9 * matrices[i].factor[j] + 0.1 * change[j];
    matrices[i].start = wide[i].basis;
  }
  wide = run<double>(matrices, rows, 2);
  for (size_t i = 0; i < matrices.size(); ++i)
    expectRight(matrices[i].factor, wide[i], rows, 1e-9);
}

// A matrix has the same results in a batch as alone, even beside a zero matrix,
// which converges at once, and one with a NaN, which never does.
TEST_P(EigenOfSize, dependOnNoOther) {
  int64_t rows = GetParam();
  std::vector<Matrix> matrices(6);
  for (size_t i = 0; i < matrices.size(); ++i)
    matrices[i].factor = makePacked(rows, rows + i);
  std::fill(matrices[1].factor.begin(), matrices[1].factor.end(), 0);
  matrices[2].factor[0] = std::numeric_limits<double>::quiet_NaN();
  std::vector<Answer> together = run<float>(matrices, rows, 3);
  for (size_t i = 0; i < matrices.size(); ++i)
    EXPECT_TRUE(equal(together[i], run<float>({matrices[i]}, rows, 1)[0])) << i;
}

INSTANTIATE_TEST_SUITE_P(Sizes, EigenOfSize,
                         testing::Values(1, 2, 3, 7, 16, 33, 64, 65, 130));

// Rounding errors don't accumulate if each decomposition starts with the basis
// of the one before, even in f32.
TEST(Eigen, staysOrthogonal) {
  int64_t rows = 20;
  std::vector<Matrix> matrices(1);
  double worst = 0;
  for (int step = 0; step < 40; ++step) {
    matrices[0].factor = makePacked(rows, step);
    Answer answer = run<float>(matrices, rows, 1)[0];
    worst = std::max(worst, getSkew(answer, rows));
    matrices[0].start = answer.basis;
  }
  EXPECT_LT(worst, 1e-5);
}

TEST(Eigen, ofEqualValues) {
  int64_t rows = 5;
  std::vector<Matrix> matrices(3);
  matrices[0].factor.assign(15, 0); // all zeros
  matrices[1].factor.assign(15, 1); // a matrix of rank 1
  matrices[2].factor.assign(15, 0); // three equal eigenvalues
  for (int64_t i : {1, 2, 4})
    matrices[2].factor[i * (i + 3) / 2] = 2;
  std::vector<Answer> answers = run<double>(matrices, rows, 1);
  for (size_t i = 0; i < matrices.size(); ++i)
    expectRight(matrices[i].factor, answers[i], rows, 1e-12);
  std::sort(answers[1].values.begin(), answers[1].values.end());
  EXPECT_NEAR(answers[1].values[4], 5, 1e-12);
  EXPECT_NEAR(answers[1].values[3], 0, 1e-12);
}

TEST(Eigen, belowZeroAreZero) {
  std::vector<Matrix> matrices(1);
  matrices[0].factor = {1, 2, 1}; // eigenvalues 3 and -1
  Answer answer = run<double>(matrices, 2, 1)[0];
  std::sort(answer.values.begin(), answer.values.end());
  EXPECT_EQ(answer.values[0], 0);
  EXPECT_NEAR(answer.values[1], 3, 1e-14);
  EXPECT_LT(getSkew(answer, 2), 1e-14);
}

// If a matrix has an element that isn't finite, its eigenvalues are zero. Its
// basis is the start if that is orthogonal, else the identity.
TEST(Eigen, ofNoNumbers) {
  double infinity = std::numeric_limits<double>::infinity();
  std::vector<Matrix> matrices(4);
  matrices[0] = {{infinity, 0, 1}, {0.6, -0.8, 0.8, 0.6}};
  matrices[1] = {{1, std::nan(""), 1}, {}};
  matrices[2] = {{1, 0, -infinity}, {1, 2, 3, 4}};
  matrices[3] = {{2, 0, 3}, {std::nan(""), 0, 0, 1}};
  std::vector<Answer> answers = run<double>(matrices, 2, 1);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(answers[i].values, Numbers({0, 0})) << i;
  EXPECT_LT(getSkew(answers[0], 2), 1e-15);
  EXPECT_NEAR(answers[0].basis[1], -0.8, 1e-15);
  EXPECT_EQ(answers[1].basis, Numbers({1, 0, 0, 1}));
  EXPECT_EQ(answers[2].basis, Numbers({1, 0, 0, 1}));
  EXPECT_EQ(answers[3].values, Numbers({2, 3}));
}
