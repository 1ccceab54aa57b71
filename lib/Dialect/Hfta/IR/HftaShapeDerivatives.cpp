//===- HftaShapeDerivatives.cpp - Backward of ops that move elements ------===//

#include "Backward.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

HFTA_DEFINE_BACKWARD(StackOp) {
  Expression gradient = backward.gradient();
  for (auto [copy, input] : llvm::enumerate(op.getInputs())) {
    if (!backward.wants(copy))
      continue;
    if (isArrayed(gradient))
      backward.set(copy,
                   backward.create<UnstackOp>(input.getType(), gradient, copy));
    else
      backward.set(copy, gradient);
  }
}

HFTA_DEFINE_BACKWARD(UnstackOp) {
  if (!backward.wants(0))
    return;
  Expression gradient = backward.gradient();
  // The gradients of several copies would have to be added up, which would make
  // copies dependent on each other.
  if (isArrayed(gradient))
    return backward.fail("one copy's value is used by all copies, so it has no "
                         "gradient of its own");
  RankedTensorType type = op.getInput().getType();
  // Adding a negative zero changes no sum, not even a sum that is a zero.
  SmallVector<Value> gradients(*getCopies(type), gradient.splat(-0.0));
  gradients[op.getCopy()] = gradient;
  backward.set(0, backward.create<StackOp>(type, gradients));
}

//===----------------------------------------------------------------------===//
// Reshape, transpose, broadcast
//===----------------------------------------------------------------------===//

HFTA_DEFINE_BACKWARD(ReshapeOp) {
  if (backward.wants(0))
    backward.set(
        0, backward.gradient().reshape(op.getInput().getType().getShape()));
}

HFTA_DEFINE_BACKWARD(TransposeOp) {
  if (backward.wants(0))
    backward.set(0, backward.gradient().apply<TransposeOp>(
                        invertPermutationVector(op.getPermutation())));
}

HFTA_DEFINE_BACKWARD(BroadcastOp) {
  if (!backward.wants(0))
    return;
  ArrayRef<int64_t> shape = op.getShape(), dimensions = op.getDimensions();
  ArrayRef<int64_t> inputShape = op.getInput().getType().getShape();
  SmallVector<int64_t> repeated = getOtherAxes(shape.size(), dimensions);
  for (auto [size, dimension] : llvm::zip(inputShape, dimensions))
    if (size != shape[dimension])
      repeated.push_back(dimension);
  llvm::sort(repeated);
  backward.set(0, backward.gradient().sum(repeated).reshape(inputShape));
}

//===----------------------------------------------------------------------===//
// Slice, pad, concat
//===----------------------------------------------------------------------===//

HFTA_DEFINE_BACKWARD(SliceOp) {
  if (!backward.wants(0))
    return;
  ArrayRef<int64_t> inputShape = op.getInput().getType().getShape();
  size_t rank = inputShape.size();
  SmallVector<int64_t> low(rank), high(inputShape), interior(rank);
  SmallVector<int64_t> first(rank), direction(rank, 1);
  for (size_t axis = 0; axis < rank; ++axis) {
    int64_t size = op.getSizes()[axis], stride = op.getStrides()[axis];
    if (size == 0)
      continue;
    low[axis] = op.getOffsets()[axis];
    interior[axis] = std::abs(stride) - 1;
    if (stride < 0) {
      low[axis] += (size - 1) * stride;
      first[axis] = size - 1;
      direction[axis] = -1;
    }
    high[axis] -= low[axis] + (size - 1) * std::abs(stride) + 1;
  }
  Expression gradient = backward.gradient();
  if (llvm::is_contained(direction, -1))
    gradient = gradient.apply<SliceOp>(first, op.getSizes(), direction);
  TypedAttr zero = FloatAttr::get(gradient.getElementType(), 0.0);
  backward.set(0, gradient.apply<PadOp>(low, high, interior, zero));
}

HFTA_DEFINE_BACKWARD(PadOp) {
  if (!backward.wants(0))
    return;
  SmallVector<int64_t> strides;
  for (int64_t gap : op.getInterior())
    strides.push_back(gap + 1);
  backward.set(0,
               backward.gradient().apply<SliceOp>(
                   op.getLow(), op.getInput().getType().getShape(), strides));
}

HFTA_DEFINE_BACKWARD(ConcatOp) {
  int64_t rank = op.getType().getRank();
  SmallVector<int64_t> offsets(rank), strides(rank, 1);
  for (auto [number, input] : llvm::enumerate(op.getInputs())) {
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(input.getType()).getShape();
    if (backward.wants(number))
      backward.set(number,
                   backward.gradient().apply<SliceOp>(offsets, shape, strides));
    offsets[op.getAxis()] += shape[op.getAxis()];
  }
}

//===----------------------------------------------------------------------===//
// Reduce
//===----------------------------------------------------------------------===//

/// Returns the input's gradient for a reduction by maximum or minimum: all
/// elements that equal the extremum have equal shares. If the extremum is a
/// NaN, no element equals it, and 0 / 0 makes all of the gradient NaN, as in
/// PyTorch.
static Expression extremumGradient(ReduceOp op, const Expression &input,
                                   const Expression &result,
                                   const Expression &gradient) {
  ArrayRef<int64_t> axes = op.getAxes(), shape = input.getShape();
  Expression chosen =
      input.compare(ComparePredicate::equal, result.repeat(shape, axes))
          .to(input.getElementType());
  Expression count = chosen.sum(axes, op.getAccumulateAttr());
  return chosen * (gradient / count).repeat(shape, axes);
}

