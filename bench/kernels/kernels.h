//===- kernels.h - What the driver and its peers share ----------*- C++ -*-===//

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
  // Bound by memory from here on.
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
/// patches: the same without output channels; for square and moment: rows and
/// columns.
struct Case {
  const char *name;
  Kind kind;
  std::vector<int64_t> numbers;
  double flops; ///< bytes for what is bound by memory
  int goal;     ///< per cent of peak, 0: none
  int copies;   ///< each with operands of its own; the flops are all copies'
  int beside;   ///< the case of another kernel that it is set beside, or -1

  bool isMemory() const { return kind >= Kind::chain; }
  /// Whether `a` is the only operand.
  bool isUnary() const { return kind >= Kind::square; }
};

/// Something to time.
struct Run {
  std::string name;
  std::function<void()> function;
  double flops;
  double best = 0; ///< seconds
};

/// `elements` numbers between -0.5 and 0.5 in large pages, until the program
/// ends.
float *allocate(int64_t elements);

/// The libraries' versions of a case on operands of their own. The memory lives
/// until the end of the program.
std::vector<Run> makePeers(const Case &theCase);

/// Multiply-adds on registers alone, `vectors` of them times 12.
void runPeak(bool wide, int64_t vectors);

/// Reads and writes as much as the case, by `threads` threads, in the best way
/// that vectors and streaming stores know: the limit of what is bound by
/// memory.
Run makeStream(const Case &theCase, int threads);

#endif // HFTA_BENCH_KERNELS_H
