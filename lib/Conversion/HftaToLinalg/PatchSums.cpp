//===- PatchSums.cpp - Second moments of windows --------------------------===//
//
// A column of the moment's matrix is one tap of one channel. The triangle is
// cut into square tiles of channels. For each tile the sums for all pairs of
// taps are computed first, then they are stored at their places in the packed
// matrix.
//
// With a stride of 1, several pairs of taps sum products of elements at the
// same distance (PatchPieces.h): sums for each distance are computed once for
// each piece of the input. Otherwise each pair has its own sums. On the
// diagonal only pairs whose second tap doesn't come before the first one along
// the first spatial axis are computed.
//
// If only diagonal blocks of the matrix are asked for, tiles outside of all
// blocks are left out, and a tile at a block's edge stores only the sums inside
// the block.
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

/// The place of a row of the matrix in the result.
struct StoredRow {
  Value block; ///< the block's number among the blocks of all groups
  Value begin; ///< the row's offset in the packed block, in elements
  Value
      column; ///< the first column that the row's block stores; null: column 0
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
  /// Slices channels of a group: [batch, space…, channels] or [batch, channels,
  /// space…].
  Value sliceChannels(Value group, Value first, int64_t count);

  Value addStrip(Value number, Value result);
  StoredRow findRow(Value group, Value number) const;
  /// Returns the first tap of a channel that is stored in the row. `first` is
  /// the channel's first column.
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
  /// Stores a sum in `column` of a row.
  Value store(Value sum, const StoredRow &row, Value column, Value result);

  OpBuilder &builder;
  Location loc;
  PatchSpace space;
  const MomentScaling &scaling;
  IndexMath math;
  Value data;
  int64_t groups, channels;
  int64_t side; ///< the number of channels of a tile
  int64_t taps = 1, rows = 1;
  int64_t blocks = 1; ///< blocks of a group's matrix
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

/// Cuts the channels into equal tiles of at most kMostChannels channels, if a
/// suitable size divides their number.
void PatchBuilder::chooseTiles() {
  side = channels;
  for (int64_t part = Costs::kMostChannels; part >= Costs::kLeastChannels;
       --part)
    if (channels > Costs::kMostChannels && channels % part == 0) {
      side = part;
      break;
    }
  // If a block begins at each tile's diagonal, blocks have no tiles left of it.
  space.hasSquares = side < channels &&
                     side * taps % scaling.getBlockSide(channels * taps) != 0;
  space.isWhole = groups == 1 && side == channels;
}

/// Chooses whether vectors run along channels or along the last spatial axis,
/// and arranges the input such that they are contiguous. The spatial axis is an
/// option only where sums are formed by distance, as taps with strides don't
/// read neighbours.
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
  // Keeps the batch axis in the slice and drops the group's axis by a reshape.
  // With one sample the shapes alone wouldn't say which axis of one element is
  // dropped, and later passes would drop the first.
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

/// Stores a tile left of the diagonal. Its first row belongs to channel `row`,
/// its first column to channel `column`.
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

/// Stores the tile on the diagonal that begins at channel `row`. The sum of a
/// pair is found at the tap that comes first.
Value PatchBuilder::storeDiagonal(Value sums, Value group, Value row,
                                  Value result) {
  Value zero = math.get(0), allTaps = math.get(taps), all = math.get(side);
  auto atTap = [&](Value i, Value t, Value running) {
    Value number = math.add(math.multiply(math.add(row, i), taps), t);
    StoredRow stored = findRow(group, number);
    // Stores the sums for a channel's taps before tap `end`, which are the
    // first taps of their pairs.
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

/// Stores the moment's last row: the sums of the columns, and the number of
/// rows.
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

/// Fills the rest of a group's last block, after the matrix's last row, with
/// zeros.
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
    // Begins with the tile that contains the first column of the block of the
    // strip's first row.
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
