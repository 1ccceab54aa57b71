//===- driver.cpp - Compares generated inverses with LAPACK's -------------===//
//
// usage: driver ROUNDS THREADS HAS_GOALS. inverses.py links it with the program
// that it generates.
//
// For each size in sizes.inc, the driver inverts many symmetric positive
// definite matrices with the generated kernels and with LAPACK. Each round
// times both in turn, so that a disturbance of the machine affects both alike;
// the shortest time of all rounds counts. The exit code is 1 if an inverse
// differs too much or, with goals, if the generated kernels aren't fast enough.
//===----------------------------------------------------------------------===//

#include "program.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

extern "C" void openblas_set_num_threads(int);
extern "C" void spotrf_(const char *, const int *, float *, const int *, int *);
extern "C" void spotri_(const char *, const int *, float *, const int *, int *);

/// A size of matrices, and how many of them are inverted.
struct Size {
  int rows, count;
};
static const Size kSizes[] = {
#include "sizes.inc"
};

namespace {
/// The matrices of one size. The generated program has them as packed lower
/// triangles, and inverts them after it has added a damping to the diagonal.
/// LAPACK has square matrices that include the damping.
class Contest {
public:
  Contest(Program &program, size_t index, int threads)
      : program(program), index(index), threads(threads),
        rows(kSizes[index].rows), count(kSizes[index].count),
        square(static_cast<size_t>(rows) * static_cast<size_t>(rows)),
        factors(makeMatrices()), work(makeMatrices()) {
    fill();
  }

  void runOurs() { program.run(index); }
  /// Inverts all matrices by LAPACK. With `ownThreads`, this driver's threads
  /// share the matrices, and OpenBLAS uses one thread for each matrix;
  /// otherwise OpenBLAS uses all threads for one matrix after another.
  void runLoops(bool ownThreads);
  double check();
  double getFlops() const { return 1.0 * rows * rows * rows * count; }

private:
  struct Free {
    void operator()(void *memory) const { std::free(memory); }
  };
  float *makeMatrices() const {
    return static_cast<float *>(
        allocatePages(square * static_cast<size_t>(count) * sizeof(float)));
  }
  void fill();
  float *find(const std::string &name, int64_t copy) {
    return program.find(program.getTensor(std::to_string(rows) + "/" + name),
                        copy);
  }
  void invert(int begin, int end);
  /// Returns the index of an element in a packed lower triangle.
  size_t getPacked(int row, int column) const {
    return static_cast<size_t>(row) * (static_cast<size_t>(row) + 1) / 2 +
           static_cast<size_t>(column);
  }
  /// Returns a matrix of the generated program. Its `count` matrices are
  /// distributed evenly to the copies.
  float *findOurs(const std::string &name, int matrix) {
    int64_t batch = count / program.getCopies();
    return find(name, matrix / batch) +
           static_cast<size_t>(matrix % batch) * getPacked(rows, 0);
  }

  Program &program;
  size_t index;
  int threads, rows, count;
  size_t square;
  std::unique_ptr<float[], Free> factors, work;
};
} // namespace

/// Fills in random symmetric matrices with small elements off the diagonal, so
/// that they are positive definite.
void Contest::fill() {
  uint32_t state = 1;
  int64_t batch = count / program.getCopies();
  for (int matrix = 0; matrix < count; ++matrix) {
    find("damping", matrix / batch)[matrix % batch] = 0.5f;
    float *packed = findOurs("factor", matrix);
    float *full = &factors[square * static_cast<size_t>(matrix)];
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j <= i; ++j) {
        state = state * 1664525u + 1013904223u;
        float number = static_cast<float>(state >> 8) / (1 << 24) - 0.5f;
        number = i == j ? 1.0f : number / std::sqrt(1.0f * rows);
        packed[getPacked(i, j)] = number;
        full[static_cast<size_t>(i) * static_cast<size_t>(rows) +
             static_cast<size_t>(j)] = i == j ? number + 0.5f : number;
      }
  }
}

/// Inverts the matrices [begin, end) by LAPACK. Their lower triangles in
/// row-major order are upper triangles ("U") in LAPACK's column-major order.
void Contest::invert(int begin, int end) {
  for (int matrix = begin; matrix < end; ++matrix) {
    size_t first = square * static_cast<size_t>(matrix);
    std::memcpy(&work[first], &factors[first], square * sizeof(float));
    int info = 0;
    spotrf_("U", &rows, &work[first], &rows, &info);
    spotri_("U", &rows, &work[first], &rows, &info);
  }
}

void Contest::runLoops(bool ownThreads) {
  openblas_set_num_threads(ownThreads ? 1 : threads);
  if (!ownThreads || threads == 1)
    return invert(0, count);
  std::vector<std::thread> pool;
  for (int i = 0; i < threads; ++i)
    pool.emplace_back(
        [this, i] { invert(count * i / threads, count * (i + 1) / threads); });
  for (std::thread &thread : pool)
    thread.join();
}

/// Inverts all matrices by both, and returns the largest absolute difference
/// between two elements.
double Contest::check() {
  runOurs();
  runLoops(/*ownThreads=*/false);
  double worst = 0;
  for (int matrix = 0; matrix < count; ++matrix) {
    const float *ours = findOurs("inverse", matrix);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j <= i; ++j) {
        double theirs =
            work[square * static_cast<size_t>(matrix) +
                 static_cast<size_t>(i) * static_cast<size_t>(rows) +
                 static_cast<size_t>(j)];
        double error = std::fabs(ours[getPacked(i, j)] - theirs);
        worst = std::isnan(worst) || error <= worst ? worst : error;
      }
  }
  return worst;
}

/// Times a function, and updates the shortest time, in seconds.
static void time(double &best, const std::function<void()> &function) {
  auto begin = std::chrono::steady_clock::now();
  function();
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - begin;
  best = std::min(best, seconds.count());
}

int main(int, char **arguments) {
  int rounds = std::atoi(arguments[1]), threads = std::atoi(arguments[2]);
  bool hasGoals = std::atoi(arguments[3]) != 0, ok = true;
  Program program(threads);
  double product = 1;
  int small = 0;
  std::printf("%6s %6s %10s %12s %10s %8s %9s\n", "rows", "number", "GF/s",
              "threads' own", "OpenBLAS'", "times", "error");
  for (size_t i = 0; i < sizeof(kSizes) / sizeof(Size); ++i) {
    Contest contest(program, i, threads);
    double error = contest.check();
    double ours = 1e9, own = 1e9, theirs = 1e9;
    for (int round = 0; round < rounds; ++round) {
      time(ours, [&] { contest.runOurs(); });
      time(own, [&] { contest.runLoops(/*ownThreads=*/true); });
      time(theirs, [&] { contest.runLoops(/*ownThreads=*/false); });
    }
    double scale = contest.getFlops() / 1e9;
    double times = std::min(own, theirs) / ours;
    bool isSmall = kSizes[i].rows <= 256;
    product *= isSmall ? times : 1;
    small += isSmall;
    std::printf("%6d %6d %10.1f %12.1f %10.1f %7.2fx %9.1e\n", kSizes[i].rows,
                kSizes[i].count, scale / ours, scale / own, scale / theirs,
                times, error);
    ok &= error < 1e-4;
    ok &= !hasGoals || times >= (isSmall ? 1.5 : 1.0);
  }
  double mean = small ? std::pow(product, 1.0 / small) : 0;
  std::printf("geometric mean up to 256: %.2fx\n", mean);
  return ok && (!hasGoals || !small || mean >= 3) ? 0 : 1;
}
