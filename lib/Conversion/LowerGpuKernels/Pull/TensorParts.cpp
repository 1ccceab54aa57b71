//===- TensorParts.cpp - Elements of slices, insertions and loops ---------===//

#include "Pull/ElementPuller.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Parts of tensors
//===----------------------------------------------------------------------===//

/// Returns the value of a number that may be static or computed.
FailureOr<Value> ElementPuller::computeNumber(OpFoldResult number) {
  if (std::optional<int64_t> constant = getConstantIntValue(number))
    return index(*constant);
  return computeScalar(cast<Value>(number));
}

FailureOr<SmallVector<Value>>
ElementPuller::findUnsliced(tensor::ExtractSliceOp op,
                            ArrayRef<Value> indices) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<Value> from;
  AffineExpr d0, d1;
  bindDims(builder.getContext(), d0, d1);
  size_t next = 0;
  for (auto [axis, sizes] :
       llvm::enumerate(llvm::zip(op.getMixedOffsets(), op.getMixedStrides()))) {
    FailureOr<Value> offset = computeNumber(std::get<0>(sizes));
    FailureOr<Value> stride = computeNumber(std::get<1>(sizes));
    if (failed(offset) || failed(stride))
      return failure();
    Value own = dropped[axis] ? index(0) : indices[next++];
    IntegerAttr step;
    if (!matchPattern(*stride, m_Constant(&step)))
      return op.emitOpError("has a stride that isn't known");
    from.push_back(apply(d0 + d1 * step.getInt(), {*offset, own}));
  }
  return from;
}

FailureOr<Value> ElementPuller::pullSlice(tensor::ExtractSliceOp op,
                                          ArrayRef<Value> indices) {
  FailureOr<SmallVector<Value>> from = findUnsliced(op, indices);
  if (failed(from))
    return failure();
  return pull(op.getSource(), *from);
}

FailureOr<ElementPuller::InsertedIndices>
ElementPuller::findInserted(tensor::InsertSliceOp op, ArrayRef<Value> indices) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  InsertedIndices found;
  AffineExpr d0, d1;
  bindDims(builder.getContext(), d0, d1);
  for (auto [axis, index] : llvm::enumerate(indices)) {
    FailureOr<Value> offset = computeNumber(op.getMixedOffsets()[axis]);
    if (failed(offset))
      return failure();
    std::optional<int64_t> size = getConstantIntValue(op.getMixedSizes()[axis]);
    std::optional<int64_t> stride =
        getConstantIntValue(op.getMixedStrides()[axis]);
    if (!size || !stride)
      return op.emitOpError("has a size that isn't known");
    Value end = apply(d0 + (*size - 1) * *stride + 1, *offset);
    Value inside =
        isBetween(index, *offset, end, op.getDestType().getDimSize(axis));
    found.isInside = both(found.isInside, inside);
    if (*stride != 1)
      found.isInside =
          both(found.isInside,
               isMultiple(apply(d1 - d0, {*offset, index}), *stride));
    if (!dropped[axis])
      found.indices.push_back(
          apply((d1 - d0).floorDiv(*stride), {*offset, index}));
    found.own.push_back(*size == 1 ? *offset : index);
  }
  return found;
}

FailureOr<Value> ElementPuller::pullInsertion(tensor::InsertSliceOp op,
                                              ArrayRef<Value> indices) {
  FailureOr<InsertedIndices> found = findInserted(op, indices);
  if (failed(found))
    return failure();
  return choose(
      found->isInside, op.getDestType().getElementType(),
      [&] {
        return pullWithin(op.getDest(), found->own,
                          [&] { return pull(op.getSource(), found->indices); });
      },
      [&] { return pull(op.getDest(), indices); });
}

FailureOr<ElementPuller::PaddedIndices>
ElementPuller::findUnpadded(tensor::PadOp op, ArrayRef<Value> indices) {
  PaddedIndices found;
  AffineExpr d0, d1;
  bindDims(builder.getContext(), d0, d1);
  for (auto [axis, index] : llvm::enumerate(indices)) {
    FailureOr<Value> low = computeNumber(op.getMixedLowPad()[axis]);
    if (failed(low))
      return failure();
    Value end = apply(d0 + op.getSourceType().getDimSize(axis), *low);
    found.isInside =
        both(found.isInside,
             isBetween(index, *low, end, op.getResultType().getDimSize(axis)));
    found.indices.push_back(apply(d1 - d0, {*low, index}));
  }
  return found;
}

FailureOr<Value> ElementPuller::pullPadded(tensor::PadOp op,
                                           ArrayRef<Value> indices) {
  Value padding = op.getConstantPaddingValue();
  if (!padding)
    return op.emitOpError("pads with more than one value");
  FailureOr<PaddedIndices> padded = findUnpadded(op, indices);
  if (failed(padded))
    return failure();
  return choose(
      padded->isInside, op.getResultType().getElementType(),
      [&] { return pull(op.getSource(), padded->indices); },
      [&] { return computeScalar(padding); });
}

FailureOr<Value> ElementPuller::pullReshaped(Value source,
                                             ArrayRef<AffineExpr> from,
                                             ArrayRef<Value> indices) {
  SmallVector<Value> own;
  for (AffineExpr expression : from)
    own.push_back(apply(expression, indices));
  return pull(source, own);
}

