//===- MarginLosses.cpp - Losses of margins and embeddings ----------------===//

#include "Building/MarginLosses.h"
#include "Analysis/Arguments.h"
#include "Building/ClassLosses.h"
#include "Building/ObjectiveBuilding.h"
#include "Hfta/Dialect/Hfta/IR/Norms.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

/// Builds max(x, 0) whose gradient at 0 is 1, as that of PyTorch's clamp.
static Value clampToPositive(TensorBuilder &tensors, Value x) {
  return tensors.select(tensors.compare(ComparePredicate::less, x, 0.0),
                        tensors.splatLike(x, 0), x);
}

static Value getMargin(const ObjectiveOperands &operands, Value like,
                       double byDefault = 1) {
  return getNumberLike(operands, kMarginArgument, byDefault, like);
}

//===----------------------------------------------------------------------===//
// Margins of scores
//===----------------------------------------------------------------------===//

Loss language::buildSoftMargin(const ObjectiveOperands &operands,
                               const std::optional<RandomKeys> &) {
  TensorBuilder &tensors = operands.tensors;
  Value score = tensors.binary<MulOp>(buildTarget(operands), operands.output);
  return countAll(tensors,
                  tensors.unary<SoftplusOp>(tensors.unary<NegOp>(score)));
}

ObjectiveError language::checkMarginRanking(const ObjectiveArguments &arguments,
                                            ObjectiveTypes types) {
  ObjectiveError wrong = checkValues(types);
  return wrong
             ? wrong
             : checkTensor(arguments, kAlikeArgument, types.output.getShape());
}

Loss language::buildMarginRanking(const ObjectiveOperands &operands,
                                  const std::optional<RandomKeys> &) {
  TensorBuilder &tensors = operands.tensors;
  Value above = tensors.binary<SubOp>(operands.output, buildTarget(operands));
  Value right = tensors.binary<MulOp>(
      getTensorLike(operands, kAlikeArgument, above), above);
  return countAll(
      tensors,
      clampToPositive(tensors, tensors.binary<SubOp>(
                                   getMargin(operands, right, 0), right)));
}

Loss language::buildHinge(const ObjectiveOperands &operands,
                          const std::optional<RandomKeys> &) {
  TensorBuilder &tensors = operands.tensors;
  Value score = tensors.binary<MulOp>(buildTarget(operands), operands.output);
  return countAll(
      tensors,
      clampToPositive(
          tensors, tensors.binary<SubOp>(getMargin(operands, score), score)));
}

Loss language::buildHingeEmbedding(const ObjectiveOperands &operands,
                                   const std::optional<RandomKeys> &) {
  TensorBuilder &tensors = operands.tensors;
  Value distance = operands.output;
  Value isAlike =
      tensors.compare(ComparePredicate::greater, buildTarget(operands), 0.0);
  Value missing =
      tensors.binary<SubOp>(getMargin(operands, distance), distance);
  return countAll(tensors, tensors.select(isAlike, distance,
                                          clampToPositive(tensors, missing)));
}

