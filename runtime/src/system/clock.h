//===- clock.h - The time that passes ---------------------------*- C -*-===//

#ifndef HFTA_SRC_SYSTEM_CLOCK_H
#define HFTA_SRC_SYSTEM_CLOCK_H

/// Seconds of a clock that never jumps.
double hfta_now(void);

#endif // HFTA_SRC_SYSTEM_CLOCK_H
