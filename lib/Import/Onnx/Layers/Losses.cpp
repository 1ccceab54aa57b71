//===- Losses.cpp - Losses with class numbers as targets ------------------===//

#include "Movement/Indexing.h"

namespace mlir::hfta::onnx_import {

namespace {
/// The operands of a loss node besides its scores.
struct Targets {
  Value classes; ///< i64, of the scores' shape without axis 1
  Value weights; ///< one per class; may be null
  std::optional<int64_t> ignored;
};
} // namespace

/// Reads the targets, operands 1 and 2, and the attributes; returns false after
/// an error.
static bool readTargets(Node &node, Value scores, Targets &targets) {
  Value classes = node.getInput(1);
  targets.weights = node.getOptionalInput(2);
  if (!node.requireFloat(scores) || !requireIndices(node, classes))
    return false;
  ArrayRef<int64_t> shape = getShape(scores);
  SmallVector<int64_t> wanted(shape);
  if (shape.size() >= 2)
    wanted.erase(wanted.begin() + 1);
  if (shape.size() < 2 || getShape(classes) != ArrayRef<int64_t>(wanted)) {
    node.invalid("targets of shape " + formatShape(getShape(classes)) +
                 " don't fit scores of shape " + formatShape(shape));
    return false;
  }
  if (targets.weights && getShape(targets.weights) != shape.slice(1, 1)) {
    node.invalid("weights have shape " +
                 formatShape(getShape(targets.weights)) + ", expected [" +
                 Twine(shape[1]) + "]");
    return false;
  }
  targets.classes = node.cast(classes, node.getBuilder().getI64Type());
  if (node.hasAttribute("ignore_index"))
    targets.ignored = node.getInt("ignore_index", 0);
  return !node.failed();
}

/// Returns the entry of `values` for each target's class. It is computed as the
/// sum over classes (axis 1) of the entries for which `hit` is true.
static Value pickTarget(Node &node, Value hit, Value values) {
  return node.reduce(
      ReduceKind::sum,
      node.create<SelectOp>(hit, values, node.splatLike(values, 0)), 1);
}

static Value sumAll(Node &node, Value value) {
  if (!value)
    return Value();
  return node.reduce(
      ReduceKind::sum, value,
      llvm::to_vector(llvm::seq<int64_t>(0, getType(value).getRank())));
}

/// Computes the loss from the logarithms of probabilities.
static Value computeLoss(Node &node, Value logarithms, const Targets &targets) {
  std::string reduction = node.getString("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    return node.invalid("attribute 'reduction' = '" + reduction +
                        "', expected 'none', 'sum' or 'mean'");
  SmallVector<int64_t> shape(getShape(logarithms));
  Value hit = isAtIndex(node, targets.classes, shape, 1);
  Value loss = pickTarget(node, hit, logarithms);
  if (!loss)
    return Value();
  loss = node.create<NegOp>(loss);
  Value weights = node.splatLike(loss, 1);
  if (targets.weights)
    weights =
        pickTarget(node, hit, node.broadcastAlong(targets.weights, shape, {1}));
  if (targets.ignored) {
    Value counts = node.compare(
        ComparePredicate::not_equal, targets.classes,
        node.splatLike(targets.classes, static_cast<double>(*targets.ignored)));
    weights =
        node.create<SelectOp>(counts, weights, node.splatLike(weights, 0));
    loss = node.create<SelectOp>(counts, loss, node.splatLike(loss, 0));
  }
  loss = node.mul(loss, weights);
  if (reduction == "none")
    return loss;
  Value sum = sumAll(node, loss);
  return reduction == "sum" ? sum : node.div(sum, sumAll(node, weights));
}

static void importNegativeLogLikelihood(Node &node) {
  Value logarithms = node.getInput(0);
  Targets targets;
  if (readTargets(node, logarithms, targets))
    node.setOutput(0, computeLoss(node, logarithms, targets));
}

static void importSoftmaxCrossEntropy(Node &node) {
  Value scores = node.getInput(0);
  Targets targets;
  if (!readTargets(node, scores, targets))
    return;
  Value logarithms = node.create<LogSoftmaxOp>(scores, 1);
  if (!logarithms)
    return;
  node.setOutput(0, computeLoss(node, logarithms, targets));
  if (node.getNumOutputs() > 1)
    node.setOutput(1, logarithms);
}

llvm::ArrayRef<OpHandler> getLossHandlers() {
  static const OpHandler handlers[] = {
      {"NegativeLogLikelihoodLoss", 12, importNegativeLogLikelihood, 0b100, 3},
      {"SoftmaxCrossEntropyLoss", 12, importSoftmaxCrossEntropy, 0b100, 3},
  };
  return handlers;
}

} // namespace mlir::hfta::onnx_import
