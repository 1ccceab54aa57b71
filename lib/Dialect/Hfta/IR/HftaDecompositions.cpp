//===- HftaDecompositions.cpp - Composite ops in terms of simpler ones ----===//
//
// The order of operations is PyTorch's, so that results agree to rounding.
//===----------------------------------------------------------------------===//

#include "Expression.h"

using namespace mlir;
using namespace mlir::hfta;

/// `values` as `op`'s results: in their element types and, where a result is
/// arrayed though its value depends on shared operands only, once a copy.
static SmallVector<Value> giveResults(Operation *op, OpBuilder &builder,
                                      ArrayRef<Expression> values) {
  SmallVector<Value> results;
  for (auto [value, result] : llvm::zip_equal(values, op->getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    Value given = value.to(type.getElementType());
    if (isArrayed(type) && !isArrayed(given))
      given = StackOp::create(builder, op->getLoc(), type,
                              SmallVector<Value>(*getCopies(type), given));
    results.push_back(given);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

template <typename OpTy>
static Expression subtractMaximum(OpTy op, OpBuilder &builder) {
  Expression input(builder, op.getLoc(), op.getInput());
  int64_t axis = op.getAxis();
  Expression maximum = input.reduce(ReduceKind::max, axis);
  return input - maximum.repeat(input.getShape(), axis);
}

SmallVector<Value> SoftmaxOp::decompose(OpBuilder &builder) {
  int64_t axis = getAxis();
  Expression power = subtractMaximum(*this, builder).apply<ExpOp>();
  // One division a row: a product an element is cheaper by far.
  Expression inverse = 1.0 / power.sum(axis);
  return giveResults(*this, builder,
                     {power * inverse.repeat(power.getShape(), axis)});
}

SmallVector<Value> LogSoftmaxOp::decompose(OpBuilder &builder) {
  int64_t axis = getAxis();
  Expression shifted = subtractMaximum(*this, builder);
  Expression logarithm = shifted.apply<ExpOp>().sum(axis).apply<LogOp>();
  return giveResults(*this, builder,
                     {shifted - logarithm.repeat(shifted.getShape(), axis)});
}

//===----------------------------------------------------------------------===//
// Normalization
//===----------------------------------------------------------------------===//

/// running * momentum + batch * (1 - momentum), in the running one's type.
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
  double count = countElements(shape, axes);
  bool training = getTraining();

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
    newMean = moveAverage(newMean, mean, momentum);
    Expression batchVariance = variance;
    if (getUnbiased() && count > 1)
      batchVariance = variance * (count / (count - 1));
    newVariance = moveAverage(newVariance, batchVariance, momentum);
  }
  return giveResults(*this, builder,
                     {result, newMean, newVariance, mean, inverse});
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
  if (getInput().getType() != getType() || !isZero(getRate()))
    return {};
  return {getInput()};
}

//===----------------------------------------------------------------------===//
// Optimizer updates
//===----------------------------------------------------------------------===//

namespace {
/// Operands of an update: tensors in the widest stored type, scalars in f64
/// until they meet a tensor.
class Update {
public:
  Update(Operation *op, OpBuilder &builder, ArrayRef<Value> stored)
      : first(builder, op->getLoc(), stored.front()),
        computeType(first.getElementType()) {
    for (Value value : stored) {
      Type type = getElementTypeOrSelf(value);
      if (type.getIntOrFloatBitWidth() > computeType.getIntOrFloatBitWidth())
        computeType = type;
    }
  }
  Expression tensor(Value value) const {
    return first.at(value).to(computeType);
  }
  Expression scalar(Value value) const {
    return first.at(value).to(Float64Type::get(value.getContext()));
  }
  /// A scalar as a tensor of the parameter's shape.
  Expression fill(const Expression &scalar) const {
    return scalar.to(computeType).fill(first.getShape());
  }

private:
  Expression first;
  Type computeType;
};
} // namespace

SmallVector<Value> SgdUpdateOp::decompose(OpBuilder &builder) {
  Update update(*this, builder, {getParameter(), getVelocity()});
  Expression parameter = update.tensor(getParameter());
  Expression momentum = update.fill(update.scalar(getMomentum()));
  Expression gradient =
      update.tensor(getGradient()) +
      update.fill(update.scalar(getWeightDecay())) * parameter;
  Expression velocity = update.tensor(getVelocity()) * momentum + gradient;
  Expression direction =
      getNesterov() ? gradient + momentum * velocity : velocity;
  Expression step = update.fill(-update.scalar(getRate()));
  return giveResults(*this, builder, {parameter + step * direction, velocity});
}

SmallVector<Value> AdamUpdateOp::decompose(OpBuilder &builder) {
  Update update(*this, builder,
                {getParameter(), getFirstMoment(), getSecondMoment()});
  Expression parameter = update.tensor(getParameter());
  Expression gradient = update.tensor(getGradient());
  Expression firstMoment = update.tensor(getFirstMoment());
  Expression secondMoment = update.tensor(getSecondMoment());
  Expression rate = update.scalar(getRate());
  Expression decay = update.scalar(getWeightDecay());
  Expression beta1 = update.scalar(getBeta1());
  Expression beta2 = update.scalar(getBeta2());
  Expression step = update.scalar(getStep()) + 1.0;

  if (getDecoupled())
    parameter = parameter * update.fill(1.0 - rate * decay);
  else
    gradient = gradient + update.fill(decay) * parameter;
  firstMoment =
      firstMoment + update.fill(1.0 - beta1) * (gradient - firstMoment);
  secondMoment = secondMoment * update.fill(beta2) +
                 update.fill(1.0 - beta2) * gradient * gradient;

  Expression stepSize = rate / (1.0 - beta1.apply<PowOp>(step));
  Expression correction = (1.0 - beta2.apply<PowOp>(step)).apply<SqrtOp>();
  Expression denominator =
      secondMoment.apply<SqrtOp>() / update.fill(correction) +
      update.fill(update.scalar(getEpsilon()));
  parameter = parameter + update.fill(-stepSize) * firstMoment / denominator;
  return giveResults(*this, builder, {parameter, firstMoment, secondMoment});
}
