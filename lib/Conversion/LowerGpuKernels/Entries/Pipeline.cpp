//===- Pipeline.cpp - From kernels on tensors to threads' code ------------===//

#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Hfta/Conversion/LowerKernels.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::hfta;

/// Adds the passes that lower kernels on tensors to loops on memory, which do
/// the work of one thread.
static void addThreads(OpPassManager &pm, bool alwaysTogether,
                       bool warpGroups) {
  HftaMatricesToLoopsOptions matrices;
  matrices.usesLanes = false;
  pm.addNestedPass<func::FuncOp>(createHftaMatricesToLoops(matrices));
  addKernelCleanUp(pm.nest<func::FuncOp>());
  HftaMapKernelsToGpuOptions map;
  map.always = alwaysTogether;
  pm.addNestedPass<func::FuncOp>(createHftaMapKernelsToGpu(map));
  if (warpGroups)
    pm.addPass(createHftaAddWarpGroupKernels());
  pm.addPass(createHftaKernelsToThreads());
  addKernelCleanUp(pm.nest<func::FuncOp>());
  pm.addNestedPass<func::FuncOp>(createHftaFuseSumLoops());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
}

void hfta::buildLowerGpuKernelsPipeline(OpPassManager &pm,
                                        const LowerGpuKernelsOptions &options) {
  addThreads(pm, /*alwaysTogether=*/false, options.warpGroups);
  buildKernelLoopsPipeline(pm);
  pm.addPass(createConvertKernelsToGpu());
}

void hfta::buildThreadsOnHostPipeline(OpPassManager &pm) {
  addThreads(pm, /*alwaysTogether=*/true, /*warpGroups=*/false);
  buildKernelFunctionsPipeline(pm);
  pm.addPass(createHftaEmulateGpu());
}

void hfta::registerLowerGpuKernelsPipelines() {
  PassPipelineRegistration<LowerGpuKernelsOptions>(
      "hfta-lower-gpu-kernels", "Kernels on tensors to kernels of a GPU",
      buildLowerGpuKernelsPipeline);
  PassPipelineRegistration<>(
      "hfta-threads-on-host",
      "Kernels on tensors to LLVM functions that do a GPU thread's work",
      buildThreadsOnHostPipeline);
}
