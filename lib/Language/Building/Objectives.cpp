//===- Objectives.cpp - Losses and metrics --------------------------------===//

#include "Hfta/Language/Objectives.h"
#include "Analysis/Arguments.h"
#include "Building/TensorBuilder.h"
#include "Hfta/Dialect/Hfta/IR/VariableNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Returns whether two shapes are equal apart from axes of length 1 that aren't
/// the first.
static bool areAlike(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  if (a.empty() || b.empty() || a[0] != b[0])
    return a == b;
  auto isNotOne = [](int64_t size) { return size != 1; };
  return llvm::equal(llvm::make_filter_range(a.drop_front(), isNotOne),
                     llvm::make_filter_range(b.drop_front(), isNotOne));
}

static SmallVector<int64_t> without(ArrayRef<int64_t> shape, int64_t axis) {
  SmallVector<int64_t> result(shape);
  result.erase(result.begin() + axis);
  return result;
}

/// Returns the axis, where negative numbers count from the last one. Returns
/// nothing if it doesn't exist or is the batch axis.
static std::optional<int64_t> getAxis(RankedTensorType type, int64_t axis) {
  int64_t rank = type.getRank();
  int64_t fromFront = axis < 0 ? axis + rank : axis;
  if (fromFront < 1 || fromFront >= rank)
    return std::nullopt;
  return fromFront;
}

static std::string describeTypes(RankedTensorType output,
                                 RankedTensorType label) {
  return "the output is " + printShape(output.getShape()) + ", the label " +
         printShape(label.getShape());
}

static std::string checkClasses(RankedTensorType output, RankedTensorType label,
                                int64_t axis) {
  std::optional<int64_t> classes = getAxis(output, axis);
  if (!classes)
    return "the output of shape " + printShape(output.getShape()) +
           " has no axis " + std::to_string(axis) + " of classes";
  if (!areAlike(without(output.getShape(), *classes), label.getShape()))
    return "the label must have the output's shape without axis " +
           std::to_string(axis) + ", but " + describeTypes(output, label);
  if (!isa<IntegerType>(label.getElementType()))
    return "the label must hold class numbers, but it is a float";
  return "";
}

bool mlir::hfta::takesClasses(LossKind kind) {
  switch (kind) {
  case LossKind::crossEntropy:
  case LossKind::nll:
    return true;
  case LossKind::mse:
  case LossKind::binaryCrossEntropy:
    return false;
  }
  llvm_unreachable("all kinds of losses are above");
}

bool LossOptions::takesProbabilities(RankedTensorType output,
                                     RankedTensorType label) const {
  std::optional<int64_t> classes = getAxis(output, axis);
  return kind == LossKind::crossEntropy && classes &&
         output.getDimSize(*classes) != 1 &&
         isa<FloatType>(label.getElementType()) &&
         areAlike(output.getShape(), label.getShape());
}

/// Checks that a list of weights is empty or has `count` numbers; `what`
/// describes these. Returns an error message, or an empty string.
static std::string checkCount(ArrayRef<double> weights, int64_t count,
                              const Twine &what, RankedTensorType output) {
  if (weights.empty() || static_cast<int64_t>(weights.size()) == count)
    return "";
  return (what + ": the output of shape " + printShape(output.getShape()) +
          " has " + Twine(count) + ", got " + Twine(weights.size()))
      .str();
}

/// Checks a loss of class scores. Returns an error message, or an empty string.
static std::string checkClassLoss(const LossOptions &options,
                                  RankedTensorType output,
                                  RankedTensorType label) {
  std::string wrong;
  if (!options.takesProbabilities(output, label))
    wrong = checkClasses(output, label, options.axis);
  else if (options.ignoreIndex)
    wrong = "'ignore_index' is a class number, but the label holds "
            "probabilities";
  if (!wrong.empty())
    return wrong;
  int64_t classes = output.getDimSize(*getAxis(output, options.axis));
  return checkCount(options.weights.ofClasses, classes,
                    "'class_weights' are numbers of classes", output);
}

