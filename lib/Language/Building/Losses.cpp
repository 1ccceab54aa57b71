//===- Losses.cpp - One record for each loss ------------------------------===//

#include "Building/ClassLosses.h"
#include "Building/ObjectiveBuilding.h"

#include <cfloat>
#include <cmath>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

using Kind = ObjectiveParameter::Kind;

static ObjectiveError checkElements(const ObjectiveArguments &,
                                    ObjectiveTypes types) {
  return checkValues(types);
}

/// Returns a loss of which every element counts.
static Loss countAll(TensorBuilder &tensors, Value losses) {
  return {losses, tensors.splatLike(losses, 1), {}, {}};
}

//===----------------------------------------------------------------------===//
// Losses of classes
//===----------------------------------------------------------------------===//

static constexpr ObjectiveParameter kAxis = {kAxisArgument, Kind::integer,
                                             NumberRange::whole(-8, 7), "-1"};
static constexpr ObjectiveParameter kIgnoreIndex = {
    kIgnoreIndexArgument, Kind::integer,
    NumberRange::whole(INT32_MIN, INT32_MAX), "-100"};
static constexpr ObjectiveParameter kClassWeights = {
    kClassWeightsArgument, Kind::weights, {0, FLT_MAX}, "[1, ...]"};

static constexpr ObjectiveParameter kCrossEntropy[] = {
    kAxis,
    kIgnoreIndex,
    {kSmoothingArgument, Kind::number, NumberRange::unit(), "0"},
    kClassWeights};
static constexpr ObjectiveParameter kNll[] = {kAxis, kIgnoreIndex,
                                              kClassWeights};

//===----------------------------------------------------------------------===//
// Losses of differences
//===----------------------------------------------------------------------===//

static Value buildDifference(const ObjectiveOperands &operands) {
  return operands.tensors.binary<SubOp>(operands.output, buildTarget(operands));
}

/// Draws normal numbers of variance 1/2, as sqrt(-log(1 - u)) cos(2 pi v) (G.
/// Box, M. Muller, "A note on the generation of random normal deviates", 1958).
static Value drawNoise(TensorBuilder &tensors, const RandomKeys &keys,
                       Value like) {
  Value u = drawUniform(tensors, keys, like);
  Value v = drawUniform(tensors, keys, like, "/angle");
  Value rest = tensors.binary<SubOp>(tensors.splatLike(u, 1), u);
  Value radius =
      tensors.unary<SqrtOp>(tensors.unary<NegOp>(tensors.unary<LogOp>(rest)));
  Value angle = tensors.unary<CosOp>(tensors.binary<MulOp>(v, 2 * M_PI));
  return tensors.binary<MulOp>(radius, angle);
}

/// Builds squared differences. Targets are drawn from the normal distribution
/// around the output with variance 1/2, whose negative logarithm is the squared
/// difference.
static Loss buildMse(const ObjectiveOperands &operands,
                     const std::optional<RandomKeys> &keys) {
  TensorBuilder &tensors = operands.tensors;
  Value difference = buildDifference(operands);
  Loss loss = countAll(tensors, tensors.binary<MulOp>(difference, difference));
  // The target is the output plus noise. With the noise constant, the squared
  // difference has the same gradient as -2 * noise * output.
  if (keys)
    loss.drawnLosses = tensors.binary<MulOp>(
        operands.output,
        tensors.binary<MulOp>(drawNoise(tensors, *keys, operands.output), -2));
  return loss;
}

/// Builds absolute differences. Targets are drawn from the Laplace distribution
/// around the output, whose negative logarithm is the absolute difference: the
/// gradient is 1 or -1, each with the probability 1/2.
static Loss buildL1(const ObjectiveOperands &operands,
                    const std::optional<RandomKeys> &keys) {
  TensorBuilder &tensors = operands.tensors;
  Loss loss =
      countAll(tensors, tensors.unary<AbsOp>(buildDifference(operands)));
  if (!keys)
    return loss;
  Value output = operands.output;
  Value isAbove = tensors.compare(ComparePredicate::less,
                                  drawUniform(tensors, *keys, output), 0.5);
  loss.drawnLosses =
      tensors.select(isAbove, output, tensors.unary<NegOp>(output));
  return loss;
}

static constexpr ObjectiveParameter kHuber[] = {
    {"delta", Kind::number, {1e-6, FLT_MAX}, "1"}};

/// Builds d²/2 up to |d| = delta, and the tangent beyond: with m = min(|d|,
/// delta) both are m (|d| - m/2). Source: P. J. Huber, "Robust estimation of a
/// location parameter", 1964.
static Loss buildHuber(const ObjectiveOperands &operands,
                       const std::optional<RandomKeys> &) {
  TensorBuilder &tensors = operands.tensors;
  Value distance = tensors.unary<AbsOp>(buildDifference(operands));
  Value delta = operands.arguments.getNumber("delta");
  Value most = delta ? fillLike(tensors, delta, distance)
                     : tensors.splatLike(distance, 1);
  Value near = tensors.binary<MinOp>(distance, most);
  Value rest =
      tensors.binary<SubOp>(distance, tensors.binary<MulOp>(near, 0.5));
  return countAll(tensors, tensors.binary<MulOp>(near, rest));
}

