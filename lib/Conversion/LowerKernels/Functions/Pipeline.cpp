//===- Pipeline.cpp - From kernels on tensors to LLVM functions -----------===//

#include "Hfta/Conversion/LowerKernels.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::hfta;

GreedyRewriteConfig hfta::getKernelRewriteConfig() {
  return GreedyRewriteConfig().setRegionSimplificationLevel(
      GreedySimplifyRegionLevel::Disabled);
}

void hfta::addKernelCleanUp(OpPassManager &kernels) {
  kernels.addPass(createCanonicalizerPass(getKernelRewriteConfig()));
  kernels.addPass(createCSEPass());
}

static void addVerification(OpPassManager &pm,
                            const LowerKernelsOptions &options) {
  if (options.verifySums)
    pm.addPass(createHftaVerifySumOrder());
}

void hfta::buildLowerKernelsPipeline(OpPassManager &pm,
                                     const LowerKernelsOptions &options) {
  OpPassManager &tensors = pm.nest<func::FuncOp>();
  tensors.addPass(createHftaMatricesToLoops());
  addVerification(tensors, options);
  tensors.addPass(createHftaFuseElementwise());
  addKernelCleanUp(tensors);
  addVerification(tensors, options);
  tensors.addPass(createHftaDistributeKernels());
  addKernelCleanUp(tensors);
  pm.addPass(createHftaBufferizeKernels());

  OpPassManager &memory = pm.nest<func::FuncOp>();
  addKernelCleanUp(memory);
  addVerification(memory, options);
  memory.addPass(createHftaBlockRows());
  memory.addPass(createHftaKernelsToLoops());
  // Erases the marks of sums, whether or not the sums are checked.
  memory.addPass(createHftaVerifySumOrder(
      {/*check=*/options.verifySums, /*eraseMarks=*/true}));
  // Removes only duplicates here. Addresses are simplified in
  // buildKernelLoopsPipeline: simplifying them here, too, takes long and gives
  // no better code.
  memory.addPass(createCSEPass());
  buildKernelFunctionsPipeline(pm);
}

void hfta::buildKernelFunctionsPipeline(OpPassManager &pm) {
  buildKernelLoopsPipeline(pm);
  pm.addPass(createConvertKernelsToLLVM());
}

void hfta::buildKernelLoopsPipeline(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createHftaPlanScratch());
  pm.addPass(createHftaExpandMath());

  OpPassManager &addresses = pm.nest<func::FuncOp>();
  addresses.addPass(createLowerAffinePass());
  addresses.addPass(memref::createExpandStridedMetadataPass());
  addresses.addPass(createLowerAffinePass());
  addKernelCleanUp(addresses);
}

void hfta::registerLowerKernelsPipeline() {
  PassPipelineRegistration<LowerKernelsOptions>(
      "hfta-lower-kernels", "Kernels on tensors to LLVM functions",
      buildLowerKernelsPipeline);
}
