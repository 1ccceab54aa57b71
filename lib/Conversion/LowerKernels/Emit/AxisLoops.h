//===- AxisLoops.h - Loops over an op's axes --------------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_AXISLOOPS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_AXISLOOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::hfta {

/// Reads an element, or a vector of `lanes` > 1 contiguous ones.
Value createLoad(OpBuilder &builder, Location loc, Value memory,
                 ValueRange indices, int64_t lanes);
/// Writes an element, or a vector of contiguous ones.
void createStore(OpBuilder &builder, Location loc, Value value, Value memory,
                 ValueRange indices);

/// Writes loops over the axes of a linalg.generic, and keeps track of where in
/// the iteration space the insertion point is.
class AxisLoops {
public:
  AxisLoops(OpBuilder &builder, linalg::GenericOp op)
      : builder(builder), op(op), sizes(op.getStaticLoopRanges()),
        bases(sizes.size(), OpFoldResult(builder.getIndexAttr(0))),
        origins(bases) {}

  /// Calls `body` in a loop over [begin, end), or directly if it runs once.
  void emitLoop(unsigned axis, int64_t begin, int64_t end, int64_t step,
                llvm::function_ref<void()> body);
  /// Calls `body` in a loop from an index on that isn't static.
  void emitLoopFrom(unsigned axis, Value begin, int64_t end, int64_t step,
                    llvm::function_ref<void()> body);
  /// Calls `body` for all of an axis in blocks, the last of which may be
  /// smaller.
  void emitBlocks(unsigned axis, int64_t block,
                  llvm::function_ref<void(int64_t size)> body);
  /// Calls `body` for one block of an axis after the other; within it, the axis
  /// consists of that block only.
  void emitWithin(unsigned axis, int64_t block,
                  llvm::function_ref<void()> body);
  /// Calls `body` with the values so far, in a loop over [begin, end) that
  /// carries them, or directly if it runs once; returns the last values.
  SmallVector<Value>
  emitCarrying(unsigned axis, int64_t begin, int64_t end, int64_t step,
               ValueRange running,
               llvm::function_ref<SmallVector<Value>(ValueRange)> body);

  /// Moves along an axis, to an index from its begin.
  void moveTo(unsigned axis, int64_t index) {
    bases[axis] = fromOrigin(axis, builder.getIndexAttr(index));
  }

  /// Returns an operand's indices at the current place plus an offset for each
  /// axis.
  SmallVector<Value> getIndices(OpOperand &operand, ArrayRef<int64_t> offsets);
  /// Returns the current place plus an offset for each axis.
  SmallVector<Value> getPosition(ArrayRef<int64_t> offsets);
  /// Returns the distance of the current place from the axis' begin in
  /// emitWithin, plus an offset.
  Value getDistance(unsigned axis, int64_t offset);
  Value addConstant(Value index, int64_t constant);

  OpBuilder &builder;
  linalg::GenericOp op;
  SmallVector<int64_t> sizes;

private:
  Value createIndex(int64_t value);
  OpFoldResult fromOrigin(unsigned axis, OpFoldResult index);

  /// The place of the insertion point, an index for each axis.
  SmallVector<OpFoldResult> bases;
  /// The begin of each axis in emitWithin.
  SmallVector<OpFoldResult> origins;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_AXISLOOPS_H
