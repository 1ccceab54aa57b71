//===- ClassLosses.cpp - Losses of class scores ---------------------------===//

#include "Building/ClassLosses.h"
#include "Analysis/Arguments.h"
#include "Building/MarginLosses.h"
#include "Building/ObjectiveBuilding.h"
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

/// The class that is ignored unless the job says so: PyTorch's, which no output
/// has.
static constexpr int64_t kNoClass = -100;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

LabelKind language::classifyClassNumbers(const ObjectiveArguments &,
                                         ObjectiveTypes) {
  return LabelKind::classNumbers;
}

LabelKind
language::classifyClassesOrProbabilities(const ObjectiveArguments &arguments,
                                         ObjectiveTypes types) {
  std::optional<int64_t> classes = findAxis(types.output, arguments.getAxis());
  return classes && types.output.getDimSize(*classes) != 1 &&
                 isa<FloatType>(types.label.getElementType()) &&
                 areAlike(types.output.getShape(), types.label.getShape())
             ? LabelKind::probabilities
             : LabelKind::classNumbers;
}

int64_t language::getIgnoredClass(const ObjectiveArguments &arguments) {
  return arguments.getInteger(kIgnoreIndexArgument, kNoClass);
}

static ObjectiveError checkWeights(const ObjectiveArguments &arguments,
                                   ObjectiveTypes types) {
  ArrayRef<double> weights = arguments.getWeights(kClassWeightsArgument);
  if (!weights.empty() &&
      llvm::all_of(weights, [](double x) { return x == 0; }))
    return {"'class_weights' are all 0: no label would count",
            "one of them is above 0"};
  return checkCount(
      weights,
      types.output.getDimSize(*findAxis(types.output, arguments.getAxis())),
      "'class_weights' are numbers of classes", types);
}

ObjectiveError language::checkNll(const ObjectiveArguments &arguments,
                                  ObjectiveTypes types) {
  ObjectiveError wrong = checkClasses(types, arguments.getAxis());
  return wrong ? wrong : checkWeights(arguments, types);
}

ObjectiveError language::checkCrossEntropy(const ObjectiveArguments &arguments,
                                           ObjectiveTypes types) {
  if (classifyClassesOrProbabilities(arguments, types) !=
      LabelKind::probabilities)
    return checkNll(arguments, types);
  if (arguments.findInteger(kIgnoreIndexArgument))
    return {"'ignore_index' is a class number, but the label holds "
            "probabilities",
            "leave it out"};
  return checkWeights(arguments, types);
}

ObjectiveError
language::checkPolicyGradient(const ObjectiveArguments &arguments,
                              ObjectiveTypes types) {
  ObjectiveError wrong = checkNll(arguments, types);
  return wrong ? wrong
               : checkTensor(
                     arguments, kAdvantageArgument,
                     without(types.output.getShape(),
                             *findAxis(types.output, arguments.getAxis())));
}

