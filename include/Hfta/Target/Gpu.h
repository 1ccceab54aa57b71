//===- Gpu.h - GPUs that code is made for -----------------------*- C++ -*-===//

#ifndef HFTA_TARGET_GPU_H
#define HFTA_TARGET_GPU_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"

namespace mlir::hfta {

/// An NVIDIA GPU's architecture.
struct GpuChip {
  llvm::StringLiteral name;         ///< for --chip and ptxas: "sm_80"
  llvm::StringLiteral llvmFeatures; ///< the version of PTX that knows it
  /// Its code runs on nothing else: no later chip can compile its PTX.
  bool isSpecific;
};

/// In the order of their versions.
llvm::ArrayRef<GpuChip> getGpuChips();
/// Null if there is none of this name.
const GpuChip *findGpuChip(llvm::StringRef name);

/// The target of modules for GPUs: the host is any x86-64 processor.
TargetAttr getGpuTarget(MLIRContext *context);

} // namespace mlir::hfta

#endif // HFTA_TARGET_GPU_H
