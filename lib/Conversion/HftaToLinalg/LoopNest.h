//===- LoopNest.h - Structured ops built axis by axis -----------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_LOOPNEST_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_LOOPNEST_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"

namespace mlir::hfta {

using Axis = AffineExpr;
using Axes = SmallVector<AffineExpr>;

/// Builds a linalg.generic. Axes are nested in the order in which they are
/// added, the outermost first; operands are accessed at expressions over them.
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

  /// Adds an operand, which the body reads at `position`.
  void read(Value tensor, ArrayRef<Axis> position);
  /// Adds a result, in which the body's value is stored at `position`.
  void write(Type elementType, ArrayRef<Axis> position);
  /// Adds a result that starts as the scalar `initial` everywhere. The body
  /// gets its running value after the operands.
  void accumulate(Value initial, ArrayRef<Axis> position);
  /// Adds a result as `accumulate` does, with a tensor of initial values.
  void update(Value initial, ArrayRef<Axis> position);

  /// Creates the op. The body gets the operands and each result's running
  /// value, and returns each result's next value.
  SmallVector<Value> build(Body body);

  SmallVector<int64_t> getSizes(ArrayRef<Axis> axes) const;

private:
  Axis add(int64_t size, utils::IteratorType kind);
  int64_t getSize(Axis axis) const {
    return sizes[cast<AffineDimExpr>(axis).getPosition()];
  }
  /// Adds an operand that is never read and gives the sizes of those axes that
  /// are no operand's plain index, as linalg requires one for each loop.
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
