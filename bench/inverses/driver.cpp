//===- driver.cpp - Times generated inverses beside LAPACK's --------------===//
//
// Rounds go over ours and LAPACK's in turn, so that a disturbance hits
// neighbours alike; the best of all rounds counts.
//===----------------------------------------------------------------------===//

#include "hfta/launch.h"
#include "hfta/program.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

extern "C" const hfta_program hfta_program_table __asm__("hfta_program");
extern "C" void openblas_set_num_threads(int);
extern "C" void spotrf_(const char *, const int *, float *, const int *, int *);
extern "C" void spotri_(const char *, const int *, float *, const int *, int *);

struct Size {
  int rows, count;
};
static const Size kSizes[] = {
#include "sizes.inc"
};

namespace {
class Program {
public:
  explicit Program(int threads) {
    uint64_t scratch = 64;
    for (uint32_t i = 0; i < table.segment_count; ++i) {
      const hfta_segment &segment = table.segments[i];
      uint64_t bytes = (segment.bytes / 64 + 1) * 64;
      void *memory = std::aligned_alloc(64, bytes);
      std::memset(memory, 0, bytes);
      segments.push_back(memory);
      if (segment.role == HFTA_SEGMENT_SCRATCH)
        scratch = segment.bytes;
    }
    for (int64_t copy = 0; copy < table.copies; ++copy)
      copies.push_back(static_cast<int32_t>(copy));
    keeps = std::make_unique<bool[]>(table.segment_count);
    std::fill_n(keeps.get(), table.segment_count, true);
    hfta_error error;
    if (hfta_pool_create(threads, scratch, &pool, &error) != HFTA_OK) {
      std::fprintf(stderr, "error: %s\n", error.message);
      std::exit(1);
    }
  }

  void run(size_t index) {
    std::string name = "forward." + std::to_string(index);
    for (uint32_t i = 0; i < table.task_count; ++i) {
      hfta_task_call call = {
          &table.tasks[i], segments.data(), keeps.get(), copies.data(),
          nullptr,         table.copies,    -1};
      if (table.tasks[i].name == name)
        hfta_run_task(pool, &call, nullptr);
    }
  }

  int64_t getCopies() const { return table.copies; }

  /// The first element of one copy's tensor.
  float *find(int rows, const std::string &name, int64_t copy) {
    std::string wanted = std::to_string(rows) + "/" + name;
    for (uint32_t i = 0; i < table.tensor_count; ++i)
      if (const hfta_tensor &tensor = table.tensors[i]; wanted == tensor.name)
        return reinterpret_cast<float *>(
            static_cast<char *>(segments[tensor.segment]) + tensor.offset +
            static_cast<uint64_t>(copy) * tensor.copy_stride);
    std::fprintf(stderr, "error: no tensor %s\n", wanted.c_str());
    std::exit(1);
  }

private:
  const hfta_program &table = hfta_program_table;
  std::vector<void *> segments;
  std::vector<int32_t> copies;
  std::unique_ptr<bool[]> keeps;
  hfta_pool *pool = nullptr;
};

/// Matrices of one size, ours and LAPACK's.
class Contest {
public:
  Contest(Program &program, size_t index, int threads)
      : program(program), index(index), threads(threads),
        rows(kSizes[index].rows), count(kSizes[index].count),
        square(static_cast<size_t>(rows) * static_cast<size_t>(rows)),
        factors(square * static_cast<size_t>(count)), work(factors.size()) {
    fill();
  }

  void runOurs() { program.run(index); }
  void runLoops(bool ownThreads);
  double check();
  double getFlops() const { return 1.0 * rows * rows * rows * count; }

private:
  void fill();
  void invert(int begin, int end);
  size_t getPacked(int row, int column) const {
    return static_cast<size_t>(row) * (static_cast<size_t>(row) + 1) / 2 +
           static_cast<size_t>(column);
  }
  float *findOurs(const std::string &name, int matrix) {
    int64_t batch = count / program.getCopies();
    return program.find(rows, name, matrix / batch) +
           static_cast<size_t>(matrix % batch) * getPacked(rows, 0);
  }

  Program &program;
  size_t index;
  int threads, rows, count;
  size_t square;
  std::vector<float> factors, work;
};
} // namespace

/// Symmetric, with a diagonal that outweighs the rest.
void Contest::fill() {
  uint32_t state = 1;
  int64_t batch = count / program.getCopies();
  for (int matrix = 0; matrix < count; ++matrix) {
    program.find(rows, "damping", matrix / batch)[matrix % batch] = 0.5f;
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

/// LAPACK's lower triangle is ours by columns, its upper one by rows.
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

/// The largest difference from LAPACK's numbers.
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
        worst = error <= worst ? worst : error; // a NaN is the worst
      }
  }
  return worst;
}

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
