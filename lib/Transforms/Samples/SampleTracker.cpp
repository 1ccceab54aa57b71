//===- SampleTracker.cpp - Tracks the samples of elements -----------------===//

#include "Samples/SampleTracker.h"
#include "Hfta/Dialect/Hfta/IR/SampleMixing.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "Samples/SampleStrides.h"

#include <numeric>

using namespace mlir;
using namespace mlir::hfta;

/// The most elements that are compared one by one.
static constexpr int64_t kMostLookedAt = int64_t(1) << 22;

static int64_t countElements(Value value) {
  return ShapedType::getNumElements(getShape(value));
}

static int64_t getSize(Value value, int64_t axis) {
  return getShape(value)[axis];
}

//===----------------------------------------------------------------------===//
// Places and states
//===----------------------------------------------------------------------===//

std::optional<MixingCause>
MixingCause::first(const std::optional<MixingCause> &left,
                   const std::optional<MixingCause> &right) {
  if (!left || !right)
    return left ? left : right;
  return right->order < left->order ? right : left;
}

/// Returns whether all samples are there in their order, once or several times.
bool SampleTracker::isWhole(const SamplePlace &place) const {
  return place.getPeriod() == samples &&
         llvm::equal(place.table, llvm::seq<int64_t>(0, samples));
}

/// Returns whether the elements of each sample are adjacent.
bool SampleTracker::isInRuns(Value value, const SamplePlace &place) const {
  return place.isSingle() ||
         place.inner * place.getPeriod() >= countElements(value);
}

const SampleState &SampleTracker::find(Value value) const {
  static const SampleState none;
  auto found = states.find(value);
  return found == states.end() ? none : found->second;
}

/// Finds the axis along which several samples lie, if they lie along a single
/// one.
std::optional<AxisSamples> SampleTracker::findAxis(Value value) const {
  const SampleState &state = find(value);
  if (!state.isSpread())
    return std::nullopt;
  const SamplePlace &place = state.place;
  std::optional<SampleAxis> found =
      findSampleAxis(getShape(value), place.inner, place.getPeriod());
  if (!found)
    return std::nullopt;
  AxisSamples along = {found->axis, {}};
  for (int64_t index = 0; index < getSize(value, found->axis); ++index)
    along.samples.push_back(
        place.table[index / found->inner % place.getPeriod()]);
  return along;
}

std::optional<MixingCause> SampleTracker::makeCause(MixingKind kind,
                                                    Operation &op) const {
  return MixingCause{{kind, op.getLoc()}, order};
}

SampleState SampleTracker::getWhole(Value value) const {
  SampleState state;
  ArrayRef<int64_t> shape = getShape(value);
  if (shape.empty() || shape.front() != samples || countElements(value) == 0)
    return state;
  state.kind = SampleState::placed;
  state.place.inner = countElements(value) / samples;
  llvm::append_range(state.place.table, llvm::seq<int64_t>(0, samples));
  return state;
}

std::optional<Mixing> SampleTracker::findMixing(Value result) const {
  const SampleState &state = find(result);
  std::optional<MixingCause> cause;
  if (state.kind == SampleState::mixed ||
      (state.isPlaced() && !isWhole(state.place)))
    cause = state.cause;
  // Rows of axis 0 stand for samples only if the axis has the size of the
  // batch.
  ArrayRef<int64_t> shape = getShape(result);
  if (!cause && state.isPlaced() && !shape.empty() && shape.front() == samples)
    cause = state.scattered;
  if (!cause && state.isPlaced())
    cause = state.positional;
  return cause ? std::optional(cause->mixing) : std::nullopt;
}

SampleState SampleTracker::mix(Operation &op,
                               const std::optional<MixingCause> &before) const {
  SampleState state;
  state.kind = SampleState::mixed;
  state.cause = before ? before : makeCause(MixingKind::samples, op);
  return state;
}