std::string mlir::hfta::checkLoss(const LossOptions &options,
                                  RankedTensorType output,
                                  RankedTensorType label) {
  if (!isa<FloatType>(output.getElementType()))
    return "the output must be a float";
  if (takesClasses(options.kind))
    return checkClassLoss(options, output, label);
  if (!areAlike(output.getShape(), label.getShape()))
    return "output and label must have one shape, but " +
           describeTypes(output, label);
  ArrayRef<double> weights = options.weights.ofOnes;
  if (weights.size() == 1)
    return "";
  return checkCount(weights,
                    output.getRank() > 1 ? output.getShape().back() : 1,
                    "'pos_weight' is one number, or one for each element of "
                    "the last axis",
                    output);
}

bool mlir::hfta::hasClassAxis(RankedTensorType output, RankedTensorType label,
                              int64_t axis) {
  std::optional<int64_t> classes = getAxis(output, axis);
  return classes && output.getDimSize(*classes) != 1 &&
         areAlike(without(output.getShape(), *classes), label.getShape());
}

std::string mlir::hfta::checkAccuracy(RankedTensorType output,
                                      RankedTensorType label, int64_t axis) {
  if (!isa<FloatType>(output.getElementType()))
    return "the output must be a float";
  if (!hasClassAxis(output, label, axis) &&
      areAlike(output.getShape(), label.getShape()))
    return "";
  return checkClasses(output, label, axis);
}

//===----------------------------------------------------------------------===//
// Drawn targets
//===----------------------------------------------------------------------===//

/// Draws uniform numbers in [0, 1), one for each element of `like`. Each
/// `suffix` has a random stream of its own.
static Value drawUniform(TensorBuilder &tensors, const RandomKeys &keys,
                         Value like, StringRef suffix = "") {
  std::string stream = names::getCompilerSymbol("drawn_target" + suffix);
  return tensors.create<RandomUniformOp>(
      keys.seed, keys.step, keys.firstSample, getShape(like),
      names::hash(stream), /*per_sample=*/true, getElementType(like));
}

/// Returns the index of the first maximum along `axis`.
static Value findLargest(TensorBuilder &tensors, Value values, int64_t axis,
                         Type indexType) {
  int64_t size = getShape(values)[axis];
  Value largest = tensors.reduce(ReduceKind::max, values, {axis});
  Value isLargest = tensors.compare(ComparePredicate::equal, values,
                                    tensors.repeat(largest, axis, size));
  Value indices = tensors.create<IotaOp>(getShape(values), axis, indexType);
  Value candidates =
      tensors.select(isLargest, indices, tensors.splatLike(indices, size));
  return tensors.reduce(ReduceKind::min, candidates, {axis});
}

