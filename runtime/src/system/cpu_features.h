//===- cpu_features.h - What the processor can do ---------------*- C -*-===//

#ifndef HFTA_SRC_SYSTEM_CPU_FEATURES_H
#define HFTA_SRC_SYSTEM_CPU_FEATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Registers in which the instruction CPUID answers.
enum hfta_cpuid_register {
  HFTA_CPUID_1_ECX,
  HFTA_CPUID_7_EBX, ///< leaf 7, subleaf 0
  HFTA_CPUID_7_ECX,
  HFTA_CPUID_7_EDX,
  HFTA_CPUID_7_1_EAX, ///< leaf 7, subleaf 1
  HFTA_CPUID_80000001_ECX,
  HFTA_CPUID_COUNT
};

/// What a processor and its operating system say.
typedef struct hfta_cpu_answers {
  uint32_t registers[HFTA_CPUID_COUNT]; ///< 0 where there is no such leaf
  uint64_t saved; ///< XCR0: registers that the system keeps for each thread
} hfta_cpu_answers;

/// Asks this processor. All 0 if it isn't an x86-64 one.
hfta_cpu_answers hfta_ask_cpu(void);

/// Writes those of the comma-separated features, named as in /proc/cpuinfo,
/// that are missing to `out`, separated by ", "; whether there are any. A
/// feature that isn't known is missing.
bool hfta_find_missing_features(const hfta_cpu_answers *answers,
                                const char *features, char *out, size_t size);

#endif // HFTA_SRC_SYSTEM_CPU_FEATURES_H
