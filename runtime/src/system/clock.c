//===- clock.c - Clocks ---------------------------------------------------===//

#include "system/clock.h"

#include <stdint.h>

double hfta_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double hfta_time_of_day(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct timespec hfta_clock_after(double seconds) {
  const long billion = 1000000000;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  double whole = (double)(int64_t)seconds;
  now.tv_sec += (time_t)whole;
  now.tv_nsec += (long)(1e9 * (seconds - whole));
  if (now.tv_nsec >= billion) {
    now.tv_nsec -= billion;
    ++now.tv_sec;
  }
  return now;
}
