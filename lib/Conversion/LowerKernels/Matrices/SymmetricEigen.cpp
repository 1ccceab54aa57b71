//===- SymmetricEigen.cpp - One matrix's eigenvectors ---------------------===//
//
// Householder reflections make the matrix tridiagonal, F = Q T Qᵀ, and implicit
// QL iterations make T diagonal. The rotations of the iterations change pairs
// of rows of Qᵀ, so that all parts that take n³ operations run along rows, in
// vectors. Each matrix has its own number of iterations. Sources: Martin,
// Reinsch and Wilkinson, "Householder's tridiagonalization of a symmetric
// matrix", 1968, and Bowdler, Martin, Reinsch and Wilkinson, "The QR and QL
// algorithms for symmetric matrices", 1968, both in Numerische Mathematik 11.
//===----------------------------------------------------------------------===//

#include "Matrices/SquareMatrix.h"

#include <limits>

using namespace mlir;
using namespace mlir::hfta;

/// The most QL iterations for an eigenvalue. Two are typical, so this limit is
/// hardly ever reached.
static constexpr int64_t kMostIterations = 60;
/// The largest absolute element of QᵀQ - I with which a basis counts as
/// orthogonal.
static constexpr double kMostSkew = 0.01;

namespace {

/// `symmetric` is the matrix, then its rows hold the reflectors, and finally it
/// is Qᵀ. `basis` is Q.
class SymmetricEigen : SquareMatrix {
public:
  SymmetricEigen(LoopBuilder &builder, const BlockShape &shape,
                 const MatrixKernel &kernel)
      : SquareMatrix(builder, shape, kernel) {
    diagonal = allocateRow();
    beside = allocateRow();
  }

  void compute();

private:
  void reflect(Value row);
  void makeTridiagonal();
  void makeBasis();
  void rotateRows(Value p, Value cosine, Value sine);
  Value findSplit(Value first, Value least);
  Value shift(Value first);
  void turn(Value first, Value split, Value next);
  Value iterate(Value first, Value least, Value taken);
  void makeDiagonal();
  void write(Value factor);
  void keepStart();
  void decompose();

  /// The elements on T's diagonal, and those beside it.
  Value diagonal, beside;
};

} // namespace

//===----------------------------------------------------------------------===//
// Reflections
//===----------------------------------------------------------------------===//

/// Makes a row and its column zero behind the element next to the diagonal. The
/// reflector is stored in place of the row.
void SymmetricEigen::reflect(Value row) {
  Value next = b.add(row, 1);
  store(load(symmetric, {row, row}), diagonal, row);
  Value first = load(symmetric, {row, next});
  b.loop(zero, sides, 1, [&](Value j) {
    Value isBehind = b.isLess(next, j);
    store(select(isBehind, load(symmetric, {row, j}), number(0)), reflector,
          {j});
  });
  Reflection reflection = makeReflection(first, next, symmetric, row);
  store(reflection.turned, beside, {row});
  b.ifTrue(reflection.isNeeded, [&] {
    b.loop(zero, sides, shape.lanes, [&](Value j) {
      storeVector(b.number(shape.vector, 0), product, {j});
    });
    combineRows(symmetric, next);
    Value weight = load(weights, {row});
    // Computes -w for the update F - v wᵀ - w vᵀ, where
    //   w = weight p - (weight² pᵀv / 2) v
    Value half = mul(mul(weight, weight),
                     mul(number(0.5), multiplyRows(product, reflector)));
    Value less = tiles.broadcast(negate(weight)), more = tiles.broadcast(half);
    loopColumns(zero, [&](Value j) {
      Value part = mul(more, loadVector(reflector, {j}));
      storeVector(fma(less, loadVector(product, {j}), part), product, {j});
    });
    // Clears the columns before `next` in the first vector, as they don't
    // belong to the remaining matrix.
    Value skipped = arith::RemUIOp::create(b, next, b.index(shape.lanes));
    b.loop(b.sub(next, skipped), next, 1,
           [&](Value j) { store(number(0), product, {j}); });
    addProducts(symmetric, next, {reflector, product}, {product, reflector});
  });
}

void SymmetricEigen::makeTridiagonal() {
  // The last two rows are tridiagonal already. There may be fewer rows than
  // two.
  int64_t last = shape.rows - 1;
  b.loop(zero, b.index(std::max<int64_t>(last - 1, 0)), 1,
         [&](Value row) { reflect(row); });
  Value none = number(0);
  if (last > 0) {
    Value before = b.index(last - 1);
    store(load(symmetric, {before, before}), diagonal, before);
    store(load(symmetric, {before, b.index(last)}), beside, before);
  }
  store(load(symmetric, {b.index(last), b.index(last)}), diagonal,
        b.index(last));
  store(none, beside, b.index(last));
}

