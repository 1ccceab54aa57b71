//===- SquareMatrix.cpp - Loops on square matrices in memory --------------===//

#include "Matrices/SquareMatrix.h"

#include <limits>

using namespace mlir;
using namespace mlir::hfta;

/// The number of rows that are read or changed at once.
static constexpr int64_t kRows = 4;

SquareMatrix::SquareMatrix(LoopBuilder &builder, const BlockShape &shape,
                           const MatrixKernel &kernel)
    : NumberBuilder(builder, shape.vector), shape(shape),
      tiles(builder, this->shape), kernel(kernel) {
  zero = b.index(0);
  rows = b.index(shape.rows);
  sides = b.index(shape.getPaddedRows());
  symmetric = allocateSquare();
  basis = allocateSquare();
  weights = allocateRow();
  reflector = allocateRow();
  product = allocateRow();
}

Value SquareMatrix::allocateSquare() {
  // Avoids rows whose distance is a power of two, which would share few sets of
  // a cache.
  int64_t side = shape.getPaddedRows();
  return memref::AllocOp::create(
      b, MemRefType::get({side, side + shape.lanes}, shape.element));
}

Value SquareMatrix::allocateRow() {
  return memref::AllocOp::create(
      b, MemRefType::get({shape.getPaddedRows() + shape.lanes}, shape.element));
}

//===----------------------------------------------------------------------===//
// Whole matrices
//===----------------------------------------------------------------------===//

void SquareMatrix::fill(Value square, Element element) {
  Tile none(shape.vectors, b.number(shape.vector, 0));
  Value blocks = b.index(shape.blocks);
  b.loop(zero, sides, 1, [&](Value i) {
    b.loop(zero, blocks, 1, [&](Value j) {
      tiles.storeRow(none, square, {i}, b.mul(j, shape.block));
    });
  });
  b.loop(zero, rows, 1, [&](Value i) {
    b.loop(zero, rows, 1,
           [&](Value j) { store(element(i, j), square, {i, j}); });
  });
}

void SquareMatrix::unpack() {
  fill(symmetric, [&](Value i, Value j) -> Value {
    Value isLower = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, i, j);
    Value low = select(isLower, j, i), high = select(isLower, i, j);
    return load(kernel.operands[0],
                {kernel.item, b.add(b.packedRow(high), low)});
  });
}

Value SquareMatrix::scale(Value largest) {
  Value factor = select(isLess(number(0), largest), largest, number(1));
  b.loop(zero, rows, 1, [&](Value i) {
    b.loop(zero, rows, 1, [&](Value j) {
      store(div(load(symmetric, {i, j}), factor), symmetric, {i, j});
    });
  });
  return factor;
}

Value SquareMatrix::findLargest(Element element) {
  return b
      .fold(
          zero, rows, 1, number(0),
          [&](Value i, ValueRange outer) {
            return b.fold(zero, rows, 1, outer, [&](Value j, ValueRange inner) {
              return SmallVector<Value>{larger(inner.front(), element(i, j))};
            });
          })
      .front();
}

Value SquareMatrix::isFinite(Value value) {
  return isLess(absolute(value),
                number(std::numeric_limits<double>::infinity()));
}

Value SquareMatrix::isDue(unsigned operand) {
  return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE,
                               load(kernel.operands[operand], {kernel.item}),
                               number(0));
}

void SquareMatrix::copySquare(unsigned operand, unsigned result) {
  b.loop(zero, rows, 1, [&](Value i) {
    b.loop(zero, rows, 1, [&](Value j) {
      store(load(kernel.operands[operand], {kernel.item, i, j}),
            kernel.results[result], {kernel.item, i, j});
    });
  });
}

void SquareMatrix::loopColumns(Value first, LoopBuilder::Body body) {
  Value skipped = arith::RemUIOp::create(b, first, b.index(shape.lanes));
  b.loop(b.sub(first, skipped), sides, shape.lanes, body);
}

