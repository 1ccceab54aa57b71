//===- SamplePlace.cpp - Positions of samples in values -------------------===//

#include "Hfta/Dialect/Hfta/IR/ElementBits.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "Samples/SampleStrides.h"
#include "Samples/SampleTracker.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;
using namespace mlir::hfta;

static int64_t getStride(ArrayRef<int64_t> shape, int64_t axis) {
  return ShapedType::getNumElements(shape.drop_front(axis + 1));
}

/// Returns the shortest list whose repetitions are the whole list.
static SampleList findPeriod(const SampleList &samples) {
  auto count = static_cast<int64_t>(samples.size());
  for (int64_t period = 1; period < count; ++period) {
    auto repeats = [&](int64_t index) {
      return samples[index] == samples[index % period];
    };
    if (count % period == 0 &&
        llvm::all_of(llvm::seq<int64_t>(period, count), repeats))
      return SampleList(samples.begin(), samples.begin() + period);
  }
  return samples;
}

SamplePlace hfta::makePlace(ArrayRef<int64_t> shape, int64_t axis,
                            const SampleList &samples) {
  // Runs of elements of the same sample become one entry.
  auto run = static_cast<int64_t>(samples.size());
  for (auto [index, sample] : llvm::enumerate(llvm::drop_begin(samples)))
    if (sample != samples[index])
      run = std::gcd(run, static_cast<int64_t>(index) + 1);
  SamplePlace place;
  place.inner = std::max<int64_t>(run, 1) * getStride(shape, axis);
  for (size_t index = 0; index < samples.size(); index += run)
    place.table.push_back(samples[index]);
  place.table = findPeriod(place.table);
  return place;
}

//===----------------------------------------------------------------------===//
// Constants that differ between samples
//===----------------------------------------------------------------------===//

/// Returns whether elements at the same position of different samples are
/// unequal somewhere.
static bool differs(DenseElementsAttr elements, const SamplePlace &place) {
  constexpr int64_t kMostElements = int64_t(1) << 16;
  int64_t count = elements.getNumElements();
  if (elements.isSplat() || count > kMostElements)
    return false;
  SmallVector<APInt, 0> values = getElementBits(elements);
  for (int64_t element = 0; element < count; ++element) {
    int64_t position = element / place.inner % place.getPeriod();
    if (values[element] != values[element - position * place.inner])
      return true;
  }
  return false;
}

/// Returns whether `input`, whose `axis` holds these samples, differs between
/// samples.
static bool differsAlong(Value input, int64_t axis, const SampleList &samples) {
  return differsBetweenSamples(input,
                               makePlace(getShape(input), axis, samples));
}

static bool differsAtSource(Operation *op, const AxisSamples &along) {
  return TypeSwitch<Operation *, bool>(op)
      .Case([&](IotaOp iota) {
        return static_cast<int64_t>(iota.getAxis()) == along.axis;
      })
      .Case([&](TransposeOp transpose) {
        return differsAlong(transpose.getInput(),
                            transpose.getPermutation()[along.axis],
                            along.samples);
      })
      .Case([&](BroadcastOp broadcast) {
        ArrayRef<int64_t> shape = getShape(broadcast.getInput());
        const auto *at = llvm::find(broadcast.getDimensions(), along.axis);
        int64_t axis = at - broadcast.getDimensions().begin();
        return at != broadcast.getDimensions().end() && shape[axis] != 1 &&
               differsAlong(broadcast.getInput(), axis, along.samples);
      })
      .Case([&](GatherOp gather) {
        int64_t axis = along.axis - static_cast<int64_t>(gather.getAxis());
        auto rank = static_cast<int64_t>(getShape(gather.getIndices()).size());
        return axis >= 0 && axis < rank &&
               differsAlong(gather.getIndices(), axis, along.samples);
      })
      .Default([](Operation *) { return false; });
}

bool hfta::differsBetweenSamples(Value value, const SamplePlace &place) {
  Operation *op = value.getDefiningOp();
  if (!op || place.isSingle())
    return false;
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)))
    return differs(elements, place);
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return differsBetweenSamples(reshape.getInput(), place);
  if (isa<ElementwiseOpInterface>(op))
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return differsBetweenSamples(operand, place);
    });
  std::optional<SampleAxis> axis =
      findSampleAxis(getShape(value), place.inner, place.getPeriod());
  if (!axis)
    return false;
  AxisSamples along = {axis->axis, {}};
  int64_t size = getShape(value)[axis->axis];
  for (int64_t index = 0; index < size; ++index)
    along.samples.push_back(
        place.table[index / axis->inner % place.getPeriod()]);
  return differsAtSource(op, along);
}