/// Computes Q, the product of all reflections, in `basis`, then its transpose
/// in `symmetric`.
void SymmetricEigen::makeBasis() {
  fill(basis, [&](Value i, Value j) { return identity(i, j); });
  applyReflections(basis, symmetric, shape.rows - 2, /*distance=*/1);
  fill(symmetric, [&](Value i, Value j) { return load(basis, {j, i}); });
}

//===----------------------------------------------------------------------===//
// Iterations
//===----------------------------------------------------------------------===//

/// Rotates two neighbouring rows: row p becomes cosine * p - sine * q, and the
/// next row q becomes sine * p + cosine * q.
void SymmetricEigen::rotateRows(Value p, Value cosine, Value sine) {
  Value q = b.add(p, 1);
  cosine = tiles.broadcast(cosine);
  sine = tiles.broadcast(sine);
  Value back = negate(sine);
  loopColumns(zero, [&](Value j) {
    Value x = loadVector(symmetric, {p, j}), y = loadVector(symmetric, {q, j});
    storeVector(fma(back, y, mul(cosine, x)), symmetric, {p, j});
    storeVector(fma(sine, x, mul(cosine, y)), symmetric, {q, j});
  });
}

/// Returns the first row from `first` on whose element beside the diagonal is
/// at most `least`, and thus negligible.
Value SymmetricEigen::findSplit(Value first, Value least) {
  return b
      .foldDown(first, rows, 1, first,
                [&](Value i, ValueRange values) {
                  Value isLarge = isLess(least, absolute(load(beside, {i})));
                  return SmallVector<Value>{select(isLarge, values.front(), i)};
                })
      .front();
}

/// Subtracts the shift from the diagonal's elements from `first` on. Returns
/// the shift.
Value SymmetricEigen::shift(Value first) {
  Value next = b.add(first, 1);
  Value old = load(diagonal, {first}), side = load(beside, {first});
  Value part = div(sub(load(diagonal, {next}), old), mul(number(2), side));
  Value length = root(fma(part, part, number(1)));
  Value sum =
      add(part, select(isLess(part, number(0)), negate(length), length));
  Value here = div(side, sum);
  store(here, diagonal, {first});
  store(mul(side, sum), diagonal, {next});
  Value by = sub(old, here);
  b.loop(b.add(first, 2), rows, 1,
         [&](Value i) { store(sub(load(diagonal, {i}), by), diagonal, {i}); });
  return by;
}

/// Rotates the rows from `split` to `first`. `next` is the diagonal's element
/// after `first`. The memory of the reflector and of the product holds the
/// cosines and sines.
void SymmetricEigen::turn(Value first, Value split, Value next) {
  Value one = number(1), none = number(0);
  Value second = load(beside, b.add(first, 1));
  Value cosines = reflector, sines = product;
  store(one, cosines, {split});
  store(one, cosines, {b.add(split, 1)});
  store(none, sines, {split});
  b.foldDown(first, split, 1, {load(diagonal, {split}), one, none},
             [&](Value i, ValueRange values) {
               Value p = values[0], cosine = values[1], sine = values[2];
               Value after = b.add(i, 1), side = load(beside, {i});
               Value here = load(diagonal, {i});
               Value g = mul(cosine, side), h = mul(cosine, p);
               Value length = root(fma(p, p, mul(side, side)));
               store(mul(sine, length), beside, {after});
               Value isThere = isLess(none, length);
               Value newSine = select(isThere, div(side, length), none);
               Value newCosine = select(isThere, div(p, length), one);
               Value inner = fma(newCosine, g, mul(newSine, here));
               store(fma(newSine, inner, h), diagonal, {after});
               store(newCosine, cosines, {i});
               store(newSine, sines, {i});
               rotateRows(i, newCosine, newSine);
               Value newP = sub(mul(newCosine, here), mul(newSine, g));
               return SmallVector<Value>{newP, newCosine, newSine};
             });
  Value sine = load(sines, {first});
  Value factor =
      mul(load(sines, {b.add(first, 1)}), load(cosines, {b.add(first, 2)}));
  Value p = mul(mul(negate(sine), factor), second);
  p = div(mul(p, load(beside, {first})), next);
  store(mul(sine, p), beside, {first});
  store(mul(load(cosines, {first}), p), diagonal, {first});
}

