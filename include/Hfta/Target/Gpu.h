//===- Gpu.h - GPUs that code is made for -----------------------*- C++ -*-===//

#ifndef HFTA_TARGET_GPU_H
#define HFTA_TARGET_GPU_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"

namespace mlir::hfta {

/// The architecture of an NVIDIA GPU.
struct GpuChip {
  llvm::StringLiteral name;         ///< for --chip and ptxas: "sm_80"
  llvm::StringLiteral llvmFeatures; ///< the version of PTX that supports it
  /// Whether its code runs on no other chip: later chips can't compile its PTX.
  bool isSpecific;
  bool hasWarpGroups; ///< has the instructions of warp groups (`wgmma`)
};

/// Returns the chips in the order of their versions.
llvm::ArrayRef<GpuChip> getGpuChips();
/// Returns null if there is no chip of this name.
const GpuChip *findGpuChip(llvm::StringRef name);

/// The peak rates of a well-known GPU, according to its maker.
struct GpuRates {
  llvm::StringLiteral name; ///< "A100"
  llvm::StringLiteral chip; ///< "sm_80"
  double bytes;             ///< bytes per second of its memory
  double flops;             ///< per second, in f32
  double tf32, bf16;        ///< per second on tensor cores; f16 as bf16

  /// Seconds from one kernel of a graph to the next.
  static constexpr double kLaunch = 2e-6;
};
llvm::ArrayRef<GpuRates> getGpuRates();

/// Returns the target of modules for GPUs: the host is any x86-64 processor.
TargetAttr getGpuTarget(MLIRContext *context);

} // namespace mlir::hfta

#endif // HFTA_TARGET_GPU_H
