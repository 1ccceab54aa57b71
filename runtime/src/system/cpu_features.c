//===- cpu_features.c - The processor's instruction sets ------------------===//
//
// Features are found with the instruction CPUID, not with /proc/cpuinfo, which
// may be hidden or incomplete. The bits are those of Intel's Software
// Developer's Manual, volume 2, CPUID; AMD's processors use the same ones.
//===----------------------------------------------------------------------===//

#include "system/cpu_features.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/// Bits of XCR0: the sets of registers that the operating system saves when it
/// switches threads. Code that uses registers whose bits aren't set faults.
enum {
  AVX = 1 << 1 | 1 << 2,
  AVX512 = AVX | 1 << 5 | 1 << 6 | 1 << 7,
  AMX = 1 << 17 | 1 << 18
};

typedef struct feature {
  const char *name;
  enum hfta_cpuid_register where;
  uint32_t bit;
  uint64_t saved; ///< the bits of XCR0 that the feature needs
} feature;

static const feature features[] = {
    {"pni", HFTA_CPUID_1_ECX, 0, 0},
    {"ssse3", HFTA_CPUID_1_ECX, 9, 0},
    {"fma", HFTA_CPUID_1_ECX, 12, AVX},
    {"cx16", HFTA_CPUID_1_ECX, 13, 0},
    {"sse4_1", HFTA_CPUID_1_ECX, 19, 0},
    {"sse4_2", HFTA_CPUID_1_ECX, 20, 0},
    {"movbe", HFTA_CPUID_1_ECX, 22, 0},
    {"popcnt", HFTA_CPUID_1_ECX, 23, 0},
    {"avx", HFTA_CPUID_1_ECX, 28, AVX},
    {"f16c", HFTA_CPUID_1_ECX, 29, AVX},
    {"bmi1", HFTA_CPUID_7_EBX, 3, 0},
    {"avx2", HFTA_CPUID_7_EBX, 5, AVX},
    {"bmi2", HFTA_CPUID_7_EBX, 8, 0},
    {"avx512f", HFTA_CPUID_7_EBX, 16, AVX512},
    {"avx512dq", HFTA_CPUID_7_EBX, 17, AVX512},
    {"avx512ifma", HFTA_CPUID_7_EBX, 21, AVX512},
    {"avx512cd", HFTA_CPUID_7_EBX, 28, AVX512},
    {"avx512bw", HFTA_CPUID_7_EBX, 30, AVX512},
    {"avx512vl", HFTA_CPUID_7_EBX, 31, AVX512},
    {"avx512vbmi", HFTA_CPUID_7_ECX, 1, AVX512},
    {"avx512_vbmi2", HFTA_CPUID_7_ECX, 6, AVX512},
    {"gfni", HFTA_CPUID_7_ECX, 8, 0},
    {"avx512_vnni", HFTA_CPUID_7_ECX, 11, AVX512},
    {"avx512_bitalg", HFTA_CPUID_7_ECX, 12, AVX512},
    {"avx512_vpopcntdq", HFTA_CPUID_7_ECX, 14, AVX512},
    {"amx_bf16", HFTA_CPUID_7_EDX, 22, AMX},
    {"avx512_fp16", HFTA_CPUID_7_EDX, 23, AVX512},
    {"amx_tile", HFTA_CPUID_7_EDX, 24, AMX},
    {"amx_int8", HFTA_CPUID_7_EDX, 25, AMX},
    {"avx_vnni", HFTA_CPUID_7_1_EAX, 4, AVX},
    {"avx512_bf16", HFTA_CPUID_7_1_EAX, 5, AVX512},
    {"lahf_lm", HFTA_CPUID_80000001_ECX, 0, 0},
    {"abm", HFTA_CPUID_80000001_ECX, 5, 0},
};

hfta_cpu_answers hfta_ask_cpu(void) {
  hfta_cpu_answers answers;
  memset(&answers, 0, sizeof(answers));
#if defined(__x86_64__)
  enum { OSXSAVE = 1 << 27 };
  uint32_t *to = answers.registers, a, b, c, d;
  if (__get_cpuid(1, &a, &b, &c, &d))
    to[HFTA_CPUID_1_ECX] = c;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    to[HFTA_CPUID_7_EBX] = b;
    to[HFTA_CPUID_7_ECX] = c;
    to[HFTA_CPUID_7_EDX] = d;
    // In leaf 7, `a` is the number of the last subleaf.
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d))
      to[HFTA_CPUID_7_1_EAX] = a;
  }
  if (__get_cpuid(0x80000001, &a, &b, &c, &d))
    to[HFTA_CPUID_80000001_ECX] = c;
  if (to[HFTA_CPUID_1_ECX] & OSXSAVE) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    answers.saved = (uint64_t)high << 32 | low;
  }
#endif
  return answers;
}

static bool has_feature(const hfta_cpu_answers *answers, const char *name,
                        size_t length) {
  for (size_t i = 0; i < sizeof(features) / sizeof(*features); ++i) {
    const feature *known = &features[i];
    if (strlen(known->name) == length && memcmp(known->name, name, length) == 0)
      return (answers->registers[known->where] >> known->bit & 1) &&
             (answers->saved & known->saved) == known->saved;
  }
  return false;
}

bool hfta_find_missing_features(const hfta_cpu_answers *answers,
                                const char *list, char *out, size_t size) {
  bool any = false;
  *out = '\0';
  for (const char *at = list; *at;) {
    size_t length = strcspn(at, ","), used = strlen(out);
    if (length > 0 && !has_feature(answers, at, length)) {
      snprintf(out + used, size - used, "%s%.*s", any ? ", " : "", (int)length,
               at);
      any = true;
    }
    at += length + (at[length] == ',');
  }
  return any;
}

static hfta_cpu_answers this_processor;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void ask_once(void) { this_processor = hfta_ask_cpu(); }

bool hfta_cpu_has(const char *list) {
  char missing[64];
  pthread_once(&once, ask_once);
  return !hfta_find_missing_features(&this_processor, list, missing,
                                     sizeof(missing));
}
