//===- OrthogonalIteration.cpp - A step towards a matrix's eigenvectors ---===//
//
// Multiplies a basis B by the matrix F and makes the columns of F B orthonormal
// again, by Householder reflections: F B P = Q R, where P orders the columns.
// Column k of Q stays at the place of the column of B from which it came. All
// parts that take n³ operations run along rows, in vectors. Source: Golub and
// Van Loan, "Matrix Computations", 4th edition, 2013, sections 5.2 and 8.2.
//===----------------------------------------------------------------------===//

#include "Matrices/SquareMatrix.h"

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// `symmetric` is F, then its rows hold the reflectors. `basis` is B, then
/// F B P. `moved` is F B, then Q.
class OrthogonalIteration : SquareMatrix {
public:
  OrthogonalIteration(LoopBuilder &builder, const BlockShape &shape,
                      const MatrixKernel &kernel)
      : SquareMatrix(builder, shape, kernel) {
    moved = allocateSquare();
    quotients = allocateRow();
    places = memref::AllocOp::create(
        b, MemRefType::get({shape.rows}, b.getI64Type()));
  }

  void compute();

private:
  void multiply();
  void findQuotients();
  void findPlaces();
  Value getPlace(Value column) {
    return arith::IndexCastOp::create(b, b.getIndexType(),
                                      load(places, {column}));
  }
  void reflectColumn(Value column);
  void iterate();

  Value moved;
  /// The quotients bᵀ F b of all columns b of the basis, and the column of P
  /// that each of them becomes, an i64.
  Value quotients, places;
};

} // namespace

/// Computes F B.
void OrthogonalIteration::multiply() {
  Value blocks = b.index(shape.blocks);
  b.loop(zero, sides, BlockShape::kTileRows, [&](Value i) {
    b.loop(zero, blocks, 1, [&](Value panel) {
      Value column = b.mul(panel, shape.block);
      Tile tile = tiles.multiply(
          zero, rows,
          [&](Value k, int64_t row) {
            return load(symmetric, {b.add(i, row), k});
          },
          [&](Value k) { return tiles.loadRow(basis, {k}, column); });
      for (int64_t row = 0; row < BlockShape::kTileRows; ++row)
        tiles.storeRow(ArrayRef(tile).slice(row * shape.vectors, shape.vectors),
                       moved, {b.add(i, row)}, column);
    });
  });
}

void OrthogonalIteration::findQuotients() {
  loopColumns(zero, [&](Value j) {
    Value sum = b.fold(zero, rows, 1, b.number(shape.vector, 0),
                       [&](Value i, ValueRange sums) {
                         return SmallVector<Value>{
                             fma(loadVector(basis, {i, j}),
                                 loadVector(moved, {i, j}), sums.front())};
                       })
                    .front();
    storeVector(sum, quotients, {j});
  });
}

/// Numbers the columns by falling quotients. Of equal ones the first comes
/// first.
void OrthogonalIteration::findPlaces() {
  b.loop(zero, rows, 1, [&](Value column) {
    Value own = load(quotients, {column});
    Value place =
        b.fold(zero, rows, 1, zero, [&](Value other, ValueRange counts) {
           Value quotient = load(quotients, {other});
           Value isEqual = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ,
                                                 own, quotient);
           Value isBefore = arith::OrIOp::create(
               b, isLess(own, quotient),
               arith::AndIOp::create(b, isEqual, b.isLess(other, column)));
           Value more = b.add(counts.front(), 1);
           return SmallVector<Value>{select(isBefore, more, counts.front())};
         }).front();
    store(arith::IndexCastOp::create(b, b.getI64Type(), place), places,
          {column});
  });
}

/// Makes a column of F B P zero below the diagonal.
void OrthogonalIteration::reflectColumn(Value column) {
  Value first = load(basis, {column, column});
  b.loop(zero, sides, 1, [&](Value i) {
    store(select(b.isLess(column, i), load(basis, {i, column}), number(0)),
          reflector, {i});
  });
  Reflection reflection = makeReflection(first, column, symmetric, column);
  b.ifTrue(reflection.isNeeded, [&] {
    combineRows(basis, column);
    Value weight = tiles.broadcast(negate(load(weights, {column})));
    loopColumns(column, [&](Value j) {
      storeVector(mul(weight, loadVector(product, {j})), product, {j});
    });
    addProducts(basis, column, {reflector}, {product});
  });
}

void OrthogonalIteration::iterate() {
  unpack();
  Value largest = findLargest(
      [&](Value i, Value j) { return absolute(load(symmetric, {i, j})); });
  fill(basis, [&](Value i, Value j) {
    return load(kernel.operands[1], {kernel.item, i, j});
  });
  Value isGood = isFinite(largest);
  b.ifTrue(isGood, [&] {
    scale(largest);
    multiply();
    findQuotients();
    findPlaces();
    b.loop(zero, rows, 1, [&](Value j) {
      Value place = getPlace(j);
      b.loop(zero, rows, 1,
             [&](Value i) { store(load(moved, {i, j}), basis, {i, place}); });
    });
    b.loop(zero, b.index(shape.rows - 1), 1,
           [&](Value column) { reflectColumn(column); });
    fill(moved, [&](Value i, Value j) { return identity(i, j); });
    applyReflections(moved, symmetric, shape.rows - 1, /*distance=*/0);
    b.loop(zero, rows, 1, [&](Value j) {
      Value place = getPlace(j);
      b.loop(zero, rows, 1, [&](Value i) {
        store(load(moved, {i, place}), kernel.results[0], {kernel.item, i, j});
      });
    });
  });
  b.ifTrue(isNot(isGood), [&] { copySquare(1, 0); });
}

void OrthogonalIteration::compute() {
  Value isNow = isDue(2);
  b.ifTrue(isNow, [&] { iterate(); });
  b.ifTrue(isNot(isNow), [&] { copySquare(1, 0); });
}

void hfta::emitOrthogonalIteration(LoopBuilder &builder,
                                   OrthogonalIterationOp op,
                                   const MatrixKernel &kernel) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  BlockShape shape(type.getElementType(), type.getDimSize(1));
  OrthogonalIteration(builder, shape, kernel).compute();
}
