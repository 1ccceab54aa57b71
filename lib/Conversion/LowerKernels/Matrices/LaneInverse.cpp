//===- LaneInverse.cpp - Inverses of small matrices, one a lane -----------===//
//
// A small matrix has too few numbers to fill vectors, and each step waits for a
// pivot. So vectors run across matrices: each lane has one matrix, of any copy.
// The algorithm is that of BlockedInverse.cpp with blocks of four rows, which
// stay in registers.
//===----------------------------------------------------------------------===//

#include "Emit/VectorTranspose.h"
#include "Matrices/Inverse.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace mlir::hfta;

static constexpr int64_t kSide = 4;

namespace {

/// The rows of a block, each with its columns.
using Square = std::array<std::array<Value, kSide>, kSide>;

class LaneInverse {
public:
  LaneInverse(LoopBuilder &builder, Type element, int64_t rows,
              ArrayRef<MatrixKernel> lanes);

  void compute();

private:
  Value constant(double value) { return b.number(vector, value); }
  Value multiply(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value negate(Value x) { return arith::NegFOp::create(b, x); }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, x, y, z);
  }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value isFinite(Value x);
  Value load(Value row, Value column);
  void store(Value value, Value row, Value column);
  Value loadPacked(Value row, Value column);
  void storePacked(Value value, Value row, Value column);

  Value gatherScalars(unsigned operand);
  void gather();
  void scatter(Value chosen);
  Square sum(Value first, Value end, Value i, Value j);
  Value decomposeDiagonal(Value i, Value damping, Value ok);
  void finishBlock(Value i, Value j, bool isBelow);
  Value decompose(Value damping);
  Value multiplyBlocks(Value ok);

  LoopBuilder &b;
  int64_t rows, packed, blocks;
  ArrayRef<MatrixKernel> lanes;
  VectorType vector, mask;
  Value triangle; ///< [element of the packed matrix, lane]
  Value square; ///< [row, column, lane]: L in blocks below the diagonal, else Y
  Value zero, end;
};

} // namespace

LaneInverse::LaneInverse(LoopBuilder &builder, Type element, int64_t rows,
                         ArrayRef<MatrixKernel> lanes)
    : b(builder), rows(rows), packed(rows * (rows + 1) / 2),
      blocks(llvm::divideCeil(rows, kSide)), lanes(lanes) {
  int64_t count = lanes.size(), filled = blocks * kSide;
  vector = VectorType::get({count}, element);
  mask = VectorType::get({count}, b.getI1Type());
  int64_t elements = std::max(llvm::alignTo(packed, count),
                              static_cast<uint64_t>(filled * (filled + 1) / 2));
  triangle =
      memref::AllocOp::create(b, MemRefType::get({elements, count}, element));
  // Avoids rows whose distance is a power of two, which would share few sets of
  // a cache.
  square = memref::AllocOp::create(
      b, MemRefType::get({filled, filled + kSide + 1, count}, element));
  zero = b.index(0);
  end = b.index(filled);
}

Value LaneInverse::isFinite(Value x) {
  return arith::CmpFOp::create(
      b, arith::CmpFPredicate::OLT, x,
      constant(std::numeric_limits<double>::infinity()));
}

Value LaneInverse::load(Value row, Value column) {
  return vector::LoadOp::create(b, vector, square,
                                ValueRange{row, column, zero});
}

void LaneInverse::store(Value value, Value row, Value column) {
  vector::StoreOp::create(b, value, square, ValueRange{row, column, zero});
}

Value LaneInverse::loadPacked(Value row, Value column) {
  return vector::LoadOp::create(
      b, vector, triangle, ValueRange{b.add(b.packedRow(row), column), zero});
}

void LaneInverse::storePacked(Value value, Value row, Value column) {
  vector::StoreOp::create(b, value, triangle,
                          ValueRange{b.add(b.packedRow(row), column), zero});
}

//===----------------------------------------------------------------------===//
// Matrices to lanes and back
//===----------------------------------------------------------------------===//

/// Reads a scalar operand of each lane's matrix.
Value LaneInverse::gatherScalars(unsigned operand) {
  SmallVector<Value> scalars;
  for (const MatrixKernel &lane : lanes)
    scalars.push_back(
        memref::LoadOp::create(b, lane.operands[operand], lane.item));
  return vector::FromElementsOp::create(b, vector, scalars);
}