ObjectiveError language::checkKl(const ObjectiveArguments &arguments,
                                 ObjectiveTypes types) {
  if (findAxis(types.output, arguments.getAxis()))
    return checkValues(types);
  return {"the output of shape " + printShape(types.output.getShape()) +
          " has no axis " + std::to_string(arguments.getAxis()) +
          " of classes"};
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

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

namespace {
/// Builds losses from class scores.
class ClassLoss {
public:
  explicit ClassLoss(const ObjectiveOperands &operands)
      : tensors(operands.tensors), arguments(operands.arguments),
        label(operands.label), type(operands.getTypes().output),
        axis(*findAxis(type, arguments.getAxis())),
        classes(type.getDimSize(axis)), shape(without(type.getShape(), axis)),
        smoothing(arguments.getNumber(kSmoothingArgument)) {}

  /// `logProbabilities` are the logarithms of the classes' probabilities.
  Loss build(Value logProbabilities, LabelKind kind,
             const std::optional<RandomKeys> &keys) {
    scores = logProbabilities;
    ArrayRef<double> numbers = arguments.getWeights(kClassWeightsArgument);
    if (!numbers.empty())
      weights = tensors.broadcast(
          tensors.list(numbers, cast<FloatType>(type.getElementType())),
          type.getShape(), axis);
    Loss loss =
        kind == LabelKind::probabilities
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
      ofLabel = pick(tensors, weights, label, axis);
      losses = tensors.binary<MulOp>(losses, ofLabel);
    }
    if (smoothing)
      losses = smooth(losses, weigh(scores));
    Value counts =
        tensors.cast(tensors.compare(ComparePredicate::not_equal, label,
                                     getIgnoredClass(arguments)),
                     type.getElementType());
    Loss loss = {losses, counts, {}, {}};
    if (weights)
      loss.divisors = tensors.binary<MulOp>(ofLabel, counts);
    return loss;
  }

  Loss buildOfProbabilities(Value target) {
    if (smoothing)
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
    return smoothing ? smooth(ofLabel, tensors.unary<NegOp>(weights)) : ofLabel;
  }

  /// Returns, for each element, the negative score of its class.
  Value choose(Value scores, Value chosenClass) {
    return tensors.unary<NegOp>(pick(tensors, scores, chosenClass, axis));
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
    return tensors.cast(smoothing, type.getElementType());
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
  const ObjectiveArguments &arguments;
  Value label;
  RankedTensorType type; ///< the output's
  int64_t axis;
  int64_t classes;
  SmallVector<int64_t> shape; ///< the output's without the axis of classes
  Value smoothing;            ///< one number a copy; null: no smoothing
  Value scores;               ///< logarithms of probabilities
  Value weights; ///< weights of classes in the output's shape; null: all are 1
  Value ofLabel; ///< the weight of each element's class, with `weights`
  Value probabilities; ///< a label of probabilities, smoothed and weighted
};
} // namespace

Loss language::buildNll(const ObjectiveOperands &operands,
                        const std::optional<RandomKeys> &keys) {
  return ClassLoss(operands).build(operands.output, LabelKind::classNumbers,
                                   keys);
}

Loss language::buildCrossEntropy(const ObjectiveOperands &operands,
                                 const std::optional<RandomKeys> &keys) {
  ObjectiveTypes types = operands.getTypes();
  Value scores = operands.tensors.logSoftmax(
      operands.output, *findAxis(types.output, operands.arguments.getAxis()));
  return ClassLoss(operands).build(
      scores, classifyClassesOrProbabilities(operands.arguments, types), keys);
}

Loss language::buildKl(const ObjectiveOperands &operands,
                       const std::optional<RandomKeys> &keys) {
  TensorBuilder &tensors = operands.tensors;
  const ObjectiveArguments &arguments = operands.arguments;
  Value scores = operands.output, target = buildTarget(operands);
  int64_t axis = *findAxis(getTensorType(scores), arguments.getAxis());
  Value terms;
  if (arguments.getInteger(kLogTargetArgument, 0)) {
    terms = tensors.binary<MulOp>(tensors.unary<ExpOp>(target),
                                  tensors.binary<SubOp>(target, scores));
  } else {
    Value isZero = tensors.compare(ComparePredicate::equal, target, 0.0);
    Value logs = tensors.unary<LogOp>(
        tensors.select(isZero, tensors.splatLike(target, 1), target));
    terms = tensors.binary<SubOp>(tensors.binary<MulOp>(target, logs),
                                  tensors.binary<MulOp>(target, scores));
  }
  Loss loss = countAll(tensors, tensors.reduce(ReduceKind::sum, terms, {axis}));
  if (keys)
    loss.drawnLosses = tensors.unary<NegOp>(
        pick(tensors, scores,
             drawClasses(tensors, *keys, scores, axis,
                         tensors.getBuilder().getI64Type()),
             axis));
  return loss;
}

namespace {
/// The logarithms of the probabilities of the labels' classes.
struct Chosen {
  Value logarithms;
  Value counts; ///< 0 where the label is ignored, else 1
};
} // namespace

static Chosen chooseClasses(const ObjectiveOperands &operands) {
  TensorBuilder &tensors = operands.tensors;
  RankedTensorType type = operands.getTypes().output;
  int64_t axis = *findAxis(type, operands.arguments.getAxis());
  Value label = tensors.reshape(operands.label, without(type.getShape(), axis));
  Value chosen =
      pick(tensors, tensors.logSoftmax(operands.output, axis), label, axis);
  return {chosen,
          tensors.cast(tensors.compare(ComparePredicate::not_equal, label,
                                       getIgnoredClass(operands.arguments)),
                       type.getElementType())};
}

Loss language::buildPolicyGradient(const ObjectiveOperands &operands,
                                   const std::optional<RandomKeys> &) {
  TensorBuilder &tensors = operands.tensors;
  auto [chosen, counts] = chooseClasses(operands);
  Value advantage = tensors.create<StopGradientOp>(
      getTensorLike(operands, kAdvantageArgument, chosen));
  return {tensors.unary<NegOp>(tensors.binary<MulOp>(chosen, advantage)),
          counts,
          {},
          {}};
}

Loss language::buildClassFocal(const ObjectiveOperands &operands,
                               const std::optional<RandomKeys> &) {
  TensorBuilder &tensors = operands.tensors;
  auto [chosen, counts] = chooseClasses(operands);
  Value miss = tensors.binary<SubOp>(tensors.splatLike(chosen, 1),
                                     tensors.unary<ExpOp>(chosen));
  Value factor = tensors.binary<PowOp>(
      miss, getNumberLike(operands, kGammaArgument, 2, chosen));
  return {tensors.unary<NegOp>(tensors.binary<MulOp>(factor, chosen)),
          counts,
          {},
          {}};
}

Loss language::buildDistillation(const ObjectiveOperands &operands,
                                 const std::optional<RandomKeys> &) {
  TensorBuilder &tensors = operands.tensors;
  Value output = operands.output;
  int64_t axis =
      *findAxis(operands.getTypes().output, operands.arguments.getAxis());
  Value temperature = getNumberLike(operands, kTemperatureArgument, 1, output);
  auto soften = [&](Value scores) -> Value {
    return tensors.logSoftmax(tensors.binary<DivOp>(scores, temperature), axis);
  };
  Value teacher = soften(tensors.create<StopGradientOp>(buildTarget(operands)));
  Value terms =
      tensors.binary<MulOp>(tensors.unary<ExpOp>(teacher),
                            tensors.binary<SubOp>(teacher, soften(output)));
  Value sum = tensors.reduce(ReduceKind::sum, terms, {axis});
  Value square = getNumberLike(operands, kTemperatureArgument, 1, sum);
  return countAll(tensors, tensors.binary<MulOp>(
                               sum, tensors.binary<MulOp>(square, square)));
}