/// Returns the state of `to`, in which these samples of `from` lie along an
/// axis.
SampleState SampleTracker::putAlong(Operation &op, Value from, Value to,
                                    int64_t axis,
                                    const SampleList &samples) const {
  if (static_cast<int64_t>(samples.size()) != getSize(to, axis) ||
      samples.empty())
    return SampleState::makeUnknown();
  SampleState state;
  state.kind = SampleState::placed;
  state.place = makePlace(getShape(to), axis, samples);
  if (!isWhole(state.place))
    state.cause = find(from).cause ? find(from).cause
                                   : makeCause(MixingKind::samples, op);
  return state;
}

namespace {
enum class Merging { agree, conflict, unknown };
} // namespace

/// Merges the places of values that are combined element by element. If one of
/// two elements is of no sample, the result is of the other one's sample.
static Merging mergePlaces(SamplePlace &place, SamplePlace other,
                           int64_t count) {
  if (place.isSingle())
    place.inner = other.inner;
  if (other.isSingle())
    other.inner = place.inner;
  int64_t step = std::gcd(place.inner, other.inner);
  int64_t span = std::lcm(place.inner * place.getPeriod(),
                          other.inner * other.getPeriod());
  span = std::min(span, count);
  if (step < 1 || span / step > kMostLookedAt)
    return Merging::unknown;
  bool takesOther = false, keepsOwn = false;
  for (int64_t element = 0; element < span; element += step) {
    int64_t own = place.at(element), another = other.at(element);
    if (own == another)
      continue;
    if (own != kNoSample && another != kNoSample)
      return Merging::conflict;
    (own == kNoSample ? takesOther : keepsOwn) = true;
  }
  if (takesOther && keepsOwn)
    return Merging::unknown;
  if (takesOther)
    place = other;
  return Merging::agree;
}

/// Merges the states of operands into that of a result with `count` elements.
SampleState SampleTracker::merge(Operation &op, ArrayRef<SampleState> given,
                                 int64_t count) const {
  SampleState merged;
  for (const SampleState &state : given) {
    if (state.kind == SampleState::none)
      continue;
    if (state.kind == SampleState::mixed)
      return state;
    if (!state.isPlaced() || !merged.isPlaced()) {
      if (state.isPlaced() || merged.kind == SampleState::none)
        merged = state;
      continue;
    }
    std::optional<MixingCause> cause =
        MixingCause::first(merged.cause, state.cause);
    switch (mergePlaces(merged.place, state.place, count)) {
    case Merging::conflict:
      return mix(op, cause);
    case Merging::unknown:
      return SampleState::makeUnknown();
    case Merging::agree:
      merged.cause = isWhole(merged.place) ? std::nullopt : cause;
    }
  }
  merged.positional = std::nullopt; // the caller notes it for all operands
  return merged;
}

/// Returns whether some elements that differ only in their index along the axis
/// are known to be of different samples.
bool SampleTracker::variesAlong(Value value, int64_t axis) const {
  const SampleState &state = find(value);
  if (!state.isSpread())
    return false;
  ArrayRef<int64_t> shape = getShape(value);
  int64_t size = shape[axis];
  int64_t stride = ShapedType::getNumElements(shape.drop_front(axis + 1));
  int64_t step = std::gcd(state.place.inner, stride);
  int64_t span = std::min(countElements(value), step * kMostLookedAt);
  for (int64_t element = 0; element < span; element += step) {
    int64_t first = element - element / stride % size * stride;
    int64_t own = state.place.at(element), another = state.place.at(first);
    if (own != another && own != kNoSample && another != kNoSample)
      return true;
  }
  return false;
}

/// Returns the state of a result whose operand has samples along several axes,
/// of which some are summed: mixed if such a sum adds up samples, otherwise
/// unknown.
SampleState SampleTracker::lost(Operation &op, Value from,
                                ArrayRef<int64_t> summed) const {
  for (int64_t axis : summed)
    if (variesAlong(from, axis))
      return mix(op, find(from).cause);
  return SampleState::makeUnknown();
}

