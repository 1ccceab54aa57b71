//===- machine_limits.h - Limits of the processor -----------------*- C -*-===//

#ifndef HFTA_SRC_COMMANDS_MACHINE_LIMITS_H
#define HFTA_SRC_COMMANDS_MACHINE_LIMITS_H

#include "hfta/status.h"

#include <stdint.h>

typedef struct hfta_machine_limits {
  double flops; ///< per second: f32 multiply-adds on registers, two flops each
  double bytes; ///< per second: read plus written, while copying
} hfta_machine_limits;

/// Measures with `threads` threads of its own. This takes about half a second
/// and 64 MiB per thread, which is more than caches hold, but at most
/// `most_bytes` in all.
hfta_status hfta_measure_limits(int threads, uint64_t most_bytes,
                                hfta_machine_limits *out, hfta_error *error);

#endif // HFTA_SRC_COMMANDS_MACHINE_LIMITS_H
