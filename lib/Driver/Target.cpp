//===- Target.cpp - Processors that code is made for ----------------------===//

#include "Hfta/Driver/Target.h"

#include "mlir/IR/Builders.h"
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

/// The extensions of x86-64 that code is made for. Others, which compilers
/// don't choose by themselves, are never asked for.
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
  available.insert(names.begin(), names.end());
  return available;
}

FailureOr<CpuTarget> hfta::resolveCpu(llvm::StringRef name) {
  llvm::Triple host(llvm::sys::getProcessTriple());
  if (name == "native" && host.getArch() != llvm::Triple::x86_64)
    return failure();
  llvm::StringSet<> available = getFeatures(name);
  CpuTarget target;
  for (const Feature &feature : features) {
    if (!available.contains(feature.llvmName))
      continue;
    if (!target.cpuFeatures.empty()) {
      target.cpuFeatures += ',';
      target.llvmFeatures += ',';
    }
    target.cpuFeatures += feature.cpuInfoName;
    target.llvmFeatures += '+';
    target.llvmFeatures += feature.llvmName;
  }
  if (available.contains("avx512f"))
    target.vectorBytes = 64;
  else if (available.contains("avx") || available.contains("avx2"))
    target.vectorBytes = 32;
  return target;
}

//===----------------------------------------------------------------------===//
// On the module
//===----------------------------------------------------------------------===//

void CpuTarget::write(ModuleOp module) const {
  Builder builder(module.getContext());
  module->setAttr("hfta.cpu_features", builder.getStringAttr(cpuFeatures));
  module->setAttr("hfta.llvm_features", builder.getStringAttr(llvmFeatures));
  module->setAttr("hfta.vector_bytes", builder.getI64IntegerAttr(vectorBytes));
}

FailureOr<CpuTarget> CpuTarget::read(ModuleOp module) {
  auto cpu = module->getAttrOfType<StringAttr>("hfta.cpu_features");
  auto llvm = module->getAttrOfType<StringAttr>("hfta.llvm_features");
  auto bytes = module->getAttrOfType<IntegerAttr>("hfta.vector_bytes");
  if (!cpu || !llvm || !bytes)
    return failure();
  return CpuTarget{cpu.str(), llvm.str(), bytes.getInt()};
}
