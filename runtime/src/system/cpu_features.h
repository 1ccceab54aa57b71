//===- cpu_features.h - The processor's instruction sets ----------*- C -*-===//

#ifndef HFTA_SRC_SYSTEM_CPU_FEATURES_H
#define HFTA_SRC_SYSTEM_CPU_FEATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The registers that are read from CPUID: the leaf, then the register.
enum hfta_cpuid_register {
  HFTA_CPUID_1_ECX,
  HFTA_CPUID_7_EBX, ///< leaf 7, subleaf 0
  HFTA_CPUID_7_ECX,
  HFTA_CPUID_7_EDX,
  HFTA_CPUID_7_1_EAX, ///< leaf 7, subleaf 1
  HFTA_CPUID_80000001_ECX,
  HFTA_CPUID_COUNT
};

/// The features that a processor and its operating system report.
typedef struct hfta_cpu_answers {
  uint32_t registers[HFTA_CPUID_COUNT]; ///< 0 if the processor has no such leaf
  uint64_t saved; ///< XCR0: the sets of registers that the operating system
                  ///< saves for each thread
} hfta_cpu_answers;

/// Queries this processor. All values are 0 if it isn't an x86-64 processor.
hfta_cpu_answers hfta_ask_cpu(void);

/// Finds the missing features of a comma-separated list with names as in
/// /proc/cpuinfo. Writes them as a list to `out`, which has `size` bytes.
/// Returns whether any feature is missing; an unknown one counts as missing.
bool hfta_find_missing_features(const hfta_cpu_answers *answers,
                                const char *features, char *out, size_t size);

/// Returns whether this processor and its operating system have all features of
/// a comma-separated list with names as in /proc/cpuinfo. The processor is
/// queried once, by any thread. It takes the place of the compiler's
/// __builtin_cpu_supports, which needs a part of libgcc and its constructor.
bool hfta_cpu_has(const char *features);

#endif // HFTA_SRC_SYSTEM_CPU_FEATURES_H
