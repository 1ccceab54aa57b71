//===- SampleRules.cpp - How ops pass on the samples of values ------------===//

#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "Samples/SampleTracker.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::hfta;

static int64_t countElements(Value value) {
  return ShapedType::getNumElements(getShape(value));
}

static int64_t getSize(Value value, int64_t axis) {
  return getShape(value)[axis];
}

/// Returns whether the list contains two different samples.
static bool hasSeveral(ArrayRef<int64_t> samples) {
  int64_t known = kNoSample;
  for (int64_t sample : samples) {
    if (sample != kNoSample && known != kNoSample && sample != known)
      return true;
    known = sample == kNoSample ? known : sample;
  }
  return false;
}

static int64_t findOnly(ArrayRef<int64_t> samples) {
  const auto *found = llvm::find_if(
      samples, [](int64_t sample) { return sample != kNoSample; });
  return found == samples.end() ? kNoSample : *found;
}

//===----------------------------------------------------------------------===//
// Ops that move elements
//===----------------------------------------------------------------------===//

SampleState SampleTracker::throughTranspose(TransposeOp op,
                                            const AxisSamples &from) {
  const auto *at = llvm::find(op.getPermutation(), from.axis);
  return putAlong(*op, op.getInput(), op.getResult(),
                  at - op.getPermutation().begin(), from.samples);
}

SampleState SampleTracker::throughSlice(SliceOp op, const AxisSamples &from) {
  SampleList kept;
  int64_t offset = op.getOffsets()[from.axis];
  for (int64_t index = 0; index < op.getSizes()[from.axis]; ++index)
    kept.push_back(from.samples[offset + index * op.getStrides()[from.axis]]);
  return putAlong(*op, op.getInput(), op.getResult(), from.axis, kept);
}

SampleState SampleTracker::throughPad(PadOp op, const AxisSamples &from) {
  SampleList padded(op.getLow()[from.axis], kNoSample);
  for (auto [index, sample] : llvm::enumerate(from.samples)) {
    if (index > 0)
      padded.append(op.getInterior()[from.axis], kNoSample);
    padded.push_back(sample);
  }
  padded.append(op.getHigh()[from.axis], kNoSample);
  return putAlong(*op, op.getInput(), op.getResult(), from.axis, padded);
}

/// Follows an op that moves elements of one operand to other places.
SampleState SampleTracker::throughRearrangement(Operation &op, Value input) {
  const SampleState &state = find(input);
  if (!state.isSpread())
    return state;
  std::optional<AxisSamples> from = findAxis(input);
  if (!from)
    return SampleState::makeUnknown();
  return TypeSwitch<Operation *, SampleState>(&op)
      .Case([&](TransposeOp transpose) {
        return throughTranspose(transpose, *from);
      })
      .Case([&](BroadcastOp broadcast) {
        return putAlong(op, input, broadcast.getResult(),
                        broadcast.getDimensions()[from->axis], from->samples);
      })
      .Case([&](SliceOp slice) { return throughSlice(slice, *from); })
      .Case([&](PadOp pad) { return throughPad(pad, *from); })
      .Default([](Operation *) { return SampleState::makeUnknown(); });
}

/// Follows a concatenation along the samples' axis, or along another axis, in
/// which case the inputs' samples must agree.
SampleState SampleTracker::throughConcat(ConcatOp op) {
  auto axis = static_cast<int64_t>(op.getAxis());
  bool isAcross = false;
  for (Value input : op.getInputs()) {
    std::optional<AxisSamples> from = findAxis(input);
    isAcross |= from && from->axis != axis;
  }
  SmallVector<SampleState> given;
  SampleList joined;
  std::optional<MixingCause> cause;
  for (Value input : op.getInputs()) {
    const SampleState &state = find(input);
    std::optional<AxisSamples> from = findAxis(input);
    bool isSingle = state.isPlaced() && state.place.isSingle();
    cause = MixingCause::first(cause, state.cause);
    if (isAcross)
      given.push_back(
          from && from->axis != axis
              ? putAlong(*op, input, op.getResult(), from->axis, from->samples)
          : isSingle || state.kind == SampleState::none
              ? state
              : SampleState::makeUnknown());
    else if (from)
      llvm::append_range(joined, from->samples);
    else if (isSingle || state.kind == SampleState::none)
      joined.append(getSize(input, axis),
                    isSingle ? state.place.table.front() : kNoSample);
    else
      return SampleState::makeUnknown();
  }
  if (!isAcross) {
    SampleState state =
        putAlong(*op, op.getInputs().front(), op.getResult(), axis, joined);
    if (state.cause && cause)
      state.cause = cause;
    return state;
  }
  SampleState state = merge(*op, given, countElements(op.getResult()));
  std::optional<AxisSamples> whole;
  for (Value input : op.getInputs())
    if (std::optional<AxisSamples> from = findAxis(input);
        from && from->axis != axis)
      whole = from;
  for (Value input : op.getInputs())
    notePosition(*op, state, input,
                 makePlace(getShape(input), whole->axis, whole->samples));
  return state;
}

