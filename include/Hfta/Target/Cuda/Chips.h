//===- Chips.h - NVIDIA GPUs that code is made for --------------*- C++ -*-===//

#ifndef HFTA_TARGET_CUDA_CHIPS_H
#define HFTA_TARGET_CUDA_CHIPS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

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

} // namespace mlir::hfta

#endif // HFTA_TARGET_CUDA_CHIPS_H
