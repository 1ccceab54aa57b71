//===- InverseTest.cpp - Tests of hfta.spd_inverse ------------------------===//

#include "MatrixTask.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir::hfta;

namespace {

using Numbers = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Returns (packed + damping · I)⁻¹ by Gauss-Jordan elimination with pivoting.
Numbers invert(const Numbers &packed, int64_t rows, double damping) {
  std::vector<std::vector<long double>> work(
      rows, std::vector<long double>(2 * rows));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < rows; ++j)
      work[i][j] = getPacked(packed, i, j);
    work[i][i] += damping;
    work[i][rows + i] = 1;
  }
  for (int64_t i = 0; i < rows; ++i) {
    int64_t pivot = i;
    for (int64_t k = i; k < rows; ++k)
      if (std::abs(work[k][i]) > std::abs(work[pivot][i]))
        pivot = k;
    std::swap(work[i], work[pivot]);
    long double scale = 1 / work[i][i];
    for (long double &number : work[i])
      number *= scale;
    for (int64_t k = 0; k < rows; ++k) {
      long double factor = k == i ? 0 : work[k][i];
      for (int64_t j = 0; factor != 0 && j < 2 * rows; ++j)
        work[k][j] -= factor * work[i][j];
    }
  }
  Numbers inverse;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j <= i; ++j)
      inverse.push_back(work[i][rows + j]);
  return inverse;
}

/// The operands for one matrix. `old` is the packed previous inverse (empty:
/// zeros), which the op returns if the inversion fails.
struct Matrix {
  Numbers factor, old;
  double damping = 0.1;
};

struct Answer {
  Numbers inverse;
  int32_t tries = -1;
};

/// Inverts `matrices` in element type T. Matrix i belongs to copy i / n of the
/// program, where n is the number of matrices per copy.
template <typename T>
std::vector<Answer> run(const std::vector<Matrix> &matrices, int64_t rows,
                        int64_t copies, int threads = 2) {
  int64_t count = matrices.size() / copies, packed = rows * (rows + 1) / 2;
  std::string element = sizeof(T) == 8 ? "f64" : "f32";
  std::string batch = std::to_string(count) + "x";
  std::string triangles = batch + std::to_string(packed) + "x" + element;
  auto task = MatrixTask::compile(
      "spd_inverse",
      {{"factor", triangles}, {"damping", batch + element}, {"old", triangles}},
      {{"inverse", triangles}, {"tries", batch + "i32"}}, copies, threads);
  std::vector<Answer> answers(matrices.size());
  if (!task) {
    ADD_FAILURE() << "doesn't compile";
    return answers;
  }
  for (int64_t i = 0; i < static_cast<int64_t>(matrices.size()); ++i) {
    int64_t copy = i / count, matrix = i % count;
    task->at<T>("damping", copy)[matrix] = matrices[i].damping;
    for (int64_t j = 0; j < packed; ++j) {
      task->at<T>("factor", copy)[matrix * packed + j] = matrices[i].factor[j];
      task->at<T>("old", copy)[matrix * packed + j] =
          matrices[i].old.empty() ? 0 : matrices[i].old[j];
    }
  }
  task->run();
  for (int64_t i = 0; i < static_cast<int64_t>(matrices.size()); ++i) {
    int64_t copy = i / count, matrix = i % count;
    T *inverse = task->at<T>("inverse", copy) + matrix * packed;
    answers[i].inverse.assign(inverse, inverse + packed);
    answers[i].tries = task->at<int32_t>("tries", copy)[matrix];
  }
  return answers;
}

std::vector<Matrix> makeMatrices(int64_t count, int64_t rows) {
  std::vector<Matrix> matrices(count);
  for (int64_t i = 0; i < count; ++i) {
    matrices[i].factor = makePacked(rows, 100 * rows + i);
    matrices[i].damping = 0.003 * (i + 1);
  }
  return matrices;
}

/// Returns the largest absolute difference, divided by the largest expected
/// absolute value.
double compare(const Numbers &got, const Numbers &expected) {
  double worst = 0, largest = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    double difference = std::abs(got[i] - expected[i]);
    worst = difference <= worst ? worst : difference;
    largest = std::max(largest, std::abs(expected[i]));
  }
  return worst / largest;
}

bool equal(const Numbers &a, const Numbers &b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

} // namespace

class InverseOfSize : public testing::TestWithParam<int64_t> {};

// Checks both element types with two copies of three matrices each.
TEST_P(InverseOfSize, equalsTheNaiveOne) {
  int64_t rows = GetParam();
  std::vector<Matrix> matrices = makeMatrices(6, rows);
  std::vector<Answer> wide = run<double>(matrices, rows, 2);
  std::vector<Answer> narrow = run<float>(matrices, rows, 2);
  for (size_t i = 0; i < matrices.size(); ++i) {
    Numbers expected = invert(matrices[i].factor, rows, matrices[i].damping);
    EXPECT_LT(compare(wide[i].inverse, expected), 1e-9) << "matrix " << i;
    EXPECT_LT(compare(narrow[i].inverse, expected), 2e-3) << "matrix " << i;
    EXPECT_EQ(wide[i].tries, 0);
    EXPECT_EQ(narrow[i].tries, 0);
  }
}

