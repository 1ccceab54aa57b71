//===- denormals.h - Floats too small for the usual precision -----*- C -*-===//

#ifndef HFTA_SRC_SYSTEM_DENORMALS_H
#define HFTA_SRC_SYSTEM_DENORMALS_H

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/// Lets the calling thread treat denormal operands and results as zeros, and
/// returns its mode before that, for hfta_restore_denormals.
static inline unsigned hfta_flush_denormals(void) {
#if defined(__x86_64__)
  enum { DENORMALS_ARE_ZERO = 1 << 6, FLUSH_TO_ZERO = 1 << 15 };
  unsigned mode = _mm_getcsr();
  _mm_setcsr(mode | DENORMALS_ARE_ZERO | FLUSH_TO_ZERO);
  return mode;
#else
  return 0;
#endif
}

static inline void hfta_restore_denormals(unsigned mode) {
#if defined(__x86_64__)
  _mm_setcsr(mode);
#else
  (void)mode;
#endif
}

#endif // HFTA_SRC_SYSTEM_DENORMALS_H