/// Follows slices that are chosen along the axis of samples.
SampleState SampleTracker::throughChosen(GatherOp op, const AxisSamples &from) {
  DenseIntElementsAttr indices;
  if (!matchPattern(op.getIndices(), m_Constant(&indices)))
    return SampleState::makeUnknown();
  int64_t size = getSize(op.getInput(), from.axis);
  SampleList chosen;
  for (const APInt &number : indices.getValues<APInt>()) {
    int64_t index = number.getSExtValue();
    index += index < 0 ? size : 0;
    chosen.push_back(index >= 0 && index < size ? from.samples[index]
                                                : kNoSample);
  }
  if (chosen.empty())
    return SampleState::makeUnknown();
  // All axes of the indices together take the place of the gathered axis.
  ArrayRef<int64_t> shape = getShape(op.getInput());
  SmallVector<int64_t> flat(shape);
  flat[from.axis] = static_cast<int64_t>(chosen.size());
  SampleState state;
  state.kind = SampleState::placed;
  state.place = makePlace(flat, from.axis, chosen);
  if (!isWhole(state.place))
    state.cause = find(op.getInput()).cause
                      ? find(op.getInput()).cause
                      : makeCause(MixingKind::samples, *op);
  return state;
}

/// Follows rows of a table, which are chosen by the samples' indices, or slices
/// of samples. If indices that depend on data choose along the axis of samples,
/// it is assumed that each sample chooses from its own part of this axis:
/// exporters flatten axes to do so.
SampleState SampleTracker::throughGather(GatherOp op) {
  Value input = op.getInput(), indices = op.getIndices();
  const SampleState &data = find(input), &chooser = find(indices);
  auto along = static_cast<int64_t>(op.getAxis());
  auto added = static_cast<int64_t>(getShape(indices).size()) - 1;
  std::optional<AxisSamples> inInput = findAxis(input);
  std::optional<AxisSamples> inIndices = findAxis(indices);
  auto byIndices = [&]() -> SampleState {
    if (!chooser.isPlaced() || chooser.place.isSingle())
      return chooser;
    return inIndices ? putAlong(*op, indices, op.getResult(),
                                along + inIndices->axis, inIndices->samples)
                     : SampleState::makeUnknown();
  };
  if (data.kind == SampleState::none)
    return byIndices();
  if (data.isPlaced() && data.place.isSingle())
    return merge(*op, {data, byIndices()}, countElements(op.getResult()));
  bool isInAxis = !inInput || inInput->axis == along;
  if (isInAxis && chooser.kind == SampleState::none)
    return inInput ? throughChosen(op, *inInput) : SampleState::makeUnknown();
  if (isInAxis)
    return byIndices();
  int64_t axis = inInput->axis < along ? inInput->axis : inInput->axis + added;
  SampleState kept =
      putAlong(*op, input, op.getResult(), axis, inInput->samples);
  return merge(*op, {kept, byIndices()}, countElements(op.getResult()));
}

