//===- LoopNest.h - Structured ops built axis by axis -----------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_LOOPNEST_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_LOOPNEST_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"

namespace mlir::hfta {

using Axis = AffineExpr;
using Axes = SmallVector<AffineExpr>;

/// Builds a linalg.generic op. Its loops are nested in the order in which axes
/// are added, the outermost first. Operands and results are accessed at affine
/// expressions of the axes.
class LoopNest {
public:
  using Body = function_ref<SmallVector<Value>(OpBuilder &, Location,
                                               ValueRange arguments)>;

  LoopNest(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Axis addParallel(int64_t size) {
    return add(size, utils::IteratorType::parallel);
  }
  Axis addReduction(int64_t size) {
    return add(size, utils::IteratorType::reduction);
  }
  Axes addParallel(ArrayRef<int64_t> sizes);
  Axes addReduction(ArrayRef<int64_t> sizes);

  /// Adds an operand; the body gets its element at `position`.
  void read(Value tensor, ArrayRef<Axis> position);
  /// Adds a result; the body's value is stored in it at `position`.
  void write(Type elementType, ArrayRef<Axis> position);
  /// Adds a result whose elements all start as the scalar `initial`. The body
  /// gets the running value at `position`.
  void accumulate(Value initial, ArrayRef<Axis> position);
  /// Adds a result whose elements start as those of the tensor `initial`. The
  /// body gets the running value at `position`.
  void update(Value initial, ArrayRef<Axis> position);

  /// Creates the op and returns its results. The body gets the elements of the
  /// operands, then the running values of the results, and returns the results'
  /// next values.
  SmallVector<Value> build(Body body);

  SmallVector<int64_t> getSizes(ArrayRef<Axis> axes) const;

private:
  Axis add(int64_t size, utils::IteratorType kind);
  int64_t getSize(Axis axis) const {
    return sizes[cast<AffineDimExpr>(axis).getPosition()];
  }
  /// Adds an operand that is never read and has the sizes of those axes that
  /// aren't a plain index of any other tensor. linalg infers the size of each
  /// loop from such an index.
  void readSizes();

  OpBuilder &builder;
  Location loc;
  SmallVector<int64_t> sizes;
  SmallVector<utils::IteratorType> kinds;
  SmallVector<Value> inputs, outputs;
  SmallVector<Axes> inputPositions, outputPositions;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATOLINALG_LOOPNEST_H
