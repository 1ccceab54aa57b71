//===- Chips.cpp - NVIDIA GPUs for which code is made ---------------------===//

#include "Hfta/Target/Cuda/Chips.h"

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

const GpuChip *hfta::findGpuChip(llvm::StringRef name) {
  const GpuChip *found = llvm::find_if(
      chips, [&](const GpuChip &chip) { return chip.name == name; });
  return found == std::end(chips) ? nullptr : found;
}
