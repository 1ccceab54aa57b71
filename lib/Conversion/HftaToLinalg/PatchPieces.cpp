//===- PatchPieces.cpp - Sums of pairs of a window's taps -----------------===//

#include "PatchPieces.h"

#include "Hfta/Target/ReferenceModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// The space of positions and taps
//===----------------------------------------------------------------------===//

PatchAxis::PatchAxis(const WindowAxis &window, int64_t size)
    : taps(window.kernel), stride(window.stride), dilation(window.dilation),
      low(window.low), high(window.high), size(size),
      positions((size + window.low + window.high - window.getExtent()) /
                    window.stride +
                1) {
  SmallVector<int64_t> cuts = {0, size};
  for (int64_t tap = 0; tap < taps; ++tap)
    for (int64_t cut : {tap * dilation - low, tap * dilation - low + positions})
      cuts.push_back(std::clamp<int64_t>(cut, 0, size));
  llvm::sort(cuts);
  cuts.erase(llvm::unique(cuts), cuts.end());
  for (auto [begin, end] : llvm::zip(cuts, ArrayRef(cuts).drop_front()))
    segments.push_back({begin, end - begin});
  for (int64_t tap = 0; tap < taps; ++tap) {
    int64_t first = tap * dilation - low;
    Span run;
    for (auto [number, segment] : llvm::enumerate(segments)) {
      if (segment.begin < first || segment.getEnd() > first + positions)
        continue;
      if (run.size++ == 0)
        run.begin = static_cast<int64_t>(number);
    }
    runs.push_back(run);
  }
}

PatchSpace::PatchSpace(OpBuilder &builder, Location loc, const Window &window,
                       ArrayRef<int64_t> sizes, Type accumulate)
    : builder(builder), loc(loc), accumulate(accumulate) {
  int64_t pieces = 1;
  distances = true;
  for (auto [axis, size] : llvm::zip(window, sizes)) {
    axes.emplace_back(axis, size);
    taps *= axis.kernel;
    pieces *= static_cast<int64_t>(axes.back().segments.size());
    distances &= axis.stride == 1;
  }
  distances &= pieces <= ReferenceModel::Triangles::kMostPieces;
}

int64_t PatchSpace::getLeast(size_t axis, bool half) const {
  return half && axis == 0 ? 0 : 1 - axes[axis].taps;
}

int64_t PatchSpace::countDistances(size_t axis, bool half) const {
  return axes[axis].taps - getLeast(axis, half);
}

Activation PatchSpace::pad(const Activation &input) const {
  SmallVector<int64_t> low, high;
  for (auto [number, axis] : llvm::enumerate(axes)) {
    if (distances) {
      low.push_back(-getLeast(number, /*half=*/!hasSquares) * axis.dilation);
      high.push_back((axis.taps - 1) * axis.dilation);
    } else {
      low.push_back(axis.low);
      high.push_back(axis.high);
    }
  }
  Value zero = createZero(builder, loc, getElementType(input.elements));
  return input.pad(builder, loc, low, high, zero);
}

int64_t PatchSpace::countProducts(int64_t groups, int64_t channels,
                                  int64_t batch) const {
  int64_t products = groups * channels * channels * batch;
  for (auto [number, axis] : llvm::enumerate(axes))
    products *= distances ? axis.size * countDistances(number, /*half=*/true)
                          : axis.positions * axis.taps * axis.taps;
  return distances ? products : products / 2;
}

int64_t PatchSpace::getChannels(Value elements) const {
  ArrayRef<int64_t> shape = getShape(elements);
  return channelsLast ? shape.back() : shape[1];
}

Value PatchSpace::slice(Value elements, ArrayRef<int64_t> begins,
                        ArrayRef<int64_t> sizes) const {
  SmallVector<int64_t> shape(getShape(elements)), offsets(shape.size(), 0);
  size_t first = channelsLast ? 1 : 2;
  llvm::copy(begins, offsets.begin() + first);
  llvm::copy(sizes, shape.begin() + first);
  return createSlice(builder, loc, elements, offsets, shape);
}

