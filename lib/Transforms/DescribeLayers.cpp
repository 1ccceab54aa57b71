//===- DescribeLayers.cpp - Trained layers for `info --json`
//---------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Transforms/Passes.h"
#include "llvm/Support/JSON.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTADESCRIBELAYERS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

static std::string printType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << getLogicalType(type);
  return text;
}

static void writeLayers(llvm::json::OStream &json, ModuleOp module) {
  json.attributeArray("layers", [&] {
    module.walk([&](LayerOpInterface op) {
      LayerAttr layer = op.getLayerAttribute();
      if (!layer)
        return;
      json.object([&] {
        json.attribute("kind", stringifyLayerKind(layer.getKind()));
        json.attribute("parameter", layer.getParameter().getValue());
        if (layer.getBias())
          json.attribute("bias", layer.getBias().getValue());
        json.attribute("input", printType(op.getLayerInput().getType()));
        json.attribute("output_gradient",
                       printType(op.getLayerOutputGradient().getType()));
      });
    });
  });
}

namespace {
struct DescribeLayersPass
    : hfta::impl::HftaDescribeLayersBase<DescribeLayersPass> {
  using HftaDescribeLayersBase::HftaDescribeLayersBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::string text;
    llvm::raw_string_ostream stream(text);
    llvm::json::OStream json(stream);
    json.object([&] { writeLayers(json, module); });
    module->setAttr("hfta.plan_json", StringAttr::get(&getContext(), text));
  }
};
} // namespace
