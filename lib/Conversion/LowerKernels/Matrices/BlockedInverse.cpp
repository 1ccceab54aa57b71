//===- BlockedInverse.cpp - One matrix's inverse, block by block ----------===//
//
// The matrix is LᵀL, where L is a lower triangle. Y = L⁻ᵀ is an upper triangle,
// and the inverse is YᵀY. L and Y are computed from the last row of blocks to
// the first. They are stored in panels, columns of a block's width, with L
// below the blocks of the diagonal and Y in and above them. For a row of blocks
// I and any other block J
//
//   L(I, J) = Y(I, I) (A(I, J) - sum over K > I of L(K, I)ᵀ L(K, J)),  J < I
//   Y(I, J) = Y(I, I) (        - sum over K > I of L(K, I)ᵀ Y(K, J)),  J > I
//   inverse(I, J) = sum over K <= J of Y(K, I)ᵀ Y(K, J),              J <= I
//
// Each formula is a sum over k of an element of panel I times a row of panel J.
// So nothing is transposed, rows of the packed matrix are read and written as
// they are, and the size of the code doesn't depend on the matrix.
//===----------------------------------------------------------------------===//

#include "Matrices/Inverse.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace mlir::hfta;

namespace {

class BlockedInverse {
public:
  BlockedInverse(LoopBuilder &builder, const BlockShape &shape,
                 const MatrixKernel &kernel)
      : b(builder), shape(shape), tiles(builder, this->shape),
        factor(kernel.operands[0]), inverse(kernel.results[0]),
        matrix(kernel.item) {
    panels = tiles.allocatePanels();
    square = tiles.allocateBlock();
    upper = tiles.allocateBlock();
    zero = b.index(0);
    allRows = b.index(shape.getPaddedRows());
    one = b.number(shape.element, 1);
  }

  /// Computes the inverse of factor + damping · I. Returns whether that
  /// succeeded; if not, the contents of the inverse's memory are arbitrary.
  Value compute(Value damping);

private:
  void load(Value damping);
  Value decomposeRow(Value i);
  void decomposeDiagonal(Value i);
  Value eliminate(Value ok);
  Value eliminateRow(Value row, Value ok);
  void finishBlock(Value i, Value j, bool isBelow);
  void multiplyBlock(Value i, Value j);
  Value checkDiagonal(Value ok);
  /// Returns how many of a vector's columns are at or before the diagonal of
  /// the matrix.
  Value countColumns(Value row, Value column);
  Value isFinite(Value number);

  LoopBuilder &b;
  BlockShape shape;
  TileBuilder tiles;
  Value factor, inverse, matrix;
  Value panels, square, upper; ///< [J, k, column]; a block of A; a block of Y
  Value zero, allRows, one;
};

} // namespace

Value BlockedInverse::isFinite(Value number) {
  Value infinity =
      b.number(shape.element, std::numeric_limits<double>::infinity());
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, number, infinity);
}

Value BlockedInverse::countColumns(Value row, Value column) {
  Value isInside = b.isLess(row, b.index(shape.rows));
  Value count = b.sub(b.add(row, 1), column);
  return arith::SelectOp::create(b, isInside, count, zero);
}

/// Copies the matrix to the panels' lower triangle of blocks and adds the
/// damping to the diagonal. Fills up the last block with rows of the identity.
void BlockedInverse::load(Value damping) {
  Value none = b.number(shape.vector, 0);
  b.loop(zero, allRows, 1, [&](Value row) {
    Value begin = b.packedRow(row);
    Value last = arith::DivUIOp::create(b, row, b.index(shape.block));
    b.loop(zero, b.add(last, 1), 1, [&](Value j) {
      Tile vectors;
      for (int64_t i = 0; i < shape.vectors; ++i) {
        Value column = b.add(b.mul(j, shape.block), i * shape.lanes);
        Value inside = b.maskBefore(shape.lanes, countColumns(row, column));
        vectors.push_back(vector::MaskedLoadOp::create(
            b, shape.vector, factor, ValueRange{matrix, b.add(begin, column)},
            inside, none));
      }
      tiles.storeRow(vectors, panels, {j, row});
    });
    Value place = arith::RemUIOp::create(b, row, b.index(shape.block));
    Value value = tiles.loadScalar(panels, {last, row, place});
    Value damped = arith::AddFOp::create(b, value, damping);
    Value isInside = b.isLess(row, b.index(shape.rows));
    memref::StoreOp::create(b,
                            arith::SelectOp::create(b, isInside, damped, one),
                            panels, ValueRange{last, row, place});
  });
}

