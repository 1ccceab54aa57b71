//===- TriangleSums.cpp - Moments as packed triangles of sums -------------===//
//
// The packed lower triangle is cut into strips that have as many rows as a tile
// has columns. A strip consists of square tiles left of the diagonal, and of
// pieces of few rows on the diagonal; a piece ends at the column of its last
// diagonal element. The sums of a tile are computed in memory of their own,
// small enough for a cache, and then stored, row by row, in the packed rows.
//===----------------------------------------------------------------------===//

#include "TriangleSums.h"

#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Dialect/Hfta/IR/PackedTriangle.h"
#include "Hfta/Target/ReferenceModel.h"
#include "IndexMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;

using Costs = ReferenceModel::Triangles;

Value MomentScaling::apply(OpBuilder &builder, Location loc, Value sum,
                           Value before) const {
  Value factor = createNumber(builder, loc, accumulate, scale);
  if (!before)
    return arith::MulFOp::create(builder, loc, sum, factor);
  return math::FmaOp::create(builder, loc, sum, factor,
                             resize(builder, loc, before, accumulate));
}

namespace {

/// The position of a strip.
struct Strip {
  Value block;
  Value first; ///< the first row that is stored, which is also the number of
               ///< columns left of the diagonal's tile
  Value begin; ///< the first row that is computed, which lies before `first` if
               ///< the last strip would go beyond the matrix otherwise
  Value hidden; ///< the number of rows that are computed but not stored, as
                ///< another strip stores them
  Value isLast; ///< 1 for the last strip of the block, else 0
};

class TriangleBuilder {
public:
  TriangleBuilder(OpBuilder &builder, Location loc, Value input,
                  const MomentScaling &scaling);

  Value build();

private:
  using Body = function_ref<Value(Value index, Value result)>;

  Strip createStrip(Value number);
  Value addStrip(const Strip &strip, Value result);
  /// Adds the tiles left of the diagonal.
  Value addSquares(const Strip &strip, Value result);
  /// Adds the piece of the diagonal's tile from row `begin` on.
  Value addDiagonal(const Strip &strip, int64_t begin, Value result);
  Value addOnes(Value block, Value result);

  Value createLoop(Value begin, Value end, int64_t step, Value result,
                   Body body) {
    return createCarryingLoop(builder, loc, begin, end, step, result, body);
  }
  Value sliceInput(Value block, Value column, int64_t count);
  /// Computes the sums of products of pairs of columns: [firsts, seconds].
  Value multiplyColumns(Value firsts, Value seconds);
  Value sumColumns(Value values);
  /// Stores `count` sums, from those at `place` on, in the packed triangle of
  /// `block`, from offset `packed` on. Scales them, and adds the moment's
  /// previous elements if there are any. Returns the new `result`.
  Value store(ArrayRef<OpFoldResult> place, Value sums, int64_t count,
              Value block, Value packed, Value result);

  OpBuilder &builder;
  Location loc;
  Value input;
  const MomentScaling &scaling;
  IndexMath math;
  int64_t blocks, rows, columns;
  int64_t height; ///< the number of rows of a strip
  int64_t piece;  ///< the number of rows of a piece of the diagonal's tile
  int64_t strips; ///< the number of strips of a block
};

} // namespace

/// Chooses the number of rows of a strip. Low strips compute few sums in vain,
/// high strips read each element of the input less often.
static int64_t chooseHeight(int64_t columns) {
  if (columns <= Costs::kLeastHeight)
    return columns;
  int64_t best = 0;
  double least = 0;
  for (int64_t height = Costs::kLeastHeight; height <= Costs::kMostHeight;
       height += Costs::kHeightStep) {
    if (height > columns)
      break;
    auto strips = static_cast<double>(llvm::divideCeil(columns, height));
    auto computed = strips * static_cast<double>(height);
    double cost = (computed * (strips + 1) / strips) *
                  (1 + Costs::kReadShare / static_cast<double>(height));
    if (best == 0 || cost <= least) {
      best = height;
      least = cost;
    }
  }
  return best;
}

