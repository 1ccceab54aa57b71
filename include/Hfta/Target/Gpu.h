//===- Gpu.h - GPUs that code is made for -----------------------*- C++ -*-===//

#ifndef HFTA_TARGET_GPU_H
#define HFTA_TARGET_GPU_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"

namespace mlir::hfta {

/// An architecture of NVIDIA GPUs.
struct GpuChip {
  llvm::StringLiteral name;         ///< as for --chip and ptxas: "sm_80"
  llvm::StringLiteral llvmFeatures; ///< LLVM's feature for the PTX version
  /// Whether its code only runs on this architecture. (The PTX of other chips
  /// can be compiled for later ones.)
  bool isSpecific;
  bool hasWarpGroups; ///< whether it has instructions of warp groups (`wgmma`)
};

/// Returns all supported chips, in ascending order of versions.
llvm::ArrayRef<GpuChip> getGpuChips();
/// Returns the chip of this name, or null.
const GpuChip *findGpuChip(llvm::StringRef name);

/// Peak rates of a well-known GPU, as published by NVIDIA.
struct GpuRates {
  llvm::StringLiteral name; ///< "A100"
  llvm::StringLiteral chip; ///< "sm_80"
  double bytes;             ///< memory bandwidth, in bytes per second
  double flops;             ///< f32 operations per second
  double tf32, bf16;        ///< operations of tensor cores per second; the rate
                            ///< for f16 is that for bf16

  /// Seconds between two consecutive kernels of a graph.
  static constexpr double kLaunch = 2e-6;
};
llvm::ArrayRef<GpuRates> getGpuRates();

/// Returns the target of modules for GPUs. The code of the host is for any
/// x86-64 processor.
TargetAttr getGpuTarget(MLIRContext *context);

} // namespace mlir::hfta

#endif // HFTA_TARGET_GPU_H
