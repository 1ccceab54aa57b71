//===- PatchSums.cpp - Second moments of windows --------------------------===//
//
// Columns are channels with their taps. The triangle is cut into square tiles
// of channels; of each the sums for all pairs of taps are computed first, then
// they are stored where they belong.
//
// With a stride of 1 a pair of taps sums products of elements at a distance
// that several pairs have (PatchPieces): sums for each distance are computed
// once for each piece of the input. Otherwise all pairs have their own, on the
// diagonal those alone whose second tap doesn't come before the first one's
// along the first spatial axis.
//===----------------------------------------------------------------------===//

#include "PatchSums.h"

#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Dialect/Hfta/IR/PackedTriangle.h"
#include "Hfta/Target/ReferenceModel.h"
#include "IndexMath.h"
#include "PatchPieces.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::hfta;

using Costs = ReferenceModel::Triangles;

namespace {

class PatchBuilder {
public:
  PatchBuilder(OpBuilder &builder, Location loc, const Activation &input,
               const Window &window, int64_t groups,
               const MomentScaling &scaling);

  Value build();

private:
  void chooseTiles();
  void arrangeInput(const Activation &input);
  /// [batch, space…, channels] or [batch, channels, space…].
  Value sliceChannels(Value group, Value first, int64_t count);

  Value addStrip(Value number, Value result);
  Value storeSquare(Value sums, Value group, Value row, Value column,
                    Value result);
  Value storeDiagonal(Value sums, Value group, Value row, Value result);
  Value storeOnes(Value group, Value result);
  Value createLoop(Value begin, Value end, Value result,
                   function_ref<Value(Value, Value)> body) {
    return createCarryingLoop(builder, loc, begin, end, 1, result, body);
  }
  /// Stores one sum.
  Value store(Value sum, Value group, Value packed, Value result);

  OpBuilder &builder;
  Location loc;
  PatchSpace space;
  const MomentScaling &scaling;
  IndexMath math;
  Value data;
  int64_t groups, channels;
  int64_t side; ///< channels of a tile
  int64_t taps = 1, rows = 1;
};

} // namespace

PatchBuilder::PatchBuilder(OpBuilder &builder, Location loc,
                           const Activation &input, const Window &window,
                           int64_t groups, const MomentScaling &scaling)
    : builder(builder), loc(loc),
      space(builder, loc, window, input.getSpace(), scaling.accumulate),
      scaling(scaling), math(builder, loc), groups(groups) {
  ArrayRef<int64_t> shape = getShape(input.elements);
  channels = shape[input.getChannelAxis()] / groups;
  rows = shape.front();
  for (const PatchAxis &axis : space.axes) {
    taps *= axis.taps;
    rows *= axis.positions;
  }
  chooseTiles();
  arrangeInput(input);
}

/// Channels are cut into equal tiles if they can be.
void PatchBuilder::chooseTiles() {
  side = channels;
  for (int64_t part = Costs::kMostChannels; part >= Costs::kLeastChannels;
       --part)
    if (channels > Costs::kMostChannels && channels % part == 0) {
      side = part;
      break;
    }
  space.hasSquares = side < channels;
  space.isWhole = groups == 1 && side == channels;
}

/// Vectors run along channels, or else along the last spatial axis: only where
/// distances are summed these are neighbours.
void PatchBuilder::arrangeInput(const Activation &input) {
  Type type = scaling.accumulate;
  double columns = 2 * getVectorCost(space.axes.back().size, type);
  space.channelsLast =
      !space.sumsDistances() || getVectorCost(side, type) <= columns;
  Activation stored = space.pad(input.store(builder, loc, space.channelsLast));
  SmallVector<int64_t> shape(getShape(stored.elements));
  size_t channel = stored.getChannelAxis();
  shape[channel] = groups;
  shape.insert(shape.begin() + channel + 1, channels);
  data = createReshape(builder, loc, stored.elements, shape);
}

Value PatchBuilder::sliceChannels(Value group, Value first, int64_t count) {
  SmallVector<int64_t> sizes(getShape(data)), kept;
  size_t axis = space.channelsLast ? sizes.size() - 2 : 1;
  sizes[axis] = 1;
  sizes[axis + 1] = count;
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0));
  offsets[axis] = group;
  offsets[axis + 1] = first;
  kept = sizes;
  kept.erase(kept.begin() + axis);
  // Where the batch is one sample, which axis of one element is left out is no
  // longer clear from the shapes: later passes take the first.
  if (kept.front() != 1)
    return createPart(builder, loc, data, offsets, sizes, kept);
  Value part = createPart(builder, loc, data, offsets, sizes, sizes);
  return createReshape(builder, loc, part, kept);
}

//===----------------------------------------------------------------------===//
// Storing
//===----------------------------------------------------------------------===//

Value PatchBuilder::store(Value sum, Value group, Value packed, Value result) {
  Value before;
  if (scaling.sum)
    before = createExtract(builder, loc, result, {group, packed});
  Value element = resize(builder, loc, scaling.apply(builder, loc, sum, before),
                         getElementType(result));
  return tensor::InsertOp::create(builder, loc, element, result,
                                  ValueRange{group, packed});
}

