//===- peak.cpp - The limit of multiply-adds ------------------------------===//

#include "kernels.h"

#include <immintrin.h>

#define STEP(N) "vfmadd213ps %12, %13, %" #N "\n"
#define STEPS                                                                  \
  STEP(0)                                                                      \
  STEP(1)                                                                      \
  STEP(2)                                                                      \
  STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8) STEP(9) STEP(10) STEP(11)

/// Twelve independent accumulators hide the latency of two multiply-add units.
template <typename Vector>
static void run(Vector one, int64_t vectors) {
  Vector r0 = one, r1 = one, r2 = one, r3 = one, r4 = one, r5 = one;
  Vector r6 = one, r7 = one, r8 = one, r9 = one, r10 = one, r11 = one;
  for (int64_t i = 0; i < vectors; ++i)
    asm volatile(STEPS
                 : "+v"(r0), "+v"(r1), "+v"(r2), "+v"(r3), "+v"(r4), "+v"(r5),
                   "+v"(r6), "+v"(r7), "+v"(r8), "+v"(r9), "+v"(r10), "+v"(r11)
                 : "v"(one), "v"(one));
}

void runPeak(bool wide, int64_t vectors) {
  if (wide)
    run(_mm512_set1_ps(1.0f), vectors);
  else
    run(_mm256_set1_ps(1.0f), vectors);
}