/// Reads the factors of all lanes. Fills up the last block with rows of the
/// identity.
void LaneInverse::gather() {
  int64_t count = lanes.size();
  Value size = b.index(packed), none = constant(0);
  b.loop(zero, size, count, [&](Value first) {
    Value inside = b.maskBefore(count, b.sub(size, first));
    SmallVector<Value> vectors;
    for (const MatrixKernel &lane : lanes)
      vectors.push_back(vector::MaskedLoadOp::create(
          b, vector, lane.operands[0], ValueRange{lane.item, first}, inside,
          none));
    for (auto [i, value] :
         llvm::enumerate(transposeSquare(b, b.getLoc(), vectors)))
      vector::StoreOp::create(b, value, triangle,
                              ValueRange{b.add(first, i), zero});
  });
  b.loop(b.index(rows), end, 1, [&](Value row) {
    b.loop(zero, row, 1, [&](Value column) { storePacked(none, row, column); });
    storePacked(constant(1), row, row);
  });
}

/// Writes the inverses of those lanes for which `chosen` is true.
void LaneInverse::scatter(Value chosen) {
  int64_t count = lanes.size();
  Value size = b.index(packed);
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < count; ++i)
    sizes.push_back(arith::SelectOp::create(
        b, vector::ExtractOp::create(b, chosen, i), size, zero));
  b.loop(zero, size, count, [&](Value first) {
    SmallVector<Value> vectors;
    for (int64_t i = 0; i < count; ++i)
      vectors.push_back(vector::LoadOp::create(
          b, vector, triangle, ValueRange{b.add(first, i), zero}));
    vectors = transposeSquare(b, b.getLoc(), vectors);
    for (auto [lane, value, size] : llvm::zip(lanes, vectors, sizes))
      vector::MaskedStoreOp::create(
          b, lane.results[0], ValueRange{lane.item, first},
          b.maskBefore(count, b.sub(size, first)), value);
  });
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Computes, for r and c in [0, 4), the sum over rows k from `first` to `end`
/// of element (k, i + r) times element (k, j + c).
Square LaneInverse::sum(Value first, Value end, Value i, Value j) {
  SmallVector<Value> initial(kSide * kSide, constant(0));
  SmallVector<Value> sums =
      b.fold(first, end, 1, initial, [&](Value k, ValueRange values) {
        SmallVector<Value> left, right, next;
        for (int64_t n = 0; n < kSide; ++n) {
          left.push_back(load(k, b.add(i, n)));
          right.push_back(load(k, b.add(j, n)));
        }
        for (Value x : left)
          for (Value y : right)
            next.push_back(fma(x, y, values[next.size()]));
        return next;
      });
  Square result;
  for (int64_t r = 0; r < kSide; ++r)
    for (int64_t c = 0; c < kSide; ++c)
      result[r][c] = sums[r * kSide + c];
  return result;
}

/// Computes the block of Y = L⁻ᵀ on the diagonal that begins at row `i`.
/// Returns `ok`, cleared in lanes with a pivot that isn't positive and finite.
Value LaneInverse::decomposeDiagonal(Value i, Value damping, Value ok) {
  Square rest = sum(b.add(i, kSide), end, i, i), upper;
  for (int64_t r = 0; r < kSide; ++r)
    for (int64_t c = 0; c <= r; ++c) {
      Value value = loadPacked(b.add(i, r), b.add(i, c));
      if (r == c)
        value = arith::AddFOp::create(b, value, damping);
      rest[r][c] = arith::SubFOp::create(b, value, rest[r][c]);
    }
  for (int64_t r = kSide; r-- > 0;) {
    Value pivot = rest[r][r];
    ok = both(ok, arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, pivot,
                                        constant(0)));
    ok = both(ok, isFinite(pivot));
    upper[r][r] =
        arith::DivFOp::create(b, constant(1), math::SqrtOp::create(b, pivot));
    for (int64_t c = 0; c < r; ++c)
      rest[r][c] = multiply(rest[r][c], upper[r][r]);
    for (int64_t above = 0; above < r; ++above)
      for (int64_t c = 0; c <= above; ++c)
        rest[above][c] =
            fma(negate(rest[r][above]), rest[r][c], rest[above][c]);
    for (int64_t c = r + 1; c < kSide; ++c) {
      Value sum = constant(0);
      for (int64_t k = r + 1; k <= c; ++k)
        sum = fma(rest[k][r], upper[k][c], sum);
      upper[r][c] = multiply(negate(upper[r][r]), sum);
    }
  }
  for (int64_t r = 0; r < kSide; ++r)
    for (int64_t c = 0; c < kSide; ++c)
      store(c < r ? constant(0) : upper[r][c], b.add(i, r), b.add(i, c));
  return ok;
}