/// A tile left of the diagonal, from channel `row` down and `column` on.
Value PatchBuilder::storeSquare(Value sums, Value group, Value row,
                                Value column, Value result) {
  Value zero = math.get(0), allTaps = math.get(taps), all = math.get(side);
  auto atTap = [&](Value i, Value t, Value running) {
    Value number = math.add(math.multiply(math.add(row, i), taps), t);
    Value begin =
        math.add(math.getPackedRow(number), math.multiply(column, taps));
    return createLoop(zero, all, running, [&](Value j, Value inner) {
      Value first = math.add(begin, math.multiply(j, taps));
      return createLoop(zero, allTaps, inner, [&](Value u, Value last) {
        Value sum = createExtract(builder, loc, sums, {t, i, u, j});
        return store(sum, group, math.add(first, u), last);
      });
    });
  };
  return createLoop(zero, all, result, [&](Value i, Value outer) {
    return createLoop(zero, allTaps, outer, [&](Value t, Value running) {
      return atTap(i, t, running);
    });
  });
}

/// The diagonal's tile, from channel `row` on. A pair's sum stands at its first
/// tap.
Value PatchBuilder::storeDiagonal(Value sums, Value group, Value row,
                                  Value result) {
  Value zero = math.get(0), allTaps = math.get(taps), all = math.get(side);
  auto atChannel = [&](Value i, Value t, Value j, Value begin, Value end,
                       Value running) {
    Value first = math.add(begin, math.multiply(math.add(row, j), taps));
    Value before = createLoop(zero, end, running, [&](Value u, Value inner) {
      Value sum = createExtract(builder, loc, sums, {u, j, t, i});
      return store(sum, group, math.add(first, u), inner);
    });
    return std::pair(first, before);
  };
  auto atTap = [&](Value i, Value t, Value running) {
    Value number = math.add(math.multiply(math.add(row, i), taps), t);
    Value begin = math.getPackedRow(number);
    Value left = createLoop(zero, i, running, [&](Value j, Value inner) {
      auto [first, before] = atChannel(i, t, j, begin, t, inner);
      return createLoop(
          t, allTaps, before, [&, first = first](Value u, Value last) {
            Value sum = createExtract(builder, loc, sums, {t, i, u, j});
            return store(sum, group, math.add(first, u), last);
          });
    });
    return atChannel(i, t, i, begin, math.add(t, 1), left).second;
  };
  return createLoop(zero, all, result, [&](Value i, Value outer) {
    return createLoop(zero, allTaps, outer, [&](Value t, Value running) {
      return atTap(i, t, running);
    });
  });
}

/// The last row: the sums of the columns and the number of rows.
Value PatchBuilder::storeOnes(Value group, Value result) {
  Value zero = math.get(0);
  Value sums = space.sumTaps(sliceChannels(group, zero, channels));
  int64_t begin = *getPackedSize(channels * taps);
  result =
      createLoop(zero, math.get(channels), result, [&](Value j, Value outer) {
        Value first = math.add(math.multiply(j, taps), begin);
        return createLoop(
            zero, math.get(taps), outer, [&](Value u, Value inner) {
              Value sum = createExtract(builder, loc, sums, {u, j});
              return store(sum, group, math.add(first, u), inner);
            });
      });
  Value count =
      createNumber(builder, loc, scaling.accumulate, static_cast<double>(rows));
  return store(count, group, math.get(begin + channels * taps), result);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

Value PatchBuilder::addStrip(Value number, Value result) {
  int64_t strips = channels / side;
  Value group = math.divide(number, strips);
  Value strip = math.getFolded(math.getRest(number, strips), strips);
  Value row = math.multiply(strip, side);
  Value firsts = sliceChannels(group, row, side);
  if (strips > 1)
    result = createCarryingLoop(
        builder, loc, math.get(0), row, side, result,
        [&](Value column, Value inner) {
          Value seconds = sliceChannels(group, column, side);
          Value sums = space.sumPairs(firsts, seconds, /*half=*/false);
          return storeSquare(sums, group, row, column, inner);
        });
  Value sums = space.sumPairs(firsts, firsts, /*half=*/true);
  result = storeDiagonal(sums, group, row, result);
  if (!scaling.ones)
    return result;
  Value isLast = math.divide(math.add(strip, 1), strips);
  return createLoop(math.get(0), isLast, result, [&](Value, Value inner) {
    return storeOnes(group, inner);
  });
}

Value PatchBuilder::build() {
  int64_t packed = *getPackedSize(scaling.getSide(channels * taps));
  Value result = scaling.sum;
  if (!result)
    result = tensor::EmptyOp::create(builder, loc, {groups, packed},
                                     getElementType(data));
  int64_t strips = groups * (channels / side);
  Value filled = createLoop(
      math.get(0), math.get(strips), result,
      [&](Value number, Value inner) { return addStrip(number, inner); });
  filled.getDefiningOp()->setAttr(
      kPartsAttrName, builder.getI64IntegerAttr(space.countProducts(
                          groups, channels, getShape(data).front())));
  return filled;
}

Value hfta::createPatchTriangle(OpBuilder &builder, Location loc,
                                const Activation &input, const Window &window,
                                int64_t groups, const MomentScaling &scaling) {
  return PatchBuilder(builder, loc, input, window, groups, scaling).build();
}