/// Draws classes from the distribution whose logarithms of probabilities, up to
/// a constant, are `scores`. It draws the class with the largest sum of score
/// and Gumbel noise -log(-log(u)) (E. J. Gumbel, "Statistical theory of extreme
/// values and some practical applications", 1954).
static Value drawClasses(TensorBuilder &tensors, const RandomKeys &keys,
                         Value scores, int64_t axis, Type indexType) {
  Value uniform = drawUniform(tensors, keys, scores);
  Value waits = tensors.unary<NegOp>(tensors.unary<LogOp>(uniform));
  Value noisy = tensors.binary<SubOp>(scores, tensors.unary<LogOp>(waits));
  return findLargest(tensors, noisy, axis, indexType);
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

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

namespace {
/// Builds losses from class scores.
class ClassLoss {
public:
  ClassLoss(TensorBuilder &tensors, const LossOptions &options, Value output,
            Value label)
      : tensors(tensors), options(options), output(output), label(label),
        type(getTensorType(output)), axis(*getAxis(type, options.axis)),
        classes(type.getDimSize(axis)), shape(without(type.getShape(), axis)) {}

  Loss build(const std::optional<RandomKeys> &keys) {
    scores = output;
    if (options.kind == LossKind::crossEntropy)
      scores = tensors.create<LogSoftmaxOp>(scores, axis);
    ArrayRef<double> numbers = options.weights.ofClasses;
    if (!numbers.empty())
      weights = tensors.broadcast(
          tensors.list(numbers, cast<FloatType>(type.getElementType())),
          type.getShape(), axis);
    Loss loss =
        options.takesProbabilities(type, getTensorType(label))
            ? buildOfProbabilities(tensors.reshape(
                  tensors.cast(label, type.getElementType()), type.getShape()))
            : buildOfClasses(tensors.reshape(label, shape));
    if (!keys)
      return loss;
    loss.drawnLosses = draw(*keys);
    // The loss of an element has the root of its target's total weight as
    // factor, so that second moments of gradients have the weight itself.
    if (weights)
      loss.drawnLosses = tensors.binary<MulOp>(
          loss.drawnLosses, tensors.unary<SqrtOp>(addTarget()));
    return loss;
  }

private:
  Loss buildOfClasses(Value label) {
    Value losses = choose(scores, label);
    if (weights) {
      ofLabel = pick(weights, label);
      losses = tensors.binary<MulOp>(losses, ofLabel);
    }
    if (options.labelSmoothing)
      losses = smooth(losses, weigh(scores));
    Value counts = tensors.cast(tensors.compare(ComparePredicate::not_equal,
                                                label, options.getIgnored()),
                                type.getElementType());
    Loss loss = {losses, counts, {}, {}};
    if (weights)
      loss.divisors = tensors.binary<MulOp>(ofLabel, counts);
    return loss;
  }

  Loss buildOfProbabilities(Value target) {
    if (options.labelSmoothing)
      target = tensors.binary<AddOp>(
          tensors.binary<MulOp>(target, repeatScalar(getKept(), target)),
          repeatScalar(getShare(), target));
    probabilities = weigh(target);
    Value losses = addClasses(tensors.binary<MulOp>(probabilities, scores));
    return {losses, tensors.splatLike(losses, 1), {}, {}};
  }

  /// Returns losses whose labels are drawn from the model's own distribution.
  Value draw(const RandomKeys &keys) {
    Type indexType = probabilities ? tensors.getBuilder().getI64Type()
                                   : getElementType(label);
    return choose(scores, drawClasses(tensors, keys, scores, axis, indexType));
  }

  /// Returns the sum over classes of each element's target, after smoothing and
  /// weighting.
  Value addTarget() {
    if (probabilities)
      return tensors.reduce(ReduceKind::sum, probabilities, {axis});
    return options.labelSmoothing
               ? smooth(ofLabel, tensors.unary<NegOp>(weights))
               : ofLabel;
  }

  /// Returns, for each element, the entry of `values` at its class.
  Value pick(Value values, Value chosenClass) {
    Value isChosen =
        tensors.compare(ComparePredicate::equal,
                        tensors.create<IotaOp>(type.getShape(), axis,
                                               getElementType(chosenClass)),
                        tensors.repeat(chosenClass, axis, classes));
    Value chosen =
        tensors.select(isChosen, values, tensors.splatLike(values, 0));
    return tensors.reduce(ReduceKind::sum, chosen, {axis});
  }

  /// Returns, for each element, the negative score of its class.
  Value choose(Value scores, Value chosenClass) {
    return tensors.unary<NegOp>(pick(scores, chosenClass));
  }

  /// Returns the negative sum of values over all classes.
  Value addClasses(Value values) {
    return tensors.unary<NegOp>(
        tensors.reduce(ReduceKind::sum, values, {axis}));
  }

  Value weigh(Value values) {
    return weights ? tensors.binary<MulOp>(values, weights) : values;
  }

  Value getSmoothing() {
    return tensors.cast(options.labelSmoothing, type.getElementType());
  }
  /// Returns the share of the target that smoothing leaves to the label's
  /// class.
  Value getKept() {
    Value smoothing = getSmoothing();
    return tensors.binary<SubOp>(tensors.splatLike(smoothing, 1), smoothing);
  }
  /// Returns the share of the target that smoothing gives to every class.
  Value getShare() {
    return tensors.binary<DivOp>(getSmoothing(), static_cast<double>(classes));
  }
  Value repeatScalar(Value scalar, Value like) {
    return tensors.broadcast(scalar, getShape(like), {});
  }

  /// Returns smoothed losses: (1 - e) * loss + e / classes * (sum over classes
  /// of -score), where e is the smoothing.
  Value smooth(Value losses, Value scores) {
    Value kept = getKept(), share = getShare();
    Value all = addClasses(scores);
    return tensors.binary<AddOp>(
        tensors.binary<MulOp>(losses, repeatScalar(kept, losses)),
        tensors.binary<MulOp>(all, repeatScalar(share, all)));
  }

  TensorBuilder &tensors;
  const LossOptions &options;
  Value output, label;
  RankedTensorType type;
  int64_t axis;
  int64_t classes;
  SmallVector<int64_t> shape;
  Value scores; ///< logarithms of the classes' probabilities
  /// The weights of classes, in the output's shape; null if all are 1.
  Value weights;
  Value ofLabel; ///< weight of each element's class, unless `weights` is null
  /// Smoothed and weighted targets, if labels are probabilities.
  Value probabilities;
};
} // namespace

static Loss buildSquaredDifferences(TensorBuilder &tensors, Value output,
                                    Value target,
                                    const std::optional<RandomKeys> &keys) {
  Value difference = tensors.binary<SubOp>(output, target);
  Loss loss = {tensors.binary<MulOp>(difference, difference),
               tensors.splatLike(output, 1),
               {},
               {}};
  // The target is the output plus noise. With the noise constant, the squared
  // difference has the same gradient as -2 * noise * output.
  if (keys)
    loss.drawnLosses = tensors.binary<MulOp>(
        output, tensors.binary<MulOp>(drawNoise(tensors, *keys, output), -2));
  return loss;
}

/// Returns the weights of ones, broadcast to the output's shape; null if all
/// are 1.
static Value getPositiveWeights(TensorBuilder &tensors,
                                ArrayRef<double> numbers, Value output) {
  if (numbers.empty())
    return {};
  if (numbers.size() == 1)
    return tensors.splatLike(output, numbers.front());
  ArrayRef<int64_t> shape = getShape(output);
  return tensors.broadcast(
      tensors.list(numbers, cast<FloatType>(getElementType(output))), shape,
      static_cast<int64_t>(shape.size()) - 1);
}

/// Builds (1 - t) x + log(1 + e^-x), which is accurate for large x of either
/// sign. With weights p of ones, the logarithm is multiplied by 1 - t + p t.
static Loss buildBinaryCrossEntropy(TensorBuilder &tensors,
                                    const LossOptions &options, Value output,
                                    Value target,
                                    const std::optional<RandomKeys> &keys) {
  Value positive = getPositiveWeights(tensors, options.weights.ofOnes, output);
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
  Loss loss = {build(target, static_cast<bool>(positive)),
               tensors.splatLike(output, 1),
               {},
               {}};
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

Loss mlir::hfta::buildLoss(OpBuilder &builder, Location loc,
                           const LossOptions &options, Value output,
                           Value label, const std::optional<RandomKeys> &keys) {
  TensorBuilder tensors(builder, loc);
  auto makeTarget = [&] {
    return tensors.reshape(tensors.cast(label, getElementType(output)),
                           getShape(output));
  };
  switch (options.kind) {
  case LossKind::crossEntropy:
  case LossKind::nll:
    return ClassLoss(tensors, options, output, label).build(keys);
  case LossKind::mse:
    return buildSquaredDifferences(tensors, output, makeTarget(), keys);
  case LossKind::binaryCrossEntropy:
    return buildBinaryCrossEntropy(tensors, options, output, makeTarget(),
                                   keys);
  }
  llvm_unreachable("all kinds of losses are above");
}

//===----------------------------------------------------------------------===//
// Accuracy
//===----------------------------------------------------------------------===//

Value mlir::hfta::buildLikeliestClass(OpBuilder &builder, Location loc,
                                      Value label, int64_t axis) {
  TensorBuilder tensors(builder, loc);
  return findLargest(tensors, label, *getAxis(getTensorType(label), axis),
                     builder.getI64Type());
}

Value mlir::hfta::buildAccuracy(OpBuilder &builder, Location loc, Value output,
                                Value label, int64_t axis) {
  TensorBuilder tensors(builder, loc);
  RankedTensorType type = getTensorType(output);
  if (!hasClassAxis(type, getTensorType(label), axis)) {
    Value target = tensors.reshape(tensors.cast(label, type.getElementType()),
                                   type.getShape());
    Value wanted = tensors.compare(ComparePredicate::greater, target, 0.5);
    Value given = tensors.compare(ComparePredicate::greater, output, 0.0);
    Value wrong = tensors.binary<XorOp>(wanted, given);
    return tensors.binary<SubOp>(tensors.splatLike(output, 1),
                                 tensors.cast(wrong, type.getElementType()));
  }
  int64_t classAxis = *getAxis(type, axis);
  Value target = tensors.reshape(label, without(type.getShape(), classAxis));
  Value first = findLargest(tensors, output, classAxis, getElementType(label));
  return tensors.cast(tensors.compare(ComparePredicate::equal, first, target),
                      type.getElementType());
}
