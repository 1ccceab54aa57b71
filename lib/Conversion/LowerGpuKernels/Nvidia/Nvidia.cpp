//===- Nvidia.cpp - Dialects and passes for NVIDIA's GPUs -----------------===//

#include "Hfta/Conversion/LowerGpuKernels/Nvidia/Nvidia.h"

#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

using namespace mlir;
using namespace mlir::hfta;

void hfta::registerNvidiaDialects(DialectRegistry &registry) {
  registry.insert<NVVM::NVVMDialect>();
  registerNVVMDialectTranslation(registry);
}

void hfta::buildNvidiaPipeline(OpPassManager &pm, bool warpGroups) {
  pm.addPass(createConvertGpuToNVVM());
  // Only ops of warp groups have no intrinsics of LLVM and become assembly.
  if (warpGroups)
    pm.addPass(createConvertNVVMToLLVMPass());
}