/// Returns the input's gradient for a product. An element's factor is the
/// product of all others: the result divided by the element if no element is
/// zero, the product of the others if it is the only zero, otherwise zero.
static Expression productGradient(ReduceOp op, const Expression &input,
                                  const Expression &result,
                                  const Expression &gradient) {
  ArrayRef<int64_t> axes = op.getAxes(), shape = input.getShape();
  TypeAttr accumulate = op.getAccumulateAttr();
  Expression isZero = input.compare(ComparePredicate::equal, 0.0);
  Expression nonZero = isZero.select(1.0, input);
  Expression zeros = isZero.to(input.getElementType()).sum(axes, accumulate);
  Expression others =
      zeros.compare(ComparePredicate::equal, 1.0)
          .select(nonZero.reduce(ReduceKind::product, axes, accumulate), 0.0);
  Expression slope = isZero.select(others.repeat(shape, axes),
                                   result.repeat(shape, axes) / nonZero);
  return gradient.repeat(shape, axes) * slope;
}

HFTA_DEFINE_BACKWARD(ReduceOp) {
  if (!backward.wants(0))
    return;
  Expression input = backward.operand(0), result = backward.result();
  Expression gradient = backward.gradient();
  switch (op.getKind()) {
  case ReduceKind::sum:
    backward.set(0, gradient.repeat(input.getShape(), op.getAxes()));
    return;
  case ReduceKind::max:
  case ReduceKind::min:
    backward.set(0, extremumGradient(op, input, result, gradient));
    return;
  case ReduceKind::product:
    backward.set(0, productGradient(op, input, result, gradient));
    return;
  }
}

/// The gradient is the cumulative sum in the other direction. Its steps are
/// those of the forward from the last to the first.
HFTA_DEFINE_BACKWARD(CumulativeSumOp) {
  if (backward.wants(0))
    backward.set(0, backward.gradient().apply<CumulativeSumOp>(
                        op.getAxis(), !op.getReverse(), op.getExclusive(),
                        !op.getFalling()));
}

//===----------------------------------------------------------------------===//
// Gather and scatter
//===----------------------------------------------------------------------===//

HFTA_DEFINE_BACKWARD(ScatterAddOp) {
  if (backward.wants(0))
    backward.set(
        0, backward.gradient().apply<GatherOp>(op.getIndices(), op.getAxis()));
}

HFTA_DEFINE_BACKWARD(GatherOp) {
  if (backward.wants(0))
    backward.set(0, backward.gradient().apply<ScatterAddOp>(
                        op.getIndices(), op.getAxis(),
                        op.getInput().getType().getDimSize(op.getAxis())));
}

namespace {
/// Builds ops that map between tensors with the shape of a scatter_reduce's
/// updates and tensors with the shape of its result.
class Scattered {
public:
  Scattered(ScatterReduceOp op, const Backward &backward)
      : indices(op.getIndices()), axis(op.getAxis()),
        size(op.getType().getDimSize(axis)), backward(backward) {}

  /// Returns, for each update, the element of the result's shape at its index.
  Expression gather(const Expression &elements) const {
    return elements.apply<GatherOp>(indices, axis);
  }
  /// Adds up, for each index, the terms of the updates' shape.
  Expression addUp(const Expression &terms) const {
    return terms.apply<ScatterAddOp>(indices, axis, size);
  }
  /// Multiplies, for each index, the factors of the updates' shape.
  Expression multiplyUp(const Expression &factors) const {
    return backward.wrap(
        backward.create<ScatterReduceOp>(ReduceKind::product, factors, indices,
                                         backward.result().splat(1.0), axis));
  }

private:
  Value indices;
  int64_t axis, size;
  const Backward &backward;
};
} // namespace

/// Sets the gradients of a scattered extremum: the input's element and all
/// updates that equal the extremum have equal shares.
static void setScatteredExtremum(ScatterReduceOp op, Backward &backward) {
  Scattered scattered(op, backward);
  Expression updates = backward.operand(0), input = backward.operand(2);
  Expression result = backward.result();
  Type type = result.getElementType();
  Expression isUpdate =
      updates.compare(ComparePredicate::equal, scattered.gather(result))
          .to(type);
  Expression isInput = input.compare(ComparePredicate::equal, result).to(type);
  Expression share =
      backward.gradient() / (isInput + scattered.addUp(isUpdate));
  if (backward.wants(0))
    backward.set(0, isUpdate * scattered.gather(share));
  if (backward.wants(2))
    backward.set(2, isInput * share);
}

/// Sets the gradients of a scattered product. An update's factor is the product
/// of all others: the result divided by the update if that isn't zero, the
/// product of the others if it is the only zero among the updates, otherwise
/// zero.
static void setScatteredProduct(ScatterReduceOp op, Backward &backward) {
  Scattered scattered(op, backward);
  Expression updates = backward.operand(0), input = backward.operand(2);
  Expression gradient = backward.gradient();
  if (backward.wants(2))
    backward.set(2, gradient * scattered.multiplyUp(updates));
  if (!backward.wants(0))
    return;
  Expression isZero = updates.compare(ComparePredicate::equal, 0.0);
  Expression nonZero = isZero.select(1.0, updates);
  Expression zeros = scattered.addUp(isZero.to(updates.getElementType()));
  Expression others = zeros.compare(ComparePredicate::equal, 1.0)
                          .select(input * scattered.multiplyUp(nonZero), 0.0);
  Expression slope = isZero.select(
      scattered.gather(others), scattered.gather(backward.result()) / nonZero);
  backward.set(0, scattered.gather(gradient) * slope);
}

HFTA_DEFINE_BACKWARD(ScatterReduceOp) {
  if (op.getKind() == ReduceKind::product)
    setScatteredProduct(op, backward);
  else
    setScatteredExtremum(op, backward);
}
