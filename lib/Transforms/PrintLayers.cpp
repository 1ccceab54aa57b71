//===- PrintLayers.cpp - The second-order hook, printed -------------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Transforms/Passes.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAPRINTLAYERS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {
struct PrintLayersPass : hfta::impl::HftaPrintLayersBase<PrintLayersPass> {
  using HftaPrintLayersBase::HftaPrintLayersBase;

  void runOnOperation() override {
    getOperation()->walk([](LayerOpInterface op) {
      LayerAttr layer = op.getLayerAttribute();
      if (!layer)
        return;
      llvm::outs() << stringifyLayerKind(layer.getKind())
                   << " layer: parameter " << layer.getParameter();
      if (layer.getBias())
        llvm::outs() << ", bias " << layer.getBias();
      llvm::outs() << ", input " << op.getLayerInput().getType()
                   << ", output gradient "
                   << op.getLayerOutputGradient().getType() << "\n";
    });
    markAllAnalysesPreserved();
  }
};
} // namespace