/// Follows updates that are scattered to places which depend on no sample. If
/// they do, or if places along the axis of samples aren't constant, the result
/// is unknown.
SampleState SampleTracker::throughScatter(Operation &op, Value updates,
                                          Value indices, int64_t along) {
  const SampleState &state = find(updates);
  if (find(indices).kind != SampleState::none || !state.isPlaced())
    return SampleState::makeUnknown();
  if (state.place.isSingle())
    return state;
  std::optional<AxisSamples> from = findAxis(updates);
  auto rank = static_cast<int64_t>(getShape(indices).size());
  if (!from)
    return SampleState::makeUnknown();
  if (from->axis < along || from->axis >= along + rank)
    return putAlong(op, updates, op.getResult(0),
                    from->axis < along ? from->axis : from->axis - rank + 1,
                    from->samples);
  DenseIntElementsAttr known;
  if (rank != 1 || !matchPattern(indices, m_Constant(&known)))
    return SampleState::makeUnknown();
  int64_t size = getSize(op.getResult(0), along);
  SampleList placed(size, kNoSample);
  for (auto [number, sample] :
       llvm::zip(known.getValues<APInt>(), from->samples)) {
    int64_t index = number.getSExtValue();
    index += index < 0 ? size : 0;
    if (index < 0 || index >= size)
      continue;
    if (hasSeveral({placed[index], sample}))
      return mix(op, state.cause);
    placed[index] = sample;
  }
  return putAlong(op, updates, op.getResult(0), along, placed);
}

//===----------------------------------------------------------------------===//
// Ops that compute
//===----------------------------------------------------------------------===//

SampleState SampleTracker::throughElementwise(Operation &op) {
  SmallVector<SampleState> given;
  for (Value operand : op.getOperands())
    given.push_back(find(operand));
  SampleState state = merge(op, given, countElements(op.getResult(0)));
  if (state.isPlaced())
    for (Value operand : op.getOperands())
      notePosition(op, state, operand, state.place);
  return state;
}

SampleState SampleTracker::throughReduce(ReduceOp op) {
  Value input = op.getInput();
  const SampleState &state = find(input);
  if (!state.isSpread())
    return state;
  std::optional<AxisSamples> from = findAxis(input);
  if (!from)
    return lost(*op, input, op.getAxes());
  if (llvm::is_contained(op.getAxes(), from->axis)) {
    if (hasSeveral(from->samples))
      return mix(*op, state.cause);
    SampleState single = state;
    single.place = {1, {findOnly(from->samples)}};
    return single;
  }
  int64_t gone = llvm::count_if(
      op.getAxes(), [&](int64_t axis) { return axis < from->axis; });
  return putAlong(*op, input, op.getResult(), from->axis - gone, from->samples);
}

/// Follows a contraction. A sum over samples mixes them, and so does a product
/// of each sample with each.
SampleState SampleTracker::throughContract(ContractOp op) {
  auto getMap = [&](unsigned index) {
    return cast<AffineMapAttr>(op.getIndexingMaps()[index]).getValue();
  };
  auto findDim = [&](unsigned map, unsigned dim) -> std::optional<int64_t> {
    for (unsigned axis = 0; axis < getMap(map).getNumResults(); ++axis)
      if (getMap(map).getDimPosition(axis) == dim)
        return axis;
    return std::nullopt;
  };
  SmallVector<SampleState> given;
  std::optional<std::pair<unsigned, SampleList>> sampleDim;
  for (unsigned index : {0u, 1u}) {
    Value operand = op->getOperand(index);
    const SampleState &state = find(operand);
    std::optional<AxisSamples> from = findAxis(operand);
    if (!state.isSpread()) {
      given.push_back(state);
      continue;
    }
    if (!from) {
      SmallVector<int64_t> summed;
      for (unsigned axis = 0; axis < getMap(index).getNumResults(); ++axis)
        if (!findDim(2, getMap(index).getDimPosition(axis)))
          summed.push_back(axis);
      given.push_back(lost(*op, operand, summed));
      continue;
    }
    unsigned dim = getMap(index).getDimPosition(from->axis);
    std::optional<int64_t> axis = findDim(2, dim);
    if (!axis && hasSeveral(from->samples))
      return mix(*op, state.cause);
    if (!axis) {
      given.push_back(SampleState::makeUnknown());
      continue;
    }
    given.push_back(
        putAlong(*op, operand, op.getResult(), *axis, from->samples));
    sampleDim = {dim, from->samples};
  }
  SampleState state = merge(*op, given, countElements(op.getResult()));
  for (unsigned index : {0u, 1u})
    if (sampleDim)
      if (std::optional<int64_t> axis = findDim(index, sampleDim->first))
        notePosition(*op, state, op->getOperand(index),
                     makePlace(getShape(op->getOperand(index)), *axis,
                               sampleDim->second));
  return state;
}

