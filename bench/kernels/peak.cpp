//===- peak.cpp - Measures the peak of multiply-adds ----------------------===//

#include "kernels.h"

#include <immintrin.h>

#define STEP(N) "vfmadd213ps %12, %13, %" #N "\n"
#define STEPS                                                                  \
  STEP(0)                                                                      \
  STEP(1)                                                                      \
  STEP(2)                                                                      \
  STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8) STEP(9) STEP(10) STEP(11)

/// Defines a function that needs certain processor features. It has twelve
/// independent accumulators, enough to keep two multiply-add units busy despite
/// their latency (typically 4 or 5 cycles).
#define DEFINE_RUN(NAME, FEATURES, VECTOR, ONE)                                \
  __attribute__((target(FEATURES))) static void NAME(int64_t vectors) {        \
    VECTOR one = ONE, r0 = one, r1 = one, r2 = one, r3 = one, r4 = one;        \
    VECTOR r5 = one, r6 = one, r7 = one, r8 = one, r9 = one, r10 = one;        \
    VECTOR r11 = one;                                                          \
    for (int64_t i = 0; i < vectors; ++i)                                      \
      asm volatile(STEPS                                                       \
                   : "+v"(r0), "+v"(r1), "+v"(r2), "+v"(r3), "+v"(r4),         \
                     "+v"(r5), "+v"(r6), "+v"(r7), "+v"(r8), "+v"(r9),         \
                     "+v"(r10), "+v"(r11)                                      \
                   : "v"(one), "v"(one));                                      \
  }

DEFINE_RUN(runWide, "avx512f", __m512, _mm512_set1_ps(1.0f))
DEFINE_RUN(runNarrow, "avx,fma", __m256, _mm256_set1_ps(1.0f))

void runPeak(bool wide, int64_t vectors) {
  if (wide)
    runWide(vectors);
  else
    runNarrow(vectors);
}