/// As in PyTorch, the gradient of a class is zero where it is exactly `margin`
/// below the label's.
Loss language::buildMultiMargin(const ObjectiveOperands &operands,
                                const std::optional<RandomKeys> &) {
  TensorBuilder &tensors = operands.tensors;
  const ObjectiveArguments &arguments = operands.arguments;
  RankedTensorType type = operands.getTypes().output;
  int64_t axis = *findAxis(type, arguments.getAxis());
  int64_t classes = type.getDimSize(axis);
  Value scores = operands.output;
  Value label = tensors.reshape(operands.label, without(type.getShape(), axis));
  Value own = tensors.repeat(pick(tensors, scores, label, axis), axis, classes);
  Value above = tensors.binary<AddOp>(tensors.binary<SubOp>(scores, own),
                                      getMargin(operands, scores));
  Value hinge = tensors.unary<ReluOp>(above);
  if (arguments.getInteger(kPowerArgument, 1) == 2)
    hinge = tensors.binary<MulOp>(hinge, hinge);
  Value isOther = tensors.compare(
      ComparePredicate::not_equal,
      tensors.create<IotaOp>(type.getShape(), axis, getElementType(label)),
      tensors.repeat(label, axis, classes));
  Value sum = tensors.reduce(
      ReduceKind::sum,
      tensors.select(isOther, hinge, tensors.splatLike(hinge, 0)), {axis});
  Value losses = tensors.binary<DivOp>(sum, static_cast<double>(classes));
  ArrayRef<double> weights = arguments.getWeights(kClassWeightsArgument);
  if (!weights.empty()) {
    Value ofClasses = tensors.broadcast(
        tensors.list(weights, cast<FloatType>(type.getElementType())),
        type.getShape(), axis);
    losses =
        tensors.binary<MulOp>(losses, pick(tensors, ofClasses, label, axis));
  }
  Value counts =
      tensors.cast(tensors.compare(ComparePredicate::not_equal, label,
                                   getIgnoredClass(arguments)),
                   type.getElementType());
  return {losses, counts, {}, {}};
}

//===----------------------------------------------------------------------===//
// Distances of vectors
//===----------------------------------------------------------------------===//

/// Builds the sum of squares along the last axis.
static Value addSquares(TensorBuilder &tensors, Value vectors) {
  int64_t last = getTensorType(vectors).getRank() - 1;
  return tensors.reduce(ReduceKind::sum,
                        tensors.binary<MulOp>(vectors, vectors), {last});
}

/// Builds a norm, whose gradient at 0 is 0.
static Value buildRoot(TensorBuilder &tensors, Value squares) {
  return markNorm(tensors.unary<SqrtOp>(squares));
}

/// Builds distances as PyTorch's pairwise_distance.
static Value buildDistance(TensorBuilder &tensors, Value a, Value b) {
  Value difference = tensors.binary<AddOp>(tensors.binary<SubOp>(a, b), 1e-6);
  return buildRoot(tensors, addSquares(tensors, difference));
}

/// Checks that output and label are vectors of one length.
static ObjectiveError checkVectors(ObjectiveTypes types) {
  if (types.output.getRank() < 2)
    return {"vectors have an axis beside the batch, but the output is " +
            printShape(types.output.getShape())};
  return checkValues(types);
}

ObjectiveError language::checkTriplet(const ObjectiveArguments &arguments,
                                      ObjectiveTypes types) {
  ObjectiveError wrong = checkVectors(types);
  return wrong ? wrong
               : checkTensor(arguments, kNegativeArgument,
                             types.output.getShape());
}

Loss language::buildTriplet(const ObjectiveOperands &operands,
                            const std::optional<RandomKeys> &) {
  TensorBuilder &tensors = operands.tensors;
  Value anchor = operands.output, positive = buildTarget(operands);
  Value negative = getTensorLike(operands, kNegativeArgument, anchor);
  Value near = buildDistance(tensors, anchor, positive);
  Value far = buildDistance(tensors, anchor, negative);
  if (operands.arguments.getInteger(kSwapArgument, 0))
    far =
        tensors.binary<MinOp>(far, buildDistance(tensors, positive, negative));
  Value missing = tensors.binary<SubOp>(
      tensors.binary<AddOp>(getMargin(operands, near), near), far);
  return countAll(tensors, clampToPositive(tensors, missing));
}

ObjectiveError language::checkContrastive(const ObjectiveArguments &arguments,
                                          ObjectiveTypes types) {
  ObjectiveError wrong = checkVectors(types);
  return wrong ? wrong
               : checkTensor(arguments, kAlikeArgument,
                             types.output.getShape().drop_back());
}

