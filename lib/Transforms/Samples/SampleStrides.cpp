//===- SampleStrides.cpp - The position of samples in a value -------------===//

#include "Samples/SampleStrides.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::hfta;

static int64_t getAxisStride(ArrayRef<int64_t> shape, int64_t axis) {
  return ShapedType::getNumElements(shape.drop_front(axis + 1));
}

std::optional<SampleAxis>
hfta::findSampleAxis(ArrayRef<int64_t> shape, int64_t stride, int64_t samples) {
  bool isEmpty = ShapedType::getNumElements(shape) == 0;
  if (shape.empty() || isEmpty || stride < 1)
    return std::nullopt;
  if (samples == 1)
    return SampleAxis{0, 1, shape.front()};
  for (auto [number, size] : llvm::enumerate(shape)) {
    auto axis = static_cast<int64_t>(number);
    int64_t ofAxis = getAxisStride(shape, axis);
    if (stride % ofAxis != 0 || stride * samples > ofAxis * size)
      continue;
    int64_t inner = stride / ofAxis;
    if (size % (inner * samples) == 0)
      return SampleAxis{axis, size / (inner * samples), inner};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

SampleStrides::Found SampleStrides::find(Value value) const {
  auto found = places.find(value);
  return found == places.end() ? Found() : Found(found->second);
}

std::optional<SampleAxis> SampleStrides::findAxis(Value value) const {
  Found place = find(value);
  if (!place || !place->known)
    return std::nullopt;
  return findSampleAxis(getShape(value), place->stride, samples);
}

/// Moves samples from an axis of `from` to axis `axis->axis` of `to`. Their
/// place is unknown if that axis has another size.
SampleStrides::Found SampleStrides::move(Value from, Value to,
                                         std::optional<SampleAxis> axis) const {
  if (!find(from))
    return std::nullopt;
  ArrayRef<int64_t> shape = getShape(to);
  if (!axis || shape[axis->axis] != axis->outer * samples * axis->inner)
    return Place{false, 0};
  return Place{true, axis->inner * getAxisStride(shape, axis->axis)};
}

/// Follows samples whose axis stays where it is. Along axis `mixed`, samples
/// would be mixed, so that their place becomes unknown.
SampleStrides::Found
SampleStrides::alongSameAxis(Value from, Value to,
                             std::optional<int64_t> mixed) const {
  std::optional<SampleAxis> axis = findAxis(from);
  if (axis && mixed == axis->axis)
    axis = std::nullopt;
  return move(from, to, axis);
}

/// Merges the places of operands that are combined element by element.
SampleStrides::Found SampleStrides::merge(ValueRange operands) const {
  Found merged;
  for (Value operand : operands) {
    Found place = find(operand);
    if (!place)
      continue;
    if (merged && !(*merged == *place))
      return Place{false, 0};
    merged = place;
  }
  return merged;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Returns the place of samples in data, which is axis 0.
SampleStrides::Found SampleStrides::throughRead(ReadOp read) const {
  ArrayRef<int64_t> shape = getShape(read);
  if (shape.empty() || shape.front() != samples)
    return std::nullopt;
  return Place{true, getAxisStride(shape, 0)};
}

SampleStrides::Found
SampleStrides::throughTranspose(TransposeOp transpose) const {
  std::optional<SampleAxis> axis = findAxis(transpose.getInput());
  if (axis)
    axis->axis = llvm::find(transpose.getPermutation(), axis->axis) -
                 transpose.getPermutation().begin();
  return move(transpose.getInput(), transpose.getResult(), axis);
}

SampleStrides::Found
SampleStrides::throughBroadcast(BroadcastOp broadcast) const {
  std::optional<SampleAxis> axis = findAxis(broadcast.getInput());
  if (axis)
    axis->axis = broadcast.getDimensions()[axis->axis];
  return move(broadcast.getInput(), broadcast.getResult(), axis);
}

/// Follows a contraction. If it sums over an operand's samples, that operand
/// doesn't count.
SampleStrides::Found SampleStrides::throughContract(ContractOp contract) const {
  auto getMap = [&](int64_t index) {
    return cast<AffineMapAttr>(contract.getIndexingMaps()[index]).getValue();
  };
  ArrayRef<AffineExpr> results = getMap(2).getResults();
  Found merged;
  for (auto [index, operand] : llvm::enumerate(contract->getOperands())) {
    if (!find(operand))
      continue;
    std::optional<SampleAxis> axis = findAxis(operand);
    if (!axis)
      return Place{false, 0};
    const auto *at = llvm::find(results, getMap(index).getResult(axis->axis));
    if (at == results.end())
      continue;
    axis->axis = at - results.begin();
    Found place = move(operand, contract.getResult(), axis);
    if (merged && !(*merged == *place))
      return Place{false, 0};
    merged = place;
  }
  return merged;
}

SampleStrides::Found SampleStrides::throughReduce(ReduceOp reduce) const {
  std::optional<SampleAxis> axis = findAxis(reduce.getInput());
  if (axis && llvm::is_contained(reduce.getAxes(), axis->axis))
    return std::nullopt;
  if (axis)
    axis->axis -= llvm::count_if(
        reduce.getAxes(), [&](int64_t gone) { return gone < axis->axis; });
  return move(reduce.getInput(), reduce.getResult(), axis);
}

SampleStrides::Found SampleStrides::throughConcat(ConcatOp concat) const {
  Found merged;
  for (Value input : concat.getInputs()) {
    Found place = alongSameAxis(input, concat.getResult(),
                                static_cast<int64_t>(concat.getAxis()));
    if (place && merged && !(*merged == *place))
      return Place{false, 0};
    if (place)
      merged = place;
  }
  return merged;
}

/// Follows rows of a table, in which samples lie as in the indices, or slices
/// of each sample.
SampleStrides::Found SampleStrides::throughGather(GatherOp gather) const {
  auto along = static_cast<int64_t>(gather.getAxis());
  bool fromIndices = find(gather.getIndices()).has_value();
  Value from = fromIndices ? gather.getIndices() : gather.getInput();
  std::optional<SampleAxis> axis = findAxis(from);
  if (fromIndices && find(gather.getInput()))
    return Place{false, 0};
  auto added = static_cast<int64_t>(getShape(gather.getIndices()).size()) - 1;
  if (axis && fromIndices)
    axis->axis += along;
  else if (axis && axis->axis == along)
    axis = std::nullopt;
  else if (axis && axis->axis > along)
    axis->axis += added;
  return move(from, gather.getResult(), axis);
}

/// Follows samples through ops with windows. Axis 0 numbers images, and each
/// image has its own part of axis 0 of the result.
SampleStrides::Found SampleStrides::throughWindows(Operation &op) const {
  Found merged;
  for (Value operand : op.getOperands()) {
    if (!find(operand))
      continue;
    std::optional<SampleAxis> axis = findAxis(operand);
    if (!axis || axis->axis != 0)
      return Place{false, 0};
    Found place = move(operand, op.getResult(0), axis);
    if (merged && !(*merged == *place))
      return Place{false, 0};
    merged = place;
  }
  return merged;
}

SampleStrides::Found SampleStrides::findOf(Operation &op) const {
  return TypeSwitch<Operation *, Found>(&op)
      .Case([&](ReadOp read) { return throughRead(read); })
      .Case([&](RandomUniformOp random) -> Found {
        if (!random.getPerSample())
          return std::nullopt;
        return Place{true, getAxisStride(random.getShape(), 0)};
      })
      .Case([&](TransposeOp transpose) { return throughTranspose(transpose); })
      .Case([&](BroadcastOp broadcast) { return throughBroadcast(broadcast); })
      .Case([&](ContractOp contract) { return throughContract(contract); })
      .Case([&](ReduceOp reduce) { return throughReduce(reduce); })
      .Case([&](ConcatOp concat) { return throughConcat(concat); })
      .Case([&](GatherOp gather) { return throughGather(gather); })
      .Case<ConvOp, ConvInputGradientOp, MaxPoolOp, AveragePoolOp, BatchNormOp>(
          [&](Operation *) { return throughWindows(op); })
      .Case<SoftmaxOp, LogSoftmaxOp, CumulativeSumOp>([&](auto along) {
        return alongSameAxis(along.getInput(), along.getResult(),
                             static_cast<int64_t>(along.getAxis()));
      })
      .Case<SliceOp, PadOp>([&](auto cut) {
        return alongSameAxis(cut.getInput(), cut.getResult());
      })
      .Case<ReshapeOp, DropoutOp, StackOp, UnstackOp>(
          [&](Operation *) { return merge(op.getOperands()); })
      .Default([&](Operation *) {
        Found place = merge(op.getOperands());
        if (place && !isa<ElementwiseOpInterface>(op))
          place->known = false;
        return place;
      });
}

void SampleStrides::visit(Operation &op) {
  Role role = Role::constant;
  if (auto read = dyn_cast<ReadOp>(op))
    role = SymbolTable::lookupNearestSymbolFrom<VariableOp>(
               read, read.getVariableAttr())
               .getRole();
  bool isInput = role == Role::input;
  if (isInput || role == Role::scalar ||
      llvm::any_of(op.getOperands(),
                   [&](Value operand) { return fromData.contains(operand); }))
    fromData.insert(op.result_begin(), op.result_end());
  if (isa<ReadOp>(op) && !isInput)
    return;
  Found place = findOf(op);
  // Results of other shapes, such as statistics, don't consist of single
  // samples.
  for (Value result : op.getResults())
    if (place && getShape(result) == getShape(op.getResult(0)))
      places[result] = *place;
}

void SampleStrides::visitUpTo(Value value) {
  Operation *end = value.getDefiningOp();
  while (!last || last->isBeforeInBlock(end)) {
    last = last ? last->getNextNode() : &block.front();
    visit(*last);
  }
}

std::optional<int64_t> SampleStrides::lookup(Value value) {
  visitUpTo(value);
  if (samples == 1)
    return fromData.contains(value)
               ? std::optional(ShapedType::getNumElements(getShape(value)))
               : std::nullopt;
  Found place = find(value);
  return place && place->known ? std::optional(place->stride) : std::nullopt;
}

bool SampleStrides::isFromData(Value value) {
  visitUpTo(value);
  return fromData.contains(value);
}
