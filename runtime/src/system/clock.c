//===- clock.c - The time that passes -------------------------------------===//

#include "system/clock.h"

#include <time.h>

double hfta_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