/// Computes the block at row `i` and column `j`: of L if it `isBelow` the
/// diagonal, else of Y = L⁻ᵀ.
void LaneInverse::finishBlock(Value i, Value j, bool isBelow) {
  Square rest = sum(b.add(i, kSide), isBelow ? end : b.add(j, kSide), i, j);
  for (int64_t r = 0; r < kSide; ++r)
    for (int64_t c = 0; c < kSide; ++c)
      rest[r][c] =
          isBelow ? arith::SubFOp::create(
                        b, loadPacked(b.add(i, r), b.add(j, c)), rest[r][c])
                        .getResult()
                  : negate(rest[r][c]);
  for (int64_t r = 0; r < kSide; ++r) {
    std::array<Value, kSide> sums;
    for (int64_t k = r; k < kSide; ++k) {
      Value factor = load(b.add(i, r), b.add(i, k));
      for (int64_t c = 0; c < kSide; ++c)
        sums[c] = k == r ? multiply(factor, rest[k][c])
                         : fma(factor, rest[k][c], sums[c]);
    }
    for (int64_t c = 0; c < kSide; ++c)
      store(sums[c], b.add(i, r), b.add(j, c));
  }
}

Value LaneInverse::decompose(Value damping) {
  Value all = arith::ConstantOp::create(b, DenseElementsAttr::get(mask, true));
  return b
      .foldDown(zero, end, kSide, all,
                [&](Value i, ValueRange values) {
                  Value ok = decomposeDiagonal(i, damping, values.front());
                  b.loop(zero, i, kSide,
                         [&](Value j) { finishBlock(i, j, /*isBelow=*/true); });
                  b.loop(b.add(i, kSide), end, kSide, [&](Value j) {
                    finishBlock(i, j, /*isBelow=*/false);
                  });
                  return SmallVector<Value>{ok};
                })
      .front();
}

/// Stores the inverses in `triangle`. Returns `ok`, cleared in lanes with an
/// element that isn't finite. Checks only the diagonals, which have the largest
/// elements.
Value LaneInverse::multiplyBlocks(Value ok) {
  return b
      .fold(zero, end, kSide, ok,
            [&](Value j, ValueRange values) {
              Value last = b.add(j, kSide), ok = values.front();
              b.loop(last, end, kSide, [&](Value i) {
                Square block = sum(zero, last, i, j);
                for (int64_t r = 0; r < kSide; ++r)
                  for (int64_t c = 0; c < kSide; ++c)
                    storePacked(block[r][c], b.add(i, r), b.add(j, c));
              });
              Square block = sum(zero, last, j, j);
              for (int64_t r = 0; r < kSide; ++r) {
                for (int64_t c = 0; c <= r; ++c)
                  storePacked(block[r][c], b.add(j, r), b.add(j, c));
                ok = both(ok, isFinite(block[r][r]));
              }
              return SmallVector<Value>{ok};
            })
      .front();
}

//===----------------------------------------------------------------------===//
// Tries with growing damping
//===----------------------------------------------------------------------===//

void LaneInverse::compute() {
  Value first = gatherScalars(/*operand=*/1);
  VectorType counts = VectorType::get(vector.getShape(), b.getI32Type());
  Value all = arith::ConstantOp::create(b, DenseElementsAttr::get(mask, true));
  Value none = arith::ConstantOp::create(b, DenseElementsAttr::get(counts, 0));
  SmallVector<Value> results = b.fold(
      zero, b.index(1 + kFurtherTries), 1, {all, none, first},
      [&](Value, ValueRange state) {
        Value isAny =
            vector::ReductionOp::create(b, vector::CombiningKind::OR, state[0]);
        return b.choose(isAny, state, [&] {
          gather();
          Value ok = multiplyBlocks(decompose(state[2]));
          scatter(both(ok, state[0]));
          Value fails = both(state[0], arith::XOrIOp::create(b, ok, all));
          Value more = arith::ExtUIOp::create(b, counts, fails);
          return SmallVector<Value>{fails,
                                    arith::AddIOp::create(b, state[1], more),
                                    multiply(state[2], constant(10))};
        });
      });
  for (int64_t i = 0; i < static_cast<int64_t>(lanes.size()); ++i) {
    const MatrixKernel &lane = lanes[i];
    memref::StoreOp::create(b, vector::ExtractOp::create(b, results[1], i),
                            lane.results[1], lane.item);
    b.ifTrue(vector::ExtractOp::create(b, results[0], i), [&] {
      emitFallback(b, lane, rows, vector::ExtractOp::create(b, first, i));
    });
  }
}

void hfta::emitLaneInverse(LoopBuilder &builder, Type element, int64_t rows,
                           ArrayRef<MatrixKernel> lanes) {
  LaneInverse(builder, element, rows, lanes).compute();
}
