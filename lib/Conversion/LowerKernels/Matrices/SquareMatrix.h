//===- SquareMatrix.h - Loops on square matrices in memory ------*- C++ -*-===//
//
// The eigendecomposition and the orthogonal iteration of a matrix have in
// common padded squares and Householder reflections of their rows.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_SQUAREMATRIX_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_SQUAREMATRIX_H

#include "Matrices/MatrixKernel.h"
#include "Matrices/NumberBuilder.h"
#include "Matrices/TriangleBlocks.h"

namespace mlir::hfta {

/// Emits an algorithm on one symmetric matrix, which is the first operand of
/// the kernel. Squares in memory are padded with zeros to whole blocks, so that
/// loops over rows and columns need no remainder.
class SquareMatrix : protected NumberBuilder {
public:
  SquareMatrix(LoopBuilder &builder, const BlockShape &shape,
               const MatrixKernel &kernel);

protected:
  using Element = llvm::function_ref<Value(Value, Value)>;

  Value allocateSquare();
  Value allocateRow();

  /// Sets the elements of the matrix in a padded square to `element(row,
  /// column)`, and the padding to zero.
  void fill(Value square, Element element);
  Value identity(Value i, Value j) {
    return select(isEqual(i, j), number(1), number(0));
  }
  /// Copies the matrix into `symmetric`.
  void unpack();
  /// Divides all elements of `symmetric` by the largest absolute value, so that
  /// no square overflows or underflows. Returns that value, or 1 if it is 0.
  Value scale(Value largest);
  /// Returns the largest value of `element` over all rows and columns.
  Value findLargest(Element element);
  /// Returns whether a value is neither infinite nor NaN.
  Value isFinite(Value value);
  /// Returns whether an operand with one number a matrix isn't 0 for this one.
  Value isDue(unsigned operand);
  /// Stores an operand, a square, as a result.
  void copySquare(unsigned operand, unsigned result);
  /// Runs `body` for each vector of neighbouring columns, with the index of its
  /// first column, beginning with the vector that contains column `first`.
  void loopColumns(Value first, LoopBuilder::Body body);
  /// Sets `product` to the sum of the square's rows from `first` on, each
  /// multiplied by the reflector's element of that row.
  void combineRows(Value square, Value first);
  /// Adds products to the rows from `first` on: to each row, the sum over n of
  /// the row's element of left[n] times the vector right[n].
  void addProducts(Value square, Value first, ArrayRef<Value> left,
                   ArrayRef<Value> right);
  /// Returns the scalar product of two rows. Terms are added up lane by lane,
  /// then the lanes' sums are added.
  Value multiplyRows(Value left, Value right);

  /// A reflection of a vector on one of its elements: the new value of that
  /// element, and whether other elements make the reflection necessary.
  struct Reflection {
    Value turned, isNeeded;
  };
  /// Completes a reflection of a vector, of which `reflector` holds all
  /// elements but `head`, the one at `place`, on which it is turned. Makes
  /// `reflector` v, stores it as row `row` of `stored`, and its weight 2 / |v|²
  /// in `weights`: 0 where no reflection is needed.
  Reflection makeReflection(Value head, Value place, Value stored, Value row);
  /// Multiplies a square from the left by all reflections of rows 0 to
  /// `count` - 1 of `stored`, the last one first. That of row i changes rows
  /// and columns from i + `distance` on.
  void applyReflections(Value square, Value stored, int64_t count,
                        int64_t distance);

  BlockShape shape;
  TileBuilder tiles;
  const MatrixKernel &kernel;
  Value zero, rows, sides;
  Value symmetric, basis;
  /// The weights of all reflections; memory for one vector v, and for a row.
  Value weights, reflector, product;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_SQUAREMATRIX_H
