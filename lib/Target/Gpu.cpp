//===- Gpu.cpp - GPUs for which code is made ------------------------------===//

#include "Hfta/Target/Gpu.h"
#include "Hfta/Target/Cpu.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hfta;

/// The GPUs, each with the least version of PTX that supports it. A newer
/// version would be refused by older drivers.
static constexpr GpuChip chips[] = {
    {"sm_80", "+ptx70", false, false},  {"sm_86", "+ptx71", false, false},
    {"sm_89", "+ptx78", false, false},  {"sm_90", "+ptx78", false, false},
    {"sm_90a", "+ptx80", true, true},   {"sm_100", "+ptx86", false, false},
    {"sm_120", "+ptx87", false, false},
};

llvm::ArrayRef<GpuChip> hfta::getGpuChips() { return chips; }

llvm::ArrayRef<GpuRates> hfta::getGpuRates() {
  static constexpr GpuRates rates[] = {
      {"A100", "sm_80", 2.039e12, 19.5e12, 156e12, 312e12},
      {"H100", "sm_90", 3.35e12, 67e12, 495e12, 989e12}};
  return rates;
}

const GpuChip *hfta::findGpuChip(llvm::StringRef name) {
  const GpuChip *found = llvm::find_if(
      chips, [&](const GpuChip &chip) { return chip.name == name; });
  return found == std::end(chips) ? nullptr : found;
}

TargetAttr hfta::getGpuTarget(MLIRContext *context) {
  TargetAttr host = getCpuTarget(context, kBaseCpu);
  return TargetAttr::get(context, TargetKind::cuda, host.getVectorBytes(),
                         host.getVectorRegisters(), host.getFmaUnits(),
                         host.getCaches(), host.getFeatures(),
                         host.getLlvmFeatures());
}
