//===- LowerGpuKernels.h - Kernels as code of a GPU's threads ---*- C++ -*-===//
//
// Kernels are functions of one copy's plain tensors on every target. A thread
// of a GPU computes single elements of the results.
//===----------------------------------------------------------------------===//

#ifndef HFTA_CONVERSION_LOWERGPUKERNELS_H
#define HFTA_CONVERSION_LOWERGPUKERNELS_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::hfta {

#define GEN_PASS_DECL_CONVERTKERNELSTONVVM
#define GEN_PASS_DECL_HFTACOLLECTGPUCODE
#define GEN_PASS_DECL_HFTAEMULATEGPU
#define GEN_PASS_DECL_HFTAKERNELSTOTHREADS
#include "Hfta/Conversion/Passes.h.inc"

/// On lowered kernels: the threads of a block.
inline constexpr llvm::StringLiteral kBlockThreadsAttrName =
    "hfta.block_threads";
/// The module of what runs on a GPU, in the program's module.
inline constexpr llvm::StringLiteral kGpuModuleName = "hfta.gpu";

/// In emulated images: the registers of the thread that runs, an array of 32
/// bits each: its number in its block, the block's threads, and the block's
/// numbers along x and z. And what stands behind a kernel's name in that of the
/// function that the driver calls.
inline constexpr llvm::StringLiteral kEmulatedRegisters =
    "hfta_emulated_registers";
inline constexpr llvm::StringLiteral kEmulatedCallSuffix = "$call";

/// The symbol of a kernel's entry point in images for GPUs.
std::string getGpuEntryName(llvm::StringRef kernel);

/// From kernels on tensors to entry points for NVIDIA GPUs, in the NVVM
/// dialect.
void buildLowerGpuKernelsPipeline(OpPassManager &pm);

/// From kernels on tensors to functions of the host's processor, of which each
/// call does a thread's work: to run what threads compute without a GPU.
void buildThreadsOnHostPipeline(OpPassManager &pm);
void registerLowerGpuKernelsPipelines();

} // namespace mlir::hfta

#endif // HFTA_CONVERSION_LOWERGPUKERNELS_H
