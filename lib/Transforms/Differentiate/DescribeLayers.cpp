//===- DescribeLayers.cpp - Trained layers for `info --json` --------------===//

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

static void writeLayer(llvm::json::OStream &json, LayerOp layer) {
  json.attribute("kind", stringifyLayerKind(layer.getKind()));
  json.attribute("parameter", layer.getParameter());
  if (layer.getCopy())
    json.attribute("copy", static_cast<int64_t>(*layer.getCopy()));
  if (layer.getBias()) {
    json.attribute("bias", *layer.getBias());
    json.attribute("bias_column", layer.getBiasColumn());
  }
  if (layer.getInput())
    json.attribute("input", printType(layer.getInput().getType()));
  json.attribute("output_gradient",
                 printType(layer.getOutputGradient().getType()));
  if (layer.getGroups() != 1)
    json.attribute("groups", static_cast<int64_t>(layer.getGroups()));
}

static void writeLayers(llvm::json::OStream &json, ModuleOp module) {
  json.attributeArray("layers", [&] {
    module.walk(
        [&](LayerOp layer) { json.object([&] { writeLayer(json, layer); }); });
  });
}

static void writeCuts(llvm::json::OStream &json, ModuleOp module) {
  auto cuts = module->getAttrOfType<ArrayAttr>(HftaDialect::kCutsAttrName);
  json.attributeArray("cuts", [&] {
    for (Attribute cut : cuts ? cuts.getValue() : ArrayRef<Attribute>())
      json.array([&] {
        for (auto name : cast<ArrayAttr>(cut).getAsRange<StringAttr>())
          json.value(name.getValue());
      });
  });
  module->removeAttr(HftaDialect::kCutsAttrName);
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
    json.object([&] {
      writeCuts(json, module);
      writeLayers(json, module);
    });
    module->setAttr("hfta.plan_json", StringAttr::get(&getContext(), text));
    module.walk([](LayerOp layer) { layer.erase(); });
  }
};
} // namespace