/// Stores the block of the diagonal, minus the contributions of later rows, in
/// `square`, and the identity in `upper`.
void BlockedInverse::decomposeDiagonal(Value i) {
  Value begin = b.mul(i, shape.block), next = b.add(begin, shape.block);
  b.loop(zero, b.index(shape.block), BlockShape::kTileRows, [&](Value first) {
    Tile sums = tiles.multiply(
        next, allRows,
        [&](Value k, int64_t r) {
          return tiles.loadScalar(panels, {i, k, b.add(first, r)});
        },
        [&](Value k) { return tiles.loadRow(panels, {i, k}); });
    Tile zeros(shape.vectors, b.number(shape.vector, 0));
    for (int64_t r = 0; r < BlockShape::kTileRows; ++r) {
      Value row = b.add(first, r);
      Tile values = tiles.loadRow(panels, {i, b.add(begin, row)});
      for (auto [v, value] : llvm::enumerate(values))
        value = arith::SubFOp::create(b, value, sums[r * shape.vectors + v]);
      tiles.storeRow(values, square, row);
      tiles.storeRow(zeros, upper, row);
      memref::StoreOp::create(b, one, upper, ValueRange{row, row});
    }
  });
}

/// Completes a row of `square` and `upper`, and subtracts its multiples from
/// the rows above. Returns `ok`, cleared if the pivot isn't positive and
/// finite.
Value BlockedInverse::eliminateRow(Value row, Value ok) {
  Value pivot = tiles.loadScalar(square, {row, row});
  Value isPositive = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, pivot,
                                           b.number(shape.element, 0));
  ok = arith::AndIOp::create(b, ok, isPositive);
  ok = arith::AndIOp::create(b, ok, isFinite(pivot));
  Value root = math::SqrtOp::create(b, pivot);
  Value scale = tiles.broadcast(arith::DivFOp::create(b, one, root));
  Tile below = tiles.loadRow(square, row), above = tiles.loadRow(upper, row);
  for (Tile *values : {&below, &above})
    for (Value &value : *values)
      value = arith::MulFOp::create(b, value, scale);
  tiles.storeRow(below, square, row);
  tiles.storeRow(above, upper, row);
  // Updates the row of the next pivot first.
  b.loopDown(zero, row, 1, [&](Value other) {
    Value number = tiles.broadcast(
        arith::NegFOp::create(b, tiles.loadScalar(square, {row, other})));
    auto subtract = [&](Value memory, const Tile &values) {
      Tile old = tiles.loadRow(memory, other);
      for (auto [value, from] : llvm::zip(values, old))
        from = math::FmaOp::create(b, number, value, from);
      tiles.storeRow(old, memory, other);
    };
    subtract(square, below);
    subtract(upper, above);
  });
  return ok;
}

/// Computes the blocks of L and Y on the diagonal, from the last row to the
/// first.
Value BlockedInverse::eliminate(Value ok) {
  return b
      .foldDown(zero, b.index(shape.block), 1, ok,
                [&](Value row, ValueRange values) {
                  return SmallVector<Value>{eliminateRow(row, values.front())};
                })
      .front();
}

/// Computes the block L(I, J) if `isBelow` the diagonal, else Y(I, J).
void BlockedInverse::finishBlock(Value i, Value j, bool isBelow) {
  Value begin = b.mul(i, shape.block), next = b.add(begin, shape.block);
  Value end = isBelow ? allRows : b.mul(b.add(j, 1), shape.block);
  Value blockRows = b.index(shape.block);
  b.loop(zero, blockRows, BlockShape::kTileRows, [&](Value first) {
    Tile sums = tiles.multiply(
        next, end,
        [&](Value k, int64_t r) {
          return tiles.loadScalar(panels, {i, k, b.add(first, r)});
        },
        [&](Value k) { return tiles.loadRow(panels, {j, k}); });
    for (int64_t r = 0; r < BlockShape::kTileRows; ++r) {
      Value row = b.add(first, r);
      Tile values(shape.vectors, b.number(shape.vector, 0));
      if (isBelow)
        values = tiles.loadRow(panels, {j, b.add(begin, row)});
      for (auto [v, value] : llvm::enumerate(values))
        value = arith::SubFOp::create(b, value, sums[r * shape.vectors + v]);
      tiles.storeRow(values, square, row);
    }
  });
  b.loop(zero, blockRows, BlockShape::kTileRows, [&](Value first) {
    Tile rows = tiles.multiply(
        first, blockRows,
        [&](Value k, int64_t r) {
          return tiles.loadScalar(upper, {b.add(first, r), k});
        },
        [&](Value k) { return tiles.loadRow(square, k); });
    for (int64_t r = 0; r < BlockShape::kTileRows; ++r)
      tiles.storeRow(ArrayRef(rows).slice(r * shape.vectors, shape.vectors),
                     panels, {j, b.add(begin, b.add(first, r))});
  });
}

