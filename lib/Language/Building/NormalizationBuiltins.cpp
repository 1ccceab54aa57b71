//===- NormalizationBuiltins.cpp - Batch and layer normalization ----------===//

#include "Building/BodyBuilder.h"
#include "Hfta/Dialect/Hfta/IR/ElementCounts.h"
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

static bool isPositive(BodyBuilder &body, BuiltinCall &call, double epsilon) {
  if (epsilon > 0)
    return true;
  body.fail(call.getRange("epsilon"),
            "'epsilon' is out of range, got " + printNumber(epsilon),
            "it is a number above 0");
  return false;
}

/// Builds a batch normalization. As in PyTorch, `momentum` is the weight of the
/// new batch in the running statistics. The op's attribute is the weight of the
/// old statistics.
static Value buildBatchNorm(BodyBuilder &body, BuiltinCall &call) {
  Value x = call.getFloats("x", 2);
  double epsilon = call.getNumber("epsilon", 1e-5);
  double momentum = call.getNumber("momentum", 0.1);
  if (call.hasFailed() || !isPositive(body, call, epsilon))
    return nullptr;
  if (!(momentum >= 0 && momentum <= 1))
    return body.fail(call.getRange("momentum"),
                     "'momentum' is out of range, got " + printNumber(momentum),
                     "it is a number from 0 to 1: the new batch's share");
  int64_t channels = getShape(x)[1];
  StringRef layer = call.getLayerName();
  Value scale = body.makeFilled(layer, "weight", channels, 1, Role::parameter);
  Value bias = body.makeFilled(layer, "bias", channels, 0, Role::parameter);
  Value mean =
      body.makeFilled(layer, "running_mean", channels, 0, Role::statistics);
  Value variance =
      body.makeFilled(layer, "running_var", channels, 1, Role::statistics);
  auto norm = body.getTensors().create<BatchNormOp>(
      x, scale, bias, mean, variance, llvm::APFloat(epsilon),
      llvm::APFloat(1 - momentum), /*unbiased=*/true, /*training=*/false);
  SmallVector<std::string> names{layer.str()};
  for (StringRef operand : {"weight", "bias", "running_mean", "running_var"})
    names.push_back((layer + "." + operand).str());
  if (body.getModes().choose(ModalKind::batch_norm, names,
                             ModeRule::standard)) {
    norm->setAttr(kFrozenAttrName, UnitAttr::get(norm.getContext()));
    return norm.getResult();
  }
  body.replaceStatistic(mean, norm.getNewMean());
  body.replaceStatistic(variance, norm.getNewVariance());
  return norm.getResult();
}

/// Builds a layer normalization over `axis` and all axes after it.
static Value buildLayerNorm(BodyBuilder &body, BuiltinCall &call) {
  Value x = call.getFloats("x", 2);
  if (!x)
    return nullptr;
  ArrayRef<int64_t> shape = getShape(x);
  int64_t rank = shape.size();
  int64_t axis = call.getAxis("axis", rank, -1);
  double epsilon = call.getNumber("epsilon", 1e-5);
  if (call.hasFailed() || !isPositive(body, call, epsilon))
    return nullptr;
  auto normalized = llvm::to_vector(llvm::seq<int64_t>(axis, rank));
  auto kept = llvm::to_vector(llvm::seq<int64_t>(0, axis));
  double count = static_cast<double>(countAlong(shape, normalized));
  TensorBuilder &tensors = body.getTensors();
  auto average = [&](Value value) {
    return tensors.binary<DivOp>(
        tensors.reduce(ReduceKind::sum, value, normalized), count);
  };
  Value difference =
      tensors.binary<SubOp>(x, tensors.broadcast(average(x), shape, kept));
  Value variance = average(tensors.binary<MulOp>(difference, difference));
  Value inverse =
      tensors.unary<RsqrtOp>(tensors.binary<AddOp>(variance, epsilon));
  Value result = tensors.binary<MulOp>(difference,
                                       tensors.broadcast(inverse, shape, kept));
  StringRef layer = call.getLayerName();
  ArrayRef<int64_t> inner = shape.drop_front(axis);
  Value scale = body.makeFilled(layer, "weight", inner, 1, Role::parameter);
  Value bias = body.makeFilled(layer, "bias", inner, 0, Role::parameter);
  result = tensors.binary<MulOp>(result,
                                 tensors.broadcast(scale, shape, normalized));
  return tensors.binary<AddOp>(result,
                               tensors.broadcast(bias, shape, normalized));
}

llvm::ArrayRef<Builtin> language::getNormalizationBuiltins() {
  static constexpr ParameterSpec batchNorm[] = {
      {"x", true}, {"epsilon"}, {"momentum"}};
  static constexpr ParameterSpec layerNorm[] = {
      {"x", true}, {"axis"}, {"epsilon"}};
  static const Builtin builtins[] = {
      {"batch_norm", batchNorm, buildBatchNorm, /*isLayer=*/true},
      {"layer_norm", layerNorm, buildLayerNorm, /*isLayer=*/true}};
  return builtins;
}
