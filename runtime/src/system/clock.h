//===- clock.h - The time that passes ---------------------------*- C -*-===//

#ifndef HFTA_SRC_SYSTEM_CLOCK_H
#define HFTA_SRC_SYSTEM_CLOCK_H

#include <time.h>

/// Seconds of a clock that never jumps.
double hfta_now(void);

/// Of the same clock, CLOCK_MONOTONIC: `seconds` from now.
struct timespec hfta_clock_after(double seconds);

#endif // HFTA_SRC_SYSTEM_CLOCK_H