TriangleBuilder::TriangleBuilder(OpBuilder &builder, Location loc, Value input,
                                 const MomentScaling &scaling)
    : builder(builder), loc(loc), input(input), scaling(scaling),
      math(builder, loc) {
  ArrayRef<int64_t> shape = getShape(input);
  blocks = shape[1];
  rows = shape[0] * shape[2];
  columns = shape[3];
  height = chooseHeight(columns);
  piece = std::min(height, Costs::kPiece);
  strips = llvm::divideCeil(columns, height);
}

//===----------------------------------------------------------------------===//
// Parts of tensors
//===----------------------------------------------------------------------===//

Value TriangleBuilder::sliceInput(Value block, Value column, int64_t count) {
  ArrayRef<int64_t> shape = getShape(input);
  OpFoldResult zero = builder.getIndexAttr(0);
  SmallVector<int64_t> kept;
  for (int64_t size : {shape[0], shape[2]})
    if (size != 1)
      kept.push_back(size);
  kept.push_back(count);
  return createPart(builder, loc, input, {zero, block, zero, column},
                    {shape[0], 1, shape[2], count}, kept);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

Value TriangleBuilder::multiplyColumns(Value firsts, Value seconds) {
  LoopNest nest(builder, loc);
  Axis first = nest.addParallel(getShape(firsts).back());
  Axes place = nest.addReduction(getShape(firsts).drop_back());
  Axis second = nest.addParallel(getShape(seconds).back());
  place.push_back(first);
  nest.read(firsts, place);
  place.back() = second;
  nest.read(seconds, place);
  nest.accumulate(createZero(builder, loc, scaling.accumulate),
                  {first, second});
  return nest.build(multiplyAdd).front();
}

Value TriangleBuilder::sumColumns(Value values) {
  LoopNest nest(builder, loc);
  Axes place = nest.addReduction(getShape(values).drop_back());
  Axis column = nest.addParallel(getShape(values).back());
  place.push_back(column);
  nest.read(values, place);
  nest.accumulate(createZero(builder, loc, scaling.accumulate), column);
  return nest
      .build([&](OpBuilder &b, Location loc, ValueRange arguments) {
        Value term = resize(b, loc, arguments[0], scaling.accumulate);
        return SmallVector<Value>{
            arith::AddFOp::create(b, loc, arguments[1], term)};
      })
      .front();
}

Value TriangleBuilder::store(ArrayRef<OpFoldResult> place, Value sums,
                             int64_t count, Value block, Value packed,
                             Value result) {
  SmallVector<int64_t> sizes(place.size(), 1);
  sizes.back() = count;
  Value from = createPart(builder, loc, sums, place, sizes, {count});
  SmallVector<OpFoldResult> target = {block, packed};
  Value to = createPart(builder, loc, result, target, {1, count}, {count});
  LoopNest nest(builder, loc);
  Axis axis = nest.addParallel(count);
  nest.read(from, axis);
  nest.update(to, axis);
  Type elementType = getElementType(result);
  Value stored =
      nest.build([&](OpBuilder &b, Location loc, ValueRange arguments) {
            Value before = scaling.sum ? arguments[1] : Value();
            Value element = scaling.apply(b, loc, arguments[0], before);
            return SmallVector<Value>{resize(b, loc, element, elementType)};
          })
          .front();
  SmallVector<OpFoldResult> strides(2, builder.getIndexAttr(1));
  SmallVector<OpFoldResult> whole = {builder.getIndexAttr(1),
                                     builder.getIndexAttr(count)};
  return tensor::InsertSliceOp::create(builder, loc, stored, result, target,
                                       whole, strides);
}

//===----------------------------------------------------------------------===//
// Strips
//===----------------------------------------------------------------------===//

Strip TriangleBuilder::createStrip(Value number) {
  Value strip = math.getFolded(math.getRest(number, strips), strips);
  Strip result;
  result.block = math.divide(number, strips);
  result.first = math.multiply(strip, height);
  result.begin = math.getLess(result.first, math.get(columns - height));
  result.hidden = math.subtract(result.first, result.begin);
  result.isLast = math.divide(math.add(strip, 1), strips);
  return result;
}

Value TriangleBuilder::addSquares(const Strip &strip, Value result) {
  Value firsts = sliceInput(strip.block, strip.begin, height);
  auto addSquare = [&](Value column, Value outer) {
    Value seconds = sliceInput(strip.block, column, height);
    Value sums = multiplyColumns(firsts, seconds);
    auto addRow = [&](Value row, Value inner) {
      Value packed =
          math.add(math.getPackedRow(math.add(strip.begin, row)), column);
      return store({row, builder.getIndexAttr(0)}, sums, height, strip.block,
                   packed, inner);
    };
    return createLoop(strip.hidden, math.get(height), 1, outer, addRow);
  };
  return createLoop(math.get(0), strip.first, height, result, addSquare);
}

Value TriangleBuilder::addDiagonal(const Strip &strip, int64_t begin,
                                   Value result) {
  int64_t count = std::min(piece, height - begin), width = begin + count;
  Value first = math.add(strip.begin, begin);
  Value sums = multiplyColumns(sliceInput(strip.block, first, count),
                               sliceInput(strip.block, strip.begin, width));
  // Skips rows and columns of the piece that other tiles have stored.
  Value hidden =
      math.subtract(strip.hidden, math.getLess(strip.hidden, math.get(begin)));
  auto addRow = [&](Value row, Value outer) {
    Value number = math.add(first, row);
    Value begins = math.add(math.getPackedRow(number), strip.begin);
    Value end = math.add(row, begin + 1);
    Value length = math.subtract(end, strip.hidden);
    Value full = math.subtract(end, math.getRest(length, Costs::kRun));
    auto addRun = [&](int64_t size) {
      return [&, size](Value column, Value inner) {
        return store({row, column}, sums, size, strip.block,
                     math.add(begins, column), inner);
      };
    };
    Value runs =
        createLoop(strip.hidden, full, Costs::kRun, outer, addRun(Costs::kRun));
    return createLoop(full, end, 1, runs, addRun(1));
  };
  return createLoop(hidden, math.get(count), 1, result, addRow);
}

/// Adds the moment's last row: the sums of the columns, and the number of rows.
Value TriangleBuilder::addOnes(Value block, Value result) {
  int64_t packed = *getPackedSize(columns);
  Value sums = sumColumns(sliceInput(block, math.get(0), columns));
  result = store({builder.getIndexAttr(0)}, sums, columns, block,
                 math.get(packed), result);
  Value count = createFilled(builder, loc, {1},
                             createNumber(builder, loc, scaling.accumulate,
                                          static_cast<double>(rows)));
  return store({builder.getIndexAttr(0)}, count, 1, block,
               math.get(packed + columns), result);
}

Value TriangleBuilder::addStrip(const Strip &strip, Value result) {
  if (strips > 1)
    result = addSquares(strip, result);
  for (int64_t begin = 0; begin < height; begin += piece)
    result = addDiagonal(strip, begin, result);
  if (!scaling.ones)
    return result;
  return createLoop(
      math.get(0), strip.isLast, 1, result,
      [&](Value, Value inner) { return addOnes(strip.block, inner); });
}

Value TriangleBuilder::build() {
  int64_t packed = *getPackedSize(scaling.getSide(columns));
  Value result = scaling.sum;
  if (!result)
    result = tensor::EmptyOp::create(builder, loc, {blocks, packed},
                                     getElementType(input));
  OpBuilder::InsertionGuard guard(builder);
  auto addOne = [&](Value number, Value running) {
    return addStrip(createStrip(number), running);
  };
  Value filled =
      createLoop(math.get(0), math.get(blocks * strips), 1, result, addOne);
  filled.getDefiningOp()->setAttr(
      kPartsAttrName, builder.getI64IntegerAttr(blocks * rows * packed));
  return filled;
}

Value hfta::createTriangle(OpBuilder &builder, Location loc, Value input,
                           const MomentScaling &scaling) {
  return TriangleBuilder(builder, loc, input, scaling).build();
}