//===----------------------------------------------------------------------===//
// Loops that carry tensors
//===----------------------------------------------------------------------===//

FailureOr<Value> ElementPuller::pullCarried(Value argument,
                                            ArrayRef<Value> indices) {
  const Carried &known = carried[argument];
  if (indices == ArrayRef(known.indices) || indices == ArrayRef(known.others))
    return known.element;
  return emitError(
      argument.getLoc(),
      "this value is carried by a loop that reads other elements of it than "
      "it writes");
}

/// Returns the tensor into which the elements of `tensor` have been inserted,
/// by single ops or by loops.
static Value findBase(Value tensor) {
  for (;;) {
    if (auto slice = tensor.getDefiningOp<tensor::InsertSliceOp>())
      tensor = slice.getDest();
    else if (auto element = tensor.getDefiningOp<tensor::InsertOp>())
      tensor = element.getDest();
    else if (auto loop = tensor.getDefiningOp<scf::ForOp>())
      tensor = loop.getInitArgs()[cast<OpResult>(tensor).getResultNumber()];
    else
      return tensor;
  }
}

/// Returns what `make` builds. If `tensor` was made by insertions into a
/// carried tensor, `indices` are meanwhile accepted as the indices of the
/// carried element, too.
FailureOr<Value>
ElementPuller::pullWithin(Value tensor, ArrayRef<Value> indices,
                          llvm::function_ref<FailureOr<Value>()> make) {
  Value base = findBase(tensor);
  if (!carried.contains(base))
    return make();
  SmallVector<Value> others = simplify(tensor, indices);
  std::swap(carried[base].others, others);
  FailureOr<Value> value = make();
  carried[base].others = std::move(others);
  return value;
}

/// Returns the axis along which a loop inserts one element in each iteration,
/// at the loop's index, from the first to the last. Returns nothing if there is
/// none.
static std::optional<size_t> findInsertedAxis(scf::ForOp loop,
                                              unsigned result) {
  Value value = loop.getYieldedValues()[result];
  while (auto inner = value.getDefiningOp<scf::ForOp>())
    value = inner.getYieldedValues()[cast<OpResult>(value).getResultNumber()];
  auto inserted = value.getDefiningOp<tensor::InsertOp>();
  if (!inserted)
    return std::nullopt;
  std::optional<llvm::APInt> trips = loop.getStaticTripCount();
  for (auto [axis, index] : llvm::enumerate(inserted.getIndices()))
    if (index == loop.getInductionVar() && trips &&
        getConstantIntValue(loop.getLowerBound()) == 0 &&
        getConstantIntValue(loop.getStep()) == 1 &&
        trips->getSExtValue() == inserted.getDest().getType().getDimSize(axis))
      return axis;
  return std::nullopt;
}

FailureOr<Value> ElementPuller::pullLoop(scf::ForOp op, unsigned result,
                                         ArrayRef<Value> indices) {
  FailureOr<Value> begin = pull(op.getInitArgs()[result], indices);
  if (failed(begin))
    return failure();
  BlockArgument argument = op.getRegionIterArgs()[result];
  llvm::scope_exit leave([&] {
    carried.erase(argument);
    iterations.erase(op.getInductionVar());
  });
  auto pullYielded = [&](Value number, Value element) {
    iterations.map(op.getInductionVar(), number);
    carried[argument] = {SmallVector<Value>(indices), element, {}};
    return pull(op.getYieldedValues()[result], indices);
  };
  // If the loop inserts at its index, only the iteration of that index can
  // write the element.
  if (std::optional<size_t> axis = findInsertedAxis(op, result))
    return pullYielded(indices[*axis], *begin);
  FailureOr<Value> low = computeScalar(op.getLowerBound());
  FailureOr<Value> high = computeScalar(op.getUpperBound());
  FailureOr<Value> step = computeScalar(op.getStep());
  if (failed(low) || failed(high) || failed(step))
    return failure();
  setInsertionPoint(scopes.size() - 1);
  auto loop =
      scf::ForOp::create(builder, op.getLoc(), *low, *high, *step, *begin);
  bool isSame = getConstantIntValue(*low) && getConstantIntValue(*high) &&
                getConstantIntValue(*step);
  scopes.push_back({loop.getBody(), loop, false, !isSame});
  FailureOr<Value> element =
      pullYielded(loop.getInductionVar(), loop.getRegionIterArgs().front());
  scopes.pop_back();
  if (failed(element))
    return failure();
  builder.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(builder, op.getLoc(), *element);
  return loop.getResult(0);
}

FailureOr<Value> ElementPuller::pullInserted(tensor::InsertOp op,
                                             ArrayRef<Value> indices) {
  SmallVector<Value> own;
  Value condition;
  for (auto [index, wanted] : llvm::zip(op.getIndices(), indices)) {
    FailureOr<Value> number = computeScalar(index);
    if (failed(number))
      return failure();
    own.push_back(*number);
    if (*number == wanted)
      continue;
    setInsertionPoint(findLevel({*number, wanted}));
    condition = both(condition, arith::CmpIOp::create(builder, op.getLoc(),
                                                      arith::CmpIPredicate::eq,
                                                      *number, wanted));
  }
  return choose(
      condition, op.getScalar().getType(),
      [&] {
        return pullWithin(op.getDest(), own,
                          [&] { return computeScalar(op.getScalar()); });
      },
      [&] { return pull(op.getDest(), indices); });
}
