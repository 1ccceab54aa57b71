//===- kernels.h - Common parts of the driver and its peers -----*- C++ -*-===//

#ifndef HFTA_BENCH_KERNELS_H
#define HFTA_BENCH_KERNELS_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

enum class Kind {
  gemm,
  forward,
  input,
  weight,
  square,
  moment,
  patches,
  // Memory-bound kinds from here on.
  chain,
  momentum,
  normalize,
  statistics,
  softmax,
  layerNorm,
  adam,
  pool,
  unpack
};

/// A row of the table that cases.py writes. `numbers` are for gemm: batch, m,
/// n, k, A transposed, B transposed; for a convolution: samples, input
/// channels, output channels, size, kernel, stride, padding, groups; for
/// patches: those of a convolution without output channels; for square and
/// moment: rows and columns.
struct Case {
  const char *name;
  Kind kind;
  std::vector<int64_t> numbers;
  double flops; ///< bytes for memory-bound kinds
  int goal;     ///< in per cent of the peak; 0 for none
  int copies;   ///< each has operands of its own; the flops are those of all
                ///< copies
  int beside;   ///< the number of an earlier case to compare it with, or -1

  bool isMemory() const { return kind >= Kind::chain; }
  /// Whether `a` is the only operand.
  bool isUnary() const { return kind >= Kind::square; }
};

/// A function to time.
struct Run {
  std::string name;
  std::function<void()> function;
  double flops;
  double best = 0; ///< seconds
};

/// Allocates `elements` numbers between -0.5 and 0.5 in large pages. They live
/// until the program ends.
float *allocate(int64_t elements);

/// Returns the libraries' versions of a case, with operands of their own that
/// live until the program ends.
std::vector<Run> makePeers(const Case &theCase);

/// Runs multiply-adds on registers only, 12 times `vectors` of them, on vectors
/// of 64 bytes if `wide`, else of 32 bytes. Needs AVX-512, or AVX and FMA.
void runPeak(bool wide, int64_t vectors);

/// Returns a run that reads and writes as much as the case, with `threads`
/// threads, vectors and streaming stores: the limit for memory-bound kernels.
/// Needs AVX.
Run makeStream(const Case &theCase, int threads);

#endif // HFTA_BENCH_KERNELS_H