/// Follows samples that lie along the channels. Each group of channels, which
/// must be of one sample, has a group of the result's channels.
SampleState SampleTracker::throughChannels(Operation &op, Value input,
                                           const AxisSamples &from) {
  auto channels = static_cast<int64_t>(from.samples.size());
  int64_t outputs = getSize(op.getResult(0), 1);
  int64_t groups = TypeSwitch<Operation *, int64_t>(&op)
                       .Case<ConvOp, ConvInputGradientOp>([](auto conv) {
                         return static_cast<int64_t>(conv.getGroups());
                       })
                       .Default(channels);
  SampleList given;
  for (int64_t group = 0; group < groups; ++group) {
    ArrayRef<int64_t> own =
        ArrayRef(from.samples)
            .slice(group * (channels / groups), channels / groups);
    if (hasSeveral(own))
      return mix(op, find(input).cause);
    given.append(outputs / groups, findOnly(own));
  }
  return putAlong(op, input, op.getResult(0), 1, given);
}

/// Follows samples through ops with windows: samples lie along axis 0, or each
/// sample is a group of channels.
SampleState SampleTracker::throughActivation(ActivationOpInterface op) {
  SmallVector<Value> activations;
  for (ArrayRef<Value> values : op.getActivations())
    llvm::append_range(activations, values);
  Value result = op->getResult(0);
  if (!llvm::is_contained(activations, result))
    return SampleState::makeUnknown();
  SmallVector<SampleState> given;
  for (Value operand : op->getOperands()) {
    const SampleState &state = find(operand);
    std::optional<AxisSamples> from = findAxis(operand);
    bool isActivation = llvm::is_contained(activations, operand);
    if (!state.isSpread())
      given.push_back(state);
    else if (from && isActivation && from->axis == 0)
      given.push_back(putAlong(*op, operand, result, 0, from->samples));
    else if (from && isActivation && from->axis == 1)
      given.push_back(throughChannels(*op, operand, *from));
    else if (from && isa<ConvOp>(*op) && from->axis == 0)
      given.push_back(putAlong(*op, operand, result, 1, from->samples));
    else
      given.push_back(SampleState::makeUnknown());
  }
  return merge(*op, given, countElements(result));
}

/// Follows an op whose operands and results have one sequence for each element
/// of axis 0.
SampleState SampleTracker::throughSequences(Operation &op) {
  Value result = op.getResult(0);
  SmallVector<SampleState> given;
  for (Value operand : op.getOperands()) {
    const SampleState &state = find(operand);
    std::optional<AxisSamples> from = findAxis(operand);
    if (!state.isSpread())
      given.push_back(state);
    else if (from && from->axis == 0)
      given.push_back(putAlong(op, operand, result, 0, from->samples));
    else
      given.push_back(SampleState::makeUnknown());
  }
  return merge(op, given, countElements(result));
}

//===----------------------------------------------------------------------===//
// All ops
//===----------------------------------------------------------------------===//

SampleState SampleTracker::throughOp(Operation &op) {
  return TypeSwitch<Operation *, SampleState>(&op)
      .Case([&](ElementwiseOpInterface) { return throughElementwise(op); })
      .Case([&](ActivationOpInterface windows) {
        return throughActivation(windows);
      })
      .Case([&](ReshapeOp reshape) { return find(reshape.getInput()); })
      .Case<TransposeOp, BroadcastOp, SliceOp, PadOp>([&](auto moving) {
        return throughRearrangement(op, moving.getInput());
      })
      .Case([&](ConcatOp concat) { return throughConcat(concat); })
      .Case([&](GatherOp gather) { return throughGather(gather); })
      .Case([&](ScatterAddOp scatter) {
        return throughScatter(op, scatter.getUpdates(), scatter.getIndices(),
                              scatter.getAxis());
      })
      .Case([&](ScatterReduceOp scatter) {
        return merge(op,
                     {throughScatter(op, scatter.getUpdates(),
                                     scatter.getIndices(), scatter.getAxis()),
                      find(scatter.getInput())},
                     countElements(scatter.getResult()));
      })
      .Case([&](ReduceOp reduce) { return throughReduce(reduce); })
      .Case([&](ContractOp contract) { return throughContract(contract); })
      .Case([&](CtcLossOp) { return throughSequences(op); })
      .Default([](Operation *) { return SampleState::makeUnknown(); });
}
