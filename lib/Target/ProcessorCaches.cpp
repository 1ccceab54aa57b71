//===- ProcessorCaches.cpp - The caches that CPUID reports
//----------------------===//

#include "ProcessorCaches.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

using namespace mlir::hfta;

#if defined(__x86_64__)

namespace {
/// The registers EAX to EDX in which CPUID answers.
struct Answer {
  unsigned a = 0, b = 0, c = 0, d = 0;

  unsigned getKind() const { return a & 31; }
  int64_t getLevel() const { return a >> 5 & 7; }
};
} // namespace

/// The leaves of CPUID, Intel's and AMD's, that describe one cache per subleaf.
/// They have a common format.
static constexpr unsigned kLeaves[] = {4, 0x8000001D};
static constexpr unsigned kNoMore = 0, kInstructions = 2;
static constexpr unsigned kMostCaches = 8;

static CpuCache decode(const Answer &answer) {
  int64_t ways = (answer.b >> 22) + 1, partitions = (answer.b >> 12 & 1023) + 1;
  int64_t line = (answer.b & 4095) + 1;
  int64_t sets = static_cast<int64_t>(answer.c) + 1;
  return {ways * partitions * line * sets, ways, partitions * line};
}

llvm::SmallVector<CpuCache> mlir::hfta::askForCaches() {
  for (unsigned leaf : kLeaves) {
    llvm::SmallVector<CpuCache> caches;
    int64_t level = 0;
    for (unsigned index = 0; index < kMostCaches; ++index) {
      Answer answer;
      if (!__get_cpuid_count(leaf, index, &answer.a, &answer.b, &answer.c,
                             &answer.d) ||
          answer.getKind() == kNoMore)
        break;
      if (answer.getKind() == kInstructions)
        continue;
      CpuCache cache = decode(answer);
      // Virtual machines may report impossible values.
      if (answer.getLevel() != level + 1 || cache.lineBytes < 16 ||
          cache.lineBytes > 4096 ||
          (cache.lineBytes & (cache.lineBytes - 1)) != 0 ||
          (!caches.empty() && (cache.lineBytes != caches.back().lineBytes ||
                               cache.bytes < caches.back().bytes)))
        return {};
      level = answer.getLevel();
      caches.push_back(cache);
    }
    if (!caches.empty())
      return caches;
  }
  return {};
}

#else

llvm::SmallVector<CpuCache> mlir::hfta::askForCaches() { return {}; }

#endif
