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
  // The copies' gradients would have to be summed, but copies are independent.
  if (isArrayed(gradient))
    return backward.fail("one copy's value is used by all copies, so it has no "
                         "gradient of its own");
  RankedTensorType type = op.getInput().getType();
  // Negative zeros change no sum, not even one that is a zero.
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

/// Gives equal shares to all elements that equal the extremum. A NaN extremum
/// equals none and makes NaN of the quotient 0 / 0, as in PyTorch.
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

/// Returns the product of all other elements: the result divided by the element
/// where none is zero, the product of the others where it is the only zero,
/// else zero.
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

/// The gradient is the cumulative sum in the other direction, with steps from
/// the last to the first.
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
/// Values of the shapes of a scatter_reduce's updates and of its result.
class Scattered {
public:
  Scattered(ScatterReduceOp op, const Backward &backward)
      : indices(op.getIndices()), axis(op.getAxis()),
        size(op.getType().getDimSize(axis)), backward(backward) {}

  /// Returns the elements of the result's shape at the updates' places.
  Expression gather(const Expression &elements) const {
    return elements.apply<GatherOp>(indices, axis);
  }
  /// Adds up what the updates' shape holds for each place.
  Expression addUp(const Expression &terms) const {
    return terms.apply<ScatterAddOp>(indices, axis, size);
  }
  /// Multiplies what the updates' shape holds for each place.
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

/// Gives equal shares to the input's element and the updates that equal the
/// extremum.
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

/// Gives each update the product of all other factors: the result divided by
/// the update where that isn't zero, the product of the others where it is the
/// only zero among the updates, else zero.
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