// An inverse has the same bytes whether its matrix is in a batch or alone.
TEST_P(InverseOfSize, dependsOnNoOther) {
  int64_t rows = GetParam();
  std::vector<Matrix> matrices = makeMatrices(21, rows);
  std::vector<Answer> together = run<float>(matrices, rows, 7);
  std::vector<Answer> inOne = run<float>(matrices, rows, 1, /*threads=*/1);
  for (size_t i = 0; i < matrices.size(); ++i) {
    EXPECT_TRUE(equal(together[i].inverse, inOne[i].inverse)) << i;
    if (i % 10 != 0)
      continue;
    std::vector<Answer> alone = run<float>({matrices[i]}, rows, 1);
    EXPECT_TRUE(equal(together[i].inverse, alone[0].inverse)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, InverseOfSize,
                         testing::Values(1, 2, 3, 7, 16, 33, 64, 65, 130));

class InverseThatFails : public testing::TestWithParam<int64_t> {};

// An inversion that fails is tried again with ten times the damping, at most
// three times; then the matrix keeps its old inverse. This doesn't change the
// results of other matrices in the batch.
TEST_P(InverseThatFails, isTriedAgain) {
  int64_t rows = GetParam();
  std::vector<Matrix> good = makeMatrices(20, rows);
  for (Matrix &matrix : good)
    matrix.old = makePacked(rows, 7);
  std::vector<Matrix> mixed = good;
  int64_t last = rows * (rows + 1) / 2 - 1;
  // Matrices 1, 3, 4 and 6 have negative eigenvalues, for which one, two, three
  // and more than three further tries are needed.
  auto makeIndefinite = [&](Matrix &matrix, double value) {
    std::fill(matrix.factor.begin(), matrix.factor.end(), 0);
    for (int64_t i = 0; i < rows; ++i)
      matrix.factor[i * (i + 3) / 2] = i % 2 ? 0.5 : value;
    matrix.damping = 0.01;
  };
  makeIndefinite(mixed[1], -0.05);
  makeIndefinite(mixed[3], -0.5);
  makeIndefinite(mixed[4], -5);
  makeIndefinite(mixed[6], -50);
  mixed[7].factor[last] = kNaN;
  mixed[8].factor[last / 2] = kNaN;
  mixed[9].factor[0] = kInfinity;
  mixed[10].factor[last] = -kInfinity;
  mixed[11] = mixed[7]; // no old inverse: gives identity / damping
  mixed[11].old.clear();
  mixed[11].damping = 0.25;
  std::fill(mixed[12].factor.begin(), mixed[12].factor.end(), 0); // singular
  mixed[12].damping = 0;
  std::vector<int32_t> tries = {0, 1, 0, 2, 3, 0, 4, 4, 4, 4, 4, 4, 4};

  std::vector<Answer> expected = run<double>(good, rows, 4);
  std::vector<Answer> got = run<double>(mixed, rows, 4);
  for (size_t i = 0; i < mixed.size(); ++i) {
    int32_t more = i < tries.size() ? tries[i] : 0;
    EXPECT_EQ(got[i].tries, more) << "matrix " << i;
    Numbers inverse = expected[i].inverse;
    if (more > 0 && more < 4)
      inverse =
          invert(mixed[i].factor, rows, mixed[i].damping * std::pow(10, more));
    else if (more == 4)
      inverse = mixed[i].old;
    if (i == 11) {
      inverse.assign(last + 1, 0);
      for (int64_t row = 0; row < rows; ++row)
        inverse[row * (row + 3) / 2] = 4;
    }
    if (more > 0 && more < 4)
      EXPECT_LT(compare(got[i].inverse, inverse), 1e-9) << "matrix " << i;
    else
      EXPECT_TRUE(equal(got[i].inverse, inverse)) << "matrix " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, InverseThatFails,
                         testing::Values(1, 5, 16, 40, 70));

// The pivot is positive, but so small that its reciprocal overflows to
// infinity.
TEST(Inverse, thatIsNotFiniteIsTriedAgain) {
  std::vector<Matrix> matrices(1);
  matrices[0] = {{0}, {2}, 1e-42};
  std::vector<Answer> answers = run<float>(matrices, 1, 1);
  EXPECT_EQ(answers[0].tries, 4);
  EXPECT_EQ(answers[0].inverse[0], 2);
  matrices[0].damping = 1e-39;
  answers = run<float>(matrices, 1, 1);
  EXPECT_EQ(answers[0].tries, 1);
}