Value BlockedInverse::decomposeRow(Value i) {
  decomposeDiagonal(i);
  Value ok = eliminate(arith::ConstantIntOp::create(b, 1, 1));
  Value begin = b.mul(i, shape.block);
  b.loop(zero, b.index(shape.block), 1, [&](Value row) {
    tiles.storeRow(tiles.loadRow(upper, row), panels, {i, b.add(begin, row)});
  });
  b.loop(zero, i, 1, [&](Value j) { finishBlock(i, j, /*isBelow=*/true); });
  b.loop(b.add(i, 1), b.index(shape.blocks), 1,
         [&](Value j) { finishBlock(i, j, /*isBelow=*/false); });
  return ok;
}

/// Computes a block of the inverse, and stores its elements up to the diagonal.
void BlockedInverse::multiplyBlock(Value i, Value j) {
  Value end = b.mul(b.add(j, 1), shape.block);
  b.loop(zero, b.index(shape.block), BlockShape::kTileRows, [&](Value first) {
    Tile sums = tiles.multiply(
        zero, end,
        [&](Value k, int64_t r) {
          return tiles.loadScalar(panels, {i, k, b.add(first, r)});
        },
        [&](Value k) { return tiles.loadRow(panels, {j, k}); });
    for (int64_t r = 0; r < BlockShape::kTileRows; ++r) {
      Value row = b.add(b.mul(i, shape.block), b.add(first, r));
      Value place = b.packedRow(row);
      for (int64_t v = 0; v < shape.vectors; ++v) {
        Value column = b.add(b.mul(j, shape.block), v * shape.lanes);
        Value inside = b.maskBefore(shape.lanes, countColumns(row, column));
        vector::MaskedStoreOp::create(b, inverse,
                                      ValueRange{matrix, b.add(place, column)},
                                      inside, sums[r * shape.vectors + v]);
      }
    }
  });
}

/// Returns `ok`, cleared if the inverse has elements that aren't finite. Checks
/// only the diagonal, which has the largest elements.
Value BlockedInverse::checkDiagonal(Value ok) {
  return b
      .fold(zero, b.index(shape.rows), 1, ok,
            [&](Value row, ValueRange values) {
              Value place = b.add(b.packedRow(row), row);
              Value number = tiles.loadScalar(inverse, {matrix, place});
              return SmallVector<Value>{
                  arith::AndIOp::create(b, values.front(), isFinite(number))};
            })
      .front();
}

Value BlockedInverse::compute(Value damping) {
  load(damping);
  Value ok = arith::ConstantIntOp::create(b, 1, 1);
  Value blocks = b.index(shape.blocks);
  ok = b.foldDown(zero, blocks, 1, ok, [&](Value i, ValueRange values) {
          return SmallVector<Value>{
              arith::AndIOp::create(b, values.front(), decomposeRow(i))};
        }).front();
  b.loop(zero, blocks, 1, [&](Value i) {
    b.loop(zero, b.add(i, 1), 1, [&](Value j) { multiplyBlock(i, j); });
  });
  return checkDiagonal(ok);
}

//===----------------------------------------------------------------------===//
// Tries with growing damping
//===----------------------------------------------------------------------===//

void hfta::emitBlockedInverse(LoopBuilder &b, const BlockShape &shape,
                              const MatrixKernel &kernel) {
  BlockedInverse algorithm(b, shape, kernel);
  Value damping = memref::LoadOp::create(b, kernel.operands[1], kernel.item);
  Value yes = arith::ConstantIntOp::create(b, 1, 1);
  Value none = arith::ConstantIntOp::create(b, 0, 32);
  // The loop carries whether there is no inverse yet, the number of failed
  // tries, and the damping.
  SmallVector<Value> results = b.fold(
      b.index(0), b.index(1 + kFurtherTries), 1, {yes, none, damping},
      [&](Value, ValueRange state) {
        return b.choose(state[0], state, [&] {
          Value ok = algorithm.compute(state[2]);
          Value fails = arith::XOrIOp::create(b, ok, yes);
          Value more = arith::ExtUIOp::create(b, b.getI32Type(), fails);
          return SmallVector<Value>{
              fails, arith::AddIOp::create(b, state[1], more),
              arith::MulFOp::create(b, state[2], b.number(shape.element, 10))};
        });
      });
  memref::StoreOp::create(b, results[1], kernel.results[1], kernel.item);
  b.ifTrue(results[0], [&] { emitFallback(b, kernel, shape.rows, damping); });
}
