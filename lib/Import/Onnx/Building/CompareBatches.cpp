//===- CompareBatches.cpp - Finding constants that depend on the batch ----===//
//
// Where a graph asks for a shape, the batch size becomes a constant. Nothing
// distinguishes that constant from other sizes, or tells which constants were
// computed from it. But if the graph is imported with another batch size, these
// constants have other values.
//===----------------------------------------------------------------------===//

#include "Building/ModelBuilder.h"
#include "Hfta/Dialect/Hfta/IR/ElementBits.h"
#include "Hfta/Dialect/Hfta/IR/SampleMixing.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::hfta::onnx_import {

static func::FuncOp getForward(ModelOp model) {
  return model.lookupSymbol<func::FuncOp>("forward");
}

/// Doubles the batch size in the options. (All divisors of the batch size also
/// divide the double.) Returns false if the batch size can't be changed.
static bool doubleBatch(const Graph &graph, OnnxImportOptions &options) {
  if (options.microBatch) {
    *options.microBatch *= 2;
    return true;
  }
  llvm::StringSet<> doubled;
  for (const ::onnx::ValueInfoProto *input : graph.inputs) {
    const auto &type = input->type().tensor_type();
    if (options.constants.contains(input->name()) || !type.has_shape() ||
        type.shape().dim_size() == 0)
      continue;
    std::string symbol = getAxisName(*input, 0);
    auto size = options.dims.find(symbol);
    if (size != options.dims.end() && doubled.insert(symbol).second)
      size->getValue() *= 2;
  }
  return !doubled.empty();
}

static bool mayFollowBatch(func::FuncOp forward) {
  return llvm::any_of(forward.getOps<ConstantOp>(), [](ConstantOp constant) {
    return constant->hasAttr(kFollowsBatchAttrName);
  });
}

/// Returns whether corresponding constants of two imports differ, except in the
/// number of samples that they have elements for.
static bool differ(ConstantOp left, ConstantOp right) {
  auto elements = dyn_cast<DenseElementsAttr>(left.getValue());
  auto others = dyn_cast<DenseElementsAttr>(right.getValue());
  if (!elements || !others || elements == others ||
      elements.getElementType() != others.getElementType())
    return false;
  if (elements.isSplat() && others.isSplat())
    return elements.getSplatValue<Attribute>() !=
           others.getSplatValue<Attribute>();
  ArrayRef<int64_t> shape = left.getType().getShape();
  ArrayRef<int64_t> otherShape = right.getType().getShape();
  if (shape.empty() || otherShape.empty() ||
      shape.drop_front() != otherShape.drop_front())
    return false;
  // Only common elements are compared, as axis 0 may hold more samples in one
  // of the constants.
  return llvm::any_of(
      llvm::zip(getElementBits(elements), getElementBits(others)),
      [](auto pair) { return std::get<0>(pair) != std::get<1>(pair); });
}

/// Marks constants whose counterparts in the other function differ.
static void markConstants(func::FuncOp forward, func::FuncOp other) {
  for (auto [op, twin] :
       llvm::zip(forward.getBody().front(), other.getBody().front())) {
    // The graphs have different structures, so that later ops don't correspond.
    if (op.getName() != twin.getName())
      return;
    auto constant = dyn_cast<ConstantOp>(op);
    if (constant && differ(constant, cast<ConstantOp>(twin)))
      for (Operation *marked : {&op, &twin})
        marked->setAttr(kOfBatchSizeAttrName, UnitAttr::get(op.getContext()));
  }
}

void compareBatches(const Graph &graph, const OnnxImportOptions &options,
                    Location file, ModelOp model) {
  func::FuncOp forward = getForward(model);
  bool addsForward = options.addsForwardOfTwo && options.microBatch == 1;
  OnnxImportOptions changed = options;
  if ((!addsForward && !mayFollowBatch(forward)) ||
      !doubleBatch(graph, changed))
    return;
  MLIRContext *context = model.getContext();
  // It isn't an error if the graph can't have another batch size.
  ScopedDiagnosticHandler quiet(context,
                                [](Diagnostic &) { return success(); });
  Reporter reporter(cast<FileLineColLoc>(file).getFilename(), context);
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(file);
  ModelBuilder builder(graph, changed, reporter, *scratch);
  builder.omitWeights();
  ModelOp other = builder.run();
  if (!other)
    return;
  markConstants(forward, getForward(other));
  if (!addsForward)
    return;
  func::FuncOp ofTwo = getForward(other).clone();
  ofTwo.setName(kForwardOfTwoName);
  model.getBody().front().push_back(ofTwo);
}

} // namespace mlir::hfta::onnx_import
