//===- CpuFeaturesTest.cpp - Tests of missing processor features ----------===//

extern "C" {
#include "system/cpu_features.h"
}

#include "gtest/gtest.h"

#include <cstring>
#include <string>

namespace {

std::string missing(const hfta_cpu_answers &answers, const char *features) {
  char text[100];
  bool any = hfta_find_missing_features(&answers, features, text, sizeof(text));
  EXPECT_EQ(any, *text != '\0');
  return text;
}

/// Returns the CPUID answers of a processor with all features. `saved` is the
/// set of registers that the operating system saves.
hfta_cpu_answers everything(uint64_t saved) {
  hfta_cpu_answers answers;
  std::memset(answers.registers, 0xFF, sizeof(answers.registers));
  answers.saved = saved;
  return answers;
}

TEST(CpuFeatures, NothingIsAskedFor) {
  EXPECT_EQ(missing({}, ""), "");
  EXPECT_EQ(missing({}, ",,"), "");
}

TEST(CpuFeatures, BitsOfTheAnswers) {
  hfta_cpu_answers answers = {};
  EXPECT_EQ(missing(answers, "pni,bmi1,abm"), "pni, bmi1, abm");
  answers.registers[HFTA_CPUID_7_EBX] = 1 << 3;
  EXPECT_EQ(missing(answers, "pni,bmi1,abm"), "pni, abm");
  answers.registers[HFTA_CPUID_1_ECX] = 1;
  answers.registers[HFTA_CPUID_80000001_ECX] = 1 << 5;
  EXPECT_EQ(missing(answers, "pni,bmi1,abm"), "");
}

TEST(CpuFeatures, WhatIsNotKnownIsMissing) {
  EXPECT_EQ(missing(everything(~0ull), "avx,quantum,avx51,avx512fp"),
            "quantum, avx51, avx512fp");
}

TEST(CpuFeatures, TheSystemKeepsTheRegisters) {
  const char *all =
      "popcnt,gfni,fma,avx2,avx_vnni,avx512f,avx512_fp16,amx_tile";
  EXPECT_EQ(missing(everything(~0ull), all), "");
  EXPECT_EQ(missing(everything(0x60007), all), "avx512f, avx512_fp16");
  EXPECT_EQ(missing(everything(0xE7), all), "amx_tile");
  EXPECT_EQ(missing(everything(0x200E7), all), "amx_tile");
  EXPECT_EQ(missing(everything(0x67), all), "avx512f, avx512_fp16, amx_tile");
  EXPECT_EQ(missing(everything(3), all),
            "fma, avx2, avx_vnni, avx512f, avx512_fp16, amx_tile");
}

TEST(CpuFeatures, ManyNamesAreCutOff) {
  std::string names;
  for (int i = 0; i < 100; ++i)
    names += "unknown,";
  EXPECT_LT(missing({}, names.c_str()).size(), 100u);
}

#if defined(__x86_64__)
TEST(CpuFeatures, ThisProcessor) {
  hfta_cpu_answers answers = hfta_ask_cpu();
#define EXPECT_SAME(NAME, BUILTIN)                                             \
  EXPECT_EQ(missing(answers, NAME).empty(), !!__builtin_cpu_supports(BUILTIN)) \
      << NAME
  EXPECT_SAME("pni", "sse3");
  EXPECT_SAME("sse4_2", "sse4.2");
  EXPECT_SAME("popcnt", "popcnt");
  EXPECT_SAME("avx", "avx");
  EXPECT_SAME("avx2", "avx2");
  EXPECT_SAME("fma", "fma");
  EXPECT_SAME("bmi2", "bmi2");
  EXPECT_SAME("avx512f", "avx512f");
  EXPECT_SAME("avx512vl", "avx512vl");
  EXPECT_SAME("avx512_vbmi2", "avx512vbmi2");
  EXPECT_SAME("avx512_bf16", "avx512bf16");
#undef EXPECT_SAME
  EXPECT_EQ(hfta_cpu_has("sse4_2"), !!__builtin_cpu_supports("sse4.2"));
  EXPECT_EQ(hfta_cpu_has("avx2,fma"),
            __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
  EXPECT_FALSE(hfta_cpu_has("sse4_2,quantum"));
}
#endif

} // namespace
