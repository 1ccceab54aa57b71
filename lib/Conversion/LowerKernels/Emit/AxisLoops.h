//===- AxisLoops.h - Loops over an op's axes --------------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_AXISLOOPS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_AXISLOOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::hfta {

/// Reads the element at `indices`, or a vector of `lanes` > 1 contiguous
/// elements.
Value createLoad(OpBuilder &builder, Location loc, Value memory,
                 ValueRange indices, int64_t lanes);
/// Writes an element at `indices`, or a vector of contiguous elements.
void createStore(OpBuilder &builder, Location loc, Value value, Value memory,
                 ValueRange indices);

/// Writes loops over the axes of a linalg.generic, and keeps track of the
/// position of the insertion point in the iteration space.
class AxisLoops {
public:
  AxisLoops(OpBuilder &builder, linalg::GenericOp op)
      : builder(builder), op(op), sizes(op.getStaticLoopRanges()),
        bases(sizes.size(), OpFoldResult(builder.getIndexAttr(0))),
        origins(bases) {}

  /// Calls `body` in a loop over [begin, end), counted from the axis' begin in
  /// `emitWithin`, or directly if there is one iteration.
  void emitLoop(unsigned axis, int64_t begin, int64_t end, int64_t step,
                llvm::function_ref<void()> body);
  /// Calls `body` in a loop over [begin, end) whose `begin` isn't static.
  void emitLoopFrom(unsigned axis, Value begin, int64_t end, int64_t step,
                    llvm::function_ref<void()> body);
  /// Calls `body` for an axis in blocks of `block` elements; the last block may
  /// be smaller.
  void emitBlocks(unsigned axis, int64_t block,
                  llvm::function_ref<void(int64_t size)> body);
  /// Calls `body` in a loop over the blocks of an axis. Within `body`, the axis
  /// consists of the current block only.
  void emitWithin(unsigned axis, int64_t block,
                  llvm::function_ref<void()> body);
  /// Calls `body` in a loop over [begin, end) that carries values, or directly
  /// if there is one iteration. `body` gets the running values and returns the
  /// next ones. Returns the last values.
  SmallVector<Value>
  emitCarrying(unsigned axis, int64_t begin, int64_t end, int64_t step,
               ValueRange running,
               llvm::function_ref<SmallVector<Value>(ValueRange)> body);

  /// Sets the current position along an axis to an index, counted from the
  /// axis' begin in `emitWithin`.
  void moveTo(unsigned axis, int64_t index) {
    bases[axis] = fromOrigin(axis, builder.getIndexAttr(index));
  }

  /// Returns the indices at which an operand is accessed at the current
  /// position plus an offset for each axis.
  SmallVector<Value> getIndices(OpOperand &operand, ArrayRef<int64_t> offsets);
  /// Returns the current position plus an offset for each axis.
  SmallVector<Value> getPosition(ArrayRef<int64_t> offsets);
  /// Returns the distance of the current position from the axis' begin in
  /// `emitWithin`, plus an offset.
  Value getDistance(unsigned axis, int64_t offset);
  /// Returns the sum of the distances from the begins of two axes in
  /// `emitWithin`, each times a factor, plus an offset.
  Value getWeightedSum(std::pair<unsigned, int64_t> first,
                       std::pair<unsigned, int64_t> second, int64_t offset);
  Value addConstant(Value index, int64_t constant);

  OpBuilder &builder;
  linalg::GenericOp op;
  SmallVector<int64_t> sizes;

private:
  Value createIndex(int64_t value);
  OpFoldResult fromOrigin(unsigned axis, OpFoldResult index);

  /// The current position: an index for each axis.
  SmallVector<OpFoldResult> bases;
  /// The begin of each axis in `emitWithin`.
  SmallVector<OpFoldResult> origins;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_AXISLOOPS_H
