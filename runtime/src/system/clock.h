//===- clock.h - Clocks -------------------------------------------*- C -*-===//

#ifndef HFTA_SRC_SYSTEM_CLOCK_H
#define HFTA_SRC_SYSTEM_CLOCK_H

#include <time.h>

/// Returns the seconds of the clock CLOCK_MONOTONIC, which never jumps.
double hfta_now(void);

/// Returns the time of day, in seconds since 1970.
double hfta_time_of_day(void);

/// Returns the time of CLOCK_MONOTONIC that is `seconds` from now.
struct timespec hfta_clock_after(double seconds);

#endif // HFTA_SRC_SYSTEM_CLOCK_H
