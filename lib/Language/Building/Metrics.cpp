//===- Metrics.cpp - One record for each metric ---------------------------===//

#include "Building/ObjectiveBuilding.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

using Kind = ObjectiveParameter::Kind;

static constexpr ObjectiveParameter kAxis = {kAxisArgument, Kind::integer,
                                             NumberRange::whole(-8, 7),
                                             "that of the loss"};

static constexpr llvm::StringLiteral kAverage = "average";
static constexpr llvm::StringLiteral kAverageWords = "macro|micro|weighted";
/// How a metric of classes becomes one number; the index of a word is a
/// hfta_metric_average.
static constexpr ObjectiveParameter kAverageOfClasses = {
    kAverage, Kind::word, {}, "macro", kAverageWords};

static hfta_metric_average getAverage(const ObjectiveArguments &arguments,
                                      hfta_metric_average byDefault) {
  return static_cast<hfta_metric_average>(
      arguments.getInteger(kAverage, byDefault));
}

/// Returns a metric's name with the average, unless that is the default.
static std::string describeAverage(llvm::StringRef name,
                                   const ObjectiveArguments &arguments,
                                   hfta_metric_average byDefault) {
  hfta_metric_average average = getAverage(arguments, byDefault);
  if (average == byDefault)
    return name.str();
  return (name + "_" + getMetricAverageNames()[average]).str();
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

/// Returns the type of numbers of classes.
static Type getClassType(TensorBuilder &tensors) {
  return tensors.getBuilder().getI64Type();
}

/// Checks class numbers or, if output and label have the same shape, a label
/// for each logit.
static ObjectiveError checkClassesOrLogits(const ObjectiveArguments &arguments,
                                           ObjectiveTypes types) {
  if (!hasClassAxis(types, arguments.getAxis()) && !checkValues(types))
    return {};
  return checkClasses(types, arguments.getAxis());
}

static Value isPositive(const ObjectiveOperands &operands) {
  return operands.tensors.compare(ComparePredicate::greater,
                                  buildTarget(operands), 0.5);
}

/// Builds the numbers of the labels' classes.
static Value buildClasses(const ObjectiveOperands &operands) {
  TensorBuilder &tensors = operands.tensors;
  RankedTensorType output = operands.getTypes().output;
  int64_t axis = *findAxis(output, operands.arguments.getAxis());
  return tensors.reshape(tensors.cast(operands.label, getClassType(tensors)),
                         without(output.getShape(), axis));
}

/// Returns the form of a metric of classes. Where output and label have the
/// same shape, the elements of the last axis are classes, each with labels and
/// guesses of its own.
static MetricForm getClassForm(hfta_metric_kind kind,
                               hfta_metric_average average,
                               const ObjectiveArguments &arguments,
                               ObjectiveTypes types) {
  RankedTensorType output = types.output;
  if (hasClassAxis(types, arguments.getAxis()))
    return {kind, average, /*isLabeled=*/false,
            output.getDimSize(*findAxis(output, arguments.getAxis()))};
  return {kind, average, /*isLabeled=*/true,
          output.getRank() > 1 ? output.getShape().back() : 1};
}

/// Builds labels and guesses: the first largest class, or whether the logit is
/// above 0.
static MetricValues buildGuesses(const ObjectiveOperands &operands) {
  TensorBuilder &tensors = operands.tensors;
  ObjectiveTypes types = operands.getTypes();
  int64_t axis = operands.arguments.getAxis();
  if (!hasClassAxis(types, axis))
    return {isPositive(operands),
            tensors.compare(ComparePredicate::greater, operands.output, 0.0)};
  return {buildClasses(operands),
          findLargest(tensors, operands.output, *findAxis(types.output, axis),
                      getClassType(tensors))};
}

//===----------------------------------------------------------------------===//
// Accuracy
//===----------------------------------------------------------------------===//

static constexpr ObjectiveParameter kAccuracy[] = {
    kAxis, {kAverage, Kind::word, {}, "micro", kAverageWords}};

static std::string describeAccuracy(const ObjectiveArguments &arguments) {
  return describeAverage("accuracy", arguments, HFTA_AVERAGE_MICRO);
}

/// Returns whether an accuracy is the mean of the classes' accuracies.
static bool isOfClasses(const ObjectiveArguments &arguments) {
  return getAverage(arguments, HFTA_AVERAGE_MICRO) == HFTA_AVERAGE_MACRO;
}

static ObjectiveError checkAccuracy(const ObjectiveArguments &arguments,
                                    ObjectiveTypes types) {
  return isOfClasses(arguments) ? checkClasses(types, arguments.getAxis())
                                : checkClassesOrLogits(arguments, types);
}

/// The accuracy of a class is the share of its labels that are guessed: its
/// recall.
static MetricForm getAccuracyForm(const ObjectiveArguments &arguments,
                                  ObjectiveTypes types) {
  return isOfClasses(arguments)
             ? getClassForm(HFTA_METRIC_RECALL, HFTA_AVERAGE_MACRO, arguments,
                            types)
             : MetricForm();
}

/// Builds 1 where the first largest class, or the side of the logit, is the
/// label's, else 0.
static Value buildIsRight(const ObjectiveOperands &operands) {
  TensorBuilder &tensors = operands.tensors;
  ObjectiveTypes types = operands.getTypes();
  int64_t axis = operands.arguments.getAxis();
  Type elementType = types.output.getElementType();
  if (!hasClassAxis(types, axis)) {
    Value wanted =
        tensors.compare(ComparePredicate::greater, buildTarget(operands), 0.5);
    Value given =
        tensors.compare(ComparePredicate::greater, operands.output, 0.0);
    Value wrong = tensors.binary<XorOp>(wanted, given);
    return tensors.binary<SubOp>(tensors.splatLike(operands.output, 1),
                                 tensors.cast(wrong, elementType));
  }
  int64_t classes = *findAxis(types.output, axis);
  Value target = tensors.reshape(operands.label,
                                 without(types.output.getShape(), classes));
  Value first = findLargest(tensors, operands.output, classes,
                            types.label.getElementType());
  return tensors.cast(tensors.compare(ComparePredicate::equal, first, target),
                      elementType);
}

static MetricValues buildAccuracy(const ObjectiveOperands &operands) {
  return isOfClasses(operands.arguments) ? buildGuesses(operands)
                                         : MetricValues{buildIsRight(operands)};
}

//===----------------------------------------------------------------------===//
// The k best classes
//===----------------------------------------------------------------------===//

static constexpr int64_t kDefaultK = 5;
static constexpr ObjectiveParameter kTopK[] = {
    {"k", Kind::integer, NumberRange::whole(1, INT32_MAX), "5"}, kAxis};

static std::string describeTopK(const ObjectiveArguments &arguments) {
  return "top_" + std::to_string(arguments.getInteger("k", kDefaultK));
}

static ObjectiveError checkTopK(const ObjectiveArguments &arguments,
                                ObjectiveTypes types) {
  ObjectiveError wrong = checkClasses(types, arguments.getAxis());
  if (wrong)
    return wrong;
  int64_t k = arguments.getInteger("k", kDefaultK);
  int64_t classes =
      types.output.getDimSize(*findAxis(types.output, arguments.getAxis()));
  if (k <= classes)
    return {};
  return {"'k' is " + std::to_string(k) + ", but there are " +
              std::to_string(classes) + " classes",
          "for example top_k(k = " +
              std::to_string(std::max<int64_t>(classes - 1, 1)) + ")"};
}

/// Builds 1 where the label's class is one of the k largest, else 0. Of equal
/// scores the first class' is the largest, as in accuracy. An element whose own
/// score is NaN doesn't count as right; another class' NaN counts as larger
/// than any number.
static MetricValues buildTopK(const ObjectiveOperands &operands) {
  TensorBuilder &tensors = operands.tensors;
  ObjectiveTypes types = operands.getTypes();
  int64_t axis = *findAxis(types.output, operands.arguments.getAxis());
  ArrayRef<int64_t> shape = types.output.getShape();
  int64_t classes = shape[axis];
  Value scores = operands.output;
  Value label = tensors.reshape(operands.label, without(shape, axis));
  Value own = tensors.repeat(pick(tensors, scores, label, axis), axis, classes);
  Value isLater = tensors.compare(
      ComparePredicate::greater,
      tensors.create<IotaOp>(shape, axis, types.label.getElementType()),
      tensors.repeat(label, axis, classes));
  Value isEqual = tensors.compare(ComparePredicate::equal, scores, own);
  Value isBehind =
      tensors.binary<OrOp>(tensors.compare(ComparePredicate::less, scores, own),
                           tensors.binary<AndOp>(isEqual, isLater));
  // Floats of 16 bits don't count beyond 256.
  Value behind = tensors.reduce(
      ReduceKind::sum,
      tensors.cast(isBehind, tensors.getBuilder().getI64Type()), {axis});
  int64_t k = operands.arguments.getInteger("k", kDefaultK);
  return {tensors.cast(tensors.compare(ComparePredicate::greater, behind,
                                       static_cast<double>(classes - k - 1)),
                       types.output.getElementType())};
}

//===----------------------------------------------------------------------===//
// Counts of labels and guesses
//===----------------------------------------------------------------------===//

static constexpr ObjectiveParameter kClassCounts[] = {kAverageOfClasses, kAxis};
static constexpr ObjectiveParameter kConfusion[] = {kAxis};

template <hfta_metric_kind kind>
static MetricForm getFormOf(const ObjectiveArguments &arguments,
                            ObjectiveTypes types) {
  return getClassForm(kind, getAverage(arguments, HFTA_AVERAGE_MACRO),
                      arguments, types);
}

template <hfta_metric_kind kind>
static std::string describeOf(const ObjectiveArguments &arguments) {
  return describeAverage(getMetricKindNames()[kind], arguments,
                         HFTA_AVERAGE_MACRO);
}

/// Labels and guesses of logits are the classes 0 and 1 of one matrix.
static MetricForm getConfusionForm(const ObjectiveArguments &arguments,
                                   ObjectiveTypes types) {
  MetricForm form =
      getClassForm(HFTA_METRIC_CONFUSION, HFTA_AVERAGE_MACRO, arguments, types);
  if (form.isLabeled)
    form = {form.kind, form.average, /*isLabeled=*/false, /*classes=*/2};
  return form;
}

/// The most classes of a matrix, whose counts the log holds.
static constexpr int64_t kMostClasses = 1024;

static ObjectiveError checkConfusion(const ObjectiveArguments &arguments,
                                     ObjectiveTypes types) {
  ObjectiveError wrong = checkClassesOrLogits(arguments, types);
  if (wrong)
    return wrong;
  int64_t classes = getConfusionForm(arguments, types).classes;
  if (classes <= kMostClasses)
    return {};
  return {"a confusion matrix of " + std::to_string(classes) + " classes",
          "it has at most " + std::to_string(kMostClasses)};
}

//===----------------------------------------------------------------------===//
// Ranks of scores
//===----------------------------------------------------------------------===//

/// Builds labels and scores. The host computes probabilities from scores of
/// classes.
static MetricValues buildScores(const ObjectiveOperands &operands) {
  TensorBuilder &tensors = operands.tensors;
  ObjectiveTypes types = operands.getTypes();
  if (!hasClassAxis(types, operands.arguments.getAxis()))
    return {isPositive(operands), operands.output};
  int64_t axis = *findAxis(types.output, operands.arguments.getAxis());
  Value scores = operands.output;
  if (axis + 1 < types.output.getRank()) {
    SmallVector<int64_t> order;
    for (int64_t i = 0, e = types.output.getRank(); i < e; ++i)
      if (i != axis)
        order.push_back(i);
    order.push_back(axis);
    scores = tensors.transpose(scores, order);
  }
  return {buildClasses(operands), scores};
}

//===----------------------------------------------------------------------===//
// Log-likelihoods
//===----------------------------------------------------------------------===//

static constexpr ObjectiveParameter kPerplexity[] = {kAxis};

static ObjectiveError checkPerplexity(const ObjectiveArguments &arguments,
                                      ObjectiveTypes types) {
  return checkClasses(types, arguments.getAxis());
}

static MetricForm getPerplexityForm(const ObjectiveArguments &,
                                    ObjectiveTypes) {
  return {HFTA_METRIC_EXP_MEAN};
}

/// Builds the negative logarithms of the probabilities of the labels' classes.
static MetricValues buildPerplexity(const ObjectiveOperands &operands) {
  TensorBuilder &tensors = operands.tensors;
  int64_t axis =
      *findAxis(operands.getTypes().output, operands.arguments.getAxis());
  Value logarithms = tensors.logSoftmax(operands.output, axis);
  return {tensors.unary<NegOp>(
      pick(tensors, logarithms, buildClasses(operands), axis))};
}

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

static ObjectiveError checkDifferences(const ObjectiveArguments &,
                                       ObjectiveTypes types) {
  return checkValues(types);
}

static MetricValues buildSquaredDifference(const ObjectiveOperands &operands) {
  TensorBuilder &tensors = operands.tensors;
  Value difference =
      tensors.binary<SubOp>(operands.output, buildTarget(operands));
  return {tensors.binary<MulOp>(difference, difference)};
}

static MetricValues buildAbsoluteDifference(const ObjectiveOperands &operands) {
  return {operands.tensors.unary<AbsOp>(
      operands.tensors.binary<SubOp>(operands.output, buildTarget(operands)))};
}

static constexpr ObjectiveParameter kR2[] = {
    {kAverage, Kind::word, {}, "macro", kAverageWords}};

static ObjectiveError checkR2(const ObjectiveArguments &arguments,
                              ObjectiveTypes types) {
  if (getAverage(arguments, HFTA_AVERAGE_MACRO) == HFTA_AVERAGE_MICRO)
    return {"'average' of r2 can't be micro",
            "macro is the mean of the columns, weighted the mean by the "
            "variances of their labels"};
  return checkValues(types);
}

/// The elements of the last axis are columns, each with a mean of its own.
static MetricForm getR2Form(const ObjectiveArguments &arguments,
                            ObjectiveTypes types) {
  RankedTensorType output = types.output;
  return {HFTA_METRIC_R2, getAverage(arguments, HFTA_AVERAGE_MACRO),
          /*isLabeled=*/true,
          output.getRank() > 1 ? output.getShape().back() : 1};
}

static MetricValues buildR2(const ObjectiveOperands &operands) {
  return {buildTarget(operands), operands.output};
}

//===----------------------------------------------------------------------===//
// The table of metrics
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kClassesOrLogits =
    "class numbers, or a label for each logit";
static constexpr llvm::StringLiteral kSameShape =
    "a label in the output's shape";

static constexpr MetricInfo kMetrics[] = {
    {"accuracy", kAccuracy,
     "share of elements whose largest output along `axis` is that of the "
     "label's class; if output and label have the same shape, an output above "
     "0 predicts a label above 0.5; with `average = macro`, which takes class "
     "numbers and is called `accuracy_macro`, the mean of the classes' shares",
     kClassesOrLogits, describeAccuracy, checkAccuracy, getAccuracyForm,
     buildAccuracy, /*isShare=*/true, /*isHigherBetter=*/true},
    {"top_k", kTopK,
     "share of elements whose label's class has one of the `k` largest outputs "
     "along `axis`; called `top_5` and the like in logs and tables",
     "class numbers", describeTopK, checkTopK, /*getForm=*/nullptr, buildTopK,
     /*isShare=*/true, /*isHigherBetter=*/true},
    {"precision", kClassCounts,
     "share of the guesses of a class that are right, see below",
     kClassesOrLogits, describeOf<HFTA_METRIC_PRECISION>, checkClassesOrLogits,
     getFormOf<HFTA_METRIC_PRECISION>, buildGuesses, /*isShare=*/true,
     /*isHigherBetter=*/true},
    {"recall", kClassCounts,
     "share of the labels of a class that are guessed, see below",
     kClassesOrLogits, describeOf<HFTA_METRIC_RECALL>, checkClassesOrLogits,
     getFormOf<HFTA_METRIC_RECALL>, buildGuesses, /*isShare=*/true,
     /*isHigherBetter=*/true},
    {"f1", kClassCounts, "harmonic mean of precision and recall, see below",
     kClassesOrLogits, describeOf<HFTA_METRIC_F1>, checkClassesOrLogits,
     getFormOf<HFTA_METRIC_F1>, buildGuesses, /*isShare=*/true,
     /*isHigherBetter=*/true},
    {"confusion", kConfusion,
     "matrix of counts: a row for each label's class, a column for each "
     "guessed one; of logits, for 0 and 1",
     kClassesOrLogits, /*describe=*/nullptr, checkConfusion, getConfusionForm,
     buildGuesses, /*isShare=*/false, /*isHigherBetter=*/true,
     /*isMatrix=*/true},
    {"auroc", kClassCounts,
     "area under the curve of true positives by false positives: the "
     "probability that a positive has a higher score than a negative, where "
     "equal scores count half; exact",
     kClassesOrLogits, describeOf<HFTA_METRIC_AUROC>, checkClassesOrLogits,
     getFormOf<HFTA_METRIC_AUROC>, buildScores, /*isShare=*/false,
     /*isHigherBetter=*/true},
    {"average_precision", kClassCounts,
     "mean of the precision at each score, weighted by the recall that it "
     "adds; "
     "exact",
     kClassesOrLogits, describeOf<HFTA_METRIC_AVERAGE_PRECISION>,
     checkClassesOrLogits, getFormOf<HFTA_METRIC_AVERAGE_PRECISION>,
     buildScores, /*isShare=*/false, /*isHigherBetter=*/true},
    {"perplexity", kPerplexity,
     "e to the power of the mean of the labels' negative log-probabilities, "
     "of which the outputs along `axis` are logits; smaller is better",
     "class numbers", /*describe=*/nullptr, checkPerplexity, getPerplexityForm,
     buildPerplexity, /*isShare=*/false, /*isHigherBetter=*/false},
    {"mse",
     {},
     "mean of squared differences; smaller is better",
     kSameShape,
     /*describe=*/nullptr,
     checkDifferences,
     /*getForm=*/nullptr,
     buildSquaredDifference,
     /*isShare=*/false,
     /*isHigherBetter=*/false},
    {"mae",
     {},
     "mean of absolute differences; smaller is better",
     kSameShape,
     /*describe=*/nullptr,
     checkDifferences,
     /*getForm=*/nullptr,
     buildAbsoluteDifference,
     /*isShare=*/false,
     /*isHigherBetter=*/false},
    {"r2", kR2,
     "1 - the sum of squared differences / that of the labels from their mean, "
     "for each column, an element of the last axis; `macro`: the mean of the "
     "columns, `weighted`: weighted by their labels' variances",
     kSameShape, describeOf<HFTA_METRIC_R2>, checkR2, getR2Form, buildR2,
     /*isShare=*/false, /*isHigherBetter=*/true},
};

llvm::ArrayRef<MetricInfo> mlir::hfta::getMetrics() { return kMetrics; }

const MetricInfo *mlir::hfta::findMetric(llvm::StringRef name) {
  return findByName(getMetrics(), name);
}
