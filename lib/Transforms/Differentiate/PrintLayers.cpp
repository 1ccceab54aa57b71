//===- PrintLayers.cpp - Prints layers for second-order methods -----------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Transforms/Passes.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAPRINTLAYERS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

static void printWindow(raw_ostream &os, LayerOp layer) {
  auto print = [&](StringRef name, ArrayRef<int64_t> entries) {
    os << " " << name << " [";
    llvm::interleaveComma(entries, os);
    os << "]";
  };
  os << ", window";
  print("strides", *layer.getStrides());
  print("dilations", *layer.getDilations());
  print("padding", *layer.getPadding());
  os << ", groups " << layer.getGroups();
}

static void printLayer(raw_ostream &os, LayerOp layer) {
  os << stringifyLayerKind(layer.getKind()) << " layer: parameter "
     << layer.getParameterAttr();
  if (layer.getCopy())
    os << " copy " << *layer.getCopy();
  if (layer.getBias())
    os << ", bias " << layer.getBiasAttr()
       << (layer.getBiasColumn() ? " (a column)" : "");
  if (layer.getInput())
    os << ", input " << layer.getInput().getType();
  os << ", output gradient " << layer.getOutputGradient().getType()
     << ", weight gradient " << layer.getWeightGradient().getType();
  if (LayerOp::isConvolution(layer.getKind()))
    printWindow(os, layer);
  os << ", loss divided by ";
  if (layer.getLossDivisor() == LossDivisor::terms)
    os << layer.getLossTerms() << " terms\n";
  else if (layer.getLossDivisor() == LossDivisor::weights)
    os << "the weights of " << layer.getLossTerms() << " terms\n";
  else
    os << "nothing yet\n";
}

namespace {
struct PrintLayersPass : hfta::impl::HftaPrintLayersBase<PrintLayersPass> {
  using HftaPrintLayersBase::HftaPrintLayersBase;

  void runOnOperation() override {
    getOperation()->walk(
        [](LayerOp layer) { printLayer(llvm::outs(), layer); });
    markAllAnalysesPreserved();
  }
};
} // namespace