Axes PatchSpace::getOrder(Axis batch, ArrayRef<Axis> place,
                          Axis channel) const {
  Axes order = {batch};
  if (!channelsLast)
    order.push_back(channel);
  llvm::append_range(order, place);
  if (channelsLast)
    order.push_back(channel);
  return order;
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

void PatchSpace::forEach(ArrayRef<int64_t> sizes,
                         function_ref<void(ArrayRef<int64_t>)> callback) {
  SmallVector<int64_t> index(sizes.size(), 0);
  for (int64_t left = llvm::product_of(sizes); left > 0; --left) {
    callback(index);
    for (size_t axis = sizes.size(); axis-- > 0;) {
      if (++index[axis] < sizes[axis])
        break;
      index[axis] = 0;
    }
  }
}

SmallVector<int64_t> PatchSpace::countSegments() const {
  return llvm::map_to_vector(axes, [](const PatchAxis &axis) {
    return static_cast<int64_t>(axis.segments.size());
  });
}

SmallVector<Value> PatchSpace::mergeSegments(SmallVector<Value> values,
                                             Merge merge) const {
  size_t inner = 1;
  for (size_t number = axes.size(); number-- > 0;) {
    const PatchAxis &axis = axes[number];
    size_t count = axis.segments.size();
    SmallVector<Value> merged;
    for (size_t begin = 0; begin < values.size(); begin += count * inner)
      for (auto [tap, run] : llvm::enumerate(axis.runs))
        for (size_t place = 0; place < inner; ++place) {
          SmallVector<Value> parts;
          for (int64_t at = run.begin; at < run.getEnd(); ++at)
            parts.push_back(values[begin + at * inner + place]);
          // A tap that reads no element of the input has sums of zero.
          if (parts.empty())
            parts.push_back(createFilled(builder, loc, getShape(values.front()),
                                         createZero(builder, loc, accumulate)));
          merged.push_back(merge(parts, number, static_cast<int64_t>(tap)));
        }
    values = std::move(merged);
    inner *= axis.taps;
  }
  return values;
}

/// Adds the tensors elementwise, from the first to the last.
Value PatchSpace::add(ArrayRef<Value> parts) const {
  if (parts.size() == 1)
    return parts.front();
  LoopNest nest(builder, loc);
  Axes place = nest.addParallel(getShape(parts.front()));
  for (Value part : parts)
    nest.read(part, place);
  nest.write(accumulate, place);
  return nest
      .build([](OpBuilder &b, Location loc, ValueRange arguments) {
        Value sum = arguments.front();
        for (Value part : arguments.drop_front().drop_back())
          sum = arith::AddFOp::create(b, loc, sum, part);
        return SmallVector<Value>{sum};
      })
      .front();
}

//===----------------------------------------------------------------------===//
// Sums for each distance
//===----------------------------------------------------------------------===//

static SmallVector<Value> addTerm(OpBuilder &builder, Location loc,
                                  ValueRange arguments) {
  Value term = resize(builder, loc, arguments[0], arguments[1].getType());
  return {arith::AddFOp::create(builder, loc, arguments[1], term)};
}

/// Sums the elements along the last axis.
Value PatchSpace::sumColumns(Value columns) const {
  LoopNest nest(builder, loc);
  Axes kept = nest.addParallel(getShape(columns).drop_back()), place(kept);
  place.push_back(nest.addReduction(getShape(columns).back()));
  nest.read(columns, place);
  nest.accumulate(createZero(builder, loc, accumulate), kept);
  return nest.build(addTerm).front();
}

Value PatchSpace::sumPiece(Value firsts, Value seconds,
                           ArrayRef<int64_t> segment, bool half) const {
  SmallVector<int64_t> sizes, reached, begins, secondBegins, counts;
  for (auto [number, axis] : llvm::enumerate(axes)) {
    const Span &span = axis.segments[segment[number]];
    int64_t before = -getLeast(number, /*half=*/!hasSquares) * axis.dilation;
    counts.push_back(countDistances(number, half));
    begins.push_back(before + span.begin);
    secondBegins.push_back(begins.back() +
                           getLeast(number, half) * axis.dilation);
    sizes.push_back(span.size);
    reached.push_back(span.size + (counts.back() - 1) * axis.dilation);
  }
  LoopNest nest(builder, loc);
  Axis first = nest.addParallel(getChannels(firsts));
  Axis batch = nest.addReduction(getShape(firsts).front());
  Axes place;
  if (channelsLast)
    place = nest.addReduction(sizes);
  else
    place = nest.addReduction(ArrayRef(sizes).drop_back());
  Axes distance = nest.addParallel(counts);
  Axis second = nest.addParallel(getChannels(seconds));
  Axes stored = {first};
  llvm::append_range(stored, distance);
  stored.push_back(second);
  // Each column has its own sum; the columns' sums are added up at the end.
  if (!channelsLast) {
    place.push_back(nest.addParallel(sizes.back()));
    stored.push_back(place.back());
  }
  Axes other;
  for (auto [axis, at, step] : llvm::zip(axes, place, distance))
    other.push_back(at + step * axis.dilation);
  nest.read(slice(firsts, begins, sizes), getOrder(batch, place, first));
  nest.read(slice(seconds, secondBegins, reached),
            getOrder(batch, other, second));
  nest.accumulate(createZero(builder, loc, accumulate), stored);
  Value sums = nest.build(multiplyAdd).front();
  return channelsLast ? sums : sumColumns(sums);
}

SmallVector<Value> PatchSpace::sumByDistance(Value firsts, Value seconds,
                                             bool half) const {
  SmallVector<Value> values;
  forEach(countSegments(), [&](ArrayRef<int64_t> segment) {
    values.push_back(sumPiece(firsts, seconds, segment, half));
  });
  // Keeps, for each tap, only the distances at which there is another tap.
  auto merge = [&](ArrayRef<Value> parts, size_t axis, int64_t tap) {
    SmallVector<int64_t> shape(getShape(parts.front()));
    SmallVector<int64_t> offsets(shape.size(), 0);
    bool isHalf = half && axis == 0;
    offsets[1 + axis] = isHalf ? 0 : axes[axis].taps - 1 - tap;
    shape[1 + axis] = axes[axis].taps - (isHalf ? tap : 0);
    return add(llvm::map_to_vector(parts, [&](Value part) {
      return createSlice(builder, loc, part, offsets, shape);
    }));
  };
  return mergeSegments(std::move(values), merge);
}

//===----------------------------------------------------------------------===//
// Sums for each pair of taps
//===----------------------------------------------------------------------===//

Value PatchSpace::sumPairsOf(Value firsts, Value seconds,
                             std::optional<int64_t> tap) const {
  SmallVector<int64_t> begins, sizes, reached, taps, otherTaps, positions;
  for (auto [number, axis] : llvm::enumerate(axes)) {
    bool isChosen = number == 0 && tap;
    int64_t begin = isChosen ? *tap : 0,
            between = (axis.positions - 1) * axis.stride;
    begins.push_back(begin * axis.dilation);
    taps.push_back(isChosen ? 1 : axis.taps);
    otherTaps.push_back(axis.taps - begin);
    positions.push_back(axis.positions);
    sizes.push_back(between + (taps.back() - 1) * axis.dilation + 1);
    reached.push_back(between + (otherTaps.back() - 1) * axis.dilation + 1);
  }
  // If the channels of neighbouring taps are contiguous, joins both axes into
  // one, along which vectors run.
  bool joins = isWhole && axes.size() > 1 && axes.back().dilation == 1;
  int64_t channels = getChannels(firsts);
  Value left = slice(firsts, begins, sizes);
  Value right = slice(seconds, begins, reached);
  LoopNest nest(builder, loc);
  auto addTaps = [&](ArrayRef<int64_t> counts) {
    Axes added = nest.addParallel(counts.drop_back(joins ? 1 : 0));
    added.push_back(
        nest.addParallel(joins ? counts.back() * channels : channels));
    return added;
  };
  Axes first = addTaps(taps);
  Axis batch = nest.addReduction(getShape(firsts).front());
  Axes place = nest.addReduction(positions);
  Axes second = addTaps(otherTaps);
  auto read = [&](Value elements, ArrayRef<Axis> ofTaps) {
    Axes order = {batch};
    SmallVector<int64_t> shape(getShape(elements));
    for (auto [number, axis] : llvm::enumerate(axes)) {
      Axis at = place[number] * axis.stride;
      if (joins && number + 1 == axes.size())
        at = at * channels + ofTaps.back();
      else
        at = at + ofTaps[number] * axis.dilation;
      order.push_back(at);
    }
    if (joins) {
      shape.pop_back();
      shape.back() *= channels;
    } else {
      order.push_back(ofTaps.back());
    }
    nest.read(createReshape(builder, loc, elements, shape), order);
  };
  read(left, first);
  read(right, second);
  Axes stored(first);
  llvm::append_range(stored, second);
  nest.accumulate(createZero(builder, loc, accumulate), stored);
  return nest.build(multiplyAdd).front();
}

//===----------------------------------------------------------------------===//
// Sums of all pairs
//===----------------------------------------------------------------------===//

/// Collects the sums of all pairs: [taps, channels, taps, channels]. Each part
/// holds those of `count` first taps: [count, channels, second taps, channels].
/// If `half`, a part's second taps begin with the part's first taps along the
/// first spatial axis.
Value PatchSpace::collectPairs(ArrayRef<Value> parts, int64_t count,
                               int64_t firstChannels, int64_t secondChannels,
                               bool half) const {
  int64_t others = taps / axes.front().taps;
  Value result = tensor::EmptyOp::create(
      builder, loc, {taps, firstChannels, taps, secondChannels}, accumulate);
  for (auto [number, part] : llvm::enumerate(parts)) {
    int64_t first = static_cast<int64_t>(number) * count;
    int64_t begin = half ? first / others * others : 0;
    Value whole =
        createReshape(builder, loc, part,
                      {count, firstChannels, taps - begin, secondChannels});
    result = createInsert(builder, loc, whole, result, {first, 0, begin, 0},
                          {1, 1, 1, 1});
  }
  return result;
}

Value PatchSpace::sumPairs(Value firsts, Value seconds, bool half) const {
  int64_t left = getChannels(firsts), right = getChannels(seconds);
  if (distances)
    return collectPairs(sumByDistance(firsts, seconds, half), 1, left, right,
                        half);
  if (!half)
    return collectPairs(sumPairsOf(firsts, seconds, std::nullopt), taps, left,
                        right, half);
  SmallVector<Value> parts;
  for (int64_t tap = 0; tap < axes.front().taps; ++tap)
    parts.push_back(sumPairsOf(firsts, seconds, tap));
  return collectPairs(parts, taps / axes.front().taps, left, right, half);
}

//===----------------------------------------------------------------------===//
// Sums of single taps
//===----------------------------------------------------------------------===//

/// Sums the elements of one segment of each axis: [channels].
Value PatchSpace::sumSegment(Value elements, ArrayRef<int64_t> segment) const {
  SmallVector<int64_t> begins, sizes;
  for (auto [number, axis] : llvm::enumerate(axes)) {
    const Span &span = axis.segments[segment[number]];
    begins.push_back(span.begin -
                     getLeast(number, /*half=*/!hasSquares) * axis.dilation);
    sizes.push_back(span.size);
  }
  LoopNest nest(builder, loc);
  Axis channel;
  if (!channelsLast)
    channel = nest.addParallel(getChannels(elements));
  Axis batch = nest.addReduction(getShape(elements).front());
  Axes place = nest.addReduction(sizes);
  if (channelsLast)
    channel = nest.addParallel(getChannels(elements));
  nest.read(slice(elements, begins, sizes), getOrder(batch, place, channel));
  nest.accumulate(createZero(builder, loc, accumulate), channel);
  return nest.build(addTerm).front();
}

Value PatchSpace::sumTaps(Value elements) const {
  int64_t channels = getChannels(elements);
  if (distances) {
    SmallVector<Value> values;
    forEach(countSegments(), [&](ArrayRef<int64_t> segment) {
      values.push_back(sumSegment(elements, segment));
    });
    values =
        mergeSegments(std::move(values), [&](ArrayRef<Value> parts, size_t,
                                             int64_t) { return add(parts); });
    Value result =
        tensor::EmptyOp::create(builder, loc, {taps, channels}, accumulate);
    for (auto [tap, value] : llvm::enumerate(values))
      result = createInsert(builder, loc,
                            createReshape(builder, loc, value, {1, channels}),
                            result, {static_cast<int64_t>(tap), 0}, {1, 1});
    return result;
  }
  LoopNest nest(builder, loc);
  Window window;
  SmallVector<int64_t> counts, positions;
  for (const PatchAxis &axis : axes) {
    window.push_back({axis.taps, axis.stride, axis.dilation, 0, 0});
    counts.push_back(axis.taps);
    positions.push_back(axis.positions);
  }
  Axes stored = nest.addParallel(counts);
  Axis batch = nest.addReduction(getShape(elements).front());
  Axes place = nest.addReduction(positions);
  Axis channel = nest.addParallel(channels);
  nest.read(elements,
            getOrder(batch, getTapPositions(window, place, stored), channel));
  stored.push_back(channel);
  nest.accumulate(createZero(builder, loc, accumulate), stored);
  return createReshape(builder, loc, nest.build(addTerm).front(),
                       {taps, channels});
}
