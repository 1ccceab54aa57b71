//===- kernels.h - Benchmark cases and what runs them -----------*- C++ -*-===//
//
// The driver times each case of cases.py as Hfta's kernel, as the kernels of
// other libraries ("peers"), and as a run that reaches the machine's limit.
//===----------------------------------------------------------------------===//

#ifndef HFTA_BENCH_KERNELS_H
#define HFTA_BENCH_KERNELS_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

enum class Kind {
  gemm,
  forward, ///< a convolution
  input,   ///< the gradient of a convolution's input
  weight,  ///< the gradient of a convolution's weight
  square,  ///< x'x as a whole matrix
  moment,  ///< x'x as a packed lower triangle
  patches, ///< the second moment of a convolution's patches, packed
  // The kinds from here on are bound by memory.
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

/// A case: a row of the table cases.inc, which cases.py writes. The meaning of
/// `numbers` depends on the kind:
///
///   gemm             batch, m, n, k, whether A and whether B is transposed
///   convolutions     samples, input channels, output channels, size, kernel,
///                    stride, padding, groups
///   patches          as for convolutions, without the output channels
///   square, moment   rows and columns of x
///   memory-bound     elements read, elements written, and 1 if the channels
///                    are last
struct Case {
  const char *name;
  Kind kind;
  std::vector<int64_t> numbers;
  double flops; ///< all copies' flops; for memory-bound kinds: bytes
  int goal;     ///< the wanted percentage of the machine's limit; 0: none
  int copies;   ///< number of copies, each with its own operands
  int beside;   ///< the index of an earlier case that replaces the peers; -1:
                ///< none

  bool isMemory() const { return kind >= Kind::chain; }
  /// Returns whether a kind that isn't memory-bound has `a` as its only
  /// operand.
  bool isUnary() const { return kind >= Kind::square; }
};

/// A function to time, and the result.
struct Run {
  std::string name;
  std::function<void()> function;
  double flops;    ///< flops of a call; for memory-bound kinds: bytes
  double best = 0; ///< the shortest time of a call, in seconds
};

/// Returns new memory, in huge pages, with `elements` pseudorandom numbers
/// between -0.5 and 0.5. It is never freed.
float *allocate(int64_t elements);

/// Returns a run of a product or convolution for each library that supports it.
/// Each run has its own operands, which are never freed.
std::vector<Run> makePeers(const Case &theCase);

/// Executes 12 * `vectors` fused multiply-add instructions on registers. They
/// work on vectors of 64 bytes if `wide` (needs AVX-512), else on vectors of 32
/// bytes (needs AVX and FMA).
void runPeak(bool wide, int64_t vectors);

/// Returns a run that gives the limit for a memory-bound case: `threads`
/// threads read and write about as many bytes as the case, in a similar number
/// of streams, with vector loads and non-temporal stores. Needs AVX.
Run makeStream(const Case &theCase, int threads);

#endif // HFTA_BENCH_KERNELS_H
