//===- machine_limits.h - What the processor can do at most -----*- C -*-===//

#ifndef HFTA_SRC_COMMANDS_MACHINE_LIMITS_H
#define HFTA_SRC_COMMANDS_MACHINE_LIMITS_H

#include "hfta/status.h"

#include <stdint.h>

typedef struct hfta_machine_limits {
  double flops; ///< a second: f32 multiply-adds on registers, two flops each
  double bytes; ///< a second: read plus written, copying
} hfta_machine_limits;

/// Measures with `threads` threads of its own; takes about half a second, and
/// 64 MiB a thread while it runs, which is more than caches hold, but not over
/// `most_bytes` in all.
hfta_status hfta_measure_limits(int threads, uint64_t most_bytes,
                                hfta_machine_limits *out, hfta_error *error);

#endif // HFTA_SRC_COMMANDS_MACHINE_LIMITS_H
