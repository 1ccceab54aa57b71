//===- JacobiEigen.cpp - One matrix's eigenvectors, by rotations ----------===//
//
// The eigenvectors of a matrix that was much like this one make it nearly
// diagonal. Jacobi rotations of two rows and columns at a time, in cyclic
// order, take away what is left, until nothing of weight is: the rotations turn
// the basis, too. The iteration ends for each matrix by itself.
//
// A basis that is used again and again would lose its orthogonality bit by bit.
// So it begins with a step of Newton's method towards the nearest orthogonal
// one, Q (3 I - QᵀQ) / 2.
//===----------------------------------------------------------------------===//

#include "Matrices/MatrixKernel.h"
#include "Matrices/TriangleBlocks.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace mlir::hfta;

/// A matrix of thousands of rows without any start takes about ten.
static constexpr int64_t kMostSweeps = 30;
/// How far QᵀQ may be from the identity in a basis to start from: Newton's step
/// squares what remains.
static constexpr double kMostSkew = 0.01;

namespace {

class JacobiEigen {
public:
  JacobiEigen(LoopBuilder &builder, const BlockShape &shape,
              const MatrixKernel &kernel)
      : b(builder), shape(shape), tiles(builder, this->shape), kernel(kernel) {
    zero = b.index(0);
    rows = b.index(shape.rows);
    sides = b.index(shape.getPaddedRows());
    symmetric = allocateSquare();
    vectors = allocateSquare();
    columns = allocateSquare();
    spare = allocateSquare();
  }

  void compute();

private:
  using Element = llvm::function_ref<Value(Value, Value)>;

  Value allocateSquare();
  Value number(double value) { return b.number(shape.element, value); }
  Value load(Value memory, ValueRange place) {
    return tiles.loadScalar(memory, place);
  }
  void store(Value value, Value memory, ValueRange place) {
    memref::StoreOp::create(b, value, memory, place);
  }
  Value isLess(Value a, Value c) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, a, c);
  }
  Value larger(Value a, Value c) { return arith::MaximumFOp::create(b, a, c); }
  Value absolute(Value a) { return math::AbsFOp::create(b, a); }

  /// Sets the padded square's elements, zero outside of the matrix.
  void fill(Value square, Element element);
  void transpose(Value from, Value to);
  /// to(i, j) = sum over k of left(i, k) or left(k, i), times right(k, j).
  void multiply(Value left, bool isTransposed, Value right, Value to);
  /// The largest of what `element` gives for rows, or rows and columns.
  Value findLargest(Element element);
  void readFactor();
  void readStart();
  void straighten();
  void transform();
  void iterate();
  Value sweep();
  Value visit(Value p, Value q, Value least, Value turned);
  void rotate(Value p, Value q, Value offDiagonal);
  void rotateRows(Value memory, Value p, Value q, Value cosine, Value sine);
  void write(Value isFinite);

  LoopBuilder &b;
  BlockShape shape;
  TileBuilder tiles;
  const MatrixKernel &kernel;
  Value zero, rows, sides;
  /// The matrix, in the basis; the basis by rows; and by columns; and another.
  Value symmetric, vectors, columns, spare;
};

} // namespace

Value JacobiEigen::allocateSquare() {
  int64_t side = shape.getPaddedRows();
  return memref::AllocOp::create(b,
                                 MemRefType::get({side, side}, shape.element));
}

//===----------------------------------------------------------------------===//
// Whole matrices
//===----------------------------------------------------------------------===//

