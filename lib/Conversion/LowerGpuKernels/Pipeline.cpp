//===- Pipeline.cpp - From kernels on tensors to threads' code ------------===//

#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Hfta/Conversion/LowerKernels.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::hfta;

void hfta::buildThreadsOnHostPipeline(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createHftaMatricesToLoops());
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
  pm.addPass(createHftaKernelsToThreads());
  pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createCSEPass());
  buildKernelFunctionsPipeline(pm);
}

void hfta::registerThreadsOnHostPipeline() {
  PassPipelineRegistration<>(
      "hfta-threads-on-host",
      "Kernels on tensors to LLVM functions that do a GPU thread's work",
      buildThreadsOnHostPipeline);
}
