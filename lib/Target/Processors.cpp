//===- Processors.cpp - Processors for which code is made
//------------------------===//

#include "Hfta/Target/Processors.h"
#include "ProcessorCaches.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/TargetParser/X86TargetParser.h"

using namespace mlir;
using namespace mlir::hfta;

namespace {
struct Feature {
  llvm::StringLiteral llvmName;
  llvm::StringLiteral cpuInfoName;
};
} // namespace

/// The extensions of x86-64 for which code is generated. Extensions that
/// compilers don't use automatically are never enabled.
static constexpr Feature features[] = {
    {"sse3", "pni"},
    {"ssse3", "ssse3"},
    {"sse4.1", "sse4_1"},
    {"sse4.2", "sse4_2"},
    {"popcnt", "popcnt"},
    {"cx16", "cx16"},
    {"sahf", "lahf_lm"},
    {"movbe", "movbe"},
    {"lzcnt", "abm"},
    {"bmi", "bmi1"},
    {"bmi2", "bmi2"},
    {"f16c", "f16c"},
    {"avx", "avx"},
    {"avx2", "avx2"},
    {"fma", "fma"},
    {"avxvnni", "avx_vnni"},
    {"gfni", "gfni"},
    {"avx512f", "avx512f"},
    {"avx512cd", "avx512cd"},
    {"avx512bw", "avx512bw"},
    {"avx512dq", "avx512dq"},
    {"avx512vl", "avx512vl"},
    {"avx512ifma", "avx512ifma"},
    {"avx512vbmi", "avx512vbmi"},
    {"avx512vbmi2", "avx512_vbmi2"},
    {"avx512vnni", "avx512_vnni"},
    {"avx512bitalg", "avx512_bitalg"},
    {"avx512vpopcntdq", "avx512_vpopcntdq"},
    {"avx512bf16", "avx512_bf16"},
    {"avx512fp16", "avx512_fp16"},
};

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

llvm::SmallVector<llvm::StringRef> hfta::getCpuNames() {
  llvm::SmallVector<llvm::StringRef> names = {"native"};
  llvm::X86::fillValidCPUArchList(names, /*Only64Bit=*/true);
  return names;
}

bool hfta::isKnownCpu(llvm::StringRef name) {
  return llvm::is_contained(getCpuNames(), name);
}

static llvm::StringSet<> getFeatures(llvm::StringRef cpu) {
  llvm::StringSet<> available;
  if (cpu == "native") {
    for (const auto &entry : llvm::sys::getHostCPUFeatures())
      if (entry.second)
        available.insert(entry.first());
    return available;
  }
  llvm::SmallVector<llvm::StringRef> names;
  llvm::X86::getFeaturesForCPU(cpu, names);
  // getFeaturesForCPU() omits features that other features imply.
  llvm::StringMap<bool> all;
  for (llvm::StringRef feature : names) {
    all[feature] = true;
    llvm::X86::updateImpliedFeatures(feature, /*Enabled=*/true, all);
  }
  for (const auto &entry : all)
    if (entry.second)
      available.insert(entry.first());
  return available;
}

//===----------------------------------------------------------------------===//
// Attributes of processors
//===----------------------------------------------------------------------===//

namespace {
struct Vectors {
  int64_t bytes, registers;
  /// The bytes and ways of typical caches, from level 1 on, of processors with
  /// such vectors. All but the last level are per core.
  std::array<std::pair<int64_t, int64_t>, 3> caches;
};
} // namespace

static const Vectors &getVectors(const llvm::StringSet<> &available) {
  static constexpr int64_t kibi = 1 << 10, mebi = 1 << 20;
  static constexpr Vectors narrow = {
      16, 16, {{{32 * kibi, 8}, {512 * kibi, 8}, {32 * mebi, 16}}}};
  static constexpr Vectors avx = {32, 16, narrow.caches};
  static constexpr Vectors avx512 = {
      64, 32, {{{32 * kibi, 8}, {mebi, 8}, {32 * mebi, 16}}}};
  if (available.contains("avx512f"))
    return avx512;
  return available.contains("avx") ? avx : narrow;
}

static ProcessorAttr describe(MLIRContext *context,
                              const llvm::StringSet<> &available,
                              ArrayRef<CacheAttr> caches) {
  // CPUID doesn't report the number of FMA units; most processors have two.
  constexpr int64_t fmaUnits = 2;
  constexpr int64_t lineBytes = 64;
  const Vectors &vectors = getVectors(available);
  std::string names, llvmNames;
  for (const Feature &feature : features) {
    if (!available.contains(feature.llvmName))
      continue;
    if (!names.empty()) {
      names += ',';
      llvmNames += ',';
    }
    names += feature.cpuInfoName;
    llvmNames += '+';
    llvmNames += feature.llvmName;
  }
  SmallVector<CacheAttr> stated;
  for (auto [bytes, ways] : vectors.caches)
    stated.push_back(CacheAttr::get(context, bytes, ways, lineBytes));
  return ProcessorAttr::get(context, vectors.bytes, vectors.registers, fmaUnits,
                            caches.empty() ? ArrayRef(stated) : caches, names,
                            llvmNames);
}

ProcessorAttr hfta::getProcessor(MLIRContext *context, llvm::StringRef name) {
  assert(name != "native" && isKnownCpu(name) && "no name of a processor");
  return describe(context, getFeatures(name), {});
}

FailureOr<ProcessorAttr> hfta::resolveProcessor(MLIRContext *context,
                                                llvm::StringRef name) {
  if (name != "native")
    return getProcessor(context, name);
  llvm::Triple host(llvm::sys::getProcessTriple());
  if (host.getArch() != llvm::Triple::x86_64)
    return failure();
  SmallVector<CacheAttr> caches;
  for (const CpuCache &cache : askForCaches())
    caches.push_back(
        CacheAttr::get(context, cache.bytes, cache.ways, cache.lineBytes));
  return describe(context, getFeatures(name), caches);
}
