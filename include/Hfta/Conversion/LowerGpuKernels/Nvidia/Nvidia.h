//===- Nvidia.h - Code of a GPU's threads for NVIDIA's GPUs -----*- C++ -*-===//
//
// The only place that knows the dialect of NVIDIA's GPUs. Another vendor's back
// end has such functions of its own.
//===----------------------------------------------------------------------===//

#ifndef HFTA_CONVERSION_LOWERGPUKERNELS_NVIDIA_NVIDIA_H
#define HFTA_CONVERSION_LOWERGPUKERNELS_NVIDIA_NVIDIA_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class DialectRegistry;
class OpPassManager;
} // namespace mlir

namespace mlir::hfta {

#define GEN_PASS_DECL_CONVERTGPUTONVVM
#include "Hfta/Conversion/Passes.h.inc"

/// Adds the dialect of NVIDIA's GPUs, and its translation to LLVM IR.
void registerNvidiaDialects(DialectRegistry &registry);

/// Builds the passes on a module of GPU code after which it can be translated
/// to LLVM IR for NVIDIA's GPUs. `warpGroups` says whether kernels may use
/// instructions of warp groups.
void buildNvidiaPipeline(OpPassManager &pm, bool warpGroups);

} // namespace mlir::hfta

#endif // HFTA_CONVERSION_LOWERGPUKERNELS_NVIDIA_NVIDIA_H