//===----------------------------------------------------------------------===//
// Losses of logits
//===----------------------------------------------------------------------===//

static constexpr ObjectiveParameter kBinary[] = {
    {"pos_weight", Kind::weights, {0, FLT_MAX}, "1"}};

static ObjectiveError checkBinary(const ObjectiveArguments &arguments,
                                  ObjectiveTypes types) {
  ObjectiveError wrong = checkValues(types);
  ArrayRef<double> weights = arguments.getWeights("pos_weight");
  if (wrong || weights.size() == 1)
    return wrong;
  return checkCount(
      weights, types.output.getRank() > 1 ? types.output.getShape().back() : 1,
      "'pos_weight' is one number, or one for each element of the last axis",
      types);
}

/// Returns the weights of ones, broadcast to the output's shape; null if all
/// are 1.
static Value getPositiveWeights(const ObjectiveOperands &operands) {
  TensorBuilder &tensors = operands.tensors;
  ArrayRef<double> numbers = operands.arguments.getWeights("pos_weight");
  if (numbers.empty())
    return {};
  if (numbers.size() == 1)
    return tensors.splatLike(operands.output, numbers.front());
  RankedTensorType type = operands.getTypes().output;
  return tensors.broadcast(
      tensors.list(numbers, cast<FloatType>(type.getElementType())),
      type.getShape(), type.getRank() - 1);
}

/// Builds (1 - t) x + log(1 + e^-x), which is accurate for large x of either
/// sign. With weights p of ones, the logarithm is multiplied by 1 - t + p t.
/// Targets are drawn as ones and zeros with the logits' probabilities; with
/// weights, the drawn losses are multiplied by the root of this factor.
static Loss buildBinaryCrossEntropy(const ObjectiveOperands &operands,
                                    const std::optional<RandomKeys> &keys) {
  TensorBuilder &tensors = operands.tensors;
  Value output = operands.output, target = buildTarget(operands);
  Value positive = getPositiveWeights(operands);
  Value total;
  auto build = [&](Value of, bool isWeighted) {
    Value other = tensors.binary<SubOp>(tensors.splatLike(of, 1), of);
    Value tail = tensors.unary<SoftplusOp>(tensors.unary<NegOp>(output));
    if (isWeighted) {
      total = tensors.binary<AddOp>(other, tensors.binary<MulOp>(positive, of));
      tail = tensors.binary<MulOp>(total, tail);
    }
    return tensors.binary<AddOp>(tensors.binary<MulOp>(other, output), tail);
  };
  Loss loss = countAll(tensors, build(target, static_cast<bool>(positive)));
  if (!keys)
    return loss;
  Value isOne = tensors.compare(ComparePredicate::less,
                                drawUniform(tensors, *keys, output),
                                tensors.unary<SigmoidOp>(output));
  loss.drawnLosses =
      build(tensors.cast(isOne, getElementType(output)), /*isWeighted=*/false);
  if (total)
    loss.drawnLosses =
        tensors.binary<MulOp>(loss.drawnLosses, tensors.unary<SqrtOp>(total));
  return loss;
}

//===----------------------------------------------------------------------===//
// The table of losses
//===----------------------------------------------------------------------===//

static constexpr LossInfo kLosses[] = {
    {"cross_entropy", kCrossEntropy,
     "logits along `axis`; labels are class indices, in the shape of the "
     "output without this axis; labels equal to `ignore_index` don't count. Or "
     "labels are floats in the output's shape: probabilities of the classes",
     "class numbers, or probabilities in the output's shape",
     classifyClassesOrProbabilities, checkCrossEntropy, buildCrossEntropy},
    {"nll", kNll,
     "like `cross_entropy` with class indices, but of log-probabilities",
     "class numbers", classifyClassNumbers, checkNll, buildNll},
    {"mse",
     {},
     "squared differences",
     "a label in the output's shape",
     /*classify=*/nullptr,
     checkElements,
     buildMse},
    {"l1",
     {},
     "absolute differences",
     "a label in the output's shape",
     /*classify=*/nullptr,
     checkElements,
     buildL1},
    {"huber", kHuber,
     "half the squared difference up to an absolute difference of `delta`; for "
     "larger ones `delta` times (the absolute difference - `delta` / 2)",
     "a label in the output's shape", /*classify=*/nullptr, checkElements,
     buildHuber, /*draws=*/false},
    {"binary_cross_entropy", kBinary,
     "outputs are logits, labels are probabilities, both of the same shape",
     "a label in the output's shape", /*classify=*/nullptr, checkBinary,
     buildBinaryCrossEntropy},
};

static std::vector<LossInfo> &getTable() {
  static std::vector<LossInfo> table(std::begin(kLosses), std::end(kLosses));
  return table;
}

llvm::ArrayRef<LossInfo> mlir::hfta::getLosses() { return getTable(); }

const LossInfo *mlir::hfta::findLoss(llvm::StringRef name) {
  return findByName(getLosses(), name);
}

ScratchLoss::ScratchLoss(const LossInfo &loss) { getTable().push_back(loss); }
ScratchLoss::~ScratchLoss() { getTable().pop_back(); }
