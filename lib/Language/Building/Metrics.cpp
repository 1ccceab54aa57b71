//===- Metrics.cpp - One record for each metric ---------------------------===//

#include "Building/ObjectiveBuilding.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

using Kind = ObjectiveParameter::Kind;

static constexpr ObjectiveParameter kAxis = {kAxisArgument, Kind::integer,
                                             NumberRange::whole(-8, 7),
                                             "that of the loss"};

//===----------------------------------------------------------------------===//
// Accuracy
//===----------------------------------------------------------------------===//

static constexpr ObjectiveParameter kAccuracy[] = {kAxis};

static ObjectiveError checkAccuracy(const ObjectiveArguments &arguments,
                                    ObjectiveTypes types) {
  if (!hasClassAxis(types, arguments.getAxis()) && !checkValues(types))
    return {};
  return checkClasses(types, arguments.getAxis());
}

/// Builds 1 where the first largest class, or the side of the logit, is the
/// label's, else 0.
static Value buildAccuracy(const ObjectiveOperands &operands) {
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
static Value buildTopK(const ObjectiveOperands &operands) {
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
  return tensors.cast(tensors.compare(ComparePredicate::greater, behind,
                                      static_cast<double>(classes - k - 1)),
                      types.output.getElementType());
}

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

static ObjectiveError checkDifferences(const ObjectiveArguments &,
                                       ObjectiveTypes types) {
  return checkValues(types);
}

static Value buildSquaredDifference(const ObjectiveOperands &operands) {
  TensorBuilder &tensors = operands.tensors;
  Value difference =
      tensors.binary<SubOp>(operands.output, buildTarget(operands));
  return tensors.binary<MulOp>(difference, difference);
}

static Value buildAbsoluteDifference(const ObjectiveOperands &operands) {
  return operands.tensors.unary<AbsOp>(
      operands.tensors.binary<SubOp>(operands.output, buildTarget(operands)));
}

//===----------------------------------------------------------------------===//
// The table of metrics
//===----------------------------------------------------------------------===//

static constexpr MetricInfo kMetrics[] = {
    {"accuracy", kAccuracy,
     "share of elements whose largest output along `axis` is that of the "
     "label's class; if output and label have the same shape, an output above "
     "0 predicts a label above 0.5",
     "class numbers, or a label for each logit", /*describe=*/nullptr,
     checkAccuracy, buildAccuracy, /*isShare=*/true, /*isHigherBetter=*/true},
    {"top_k", kTopK,
     "share of elements whose label's class has one of the `k` largest outputs "
     "along `axis`; called `top_5` and the like in logs and tables",
     "class numbers", describeTopK, checkTopK, buildTopK, /*isShare=*/true,
     /*isHigherBetter=*/true},
    {"mse",
     {},
     "mean of squared differences; smaller is better",
     "a label in the output's shape",
     /*describe=*/nullptr,
     checkDifferences,
     buildSquaredDifference,
     /*isShare=*/false,
     /*isHigherBetter=*/false},
    {"mae",
     {},
     "mean of absolute differences; smaller is better",
     "a label in the output's shape",
     /*describe=*/nullptr,
     checkDifferences,
     buildAbsoluteDifference,
     /*isShare=*/false,
     /*isHigherBetter=*/false},
};

llvm::ArrayRef<MetricInfo> mlir::hfta::getMetrics() { return kMetrics; }

const MetricInfo *mlir::hfta::findMetric(llvm::StringRef name) {
  return findByName(getMetrics(), name);
}