void JacobiEigen::fill(Value square, Element element) {
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

void JacobiEigen::transpose(Value from, Value to) {
  fill(to, [&](Value i, Value j) { return load(from, {j, i}); });
}

void JacobiEigen::multiply(Value left, bool isTransposed, Value right,
                           Value to) {
  b.loop(zero, b.index(shape.blocks), 1, [&](Value block) {
    Value column = b.mul(block, shape.block);
    b.loop(zero, sides, BlockShape::kTileRows, [&](Value first) {
      Tile sums = tiles.multiply(
          zero, rows,
          [&](Value k, int64_t r) {
            Value i = b.add(first, r);
            return isTransposed ? load(left, {k, i}) : load(left, {i, k});
          },
          [&](Value k) { return tiles.loadRow(right, {k}, column); });
      for (int64_t r = 0; r < BlockShape::kTileRows; ++r)
        tiles.storeRow(ArrayRef(sums).slice(r * shape.vectors, shape.vectors),
                       to, {b.add(first, r)}, column);
    });
  });
}

Value JacobiEigen::findLargest(Element element) {
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

//===----------------------------------------------------------------------===//
// The start
//===----------------------------------------------------------------------===//

void JacobiEigen::readFactor() {
  fill(symmetric, [&](Value i, Value j) -> Value {
    Value isLower = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, i, j);
    Value low = arith::SelectOp::create(b, isLower, j, i);
    Value high = arith::SelectOp::create(b, isLower, i, j);
    return load(kernel.operands[0],
                {kernel.item, b.add(b.packedRow(high), low)});
  });
}

/// The start or, if that isn't nearly orthogonal, the identity, to `columns`.
void JacobiEigen::readStart() {
  auto read = [&](Value i, Value j) {
    return load(kernel.operands[1], {kernel.item, i, j});
  };
  auto identity = [&](Value i, Value j) -> Value {
    Value same = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, i, j);
    return arith::SelectOp::create(b, same, number(1), number(0));
  };
  fill(columns, read);
  multiply(columns, /*isTransposed=*/true, columns, spare);
  Value skew = findLargest([&](Value i, Value j) {
    return absolute(
        arith::SubFOp::create(b, load(spare, {i, j}), identity(i, j)));
  });
  Value isSkew = arith::CmpFOp::create(b, arith::CmpFPredicate::UGE, skew,
                                       number(kMostSkew));
  b.ifTrue(isSkew, [&] {
    fill(columns, identity);
    fill(spare, identity);
  });
}

/// Makes the basis orthogonal, from QᵀQ in `spare`; `vectors` and `columns`
/// have it.
void JacobiEigen::straighten() {
  Value half = number(-0.5);
  b.loop(zero, rows, 1, [&](Value i) {
    b.loop(zero, rows, 1, [&](Value j) {
      Value same = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, i, j);
      Value part = arith::SelectOp::create(b, same, number(1.5), number(0));
      store(math::FmaOp::create(b, half, load(spare, {i, j}), part), spare,
            {i, j});
    });
  });
  multiply(columns, /*isTransposed=*/false, spare, vectors);
  transpose(vectors, columns);
  std::swap(vectors, columns);
}

/// The matrix in the basis, Qᵀ (F Q).
void JacobiEigen::transform() {
  multiply(symmetric, /*isTransposed=*/true, columns, spare);
  multiply(columns, /*isTransposed=*/true, spare, symmetric);
}

//===----------------------------------------------------------------------===//
// Rotations
//===----------------------------------------------------------------------===//

/// row p becomes cosine * p - sine * q, row q sine * p + cosine * q.
void JacobiEigen::rotateRows(Value memory, Value p, Value q, Value cosine,
                             Value sine) {
  b.loop(zero, b.index(shape.blocks), 1, [&](Value block) {
    Value column = b.mul(block, shape.block);
    Tile first = tiles.loadRow(memory, {p}, column);
    Tile second = tiles.loadRow(memory, {q}, column);
    for (auto [x, y] : llvm::zip(first, second)) {
      Value turned = arith::MulFOp::create(b, sine, y);
      Value other = arith::MulFOp::create(b, cosine, y);
      y = math::FmaOp::create(b, sine, x, other);
      x = arith::SubFOp::create(b, arith::MulFOp::create(b, cosine, x), turned);
    }
    tiles.storeRow(first, memory, {p}, column);
    tiles.storeRow(second, memory, {q}, column);
  });
}

