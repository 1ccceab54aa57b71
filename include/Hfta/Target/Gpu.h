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
  bool hasWarpGroups; ///< has the instructions of warp groups (`wgmma`)
};

/// In the order of their versions.
llvm::ArrayRef<GpuChip> getGpuChips();
/// Null if there is none of this name.
const GpuChip *findGpuChip(llvm::StringRef name);

/// What a well-known GPU can do at most, by its maker's figures.
struct GpuRates {
  llvm::StringLiteral name; ///< "A100"
  llvm::StringLiteral chip; ///< "sm_80"
  double bytes;             ///< of its memory, a second
  double flops;             ///< a second, in f32
  double tf32, bf16; ///< a second, of products on tensor cores; f16 as bf16

  /// Seconds from one kernel of a graph to the next.
  static constexpr double kLaunch = 2e-6;
};
llvm::ArrayRef<GpuRates> getGpuRates();

/// The target of modules for GPUs: the host is any x86-64 processor.
TargetAttr getGpuTarget(MLIRContext *context);

} // namespace mlir::hfta

#endif // HFTA_TARGET_GPU_H
