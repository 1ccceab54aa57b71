//===- HftaLayerDerivatives.cpp - Backward of layers ----------------------===//
//
// The derivatives of contraction, convolution, normalization, softmax and
// dropout.
//===----------------------------------------------------------------------===//

#include "Backward.h"
#include "Hfta/Dialect/Hfta/IR/ElementCounts.h"
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Contraction
//===----------------------------------------------------------------------===//

/// Builds a contraction over the iteration space of `op`. Its three indexing
/// maps (of lhs, rhs and result) are those of `op` at the indices `places`.
static Value contractLike(ContractOp op, const Expression &lhs,
                          const Expression &rhs, ArrayRef<unsigned> places) {
  SmallVector<Attribute> maps;
  for (unsigned place : places)
    maps.push_back(op.getIndexingMaps()[place]);
  return lhs.apply<ContractOp>(rhs, ArrayAttr::get(op.getContext(), maps),
                               op.getAccumulateAttr());
}

HFTA_DEFINE_BACKWARD(ContractOp) {
  constexpr unsigned lhs = 0, rhs = 1, result = 2;
  Expression gradient = backward.gradient();
  if (backward.wants(lhs))
    backward.set(lhs, contractLike(op, gradient, backward.operand(rhs),
                                   {result, rhs, lhs}));
  if (backward.wants(rhs))
    backward.set(rhs, contractLike(op, backward.operand(lhs), gradient,
                                   {lhs, result, rhs}));
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

/// Builds a convolution, or one of the gradients of a convolution, with the
/// window of `op`.
template <typename ResultOp, typename OpTy, typename... Extra>
static Value convolveLike(OpTy op, const Expression &first,
                          const Expression &second, Extra... extra) {
  return first.apply<ResultOp>(
      second, op.getStridesAttr(), op.getDilationsAttr(), op.getPaddingAttr(),
      op.getGroupsAttr(), op.getAccumulateAttr(), extra...);
}

static DenseI64ArrayAttr getShapeAttribute(const Expression &value) {
  return DenseI64ArrayAttr::get(value.getType().getContext(), value.getShape());
}

template <typename OpTy>
static Value inputGradient(OpTy op, const Expression &gradient,
                           const Expression &weight, const Expression &input) {
  return convolveLike<ConvInputGradientOp>(op, gradient, weight,
                                           getShapeAttribute(input));
}

template <typename OpTy>
static Value weightGradient(OpTy op, const Expression &input,
                            const Expression &gradient,
                            const Expression &weight) {
  return convolveLike<ConvWeightGradientOp>(op, input, gradient,
                                            getShapeAttribute(weight),
                                            /*batch_parts=*/IntegerAttr());
}

HFTA_DEFINE_BACKWARD(ConvOp) {
  Expression input = backward.operand(0), weight = backward.operand(1);
  Expression gradient = backward.gradient();
  if (backward.wants(0))
    backward.set(0, inputGradient(op, gradient, weight, input));
  if (backward.wants(1))
    backward.set(1, weightGradient(op, input, gradient, weight));
}

/// The gradient that flows into this op has the shape of a convolution's input,
/// as the op's result is the gradient of such an input.
HFTA_DEFINE_BACKWARD(ConvInputGradientOp) {
  Expression gradient = backward.operand(0), weight = backward.operand(1);
  Expression input = backward.gradient();
  if (backward.wants(0))
    backward.set(0, convolveLike<ConvOp>(op, input, weight));
  if (backward.wants(1))
    backward.set(1, weightGradient(op, input, gradient, weight));
}

/// The gradient that flows into this op has the shape of a convolution's
/// weight, as the op's result is the gradient of such a weight.
HFTA_DEFINE_BACKWARD(ConvWeightGradientOp) {
  Expression input = backward.operand(0), gradient = backward.operand(1);
  Expression weight = backward.gradient();
  if (backward.wants(0))
    backward.set(0, inputGradient(op, gradient, weight, input));
  if (backward.wants(1))
    backward.set(1, convolveLike<ConvOp>(op, input, weight));
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

HFTA_DEFINE_BACKWARD(SoftmaxOp) {
  if (!backward.wants(0))
    return;
  Expression result = backward.result(), gradient = backward.gradient();
  int64_t axis = op.getAxis();
  Expression mean = (gradient * result).sum(axis);
  backward.set(0, (gradient - mean.repeat(result.getShape(), axis)) * result);
}

/// The maximum and the logarithm of the sum have no gradient of their own.
HFTA_DEFINE_BACKWARD(LogSoftmaxOp) {
  if (!backward.wants(0))
    return;
  Expression input = backward.operand(0), gradient = backward.gradient();
  ArrayRef<int64_t> shape = input.getShape();
  int64_t axis = op.getAxis();
  Expression result = input -
                      backward.wrap(op.getMaximum()).repeat(shape, axis) -
                      backward.wrap(op.getLogSum()).repeat(shape, axis);
  Expression total = gradient.sum(axis).repeat(shape, axis);
  backward.set(0, gradient - result.apply<ExpOp>() * total);
}

//===----------------------------------------------------------------------===//
// Normalization
//===----------------------------------------------------------------------===//

/// The forward pass normalized with its results `saved_mean` and
/// `saved_inverse_deviation`. If these are the batch's statistics, they depend
/// on the input and contribute to its gradient. Running statistics have no
/// gradient.
HFTA_DEFINE_BACKWARD(BatchNormOp) {
  Expression input = backward.operand(0), gradient = backward.gradient();
  ArrayRef<int64_t> shape = input.getShape();
  SmallVector<int64_t> axes = getOtherAxes(shape.size(), {1});
  Type elementType = input.getElementType();
  Expression scale = backward.operand(1), bias = backward.operand(2);
  Expression inverse = backward.wrap(op.getSavedInverseDeviation());
  bool dependent = usesBatchStatistics(op) && backward.wants(0);

  Expression total, product, centered;
  if (dependent || backward.wants(2))
    total = gradient.sum(axes);
  if (dependent || backward.wants(1)) {
    centered = input - backward.wrap(op.getSavedMean()).repeat(shape, axes);
    product = (gradient * centered).sum(axes);
  }
  if (backward.wants(2))
    backward.set(2, total.to(bias.getElementType()));
  if (backward.wants(1))
    backward.set(1, (product * inverse).to(scale.getElementType()));
  if (!backward.wants(0))
    return;
  Expression inputGradient = gradient;
  if (dependent) {
    double count = countAlong(shape, axes);
    Expression slope = product * inverse * inverse / count;
    inputGradient = gradient - (total / count).repeat(shape, axes) -
                    centered * slope.repeat(shape, axes);
  }
  Expression factor = inverse * scale.to(elementType);
  backward.set(0, inputGradient * factor.repeat(shape, axes));
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

/// Dropout is linear in its input.
HFTA_DEFINE_BACKWARD(DropoutOp) {
  if (backward.wants(0))
    backward.set(0, backward.gradient().apply<DropoutOp>(
                        op.getRate(), op.getRandom(), op.getTraining()));
}
