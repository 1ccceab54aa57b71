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

#define GEN_PASS_DECL_HFTAKERNELSTOTHREADS
#include "Hfta/Conversion/Passes.h.inc"

/// From kernels on tensors to functions of the host's processor, of which each
/// call does a thread's work: to run what threads compute without a GPU.
void buildThreadsOnHostPipeline(OpPassManager &pm);
void registerThreadsOnHostPipeline();

} // namespace mlir::hfta

#endif // HFTA_CONVERSION_LOWERGPUKERNELS_H
