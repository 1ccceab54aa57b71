//===- Normalization.cpp - Batch, layer and other normalizations ----------===//

#include "Hfta/Dialect/Hfta/IR/ElementCounts.h"
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"
#include "Hfta/Dialect/Hfta/IR/Norms.h"
#include "Hfta/Dialect/Hfta/IR/OnnxNames.h"
#include "Layers/Window.h"

namespace mlir::hfta::onnx_import {

//===----------------------------------------------------------------------===//
// Batch normalization
//===----------------------------------------------------------------------===//

/// Imports a batch normalization for a job, whose tasks choose between training
/// and inference later. Running statistics are updated as in PyTorch, unless
/// the node stays in evaluation mode. `training` is its mode in the file.
static void normalizeInJob(Node &node, Value input, ArrayRef<Value> operands,
                           double epsilon, double momentum, bool training) {
  for (unsigned output = 1; output < node.getNumOutputs(); ++output)
    if (node.isOutputUsed(output)) {
      node.unsupported("its output '" + node.getOutputName(output) +
                       "' is read, which a job does not support");
      return;
    }
  ModelBuilder &model = node.getModel();
  if (model.isFrozenStatistic(node.getInputName(3)) !=
      model.isFrozenStatistic(node.getInputName(4))) {
    node.invalid("metadata entry '" + kOnnxFrozenStatisticsKey +
                 "' lists one of its running mean and variance, expected both "
                 "or neither");
    return;
  }
  SmallVector<Value> results = node.createMany<BatchNormOp>(
      5, input, operands[0], operands[1], operands[2], operands[3],
      llvm::APFloat(epsilon), llvm::APFloat(momentum), /*unbiased=*/true,
      /*training=*/false);
  if (results.empty())
    return;
  node.setOutput(0, results[0]);
  // A normalization whose statistics are computed has none that run.
  if (model.getStatistics(node.getInputName(3)) &&
      model.getStatistics(node.getInputName(4)) &&
      model.staysInEvaluation(node.getProto(), ModalKind::batch_norm,
                              training)) {
    results[0].getDefiningOp()->setAttr(kFrozenAttrName,
                                        node.getBuilder().getUnitAttr());
    return;
  }
  for (unsigned index : {3u, 4u})
    if (VariableOp variable = model.getStatistics(node.getInputName(index)))
      model.writeVariable(variable, results[index - 2], node.getLoc());
}

/// Imports a batch normalization in the mode that the file gives, outside of a
/// job.
static void normalizeAsWritten(Node &node, Value input,
                               ArrayRef<Value> operands, double epsilon,
                               double momentum, bool training) {
  SmallVector<Value> results = node.createMany<BatchNormOp>(
      5, input, operands[0], operands[1], operands[2], operands[3],
      llvm::APFloat(epsilon), llvm::APFloat(momentum), /*unbiased=*/false,
      training);
  if (results.empty())
    return;
  for (unsigned output = 0; output < 3; ++output)
    node.setOutput(output, results[output]);
  if (node.getOpset() >= 14)
    return;
  node.setOutput(3, results[3]);
  if (node.isOutputUsed(4)) {
    // By definition, variance = 1 / inverse deviation^2 - epsilon.
    Value inverse = node.mul(results[4], results[4]);
    Value variance = node.sub(node.div(node.splatLike(inverse, 1), inverse),
                              node.splatLike(inverse, epsilon));
    node.setOutput(4, variance);
  }
}

static void importBatchNormalization(Node &node) {
  Value input = node.getInput(0);
  if (!node.requireFloat(input))
    return;
  if (node.getInt("spatial", 1) == 0) {
    node.unsupported("statistics per activation (spatial = 0) are not "
                     "supported");
    return;
  }
  ModelBuilder &model = node.getModel();
  SmallVector<Value> operands;
  for (unsigned index = 1; index <= 4; ++index) {
    VariableOp variable = index >= 3
                              ? model.getStatistics(node.getInputName(index))
                              : VariableOp();
    // Statistics are read here, since an earlier node may have written them.
    Value operand = variable ? model.readVariable(variable, node.getLoc())
                             : node.getInput(index);
    operands.push_back(node.cast(operand, getElementType(input)));
  }
  double epsilon = node.getNonNegative("epsilon", 1e-5);
  double momentum = node.getNonNegative("momentum", 0.9);
  bool training = node.getOpset() >= 14
                      ? node.getInt("training_mode", 0) != 0
                      : node.isOutputUsed(1) || node.isOutputUsed(2) ||
                            node.isOutputUsed(3) || node.isOutputUsed(4);
  if (node.failed() || llvm::is_contained(operands, Value()))
    return;
  if (model.getOptions().training)
    normalizeInJob(node, input, operands, epsilon, momentum,
                   isInTrainingMode(node.getProto(), node.getOpset()));
  else
    normalizeAsWritten(node, input, operands, epsilon, momentum, training);
}

//===----------------------------------------------------------------------===//
// Normalization of each sample
//===----------------------------------------------------------------------===//

namespace {
/// Mean and variance of a tensor along some axes, which keep size 1, and in
/// `values` the tensor's deviations from the mean.
struct Centered {
  Value mean, variance;
  Value values;
};

/// Mean and 1 / sqrt(variance + epsilon) of a tensor along some axes, which
/// keep size 1, and the normalized tensor.
struct Moments {
  Value mean, inverseDeviation;
  Value normalized; ///< in the tensor's shape
};
} // namespace

static Value keepAxes(Node &node, Value reduced, ArrayRef<int64_t> shape,
                      ArrayRef<int64_t> axes) {
  SmallVector<int64_t> kept(shape);
  for (int64_t axis : axes)
    kept[axis] = 1;
  return node.reshape(reduced, kept);
}

/// Returns the mean along some axes, which keep size 1.
static Value takeMean(Node &node, Value input, ArrayRef<int64_t> axes) {
  if (!input)
    return Value();
  SmallVector<int64_t> shape(getShape(input));
  Value sum =
      keepAxes(node, node.reduce(ReduceKind::sum, input, axes), shape, axes);
  return node.div(sum, node.splatLike(sum, countAlong(shape, axes)));
}

static Centered center(Node &node, Value input, ArrayRef<int64_t> axes) {
  Centered centered;
  centered.mean = takeMean(node, input, axes);
  centered.values =
      node.sub(input, node.broadcast(centered.mean, getShape(input)));
  centered.variance =
      takeMean(node, node.mul(centered.values, centered.values), axes);
  return centered;
}

static Moments normalize(Node &node, Value input, ArrayRef<int64_t> axes,
                         double epsilon) {
  Moments moments;
  Centered centered = center(node, input, axes);
  moments.mean = centered.mean;
  Value variance = centered.variance;
  moments.inverseDeviation = node.create<RsqrtOp>(
      node.add(variance, node.splatLike(variance, epsilon)));
  moments.normalized =
      node.mul(centered.values,
               node.broadcast(moments.inverseDeviation, getShape(input)));
  return moments;
}

static void importLayerNormalization(Node &node) {
  Value input = node.getInput(0);
  if (!node.requireFloat(input))
    return;
  SmallVector<int64_t> shape(getShape(input));
  int64_t axis = node.normalizeAxis(node.getInt("axis", -1), shape.size());
  Moments moments = normalize(
      node, input, llvm::to_vector(llvm::seq<int64_t>(axis, shape.size())),
      node.getNonNegative("epsilon", 1e-5));
  Value scale = node.broadcast(node.getInput(1), shape);
  Value result = node.mul(moments.normalized, scale);
  if (Value bias = node.getOptionalInput(2))
    result = node.add(result, node.broadcast(bias, shape));
  node.setOutput(0, result);
  node.setOutput(1, moments.mean);
  node.setOutput(2, moments.inverseDeviation);
}

/// Multiplies by the scale, operand 1, and adds the bias, operand 2. Both have
/// one value for each element of axis 1; error messages call these elements
/// `kind`. Returns null after an error.
static Value scaleAndShift(Node &node, Value value, StringRef kind) {
  Value scale = node.getInput(1), bias = node.getInput(2);
  if (!value || !scale || !bias)
    return nullptr;
  ArrayRef<int64_t> shape = getShape(value);
  for (Value operand : {scale, bias})
    if (getShape(operand) != ArrayRef<int64_t>(shape[1])) {
      node.invalid("scale or bias of shape " + formatShape(getShape(operand)) +
                   " for " + Twine(shape[1]) + " " + kind);
      return nullptr;
    }
  value = node.mul(value, node.broadcastAlong(scale, shape, {1}));
  return node.add(value, node.broadcastAlong(bias, shape, {1}));
}

static void importInstanceNormalization(Node &node) {
  Value input = node.getInput(0);
  if (!node.requireFloat(input))
    return;
  SmallVector<int64_t> shape(getShape(input));
  if (shape.size() < 3) {
    node.invalid("input of shape " + formatShape(shape) +
                 " has no spatial axis");
    return;
  }
  Moments moments = normalize(
      node, input, llvm::to_vector(llvm::seq<int64_t>(2, shape.size())),
      node.getNonNegative("epsilon", 1e-5));
  if (Value result = scaleAndShift(node, moments.normalized, "channels"))
    node.setOutput(0, result);
}

/// Imports the normalization of groups of channels. Before version 21, there is
/// a scale and a bias for each group, since then for each channel.
static void importGroupNormalization(Node &node) {
  Value input = node.getInput(0);
  if (!node.requireFloat(input))
    return;
  SmallVector<int64_t> shape(getShape(input));
  int64_t groups = node.getInt("num_groups", 0);
  if (shape.size() < 2 || groups < 1 || shape[1] % groups != 0) {
    node.invalid("attribute 'num_groups' = " + Twine(groups) +
                 ", expected a divisor of the number of channels, axis 1 of an "
                 "input of shape " +
                 formatShape(shape));
    return;
  }
  SmallVector<int64_t> grouped(shape);
  grouped[1] = shape[1] / groups;
  grouped.insert(grouped.begin() + 1, groups);
  bool isOfGroups = node.getOpset() < 21;
  SmallVector<int64_t> affine = isOfGroups ? grouped : shape;
  Value inGroups = node.reshape(input, grouped);
  if (!inGroups)
    return;
  Moments moments = normalize(
      node, inGroups, llvm::to_vector(llvm::seq<int64_t>(2, grouped.size())),
      node.getNonNegative("epsilon", 1e-5));
  Value normalized = node.reshape(moments.normalized, affine);
  Value result =
      scaleAndShift(node, normalized, isOfGroups ? "groups" : "channels");
  if (result)
    node.setOutput(0, node.reshape(result, shape));
}

/// Imports a normalization that divides by the root mean square along `axis`
/// and all later axes.
static void importRmsNormalization(Node &node) {
  Value input = node.getInput(0);
  if (!node.requireFloat(input))
    return;
  SmallVector<int64_t> shape(getShape(input));
  int64_t axis = node.normalizeAxis(node.getInt("axis", -1), shape.size());
  if (node.failed())
    return;
  Value square =
      takeMean(node, node.mul(input, input),
               llvm::to_vector(llvm::seq<int64_t>(axis, shape.size())));
  Value inverse = node.create<RsqrtOp>(node.add(
      square, node.splatLike(square, node.getNonNegative("epsilon", 1e-5))));
  Value normalized = node.mul(input, node.broadcast(inverse, shape));
  Value scale = node.getInput(1);
  if (!scale)
    return;
  normalized = node.cast(normalized, getElementType(scale));
  node.setOutput(0, node.mul(normalized, node.broadcast(scale, shape)));
}

/// Imports (x - mean) / standard deviation along some axes, by default those of
/// samples and space.
static void importMeanVarianceNormalization(Node &node) {
  constexpr double kLeast = 1e-9; // as in the standard
  Value input = node.getInput(0);
  if (!node.requireFloat(input))
    return;
  SmallVector<int64_t> shape(getShape(input));
  SmallVector<int64_t> axes = node.normalizeAxes(
      node.getInts("axes").value_or(SmallVector<int64_t>{0, 2, 3}),
      shape.size());
  if (node.failed())
    return;
  Centered centered = center(node, input, axes);
  Value deviation = markNorm(node.create<SqrtOp>(centered.variance));
  deviation = node.add(deviation, node.splatLike(deviation, kLeast));
  node.setOutput(0,
                 node.div(centered.values, node.broadcast(deviation, shape)));
}

//===----------------------------------------------------------------------===//
// Normalization of each position
//===----------------------------------------------------------------------===//

/// Imports x / (bias + alpha * mean of x^2 over `size` adjacent channels)^beta.
static void importLocalResponse(Node &node) {
  Value input = node.getInput(0);
  if (!node.requireFloat(input))
    return;
  SmallVector<int64_t> shape(getShape(input));
  int64_t size = node.getInt("size", 0);
  if (shape.size() < 2 || size < 1 || size > kGreatestWindow) {
    node.invalid("windows of " + Twine(size) +
                 " channels for an input of shape " + formatShape(shape));
    return;
  }
  // AveragePoolOp slides windows over spatial axes, so channels become the
  // first axis of a plane.
  ArrayRef<int64_t> space = ArrayRef<int64_t>(shape).drop_front(2);
  SmallVector<int64_t> plane = {shape[0], 1, shape[1],
                                ShapedType::getNumElements(space)};
  int64_t low = (size - 1) / 2, high = size - 1 - low;
  Value square = node.reshape(node.mul(input, input), plane);
  Value mean = node.create<AveragePoolOp>(
      square, ArrayRef<int64_t>({size, 1}), ArrayRef<int64_t>({1, 1}),
      ArrayRef<int64_t>({1, 1}), ArrayRef<int64_t>({low, 0, high, 0}),
      ArrayRef<int64_t>({0, 0}), /*includesPadding=*/true);
  mean = node.reshape(mean, shape);
  auto number = [&](StringRef name, double fallback) {
    return node.splatLike(input, node.getFloat(name, fallback));
  };
  Value base =
      node.add(node.mul(mean, number("alpha", 1e-4)), number("bias", 1));
  node.setOutput(
      0, node.div(input, node.create<PowOp>(base, number("beta", 0.75))));
}

//===----------------------------------------------------------------------===//
// The table of handlers
//===----------------------------------------------------------------------===//

llvm::ArrayRef<OpHandler> getNormalizationHandlers() {
  static const OpHandler handlers[] = {
      {"BatchNormalization", 7, importBatchNormalization, 0, 5},
      {"GroupNormalization", 18, importGroupNormalization, 0, 3},
      {"GroupNormalization", 21, importGroupNormalization, 0, 3},
      {"InstanceNormalization", 6, importInstanceNormalization, 0, 3},
      {"LRN", 1, importLocalResponse},
      {"LayerNormalization", 17, importLayerNormalization, 0, 3},
      {"MeanVarianceNormalization", 9, importMeanVarianceNormalization},
      {"RMSNormalization", 23, importRmsNormalization, 0, 2},
  };
  return handlers;
}

} // namespace mlir::hfta::onnx_import
