//===- UnpackSymmetric.cpp - Symmetric matrices from packed triangles -----===//
//
// The matrix is unpacked one strip of rows after the other. Left of the
// diagonal the strip's rows are copied. Right of it, square tiles of the rows
// below are transposed. If the last tile would go beyond the matrix, it is
// moved to the left and overwrites elements with the same values.
//===----------------------------------------------------------------------===//

#include "TriangleSums.h"

#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Target/ReferenceModel.h"
#include "IndexMath.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::hfta;

static constexpr int64_t kTile = ReferenceModel::Triangles::kRun;

namespace {

class UnpackBuilder {
public:
  UnpackBuilder(OpBuilder &builder, Location loc, Value packed, int64_t side)
      : builder(builder), loc(loc), math(builder, loc), packed(packed),
        side(side) {}

  Value build();

private:
  using Body = function_ref<Value(Value index, Value result)>;

  Value addStrip(Value number, Value result);
  Value addRow(Value block, Value first, Value row, Value result);
  /// Writes a tile right of the diagonal: the transpose of the tile below it.
  Value addTile(Value block, Value row, Value column, Value result);
  /// Copies a part of `source` to a part of `target`. Exchanges the first and
  /// the last axis if `transposed`. Returns the new `target`.
  Value copy(Value source, ArrayRef<OpFoldResult> from, Value target,
             ArrayRef<OpFoldResult> to, ArrayRef<int64_t> sizes,
             bool transposed = false);
  Value copyRun(Value block, Value from, Value row, Value column, int64_t count,
                Value result) {
    return copy(packed, {block, from}, result, {block, row, column}, count);
  }
  Value createLoop(Value begin, Value end, int64_t step, Value result,
                   Body body) {
    return createCarryingLoop(builder, loc, begin, end, step, result, body);
  }

  OpBuilder &builder;
  Location loc;
  IndexMath math;
  Value packed;
  int64_t side;
};

} // namespace

Value UnpackBuilder::copy(Value source, ArrayRef<OpFoldResult> from,
                          Value target, ArrayRef<OpFoldResult> to,
                          ArrayRef<int64_t> sizes, bool transposed) {
  auto widen = [&](size_t rank) {
    SmallVector<int64_t> whole(rank - sizes.size(), 1);
    llvm::append_range(whole, sizes);
    return whole;
  };
  Value part =
      createPart(builder, loc, source, from, widen(from.size()), sizes);
  Value place = createPart(builder, loc, target, to, widen(to.size()), sizes);
  LoopNest nest(builder, loc);
  Axes axes = nest.addParallel(sizes);
  Axes read(axes);
  if (transposed)
    std::swap(read.front(), read.back());
  nest.read(part, read);
  nest.update(place, axes);
  Value copied = nest.build(copyFirst).front();
  SmallVector<OpFoldResult> strides(to.size(), builder.getIndexAttr(1));
  return tensor::InsertSliceOp::create(
      builder, loc, copied, target, to,
      getAsIndexOpFoldResult(builder.getContext(), widen(to.size())), strides);
}

Value UnpackBuilder::addTile(Value block, Value row, Value column,
                             Value result) {
  Value tile = tensor::EmptyOp::create(builder, loc, {kTile, kTile},
                                       getElementType(packed));
  OpFoldResult zero = builder.getIndexAttr(0);
  tile = createLoop(
      math.get(0), math.get(kTile), 1, tile, [&](Value place, Value inner) {
        Value below = math.add(column, place);
        Value from = math.add(math.getPackedRow(below), row);
        return copy(packed, {block, from}, inner, {place, zero}, kTile);
      });
  return copy(tile, {zero, zero}, result, {block, row, column}, {kTile, kTile},
              /*transposed=*/true);
}

Value UnpackBuilder::addRow(Value block, Value first, Value row, Value result) {
  Value begin = math.getPackedRow(row), end = math.add(row, 1);
  Value full = math.subtract(end, math.getRest(end, kTile));
  auto copyRuns = [&](int64_t count) {
    return [&, count](Value column, Value inner) {
      return copyRun(block, math.add(begin, column), row, column, count, inner);
    };
  };
  result = createLoop(math.get(0), full, kTile, result, copyRuns(kTile));
  result = createLoop(full, end, 1, result, copyRuns(1));
  Value last = math.getLess(math.add(first, kTile), math.get(side));
  return createLoop(end, last, 1, result, [&](Value column, Value inner) {
    Value from = math.add(math.getPackedRow(column), row);
    return copyRun(block, from, row, column, 1, inner);
  });
}

Value UnpackBuilder::addStrip(Value number, Value result) {
  int64_t strips = llvm::divideCeil(side, kTile);
  Value block = math.divide(number, strips);
  Value first = math.multiply(math.getRest(number, strips), kTile);
  Value next = math.add(first, kTile);
  if (strips > 1)
    result = createLoop(
        next, math.get(side), kTile, result, [&](Value column, Value inner) {
          Value begin = math.getLess(column, math.get(side - kTile));
          return addTile(block, first, begin, inner);
        });
  return createLoop(
      first, math.getLess(next, math.get(side)), 1, result,
      [&](Value row, Value inner) { return addRow(block, first, row, inner); });
}

Value UnpackBuilder::build() {
  int64_t blocks = getShape(packed).front();
  Value empty = tensor::EmptyOp::create(builder, loc, {blocks, side, side},
                                        getElementType(packed));
  if (blocks == 0 || side == 0)
    return empty;
  int64_t strips = blocks * llvm::divideCeil(side, kTile);
  Value filled = createLoop(
      math.get(0), math.get(strips), 1, empty,
      [&](Value number, Value inner) { return addStrip(number, inner); });
  filled.getDefiningOp()->setAttr(
      kPartsAttrName, builder.getI64IntegerAttr(4 * blocks * side * side));
  return filled;
}

Value hfta::createUnpacked(OpBuilder &builder, Location loc, Value packed,
                           int64_t side) {
  return UnpackBuilder(builder, loc, packed, side).build();
}