/// Notes whether a value that depends on no sample has different elements for
/// the samples with which it is combined.
void SampleTracker::notePosition(Operation &op, SampleState &state,
                                 Value constant,
                                 const SamplePlace &place) const {
  if (!state.positional && find(constant).kind == SampleState::none &&
      differsBetweenSamples(constant, place))
    state.positional = makeCause(MixingKind::position, op);
}

//===----------------------------------------------------------------------===//
// All values
//===----------------------------------------------------------------------===//

/// Returns whether an operand only tells where a sample's elements are among
/// those of all samples.
static bool isIndex(OpOperand &operand, function_ref<bool(Value)> hasSamples) {
  Operation *op = operand.getOwner();
  if (auto gather = dyn_cast<GatherOp>(op))
    return &operand == &gather.getIndicesMutable() &&
           hasSamples(gather.getInput());
  if (auto scatter = dyn_cast<ScatterAddOp>(op))
    return &operand == &scatter.getIndicesMutable();
  if (auto scatter = dyn_cast<ScatterReduceOp>(op))
    return &operand == &scatter.getIndicesMutable();
  return false;
}

/// Returns the cause why the elements of a sample aren't adjacent in the op's
/// result, if they aren't.
std::optional<MixingCause>
SampleTracker::findScattering(Operation &op, const SampleState &state) const {
  if (!state.isPlaced() || isInRuns(op.getResult(0), state.place))
    return std::nullopt;
  std::optional<MixingCause> before;
  for (Value operand : op.getOperands())
    before = MixingCause::first(before, find(operand).scattered);
  return before ? before : makeCause(MixingKind::samples, op);
}

void SampleTracker::visit(Operation &op) {
  ++order;
  if (op.getNumResults() == 0)
    return;
  if (op.hasAttr(kOfBatchSizeAttrName))
    states[op.getResult(0)].positional = makeCause(MixingKind::size, op);
  if (auto random = dyn_cast<RandomUniformOp>(op);
      random && random.getPerSample())
    states[op.getResult(0)] = getWhole(op.getResult(0));
  auto hasSamples = [&](Value value) {
    return find(value).kind != SampleState::none;
  };
  bool isOfSamples = llvm::any_of(op.getOperands(), hasSamples);
  std::optional<MixingCause> mixed, positional;
  for (OpOperand &operand : op.getOpOperands()) {
    const SampleState &state = find(operand.get());
    if (state.kind == SampleState::mixed)
      mixed = MixingCause::first(mixed, state.cause);
    if (!state.positional || isIndex(operand, hasSamples))
      continue;
    // The cause is the op that combines samples with this operand.
    bool meets = isOfSamples && state.kind == SampleState::none;
    positional = MixingCause::first(
        positional, meets ? makeCause(state.positional->mixing.kind, op)
                          : state.positional);
  }
  if (!isOfSamples && !positional)
    return;
  SampleState state = mixed         ? mix(op, mixed)
                      : isOfSamples ? throughOp(op)
                                    : SampleState();
  state.positional = MixingCause::first(positional, state.positional);
  state.scattered = findScattering(op, state);
  for (Value result : op.getResults()) {
    bool isAlike = state.kind == SampleState::mixed ||
                   getShape(result) == getShape(op.getResult(0));
    states[result] = isAlike ? state : SampleState::makeUnknown();
  }
}

SmallVector<SampleState>
SampleTracker::follow(Block &block, ArrayRef<SampleState> arguments) {
  for (auto [argument, state] : llvm::zip(block.getArguments(), arguments))
    states[argument] = state;
  for (Operation &op : block)
    visit(op);
  SmallVector<SampleState> results;
  for (Value result : block.getTerminator()->getOperands())
    results.push_back(find(result));
  return results;
}
