//===- Modules.cpp - Contexts and passes for fuzz targets -----------------===//

#include "Modules.h"

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "Hfta/Pipelines/Passes.h"
#include "Hfta/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

std::unique_ptr<MLIRContext> hfta::makeFuzzContext() {
  auto context =
      std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  context->loadDialect<HftaDialect, func::FuncDialect>();
  context->getDiagEngine().registerHandler([](Diagnostic &diagnostic) {
    (void)diagnostic.str();
    return success();
  });
  return context;
}

void hfta::fuse(ModuleOp module) {
  PassManager passes(module.getContext(), ModuleOp::getOperationName());
  passes.addPass(createHftaDescribeModel());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createHftaApplyPrecision());
  passes.addPass(createHftaFuseModels());
  (void)passes.run(module);
}
