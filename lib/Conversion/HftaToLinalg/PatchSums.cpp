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
//
// Where diagonal blocks alone are asked for, tiles that lie in none are left
// out, and of those at a block's edge the sums that lie in it are stored.
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

/// Where a row of the matrix is stored.
struct StoredRow {
  Value block;  ///< of all groups' blocks
  Value begin;  ///< in the packed block
  Value column; ///< the column that is stored first; null if it is column 0
};

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
  StoredRow findRow(Value group, Value number) const;
  /// The first one of a channel's taps that is stored, `first` being the
  /// channel's first column.
  Value getFirstTap(const StoredRow &row, Value first) const;
  Value storeSquare(Value sums, Value group, Value row, Value column,
                    Value result);
  Value storeDiagonal(Value sums, Value group, Value row, Value result);
  Value storeOnes(Value group, Value result);
  Value storeZeros(Value group, Value result);
  Value createLoop(Value begin, Value end, Value result,
                   function_ref<Value(Value, Value)> body) {
    return createCarryingLoop(builder, loc, begin, end, 1, result, body);
  }
  /// Stores one sum in a row.
  Value store(Value sum, const StoredRow &row, Value column, Value result);

  OpBuilder &builder;
  Location loc;
  PatchSpace space;
  const MomentScaling &scaling;
  IndexMath math;
  Value data;
  int64_t groups, channels;
  int64_t side; ///< channels of a tile
  int64_t taps = 1, rows = 1;
  int64_t blocks = 1; ///< of a group's matrix
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
  blocks = scaling.countBlocks(channels * taps);
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
  // Where each tile's diagonal begins a block none is left of it.
  space.hasSquares = side < channels &&
                     side * taps % scaling.getBlockSide(channels * taps) != 0;
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

StoredRow PatchBuilder::findRow(Value group, Value number) const {
  if (blocks == 1)
    return {group, math.getPackedRow(number), {}};
  int64_t columns = *scaling.blockColumns;
  Value block = math.divide(number, columns);
  return {math.add(math.multiply(group, blocks), block),
          math.getPackedRow(math.getRest(number, columns)),
          math.multiply(block, columns)};
}

Value PatchBuilder::getFirstTap(const StoredRow &row, Value first) const {
  if (!row.column)
    return math.get(0);
  return math.subtract(row.column, math.getLess(row.column, first));
}

Value PatchBuilder::store(Value sum, const StoredRow &row, Value column,
                          Value result) {
  Value place = math.add(row.begin, column), before;
  if (row.column)
    place = math.subtract(place, row.column);
  if (scaling.sum)
    before = createExtract(builder, loc, result, {row.block, place});
  Value element = resize(builder, loc, scaling.apply(builder, loc, sum, before),
                         getElementType(result));
  return tensor::InsertOp::create(builder, loc, element, result,
                                  ValueRange{row.block, place});
}