Loss language::buildContrastive(const ObjectiveOperands &operands,
                                const std::optional<RandomKeys> &) {
  TensorBuilder &tensors = operands.tensors;
  Value squares = addSquares(
      tensors, tensors.binary<SubOp>(operands.output, buildTarget(operands)));
  Value alike = getTensorLike(operands, kAlikeArgument, squares);
  Value distance = buildRoot(tensors, squares);
  Value missing = clampToPositive(
      tensors, tensors.binary<SubOp>(getMargin(operands, distance), distance));
  Value apart = tensors.binary<SubOp>(tensors.splatLike(alike, 1), alike);
  Value sum = tensors.binary<AddOp>(
      tensors.binary<MulOp>(alike, squares),
      tensors.binary<MulOp>(apart, tensors.binary<MulOp>(missing, missing)));
  return countAll(tensors, tensors.binary<MulOp>(sum, 0.5));
}

Loss language::buildCosineEmbedding(const ObjectiveOperands &operands,
                                    const std::optional<RandomKeys> &) {
  TensorBuilder &tensors = operands.tensors;
  Value a = operands.output, b = buildTarget(operands);
  int64_t last = getTensorType(a).getRank() - 1;
  auto measure = [&](Value vectors) {
    return tensors.binary<AddOp>(addSquares(tensors, vectors), 1e-12);
  };
  Value product =
      tensors.reduce(ReduceKind::sum, tensors.binary<MulOp>(a, b), {last});
  Value cosine = tensors.binary<DivOp>(
      product,
      tensors.unary<SqrtOp>(tensors.binary<MulOp>(measure(a), measure(b))));
  Value isAlike =
      tensors.compare(ComparePredicate::greater,
                      getTensorLike(operands, kAlikeArgument, cosine), 0.0);
  Value near = tensors.binary<SubOp>(tensors.splatLike(cosine, 1), cosine);
  Value far = clampToPositive(
      tensors, tensors.binary<SubOp>(cosine, getMargin(operands, cosine, 0)));
  return countAll(tensors, tensors.select(isAlike, near, far));
}

//===----------------------------------------------------------------------===//
// Vectors of a batch
//===----------------------------------------------------------------------===//

ObjectiveError language::checkInfoNce(const ObjectiveArguments &,
                                      ObjectiveTypes types) {
  if (types.output.getRank() != 2)
    return {"each sample has one vector, but the output is " +
            printShape(types.output.getShape())};
  // Whether an objective mixes samples can't be seen in a batch of one.
  if (types.output.getDimSize(0) == 1)
    return {"a batch of one sample has no other one to compare with",
            "it takes whole batches, without micro-batches"};
  return checkValues(types);
}

/// Builds x / max(|x|, 1e-12) along the last axis, as PyTorch's normalize.
static Value normalize(TensorBuilder &tensors, Value x) {
  Value norm = tensors.binary<MaxOp>(
      buildRoot(tensors, addSquares(tensors, x)),
      tensors.splat({getShape(x).front()}, getElementType(x), 1e-12));
  return tensors.binary<DivOp>(x, tensors.repeat(norm, 1, getShape(x).back()));
}

/// Builds the products of each row of a with each row of b.
static Value multiplyRows(TensorBuilder &tensors, Value a, Value b) {
  Builder &builder = tensors.getBuilder();
  AffineExpr m = builder.getAffineDimExpr(0), n = builder.getAffineDimExpr(1),
             k = builder.getAffineDimExpr(2);
  auto map = [&](AffineExpr x, AffineExpr y) {
    return AffineMap::get(3, 0, {x, y}, builder.getContext());
  };
  return tensors.create<ContractOp>(
      a, b, builder.getAffineMapArrayAttr({map(m, k), map(n, k), map(m, n)}),
      TypeAttr());
}

