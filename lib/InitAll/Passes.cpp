//===- Passes.cpp - Passes and pipelines of the tools ---------------------===//

#include "Hfta/Pipelines/Passes.h"
#include "Hfta/Conversion/HftaToLinalg.h"
#include "Hfta/Conversion/HftaToRuntime.h"
#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Hfta/Conversion/LowerGpuKernels/Nvidia/Nvidia.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/InitAll.h"
#include "Hfta/Pipelines/Pipelines.h"
#include "Hfta/Target/Cpu/CpuTarget.h"
#include "Hfta/Target/Cuda/CudaTarget.h"
#include "Hfta/Transforms/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/Transforms/Passes.h"
#include "mlir/Dialect/Vector/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::hfta {
#define GEN_PASS_REGISTRATION
#include "Hfta/Conversion/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;

static void registerUpstreamPasses() {
  registerTransformsPasses();
  registerLinalgPasses();
  registerSCFPasses();
  affine::registerAffinePasses();
  arith::registerArithPasses();
  bufferization::registerBufferizationPasses();
  func::registerFuncPasses();
  math::registerMathPasses();
  memref::registerMemRefPasses();
  tensor::registerTensorPasses();
  vector::registerVectorPasses();
  LLVM::registerLLVMPasses();
  registerArithToLLVMConversionPass();
  registerConvertControlFlowToLLVMPass();
  registerConvertFuncToLLVMPass();
  registerConvertIndexToLLVMPass();
  registerConvertMathToLLVMPass();
  registerConvertMathToLibmPass();
  registerConvertToLLVMPass();
  registerConvertVectorToLLVMPass();
  registerConvertVectorToSCF();
  registerFinalizeMemRefToLLVMConversionPass();
  registerLowerAffinePass();
  registerReconcileUnrealizedCastsPass();
  registerSCFToControlFlowPass();
  registerUBToLLVMConversionPass();
}

void mlir::hfta::registerAllPasses() {
  registerAllTargets();
  registerCpuPipelines();
  registerCudaPipelines();
  registerHftaConversionPasses();
  registerHftaPipelinesPasses();
  registerHftaTransformsPasses();
  registerLowerGpuKernelsPipelines();
  registerLowerKernelsPipeline();
  registerPipelines();
  registerUpstreamPasses();
}
