//===- machine_limits.h - Measured limits of the processor --------*- C -*-===//

#ifndef HFTA_SRC_COMMAND_LINE_BENCH_MACHINE_LIMITS_H
#define HFTA_SRC_COMMAND_LINE_BENCH_MACHINE_LIMITS_H

#include "hfta/status.h"

#include <stdint.h>

/// The highest rates that the processor has reached, for comparison with
/// kernels.
typedef struct hfta_machine_limits {
  double flops; ///< flops per second of f32 multiply-adds on registers, each
                ///< counted as two
  double bytes; ///< bytes per second, read plus written, of copying in memory
} hfta_machine_limits;

/// Measures the limits with a pool of `threads` threads. This takes about half
/// a second. It allocates 64 MiB per thread, more than the caches hold, but all
/// together at most about `most_bytes`. HFTA_UNSUPPORTED if memory runs out.
hfta_status hfta_measure_limits(int threads, uint64_t most_bytes,
                                hfta_machine_limits *out, hfta_error *error);

#endif // HFTA_SRC_COMMAND_LINE_BENCH_MACHINE_LIMITS_H