void SquareMatrix::combineRows(Value square, Value first) {
  loopColumns(first, [&](Value j) {
    storeVector(b.number(shape.vector, 0), product, {j});
  });
  Value skipped = arith::RemUIOp::create(b, first, b.index(kRows));
  b.loop(b.sub(first, skipped), sides, kRows, [&](Value i) {
    SmallVector<Value> factors;
    for (int64_t r = 0; r < kRows; ++r)
      factors.push_back(tiles.broadcast(load(reflector, b.add(i, r))));
    loopColumns(first, [&](Value j) {
      Value sum = loadVector(product, {j});
      for (auto [r, factor] : llvm::enumerate(factors))
        sum = fma(factor, loadVector(square, {b.add(i, r), j}), sum);
      storeVector(sum, product, {j});
    });
  });
}

void SquareMatrix::addProducts(Value square, Value first, ArrayRef<Value> left,
                               ArrayRef<Value> right) {
  Value skipped = arith::RemUIOp::create(b, first, b.index(kRows));
  b.loop(b.sub(first, skipped), sides, kRows, [&](Value i) {
    SmallVector<Value> factors;
    for (Value memory : left)
      for (int64_t r = 0; r < kRows; ++r)
        factors.push_back(tiles.broadcast(load(memory, b.add(i, r))));
    loopColumns(first, [&](Value j) {
      SmallVector<Value> vectors;
      for (Value memory : right)
        vectors.push_back(loadVector(memory, {j}));
      for (int64_t r = 0; r < kRows; ++r) {
        Value sum = loadVector(square, {b.add(i, r), j});
        for (auto [n, vector] : llvm::enumerate(vectors))
          sum = fma(factors[n * kRows + r], vector, sum);
        storeVector(sum, square, {b.add(i, r), j});
      }
    });
  });
}

Value SquareMatrix::multiplyRows(Value left, Value right) {
  Value sums = b.fold(zero, sides, shape.lanes, b.number(shape.vector, 0),
                      [&](Value j, ValueRange values) {
                        return SmallVector<Value>{fma(loadVector(left, {j}),
                                                      loadVector(right, {j}),
                                                      values.front())};
                      })
                   .front();
  Value total = vector::ExtractOp::create(b, sums, int64_t(0));
  for (int64_t lane = 1; lane < shape.lanes; ++lane)
    total = add(total, vector::ExtractOp::create(b, sums, lane));
  return total;
}

//===----------------------------------------------------------------------===//
// Reflections
//===----------------------------------------------------------------------===//

SquareMatrix::Reflection SquareMatrix::makeReflection(Value head, Value place,
                                                      Value stored, Value row) {
  Value tail = multiplyRows(reflector, reflector);
  Value isNeeded = isLess(number(0), tail);
  Value length = root(fma(head, head, tail));
  Value turned = select(isLess(number(0), head), negate(length), length);
  Value difference = sub(head, turned);
  Value weight = div(number(2), fma(difference, difference, tail));
  store(select(isNeeded, weight, number(0)), weights, {row});
  store(difference, reflector, {place});
  b.loop(zero, sides, shape.lanes, [&](Value j) {
    storeVector(loadVector(reflector, {j}), stored, {row, j});
  });
  return {select(isNeeded, turned, head), isNeeded};
}

void SquareMatrix::applyReflections(Value square, Value stored, int64_t count,
                                    int64_t distance) {
  b.loopDown(zero, b.index(std::max<int64_t>(count, 0)), 1, [&](Value row) {
    Value weight = tiles.broadcast(negate(load(weights, {row})));
    loopColumns(zero, [&](Value j) {
      storeVector(loadVector(stored, {row, j}), reflector, {j});
    });
    Value first = distance == 0 ? row : b.add(row, distance);
    combineRows(square, first);
    loopColumns(first, [&](Value j) {
      storeVector(mul(weight, loadVector(product, {j})), product, {j});
    });
    addProducts(square, first, {reflector}, {product});
  });
}
