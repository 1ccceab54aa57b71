//===- HftaDecompositions.cpp - Composite ops as simpler ops --------------===//
//
// The order of floating-point operations is PyTorch's, so that results differ
// from PyTorch's by rounding errors at most.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/ElementCounts.h"
#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

SmallVector<Value> SoftmaxOp::decompose(OpBuilder &builder) {
  int64_t axis = getAxis();
  Expression input(builder, getLoc(), getInput());
  Expression maximum = input.reduce(ReduceKind::max, axis);
  Expression power =
      (input - maximum.repeat(input.getShape(), axis)).apply<ExpOp>();
  // One division per row and a product per element are far cheaper than a
  // division per element.
  Expression inverse = 1.0 / power.sum(axis);
  return giveResults(*this, builder,
                     {power * inverse.repeat(power.getShape(), axis)});
}

SmallVector<Value> LogSoftmaxOp::decompose(OpBuilder &builder) {
  int64_t axis = getAxis();
  Expression input(builder, getLoc(), getInput());
  Expression maximum = input.reduce(ReduceKind::max, axis);
  Expression shifted = input - maximum.repeat(input.getShape(), axis);
  Expression logSum = shifted.apply<ExpOp>().sum(axis).apply<LogOp>();
  return giveResults(
      *this, builder,
      {shifted - logSum.repeat(input.getShape(), axis), maximum, logSum});
}

//===----------------------------------------------------------------------===//
// Cumulative sum
//===----------------------------------------------------------------------===//

/// Moves elements along `axis` by `distance` to higher indices, or with
/// `reverse` to lower ones. Zeros fill the gap, and elements that leave the
/// axis are lost.
static Expression shift(const Expression &input, int64_t axis, int64_t distance,
                        bool reverse) {
  SmallVector<int64_t> sizes(input.getShape());
  size_t rank = sizes.size();
  SmallVector<int64_t> zeros(rank, 0), ones(rank, 1);
  SmallVector<int64_t> offsets(zeros), low(zeros), high(zeros);
  sizes[axis] -= distance;
  offsets[axis] = reverse ? distance : 0;
  (reverse ? high : low)[axis] = distance;
  TypedAttr zero = FloatAttr::get(input.getElementType(), 0.0);
  return input.apply<SliceOp>(offsets, sizes, ones)
      .apply<PadOp>(low, high, zeros, zero);
}

SmallVector<Value> CumulativeSumOp::decompose(OpBuilder &builder) {
  Expression sum(builder, getLoc(), getInput());
  int64_t axis = getAxis(), size = sum.getShape()[axis];
  SmallVector<int64_t> distances;
  for (int64_t distance = 1; distance < size; distance *= 2)
    distances.push_back(distance);
  if (getFalling())
    std::reverse(distances.begin(), distances.end());
  bool isShifted = getExclusive() && size > 0;
  if (isShifted && !getFalling())
    sum = shift(sum, axis, 1, getReverse());
  for (int64_t distance : distances)
    sum = sum + shift(sum, axis, distance, getReverse());
  if (isShifted && getFalling())
    sum = shift(sum, axis, 1, getReverse());
  return giveResults(*this, builder, {sum});
}

//===----------------------------------------------------------------------===//
// Normalization
//===----------------------------------------------------------------------===//

/// Updates a running average: running * momentum + batch * (1 - momentum),
/// computed in the type of `running`.
static Expression moveAverage(const Expression &running,
                              const Expression &batch, double momentum) {
  return running * momentum +
         batch.to(running.getElementType()) * (1.0 - momentum);
}

SmallVector<Value> BatchNormOp::decompose(OpBuilder &builder) {
  Expression input(builder, getLoc(), getInput());
  Expression newMean = input.at(getRunningMean());
  Expression newVariance = input.at(getRunningVariance());
  ArrayRef<int64_t> shape = input.getShape();
  Type elementType = input.getElementType();
  SmallVector<int64_t> axes = getOtherAxes(shape.size(), {1});
  double count = countAlong(shape, axes);
  bool training = usesBatchStatistics(*this);

  Expression mean =
      training ? input.sum(axes) / count : newMean.to(elementType);
  Expression centered = input - mean.repeat(shape, axes);
  Expression variance = training ? (centered * centered).sum(axes) / count
                                 : newVariance.to(elementType);
  Expression inverse =
      (variance + getEpsilon().convertToDouble()).apply<RsqrtOp>();
  Expression factor = inverse * input.at(getScale()).to(elementType);
  Expression offset = input.at(getBias()).to(elementType);
  Expression result =
      centered * factor.repeat(shape, axes) + offset.repeat(shape, axes);

  if (training) {
    double momentum = getMomentum().convertToDouble();
    Expression batchVariance = variance;
    if (getUnbiased() && count > 1)
      batchVariance = variance * (count / (count - 1));
    newMean = getRunningMean() ? moveAverage(newMean, mean, momentum) : mean;
    newVariance = getRunningVariance()
                      ? moveAverage(newVariance, batchVariance, momentum)
                      : batchVariance;
  }
  return giveResults(*this, builder,
                     {result, newMean, newVariance, mean, inverse});
}

/// Splits the op into one that normalizes without running statistics, and ops
/// that update these. The former's batch mean is also needed by the backward.
bool BatchNormOp::separateStatistics(OpBuilder &builder) {
  if (!usesBatchStatistics(*this) || !getRunningMean())
    return false;
  auto apart = BatchNormOp::create(
      builder, getLoc(), getInput(), getScale(), getBias(),
      /*running_mean=*/Value(), /*running_variance=*/Value(), getEpsilon(),
      getMomentum(), getUnbiased(), /*training=*/true);
  Expression mean(builder, getLoc(), getRunningMean());
  Expression variance = mean.at(getRunningVariance());
  double momentum = getMomentum().convertToDouble();
  Value newMean = moveAverage(mean, mean.at(apart.getSavedMean()), momentum);
  Value newVariance =
      moveAverage(variance, mean.at(apart.getNewVariance()), momentum);
  (*this)->replaceAllUsesWith(ValueRange{apart.getResult(), newMean,
                                         newVariance, apart.getSavedMean(),
                                         apart.getSavedInverseDeviation()});
  (*this)->erase();
  return true;
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

SmallVector<Value> DropoutOp::decompose(OpBuilder &builder) {
  Expression input(builder, getLoc(), getInput());
  if (!getTraining())
    return giveResults(*this, builder, {input});
  Expression rate = input.at(getRate()), random = input.at(getRandom());
  ArrayRef<int64_t> shape = input.getShape();
  Expression factor = (1.0 / (1.0 - rate)).to(input.getElementType());
  Expression dropped = random.compare(
      ComparePredicate::less, rate.to(random.getElementType()).fill(shape));
  return giveResults(*this, builder,
                     {dropped.select(0.0, input * factor.fill(shape))});
}

SmallVector<Value> DropoutOp::getIdleResults(function_ref<bool(Value)> isZero) {
  bool isIdle = (*this)->hasAttr(kFrozenAttrName) || isZero(getRate());
  if (getInput().getType() != getType() || !isIdle)
    return {};
  return {getInput()};
}
