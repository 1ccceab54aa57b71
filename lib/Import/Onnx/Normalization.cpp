//===- Normalization.cpp - Batch, layer and instance normalization --------===//

#include "Node.h"

namespace mlir::hfta::onnx_import {

//===----------------------------------------------------------------------===//
// Batch normalization
//===----------------------------------------------------------------------===//

/// In a job: without a mode, running statistics kept up as PyTorch does.
static void normalizeInJob(Node &node, Value input, ArrayRef<Value> operands,
                           double epsilon, double momentum) {
  for (unsigned output = 1; output < node.getNumOutputs(); ++output)
    if (node.isOutputUsed(output)) {
      node.unsupported("its output '" + node.getOutputName(output) +
                       "' is read, which a job does not support");
      return;
    }
  SmallVector<Value> results = node.createMany<BatchNormOp>(
      5, input, operands[0], operands[1], operands[2], operands[3],
      llvm::APFloat(epsilon), llvm::APFloat(momentum), /*unbiased=*/true,
      /*training=*/false);
  if (results.empty())
    return;
  node.setOutput(0, results[0]);
  for (unsigned index : {3u, 4u})
    if (VariableOp variable =
            node.getModel().getStatistics(node.getInputName(index)))
      node.getModel().writeVariable(variable, results[index - 2],
                                    node.getLoc());
}

/// As the file says.
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
    // variance = 1 / deviation^-2 - epsilon
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
    node.unsupported("statistics an activation (spatial = 0) are not "
                     "supported");
    return;
  }
  ModelBuilder &model = node.getModel();
  SmallVector<Value> operands;
  for (unsigned index = 1; index <= 4; ++index) {
    VariableOp variable = index >= 3
                              ? model.getStatistics(node.getInputName(index))
                              : VariableOp();
    // Statistics are read here: an earlier node may have written them.
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
    normalizeInJob(node, input, operands, epsilon, momentum);
  else
    normalizeAsWritten(node, input, operands, epsilon, momentum, training);
}

//===----------------------------------------------------------------------===//
// Normalization of each sample
//===----------------------------------------------------------------------===//

namespace {
/// Of the input along some axes, in the input's shape but for these axes,
/// which have size 1.
struct Moments {
  Value mean, inverseDeviation;
  Value normalized; ///< in the input's shape
};
} // namespace

static Value keepAxes(Node &node, Value reduced, ArrayRef<int64_t> shape,
                      ArrayRef<int64_t> axes) {
  SmallVector<int64_t> kept(shape);
  for (int64_t axis : axes)
    kept[axis] = 1;
  return node.reshape(reduced, kept);
}

static Moments normalize(Node &node, Value input, ArrayRef<int64_t> axes,
                         double epsilon) {
  Moments moments;
  SmallVector<int64_t> shape(getShape(input));
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= shape[axis];
  auto mean = [&](Value value) {
    Value sum =
        keepAxes(node, node.reduce(ReduceKind::sum, value, axes), shape, axes);
    return node.div(sum, node.splatLike(sum, count));
  };
  moments.mean = mean(input);
  Value centered = node.sub(input, node.broadcast(moments.mean, shape));
  Value variance = mean(node.mul(centered, centered));
  moments.inverseDeviation = node.create<RsqrtOp>(
      node.add(variance, node.splatLike(variance, epsilon)));
  moments.normalized =
      node.mul(centered, node.broadcast(moments.inverseDeviation, shape));
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
  Value scale = node.getInput(1), bias = node.getInput(2);
  for (Value operand : {scale, bias})
    if (operand && getShape(operand) != ArrayRef<int64_t>(shape[1])) {
      node.invalid("scale or bias of shape " + formatShape(getShape(operand)) +
                   " for " + Twine(shape[1]) + " channels");
      return;
    }
  Value result =
      node.mul(moments.normalized, node.broadcastAlong(scale, shape, {1}));
  node.setOutput(0, node.add(result, node.broadcastAlong(bias, shape, {1})));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

llvm::ArrayRef<OpHandler> getNormalizationHandlers() {
  static const OpHandler handlers[] = {
      {"BatchNormalization", 7, importBatchNormalization, 0, 5},
      {"InstanceNormalization", 6, importInstanceNormalization, 0, 3},
      {"LayerNormalization", 17, importLayerNormalization, 0, 3},
  };
  return handlers;
}

} // namespace mlir::hfta::onnx_import