/// Iterates until the element beside the diagonal's element `first` is
/// negligible, at most `least`. `taken` is the sum of all shifts that have been
/// subtracted from this and later elements. Returns the new sum.
Value SymmetricEigen::iterate(Value first, Value least, Value taken) {
  taken = b.fold(zero, b.index(kMostIterations), 1, taken,
                 [&](Value, ValueRange sums) {
                   Value isOpen =
                       isLess(least, absolute(load(beside, {first})));
                   return b.choose(isOpen, sums, [&] {
                     Value split = findSplit(first, least);
                     Value sum = add(sums.front(), shift(first));
                     turn(first, split, load(diagonal, b.add(first, 1)));
                     return SmallVector<Value>{sum};
                   });
                 })
              .front();
  store(add(load(diagonal, {first}), taken), diagonal, {first});
  return taken;
}

void SymmetricEigen::makeDiagonal() {
  Value largest =
      b.fold(zero, rows, 1, number(0), [&](Value i, ValueRange values) {
         Value size =
             add(absolute(load(diagonal, {i})), absolute(load(beside, {i})));
         return SmallVector<Value>{larger(values.front(), size)};
       }).front();
  double epsilon = shape.element.isF64()
                       ? std::numeric_limits<double>::epsilon()
                       : std::numeric_limits<float>::epsilon();
  Value least = mul(largest, number(epsilon));
  b.fold(zero, rows, 1, number(0), [&](Value first, ValueRange values) {
    return SmallVector<Value>{iterate(first, least, values.front())};
  });
}

//===----------------------------------------------------------------------===//
// The whole algorithm
//===----------------------------------------------------------------------===//

/// Writes the eigenvalues, times `factor` and at least 0, and the eigenvectors
/// as columns.
void SymmetricEigen::write(Value factor) {
  Value none = number(0);
  b.loop(zero, rows, 1, [&](Value i) {
    Value value = mul(load(diagonal, {i}), factor);
    store(select(isLess(none, value), value, none), kernel.results[1],
          {kernel.item, i});
    b.loop(zero, rows, 1, [&](Value j) {
      store(load(symmetric, {j, i}), kernel.results[0], {kernel.item, i, j});
    });
  });
}

/// Stores the starting basis as the result, or the identity if that basis isn't
/// nearly orthogonal. The eigenvalues become 0.
void SymmetricEigen::keepStart() {
  auto read = [&](Value i, Value j) {
    return load(kernel.operands[1], {kernel.item, i, j});
  };
  Value skew = findLargest([&](Value i, Value j) {
    Value sum = b.fold(zero, rows, 1, negate(identity(i, j)),
                       [&](Value k, ValueRange values) {
                         return SmallVector<Value>{
                             fma(read(k, i), read(k, j), values.front())};
                       })
                    .front();
    return absolute(sum);
  });
  Value isBasis = isLess(skew, number(kMostSkew));
  b.loop(zero, rows, 1, [&](Value i) {
    store(number(0), kernel.results[1], {kernel.item, i});
    b.loop(zero, rows, 1, [&](Value j) {
      store(select(isBasis, read(i, j), identity(i, j)), kernel.results[0],
            {kernel.item, i, j});
    });
  });
}

/// Decomposes the matrix, unless it isn't finite.
void SymmetricEigen::decompose() {
  unpack();
  Value largest = findLargest(
      [&](Value i, Value j) { return absolute(load(symmetric, {i, j})); });
  Value isGood = isFinite(largest);
  b.ifTrue(isGood, [&] {
    Value factor = scale(largest);
    makeTridiagonal();
    makeBasis();
    makeDiagonal();
    write(factor);
  });
  b.ifTrue(isNot(isGood), [&] { keepStart(); });
}

void SymmetricEigen::compute() {
  if (kernel.operands.size() < 3)
    return decompose();
  Value isNow = isDue(2);
  b.ifTrue(isNow, [&] { decompose(); });
  b.ifTrue(isNot(isNow), [&] {
    copySquare(1, 0);
    b.loop(zero, rows, 1, [&](Value i) {
      store(number(0), kernel.results[1], {kernel.item, i});
    });
  });
}

void hfta::emitEigen(LoopBuilder &builder, SymmetricEigenOp op,
                     const MatrixKernel &kernel) {
  auto type = cast<RankedTensorType>(op.getBasis().getType());
  BlockShape shape(type.getElementType(), type.getDimSize(1));
  SymmetricEigen(builder, shape, kernel).compute();
}