/// A tile left of the diagonal, from channel `row` down and `column` on.
Value PatchBuilder::storeSquare(Value sums, Value group, Value row,
                                Value column, Value result) {
  Value zero = math.get(0), allTaps = math.get(taps), all = math.get(side);
  auto atTap = [&](Value i, Value t, Value running) {
    Value number = math.add(math.multiply(math.add(row, i), taps), t);
    StoredRow stored = findRow(group, number);
    return createLoop(zero, all, running, [&](Value j, Value inner) {
      Value first = math.multiply(math.add(column, j), taps);
      Value begin = getFirstTap(stored, first);
      return createLoop(begin, allTaps, inner, [&](Value u, Value last) {
        Value sum = createExtract(builder, loc, sums, {t, i, u, j});
        return store(sum, stored, math.add(first, u), last);
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
  auto atTap = [&](Value i, Value t, Value running) {
    Value number = math.add(math.multiply(math.add(row, i), taps), t);
    StoredRow stored = findRow(group, number);
    // Pairs of a channel's taps before tap `end`, which come second.
    auto storeBefore = [&](Value j, Value end, Value result) {
      Value first = math.multiply(math.add(row, j), taps);
      Value begin = getFirstTap(stored, first);
      return createLoop(begin, end, result, [&](Value u, Value inner) {
        Value sum = createExtract(builder, loc, sums, {u, j, t, i});
        return store(sum, stored, math.add(first, u), inner);
      });
    };
    auto storeFrom = [&](Value j, Value result) {
      Value first = math.multiply(math.add(row, j), taps);
      Value begin =
          stored.column ? math.getMost(t, getFirstTap(stored, first)) : t;
      return createLoop(begin, allTaps, result, [&](Value u, Value inner) {
        Value sum = createExtract(builder, loc, sums, {t, i, u, j});
        return store(sum, stored, math.add(first, u), inner);
      });
    };
    Value left = createLoop(zero, i, running, [&](Value j, Value inner) {
      return storeFrom(j, storeBefore(j, t, inner));
    });
    return storeBefore(i, math.add(t, 1), left);
  };
  return createLoop(zero, all, result, [&](Value i, Value outer) {
    return createLoop(zero, allTaps, outer, [&](Value t, Value running) {
      return atTap(i, t, running);
    });
  });
}

/// The last row: the sums of the columns and the number of rows.
Value PatchBuilder::storeOnes(Value group, Value result) {
  Value sums = space.sumTaps(sliceChannels(group, math.get(0), channels));
  Value number = math.get(channels * taps);
  StoredRow stored = findRow(group, number);
  result = createLoop(
      math.get(0), math.get(channels), result, [&](Value j, Value outer) {
        Value first = math.multiply(j, taps);
        Value begin = getFirstTap(stored, first);
        return createLoop(
            begin, math.get(taps), outer, [&](Value u, Value inner) {
              Value sum = createExtract(builder, loc, sums, {u, j});
              return store(sum, stored, math.add(first, u), inner);
            });
      });
  Value count =
      createNumber(builder, loc, scaling.accumulate, static_cast<double>(rows));
  return store(count, stored, number, result);
}

/// What the last block has behind the matrix' last row.
Value PatchBuilder::storeZeros(Value group, Value result) {
  int64_t size = scaling.getBlockSide(channels * taps);
  int64_t there = scaling.getSide(channels * taps) - (blocks - 1) * size;
  Value block = math.add(math.multiply(group, blocks), blocks - 1);
  Value zero = createZero(builder, loc, getElementType(result));
  return createLoop(math.get(*getPackedSize(there)),
                    math.get(*getPackedSize(size)), result,
                    [&](Value place, Value inner) -> Value {
                      return tensor::InsertOp::create(builder, loc, zero, inner,
                                                      ValueRange{block, place});
                    });
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
  if (space.hasSquares) {
    // The tile in which the first row's block begins.
    Value begin = math.get(0);
    if (Value column = findRow(group, math.multiply(row, taps)).column)
      begin = math.multiply(math.divide(column, taps * side), side);
    result = createCarryingLoop(
        builder, loc, begin, row, side, result, [&](Value column, Value inner) {
          Value seconds = sliceChannels(group, column, side);
          Value sums = space.sumPairs(firsts, seconds, /*half=*/false);
          return storeSquare(sums, group, row, column, inner);
        });
  }
  Value sums = space.sumPairs(firsts, firsts, /*half=*/true);
  result = storeDiagonal(sums, group, row, result);
  int64_t columns = channels * taps;
  bool hasZeros = !scaling.sum && scaling.getSide(columns) <
                                      blocks * scaling.getBlockSide(columns);
  if (!scaling.ones && !hasZeros)
    return result;
  Value isLast = math.divide(math.add(strip, 1), strips);
  return createLoop(math.get(0), isLast, result, [&](Value, Value inner) {
    if (hasZeros)
      inner = storeZeros(group, inner);
    return scaling.ones ? storeOnes(group, inner) : inner;
  });
}

Value PatchBuilder::build() {
  int64_t packed = *getPackedSize(scaling.getBlockSide(channels * taps));
  Value result = scaling.sum;
  if (!result)
    result = tensor::EmptyOp::create(builder, loc, {groups * blocks, packed},
                                     getElementType(data));
  int64_t strips = groups * (channels / side);
  Value filled = createLoop(
      math.get(0), math.get(strips), result,
      [&](Value number, Value inner) { return addStrip(number, inner); });
  filled.getDefiningOp()->setAttr(
      kPartsAttrName,
      builder.getI64IntegerAttr(
          space.countProducts(groups, channels, getShape(data).front()) /
          blocks));
  return filled;
}

Value hfta::createPatchTriangle(OpBuilder &builder, Location loc,
                                const Activation &input, const Window &window,
                                int64_t groups, const MomentScaling &scaling) {
  return PatchBuilder(builder, loc, input, window, groups, scaling).build();
}
