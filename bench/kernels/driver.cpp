//===- driver.cpp - Compares generated kernels with libraries -------------===//
//
// usage: driver [ROUNDS [THREADS [FILTER]]]. Runs the cases whose names contain
// FILTER.
//
// For each case, the driver first checks some elements of the generated
// kernel's result against sums in double precision. Then it times this kernel,
// those of libraries, and a run that reaches the machine's limit. Each round
// times all of these in turn, so that a disturbance of the machine affects them
// alike; the shortest time of all rounds counts. The exit code is 1 if a result
// is wrong.
//===----------------------------------------------------------------------===//

#include "kernels.h"
#include "program.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <thread>

extern "C" void omp_set_num_threads(int);
extern "C" void openblas_set_num_threads(int);

static const Case kCases[] = {
#include "cases.inc"
};

/// Returns the time in seconds: the processor time of this thread if
/// `oneThread` is set, which interruptions don't increase, or the wall-clock
/// time.
static double getSeconds(bool oneThread) {
  timespec now;
  clock_gettime(oneThread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) +
         1e-9 * static_cast<double>(now.tv_nsec);
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

namespace {
/// The compiled program of all cases. Case I has the task forward.I, operands
/// with the names I/a, I/b, ..., and the result I/r; here they are identified
/// by I and the letter.
class Cases : public Program {
public:
  using Program::Program;

  /// Returns a tensor's data in one copy, and the number of its elements.
  float *find(size_t index, char name, int64_t *elements = nullptr,
              int copy = 0) {
    const hfta_tensor &tensor = getTensor(index, name);
    if (elements)
      *elements = static_cast<int64_t>(tensor.bytes / 4);
    return Program::find(tensor, copy);
  }

  /// Returns a tensor's elements with the channels on axis 1 (NCHW). For an
  /// activation, `channels` is the number of its channels: the compiler may
  /// have stored it with the channels last (NHWC), which its shape shows. For
  /// any other tensor, `channels` is 0, and the elements are returned as
  /// stored.
  std::vector<float> getLogical(size_t index, char name, int64_t channels,
                                int copy = 0) {
    const hfta_tensor &tensor = getTensor(index, name);
    int64_t count;
    const float *stored = find(index, name, &count, copy);
    std::vector<float> logical(stored, stored + count);
    if (channels == 0 || tensor.shape[1] == channels)
      return logical;
    int64_t plane = tensor.shape[1] * tensor.shape[2];
    for (int64_t i = 0; i < count; ++i) {
      int64_t channel = i % channels, position = i / channels % plane;
      int64_t sample = i / channels / plane;
      logical[(sample * channels + channel) * plane + position] = stored[i];
    }
    return logical;
  }

private:
  const hfta_tensor &getTensor(size_t index, char name) const {
    return Program::getTensor(std::to_string(index) + "/" + name);
  }
};
} // namespace

/// Fills an array with pseudorandom numbers between -0.5 and 0.5.
static void fill(float *values, int64_t count, uint32_t state) {
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    values[i] = static_cast<float>(state >> 8) / (1 << 24) - 0.5f;
  }
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Computes one element of a matrix product in double precision.
static double getProduct(const Case &c, const float *a, const float *b,
                         int64_t index) {
  const std::vector<int64_t> &v = c.numbers;
  int64_t m = v[1], n = v[2], k = v[3];
  int64_t column = index % n, row = index / n % m, batch = index / n / m;
  double sum = 0;
  for (int64_t i = 0; i < k; ++i)
    sum += static_cast<double>(
               a[batch * m * k + (v[4] ? i * m + row : row * k + i)]) *
           b[batch * k * n + (v[5] ? column * k + i : i * n + column)];
  return sum;
}

/// Computes one element of the result of a convolution's pass: of y from x and
/// w (forward), of x's gradient from y's and w (input), or of w's gradient from
/// x and y's gradient (weight).
static double getConvolution(const Case &c, const float *a, const float *b,
                             int64_t index) {
  const std::vector<int64_t> &v = c.numbers;
  int64_t samples = v[0], channels = v[1], outputs = v[2], size = v[3];
  int64_t kernel = v[4], stride = v[5], padding = v[6], groups = v[7];
  int64_t out = (size + 2 * padding - kernel) / stride + 1;
  int64_t cg = channels / groups, og = outputs / groups;
  auto at = [](const float *t, int64_t n, int64_t ch, int64_t count, int64_t h,
               int64_t w, int64_t width) {
    if (h < 0 || w < 0 || h >= width || w >= width)
      return 0.0;
    return static_cast<double>(t[((n * count + ch) * width + h) * width + w]);
  };
  double sum = 0;
  if (c.kind == Kind::forward) {
    int64_t w = index % out, h = index / out % out;
    int64_t o = index / out / out % outputs, n = index / out / out / outputs;
    for (int64_t i = 0; i < cg; ++i)
      for (int64_t y = 0; y < kernel; ++y)
        for (int64_t x = 0; x < kernel; ++x)
          sum += at(a, n, o / og * cg + i, channels, h * stride + y - padding,
                    w * stride + x - padding, size) *
                 b[((o * cg + i) * kernel + y) * kernel + x];
  } else if (c.kind == Kind::input) {
    int64_t w = index % size, h = index / size % size;
    int64_t i = index / size / size % channels;
    int64_t n = index / size / size / channels;
    for (int64_t o = i / cg * og; o < (i / cg + 1) * og; ++o)
      for (int64_t y = 0; y < kernel; ++y)
        for (int64_t x = 0; x < kernel; ++x)
          if ((h + padding - y) % stride == 0 &&
              (w + padding - x) % stride == 0)
            sum += at(a, n, o, outputs, (h + padding - y) / stride,
                      (w + padding - x) / stride, out) *
                   b[((o * cg + i % cg) * kernel + y) * kernel + x];
  } else {
    int64_t x = index % kernel, y = index / kernel % kernel;
    int64_t i = index / kernel / kernel % cg, o = index / kernel / kernel / cg;
    for (int64_t n = 0; n < samples; ++n)
      for (int64_t h = 0; h < out; ++h)
        for (int64_t w = 0; w < out; ++w)
          sum += at(a, n, o / og * cg + i, channels, h * stride + y - padding,
                    w * stride + x - padding, size) *
                 at(b, n, o, outputs, h, w, out);
  }
  return sum;
}

/// Returns the row and column of the element at this index: in a square matrix
/// for the kind `square`, otherwise in a packed lower triangle.
static std::pair<int64_t, int64_t> getPlace(const Case &c, int64_t index) {
  if (c.kind == Kind::square)
    return {index / c.numbers[1], index % c.numbers[1]};
  int64_t row = 0;
  while (index > row)
    index -= ++row;
  return {row, index};
}

/// Computes one element of x'x, which has all elements or is a packed triangle.
static double getSquare(const Case &c, const float *a, int64_t index) {
  int64_t rows = c.numbers[0], columns = c.numbers[1];
  auto [first, second] = getPlace(c, index);
  double sum = 0;
  for (int64_t row = 0; row < rows; ++row)
    sum += static_cast<double>(a[row * columns + first]) *
           a[row * columns + second];
  return sum;
}

/// Computes one element of the second moment of a convolution's patches: the
/// sum over all samples and positions of products of two inputs of a window.
static double getPatches(const Case &c, const float *a, int64_t index) {
  const std::vector<int64_t> &v = c.numbers;
  int64_t samples = v[0], channels = v[1], size = v[2], kernel = v[3];
  int64_t stride = v[4], padding = v[5], groups = v[6];
  int64_t out = (size + 2 * padding - kernel) / stride + 1;
  int64_t taps = kernel * kernel, side = channels / groups * taps;
  int64_t packed = side * (side + 1) / 2, group = index / packed;
  auto [first, second] = getPlace(c, index % packed);
  auto at = [&](int64_t n, int64_t column, int64_t h, int64_t w) {
    h = h * stride + column % taps / kernel - padding;
    w = w * stride + column % kernel - padding;
    int64_t channel = group * (channels / groups) + column / taps;
    if (h < 0 || w < 0 || h >= size || w >= size)
      return 0.0;
    return static_cast<double>(
        a[((n * channels + channel) * size + h) * size + w]);
  };
  double sum = 0;
  for (int64_t n = 0; n < samples; ++n)
    for (int64_t h = 0; h < out; ++h)
      for (int64_t w = 0; w < out; ++w)
        sum += at(n, first, h, w) * at(n, second, h, w);
  return sum;
}

/// Computes one element of the result of a kind that isn't memory-bound.
static double getElement(const Case &c, const float *a, const float *b,
                         int64_t index) {
  switch (c.kind) {
  case Kind::gemm:
    return getProduct(c, a, b, index);
  case Kind::square:
  case Kind::moment:
    return getSquare(c, a, index);
  case Kind::patches:
    return getPatches(c, a, index);
  default:
    return getConvolution(c, a, b, index);
  }
}

/// Computes one element of a memory-bound kernel's result from its operands a,
/// b, c, d as they were before the run. The sizes and constants are those of
/// memory_cases in cases.py.
static double getMemory(const Case &c,
                        const std::vector<std::vector<float>> &tensors,
                        int64_t index) {
  auto at = [&](size_t tensor, int64_t i) -> double {
    return tensors[tensor][i];
  };
  bool channelsLast = c.numbers[2] != 0;
  int64_t channel = channelsLast ? index % 64 : index / (56 * 56) % 64;
  double sum = 0;
  switch (c.kind) {
  case Kind::chain:
    return std::max(0.0, at(0, index) * at(1, index) + at(2, index));
  case Kind::momentum:
    return at(0, index) - 0.9 * (0.9 * at(2, index) + at(1, index));
  case Kind::adam: {
    double m = 0.9 * at(2, index) + 0.1 * at(1, index);
    double v = 0.99 * at(3, index) + 0.01 * at(1, index) * at(1, index);
    return at(0, index) - 0.125 * m / (std::sqrt(v) + 1e-8);
  }
  case Kind::pool: {
    int64_t x = index % 28, y = index / 28 % 28, plane = index / 28 / 28;
    int64_t first = (plane * 56 + 2 * y) * 56 + 2 * x;
    return std::max(std::max(at(0, first), at(0, first + 1)),
                    std::max(at(0, first + 56), at(0, first + 57)));
  }
  case Kind::layerNorm: {
    int64_t row = index / 1000 * 1000;
    for (int64_t i = 0; i < 1000; ++i)
      sum += at(0, row + i) / 1000;
    double variance = 0;
    for (int64_t i = 0; i < 1000; ++i)
      variance += (at(0, row + i) - sum) * (at(0, row + i) - sum) / 1000;
    return (at(0, index) - sum) / std::sqrt(variance);
  }
  case Kind::unpack: {
    int64_t row = index / 1024 % 1024, column = index % 1024;
    int64_t larger = std::max(row, column), smaller = std::min(row, column);
    int64_t block = index / 1024 / 1024 * (1024 * 1025 / 2);
    return at(0, block + larger * (larger + 1) / 2 + smaller);
  }
  case Kind::normalize:
    return (at(0, index) - at(1, channel)) * at(2, channel) + at(3, channel);
  case Kind::statistics:
    for (int64_t n = 0; n < 64; ++n)
      for (int64_t i = 0; i < 56 * 56; ++i)
        sum += at(0, channelsLast ? (n * 56 * 56 + i) * 64 + index
                                  : (n * 64 + index) * 56 * 56 + i);
    return sum;
  default:
    for (int64_t i = 0; i < 1000; ++i)
      sum += std::exp(at(0, index / 1000 * 1000 + i));
    return std::exp(at(0, index)) / sum;
  }
}

/// Runs a memory-bound case and returns the largest error of 500 elements,
/// relative to a bound on errors of rounding: more than 1 means a wrong result.
static double checkMemory(Cases &program, size_t index) {
  const Case &c = kCases[index];
  std::vector<std::vector<float>> tensors;
  size_t operands = 1;
  if (c.kind == Kind::chain || c.kind == Kind::momentum)
    operands = 3;
  else if (c.kind == Kind::normalize || c.kind == Kind::adam)
    operands = 4;
  bool updates = c.kind == Kind::momentum || c.kind == Kind::adam;
  // The compiler chooses the layout of activations; all others keep theirs.
  bool isChosen = c.kind == Kind::pool;
  for (size_t i = 0; i < operands; ++i) {
    int64_t size;
    float *memory = program.find(index, static_cast<char>('a' + i), &size);
    fill(memory, size, static_cast<uint32_t>(i) + 1);
    // Adam's second moments (d) aren't negative.
    for (int64_t j = 0; c.kind == Kind::adam && i == 3 && j < size; ++j)
      memory[j] = std::fabs(memory[j]);
    tensors.push_back(program.getLogical(index, static_cast<char>('a' + i),
                                         isChosen ? 64 : 0));
  }
  program.run(index);
  std::vector<float> result =
      program.getLogical(index, updates ? 'a' : 'r', isChosen ? 64 : 0);
  auto size = static_cast<int64_t>(result.size());
  double terms = c.kind == Kind::statistics ? 64 * 56 * 56 : 1;
  double worst = 0;
  for (int64_t sample = 0; sample < 500; ++sample) {
    int64_t element = sample * 1000003 % size;
    double error = std::fabs(result[element] - getMemory(c, tensors, element)) /
                   (1e-6 * std::sqrt(terms) + 3e-8 * terms);
    worst = std::isnan(worst) || error <= worst ? worst : error;
  }
  return worst;
}

/// Returns the largest error of 500 elements of one copy's result, relative to
/// a bound on errors of rounding: more than 1 means a wrong result. The bound
/// grows with the number of terms, because each addition to a sum has an error
/// in proportion to the sum so far.
static double checkCopy(Cases &program, size_t index, int copy) {
  const Case &c = kCases[index];
  int64_t inputs = c.numbers[1], outputs = c.numbers[2];
  bool isWeight = c.kind == Kind::weight;
  bool isForward = c.kind == Kind::forward || c.kind == Kind::patches;
  bool isProduct =
      c.kind == Kind::gemm || c.kind == Kind::square || c.kind == Kind::moment;
  auto getLogical = [&](char name, int64_t channels) {
    return program.getLogical(index, name, isProduct ? 0 : channels, copy);
  };
  std::vector<float> a =
      getLogical('a', isForward || isWeight ? inputs : outputs);
  std::vector<float> b;
  if (!c.isUnary())
    b = getLogical('b', isWeight ? outputs : 0);
  // Weights and moments aren't activations: their layout is fixed.
  bool isPlain = isWeight || c.kind == Kind::patches;
  std::vector<float> r = getLogical('r', isPlain     ? 0
                                         : isForward ? outputs
                                                     : inputs);
  double worst = 0;
  double terms = c.flops / c.copies / 2 / static_cast<double>(r.size());
  for (int64_t sample = 0; sample < 500; ++sample) {
    int64_t element = sample * 1000003 % static_cast<int64_t>(r.size());
    double expected = getElement(c, a.data(), b.data(), element);
    // Second moments contain sums of squares, which grow with every term. So
    // their bound also depends on the sum.
    double grown = c.isUnary() ? 1e-7 * std::fabs(expected) : 0;
    double error = std::fabs(r[element] - expected) /
                   ((1e-6 + grown) * std::sqrt(terms) + 3e-8 * terms);
    worst = std::isnan(worst) || error <= worst ? worst : error;
  }
  return worst;
}

/// Runs a case that isn't memory-bound, and returns the largest relative error
/// of all copies, as checkCopy does. The results are filled with NaNs before.
static double check(Cases &program, size_t index) {
  int copies = kCases[index].copies;
  for (int copy = 0; copy < copies; ++copy) {
    int64_t size;
    for (char name : {'a', 'b'}) {
      if (name == 'b' && kCases[index].isUnary())
        continue;
      float *operand = program.find(index, name, &size, copy);
      fill(operand, size, static_cast<uint32_t>(2 * copy + name));
    }
    float *result = program.find(index, 'r', &size, copy);
    std::memset(result, 0xff, static_cast<size_t>(size) * 4);
  }
  program.run(index);
  double worst = 0;
  for (int copy = 0; copy < copies; ++copy) {
    double error = checkCopy(program, index, copy);
    worst = std::isnan(worst) || error <= worst ? worst : error;
  }
  return worst;
}

//===----------------------------------------------------------------------===//
// Timing
//===----------------------------------------------------------------------===//

/// Returns how many calls of a run are timed together, so that they take about
/// half a millisecond.
static int getRepeats(Run &run) {
  run.function();
  double begin = getSeconds(false);
  run.function();
  double seconds = getSeconds(false) - begin;
  return std::max(1, static_cast<int>(5e-4 / std::max(seconds, 1e-7)));
}

/// Times all runs in rounds, and sets `best` of each.
static void timeRuns(std::vector<Run *> &runs, int rounds, bool oneThread) {
  std::vector<int> repeats;
  for (Run *run : runs)
    repeats.push_back(getRepeats(*run));
  for (int round = 0; round < rounds; ++round)
    for (size_t i = 0; i < runs.size(); ++i) {
      // The threads of the previous run's pool still spin-wait for work. Let
      // them go to sleep first.
      if (!oneThread)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      runs[i]->function();
      double begin = getSeconds(oneThread);
      for (int repeat = 0; repeat < repeats[i]; ++repeat)
        runs[i]->function();
      double seconds = (getSeconds(oneThread) - begin) / repeats[i];
      if (round == 0 || seconds < runs[i]->best)
        runs[i]->best = seconds;
    }
}

/// Ends the process unless this processor has the features that runPeak and
/// makeStream need. The constructor of Program checks those that the kernels
/// need.
static void needFeatures() {
  std::string missing;
  if (!__builtin_cpu_supports("avx"))
    missing = "avx";
  if (!__builtin_cpu_supports("fma"))
    missing += missing.empty() ? "fma" : ", fma";
  if (!missing.empty())
    failBench("this CPU lacks " + missing +
                  ", with which the peak and the bandwidth are measured",
              kMissing);
}

int main(int argc, char **argv) {
  needFeatures();
  int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
  int threads = argc > 2 ? std::atoi(argv[2]) : 1;
  std::string filter = argc > 3 ? argv[3] : "";
  omp_set_num_threads(threads);
  openblas_set_num_threads(threads);
  Cases program(threads);
  bool wide = program.hasWideVectors();
  bool sound = true;
  int64_t peakVectors = 100000;
  std::printf("%-44s %8s %6s %5s  peers\n", "kernel", "G/s", "peak", "goal");
  for (size_t i = 0; i < sizeof(kCases) / sizeof(Case); ++i) {
    const Case &c = kCases[i];
    if (std::string(c.name).find(filter) == std::string::npos)
      continue;
    double error = c.isMemory() ? checkMemory(program, i) : check(program, i);
    Run peak = {"peak", [=] { runPeak(wide, peakVectors); },
                static_cast<double>(peakVectors) * 12 * (wide ? 32 : 16)};
    if (c.isMemory())
      peak = makeStream(c, threads);
    Run ours = {"hfta", [&] { program.run(i); }, c.flops};
    std::vector<Run> peers;
    if (c.beside >= 0)
      peers.push_back({kCases[c.beside].name, [&] { program.run(c.beside); },
                       kCases[c.beside].flops});
    else if (!c.isMemory() && !c.isUnary())
      peers = makePeers(c);
    std::vector<Run *> runs = {&peak, &ours};
    for (Run &peer : peers)
      runs.push_back(&peer);
    timeRuns(runs, rounds, threads == 1);
    double limit = peak.flops / peak.best * (c.isMemory() ? 1 : threads);
    double share = 100 * c.flops / ours.best / limit;
    std::printf("%-44s %8.1f %5.1f%%", c.name, c.flops / ours.best * 1e-9,
                share);
    c.goal ? std::printf(" %4d%%", c.goal) : std::printf("      ");
    for (Run &peer : peers)
      std::printf("  %s %.1f%% (%.2fx)", peer.name.c_str(),
                  100 * peer.flops / peer.best / limit, peer.best / ours.best);
    // More than 100 % of the peak means that the result or the time is wrong.
    // Moments of patches are an exception: their kernels need fewer flops than
    // are counted.
    bool isBounded = !c.isMemory() && c.kind != Kind::patches;
    if (!(error <= 1) || (share > 101 && isBounded)) {
      std::printf("  WRONG (%.3g)", error);
      sound = false;
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  return sound ? 0 : 1;
}