/// Makes the element (p, q) zero. Source: Rutishauser, "The Jacobi method for
/// real symmetric matrices", Numerische Mathematik 9, 1966.
void JacobiEigen::rotate(Value p, Value q, Value offDiagonal) {
  Value one = number(1);
  Value first = load(symmetric, {p, p}), second = load(symmetric, {q, q});
  Value theta =
      arith::DivFOp::create(b, arith::SubFOp::create(b, second, first),
                            arith::MulFOp::create(b, number(2), offDiagonal));
  Value root =
      math::SqrtOp::create(b, math::FmaOp::create(b, theta, theta, one));
  Value size = arith::DivFOp::create(
      b, one, arith::AddFOp::create(b, absolute(theta), root));
  Value tangent = arith::SelectOp::create(b, isLess(theta, number(0)),
                                          arith::NegFOp::create(b, size), size);
  Value cosine = arith::DivFOp::create(
      b, one,
      math::SqrtOp::create(b, math::FmaOp::create(b, tangent, tangent, one)));
  Value sine = arith::MulFOp::create(b, tangent, cosine);
  Value change = arith::MulFOp::create(b, tangent, offDiagonal);
  Value cosines = tiles.broadcast(cosine), sines = tiles.broadcast(sine);
  rotateRows(symmetric, p, q, cosines, sines);
  rotateRows(vectors, p, q, cosines, sines);
  b.loop(zero, rows, 1, [&](Value k) {
    store(load(symmetric, {p, k}), symmetric, {k, p});
    store(load(symmetric, {q, k}), symmetric, {k, q});
  });
  store(arith::SubFOp::create(b, first, change), symmetric, {p, p});
  store(arith::AddFOp::create(b, second, change), symmetric, {q, q});
  store(number(0), symmetric, {p, q});
  store(number(0), symmetric, {q, p});
}

/// Rotates if the element is large enough; counts.
Value JacobiEigen::visit(Value p, Value q, Value least, Value turned) {
  Value element = load(symmetric, {p, q});
  Value isLarge = isLess(least, absolute(element));
  b.ifTrue(isLarge, [&] { rotate(p, q, element); });
  return arith::OrIOp::create(b, turned, isLarge);
}

/// Visits each element above the diagonal; whether any was large enough.
Value JacobiEigen::sweep() {
  Value largest =
      b.fold(zero, rows, 1, number(0), [&](Value i, ValueRange values) {
         return SmallVector<Value>{
             larger(values.front(), absolute(load(symmetric, {i, i})))};
       }).front();
  double epsilon = shape.element.isF64()
                       ? std::numeric_limits<double>::epsilon()
                       : std::numeric_limits<float>::epsilon();
  Value least = arith::MulFOp::create(b, largest, number(epsilon));
  Value none = arith::ConstantIntOp::create(b, 0, 1);
  return b
      .fold(zero, rows, 1, none,
            [&](Value p, ValueRange outer) {
              return b.fold(b.add(p, 1), rows, 1, outer,
                            [&](Value q, ValueRange inner) {
                              return SmallVector<Value>{
                                  visit(p, q, least, inner.front())};
                            });
            })
      .front();
}

void JacobiEigen::iterate() {
  Value yes = arith::ConstantIntOp::create(b, 1, 1);
  b.fold(zero, b.index(kMostSweeps), 1, yes, [&](Value, ValueRange state) {
    return b.choose(state.front(), state,
                    [&] { return SmallVector<Value>{sweep()}; });
  });
}

void JacobiEigen::write(Value isFinite) {
  Value none = number(0);
  b.loop(zero, rows, 1, [&](Value i) {
    Value value = load(symmetric, {i, i});
    Value isPositive = arith::AndIOp::create(b, isLess(none, value), isFinite);
    store(arith::SelectOp::create(b, isPositive, value, none),
          kernel.results[1], {kernel.item, i});
    b.loop(zero, rows, 1, [&](Value j) {
      store(load(vectors, {j, i}), kernel.results[0], {kernel.item, i, j});
    });
  });
}

void JacobiEigen::compute() {
  readFactor();
  Value largest = findLargest(
      [&](Value i, Value j) { return absolute(load(symmetric, {i, j})); });
  Value isFinite =
      isLess(largest, number(std::numeric_limits<double>::infinity()));
  readStart();
  straighten();
  b.ifTrue(isFinite, [&] {
    transform();
    iterate();
  });
  write(isFinite);
}

void hfta::emitEigen(LoopBuilder &builder, SymmetricEigenOp op,
                     const MatrixKernel &kernel) {
  auto type = cast<RankedTensorType>(op.getBasis().getType());
  BlockShape shape(type.getElementType(), type.getDimSize(1));
  JacobiEigen(builder, shape, kernel).compute();
}