Loss language::buildInfoNce(const ObjectiveOperands &operands,
                            const std::optional<RandomKeys> &) {
  TensorBuilder &tensors = operands.tensors;
  int64_t samples = getShape(operands.output).front();
  Value cosines = multiplyRows(tensors, normalize(tensors, operands.output),
                               normalize(tensors, buildTarget(operands)));
  Value scores = tensors.binary<DivOp>(
      cosines, getNumberLike(operands, kTemperatureArgument, 0.07, cosines));
  Value own = tensors.create<IotaOp>(ArrayRef<int64_t>(samples), 0,
                                     tensors.getBuilder().getI64Type());
  auto score = [&](int64_t axis) {
    return pick(tensors, tensors.logSoftmax(scores, axis), own, 1);
  };
  Value sum = tensors.binary<AddOp>(score(1), score(0));
  return countAll(tensors, tensors.binary<MulOp>(sum, -0.5));
}

/// Builds the logarithm of the probability by which each row of a finds its own
/// row of b among all others of a and b. `across` are the scores of rows of a
/// with rows of b.
static Value findOwn(TensorBuilder &tensors, Value within, Value across) {
  int64_t samples = getShape(within).front();
  Type i64 = tensors.getBuilder().getI64Type();
  auto number = [&](int64_t axis) {
    return tensors.create<IotaOp>(getShape(within), axis, i64);
  };
  // A number that is finite, but whose exponential is 0.
  Value others = tensors.select(
      tensors.compare(ComparePredicate::equal, number(0), number(1)),
      tensors.splatLike(within, -1e30), within);
  Value scores = tensors.create<ConcatOp>(ValueRange{others, across}, 1);
  Value own = tensors.binary<AddOp>(
      tensors.create<IotaOp>(ArrayRef<int64_t>(samples), 0, i64),
      static_cast<double>(samples));
  return pick(tensors, tensors.logSoftmax(scores, 1), own, 1);
}

Loss language::buildNtXent(const ObjectiveOperands &operands,
                           const std::optional<RandomKeys> &) {
  TensorBuilder &tensors = operands.tensors;
  Value a = normalize(tensors, operands.output);
  Value b = normalize(tensors, buildTarget(operands));
  auto score = [&](Value x, Value y) -> Value {
    Value cosines = multiplyRows(tensors, x, y);
    return tensors.binary<DivOp>(
        cosines, getNumberLike(operands, kTemperatureArgument, 0.5, cosines));
  };
  Value sum = tensors.binary<AddOp>(findOwn(tensors, score(a, a), score(a, b)),
                                    findOwn(tensors, score(b, b), score(b, a)));
  return countAll(tensors, tensors.binary<MulOp>(sum, -0.5));
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

ObjectiveError language::checkOrthogonality(const ObjectiveArguments &,
                                            ObjectiveTypes types) {
  ArrayRef<int64_t> shape = types.output.getShape();
  if (shape.size() == 3)
    return {};
  return {"each sample has one matrix, but the output is " + printShape(shape)};
}

Loss language::buildOrthogonality(const ObjectiveOperands &operands,
                                  const std::optional<RandomKeys> &) {
  TensorBuilder &tensors = operands.tensors;
  Builder &builder = tensors.getBuilder();
  AffineExpr b = builder.getAffineDimExpr(0), m = builder.getAffineDimExpr(1),
             n = builder.getAffineDimExpr(2), k = builder.getAffineDimExpr(3);
  auto map = [&](AffineExpr x, AffineExpr y) {
    return AffineMap::get(4, 0, {b, x, y}, builder.getContext());
  };
  Value products = tensors.create<ContractOp>(
      operands.output, operands.output,
      builder.getAffineMapArrayAttr({map(m, k), map(n, k), map(m, n)}),
      TypeAttr());
  ArrayRef<int64_t> shape = getShape(products);
  Type i64 = builder.getI64Type();
  Value isDiagonal = tensors.compare(ComparePredicate::equal,
                                     tensors.create<IotaOp>(shape, 1, i64),
                                     tensors.create<IotaOp>(shape, 2, i64));
  Value difference = tensors.binary<SubOp>(
      products, tensors.cast(isDiagonal, getElementType(products)));
  Value squares = tensors.binary<MulOp>(difference, difference);
  return countAll(tensors, buildRoot(tensors, tensors.reduce(ReduceKind::sum,
                                                             squares, {1, 2})));
}
