//===- Initialization.cpp - Initial values of an untrained model ----------===//
//
// An ONNX file doesn't say how its weights were initialized, so the use of each
// variable determines its initial distribution. Weights and biases of
// contractions and convolutions are drawn as in PyTorch's layers; embeddings
// are standard normal; batch normalizations get scales and variances of 1,
// biases and means of 0. Other parameters keep their values if these are all
// equal; otherwise they are drawn from a normal distribution with the values'
// mean and deviation.
//===----------------------------------------------------------------------===//

#include "Building/ModelBuilder.h"

#include <cmath>

namespace mlir::hfta::onnx_import {

namespace {
/// The initial distribution of one variable.
struct Start {
  enum class Kind { unknown, weight, embedding, one, zero };
  Kind kind = Kind::unknown;
  int64_t fanIn = 0;
};
} // namespace

/// Returns the number of products that are added up for one element of the op's
/// result, or 0 if `op` isn't a convolution or contraction.
static int64_t getFanIn(Operation *op) {
  if (auto conv = dyn_cast_or_null<ConvOp>(op)) {
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(conv.getWeight().getType()).getShape();
    return ShapedType::getNumElements(shape.drop_front());
  }
  auto contract = dyn_cast_or_null<ContractOp>(op);
  if (!contract)
    return 0;
  auto maps = contract.getIndexingMaps().getAsValueRange<AffineMapAttr>();
  AffineMap lhs = *maps.begin(), result = *std::next(maps.begin(), 2);
  auto type = cast<RankedTensorType>(contract.getLhs().getType());
  int64_t fanIn = 1;
  for (auto [axis, expression] : llvm::enumerate(lhs.getResults()))
    if (!llvm::is_contained(result.getResults(), expression))
      fanIn *= type.getDimSize(axis);
  return fanIn;
}

/// Returns the initial distribution that follows from a use of a variable's
/// value, or of a transposed, reshaped, broadcast or cast form of the value.
/// Inspects at most `steps` uses, and subtracts those inspected.
static Start readUse(OpOperand &use, int &steps) {
  if (--steps < 0)
    return {};
  Operation *op = use.getOwner();
  unsigned operand = use.getOperandNumber();
  if (int64_t fanIn = getFanIn(op))
    return {Start::Kind::weight, fanIn};
  if (isa<GatherOp>(op))
    return {operand == 0 ? Start::Kind::embedding : Start::Kind::unknown};
  if (isa<BatchNormOp>(op)) {
    bool isOne = operand == 1 || operand == 4;
    return {isOne ? Start::Kind::one : Start::Kind::zero};
  }
  if (auto add = dyn_cast<AddOp>(op)) {
    Value other = operand == 0 ? add.getRhs() : add.getLhs();
    if (int64_t fanIn = getFanIn(other.getDefiningOp()))
      return {Start::Kind::weight, fanIn};
    return {};
  }
  if (isa<TransposeOp, ReshapeOp, BroadcastOp, CastOp>(op))
    for (OpOperand &next : op->getResult(0).getUses()) {
      Start start = readUse(next, steps);
      if (start.kind != Start::Kind::unknown)
        return start;
    }
  return {};
}

static Attribute makeSplat(RankedTensorType type, double value) {
  return DenseElementsAttr::get(
      type, Attribute(FloatAttr::get(type.getElementType(), value)));
}

static Attribute makeNormal(MLIRContext *context, double mean,
                            double deviation) {
  Type number = Float64Type::get(context);
  return NormalAttr::get(context, FloatAttr::get(number, mean),
                         FloatAttr::get(number, deviation));
}

/// Returns a normal distribution with the mean and deviation of `values`; null
/// if they are all equal, or the deviation isn't finite.
static Attribute imitate(MLIRContext *context, ArrayRef<double> values) {
  double sum = 0, squares = 0;
  for (double value : values)
    sum += value;
  double mean = values.empty() ? 0 : sum / values.size();
  for (double value : values)
    squares += (value - mean) * (value - mean);
  double deviation = values.empty() ? 0 : std::sqrt(squares / values.size());
  if (!std::isfinite(deviation) || llvm::all_equal(values))
    return Attribute();
  return makeNormal(context, mean, deviation);
}

static Attribute chooseInitial(RankedTensorType type, Start start,
                               const FileTensor &file) {
  MLIRContext *context = type.getContext();
  Type number = Float64Type::get(context);
  switch (start.kind) {
  case Start::Kind::weight: {
    double bound = 1 / std::sqrt(static_cast<double>(start.fanIn));
    return UniformAttr::get(context, FloatAttr::get(number, -bound),
                            FloatAttr::get(number, bound));
  }
  case Start::Kind::embedding:
    return makeNormal(context, 0, 1);
  case Start::Kind::one:
    return makeSplat(type, 1);
  case Start::Kind::zero:
    return makeSplat(type, 0);
  case Start::Kind::unknown:
    break;
  }
  return imitate(context, readFloats(file));
}

void initializeAnew(ModelOp model, const Graph &graph) {
  llvm::StringMap<Start> starts;
  model.walk([&](ReadOp read) {
    Start &start = starts[read.getVariable()];
    int steps = 100;
    for (OpOperand &use : read.getResult().getUses())
      if (start.kind == Start::Kind::unknown)
        start = readUse(use, steps);
  });
  for (VariableOp variable : model.getBody().getOps<VariableOp>()) {
    auto use = graph.initializerUses.find(variable.getOwnName());
    TrainingRule rule = getTrainingRule(variable);
    if (use == graph.initializerUses.end() || rule == TrainingRule::unlisted ||
        rule == TrainingRule::exporter)
      continue;
    const FileTensor &file =
        graph.initializers.find(use->second.initializer)->second;
    if (Attribute initial =
            chooseInitial(variable.getTensorType(),
                          starts.lookup(variable.getSymName()), file))
      variable.setInitialAttr(initial);
  }
}

} // namespace mlir::hfta::onnx_import
