//===- LoopEmitter.h - Loops over vectors for an op on memory ---*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_LOOPEMITTER_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_LOOPEMITTER_H

#include "Emit/AxisLoops.h"
#include "Emit/Epilogue.h"
#include "Emit/Panels.h"
#include "Emit/Prefetch.h"
#include "Plan/LoopPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <map>

namespace mlir::hfta {

/// Writes the loop nest of a linalg.generic on memory, as a plan describes it.
class LoopEmitter {
public:
  /// `initial` holds the initial value of each result, null if it is read from
  /// memory.
  LoopEmitter(OpBuilder &builder, linalg::GenericOp op, const LoopPlan &plan,
              ArrayRef<Value> initial, const TargetModel &target)
      : builder(builder), op(op), plan(plan), initial(initial), target(target),
        loops(builder, op), prefetcher(builder, op, target),
        rowPanel(loops, plan, target) {}

  /// Lets the result of an epilogue, whose operands `addEpilogueInputs` has
  /// added to the op, be stored instead of the sums. The plan must have no
  /// blocks of terms.
  void takeEpilogue(Epilogue taken) { epilogue = std::move(taken); }

  void emit();

private:
  /// A vector of a tile: the offsets of its first lane from the tile's base
  /// along each axis, and its number of lanes.
  struct Piece {
    SmallVector<int64_t> offsets;
    int64_t lanes;
  };
  using Loads = std::map<std::pair<unsigned, SmallVector<int64_t>>, Value>;

  void emitBlocks(size_t next);
  void emitOuter(size_t next);
  void emitColumns();
  /// Emits the columns such that most vectors are stored past the caches
  /// (non-temporal stores).
  void emitStream();
  void emitMasked(arith::CmpIPredicate predicate, Value bound);
  /// Returns the distance from the beginning of the vector axis to the first
  /// aligned address, in elements.
  Value createLead();
  /// Packs the part of an input that a block of the vector axis reads.
  void emitPacking(ArrayRef<VectorPart> parts);
  void emitPackingLoops(size_t next, OpOperand &operand,
                        ArrayRef<Piece> pieces);
  /// Packs all terms along `axis`, the innermost one.
  void packRows(unsigned axis, OpOperand &operand, ArrayRef<Piece> pieces);
  /// Packs all terms along `axis`, the innermost one, along which the operand
  /// is contiguous.
  void packTransposed(unsigned axis, OpOperand &operand,
                      ArrayRef<Piece> pieces);
  /// Stores elements of the packed operand in the panel.
  void storePacked(OpOperand &operand, ArrayRef<Piece> pieces, Loads &loads);
  SmallVector<Value> getPackedIndices(const Piece &piece);
  void emitRows(size_t next, ArrayRef<VectorPart> parts);
  void emitTile(ArrayRef<VectorPart> parts);
  SmallVector<Piece> getPieces(ArrayRef<VectorPart> parts) const;
  /// Emits the loops over the terms of the tile's sums. Returns the sums.
  SmallVector<Value> emitReductions(size_t next, ArrayRef<Piece> pieces,
                                    ValueRange running);
  /// Emits loops over an axis in blocks of as many terms as a vector has lanes,
  /// then of half as many, and so on. `body` gets a block's number of terms and
  /// the running values, and returns the next ones.
  SmallVector<Value> emitInSquares(
      unsigned axis, ValueRange running,
      llvm::function_ref<SmallVector<Value>(int64_t, ValueRange)> body);
  /// Emits the innermost loop over terms in blocks, for inputs that are
  /// transposed in registers.
  SmallVector<Value> emitTransposed(unsigned axis, ArrayRef<Piece> pieces,
                                    ValueRange running);
  SmallVector<Value> emitTransposedBlock(unsigned axis, int64_t size,
                                         ArrayRef<Piece> pieces,
                                         ValueRange running);
  /// Loads `size` terms of an input that is transposed in registers.
  void loadTransposed(OpOperand &operand, unsigned axis, int64_t size,
                      const Piece &piece, Loads &loads);
  /// Loads `side` terms for `side` lanes and transposes them. Returns one
  /// vector for each term.
  SmallVector<Value> loadSquare(OpOperand &operand, const Piece &piece,
                                int64_t firstLane, int64_t side);
  /// Emits the body for each piece. `running` holds the results' values so far.
  /// Returns the next values.
  SmallVector<Value> emitBody(ArrayRef<Piece> pieces, ValueRange running,
                              Loads &loads);

  SmallVector<Value> loadInitial(ArrayRef<Piece> pieces);
  void store(ArrayRef<Piece> pieces, ValueRange results);
  Value addZero(Value sum);
  /// Applies the epilogue to a sum and stores its result.
  void storeEpilogue(const Piece &piece, Value sum);
  /// Returns whether an operand is read from the panel.
  bool isPacked(OpOperand &operand) const {
    return panel && plan.packed == operand.getOperandNumber();
  }
  Value loadInput(OpOperand &operand, const Piece &piece, Loads &loads);
  /// Returns the key in `loads` of the elements that a piece reads of an
  /// operand.
  std::pair<unsigned, SmallVector<int64_t>> getKey(OpOperand &operand,
                                                   const Piece &piece);
  Value load(OpOperand &operand, const Piece &piece);
  Value loadStrided(OpOperand &operand, const Piece &piece, int64_t stride);
  void storeTo(OpOperand &operand, const Piece &piece, Value value);
  /// Returns the indices at which a lane of a piece accesses an operand.
  SmallVector<Value> getIndices(OpOperand &operand, const Piece &piece,
                                int64_t lane = 0);

  OpBuilder &builder;
  linalg::GenericOp op;
  const LoopPlan &plan;
  ArrayRef<Value> initial;
  TargetModel target;
  AxisLoops loops;
  Prefetcher prefetcher;
  /// The memory to which the packed input is copied: for each of the terms, in
  /// their order, the elements of a block of the vector axis.
  Value panel;
  RowPanel rowPanel;
  std::optional<Epilogue> epilogue;
  /// Whether vectors are currently stored past the caches.
  bool streaming = false;
  /// A mask of the lanes that are stored; null: all lanes.
  Value mask;
  /// The number of rows of the current tile along each of the plan's row axes.
  SmallVector<int64_t> rows;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_LOOPEMITTER_H
