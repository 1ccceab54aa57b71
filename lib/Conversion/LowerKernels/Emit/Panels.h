//===- Panels.h - Operands packed to contiguous memory ----------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_PANELS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_PANELS_H

#include "Emit/AxisLoops.h"
#include "Plan/LoopPlan.h"

namespace mlir::hfta {

/// Creates the memory to which elements of an operand are packed, at the
/// beginning of the operand's function.
Value createPanel(OpBuilder &builder, OpOperand &operand,
                  ArrayRef<int64_t> shape);

/// Prefetches the cache line of the element at the current position plus
/// `offsets`, for the term that comes `ahead` terms later.
void prefetchTerm(AxisLoops &loops, OpOperand &operand,
                  SmallVector<int64_t> offsets, unsigned terms, int64_t ahead);

/// Calls `body` in loops over the terms that are packed, along the axis
/// `terms`. It gets the number of terms between the current one and the one
/// that it should prefetch, 0 near the end. For each term `elements` elements
/// are packed, which may be on pages of their own, so that hardware doesn't
/// prefetch them.
void emitPackedTerms(AxisLoops &loops, OpOperand &operand, unsigned terms,
                     int64_t elements,
                     llvm::function_ref<void(int64_t ahead)> body);

/// The memory to which the rows of `LoopPlan::packedRows` are packed: for each
/// tile of rows, for each of the terms, the elements of the tile's rows.
class RowPanel {
public:
  RowPanel(AxisLoops &loops, const LoopPlan &plan, const TargetModel &target)
      : loops(loops), plan(plan), target(target) {}

  /// Packs the current block of rows and terms.
  void pack();
  /// Returns whether an operand is read from the panel.
  bool holds(OpOperand &operand) const {
    return memory && plan.packedRows == operand.getOperandNumber();
  }
  /// Loads the element of a row of the current tile for the current term.
  Value load(int64_t row);

private:
  /// Packs the rows' elements for one term. If `ahead` isn't zero, prefetches
  /// those for the term that comes so many terms later.
  void packTerm(OpOperand &operand, int64_t ahead);
  int64_t countElements();
  /// Returns the index of an element of the current tile.
  Value getIndex(int64_t row);

  AxisLoops &loops;
  const LoopPlan &plan;
  TargetModel target;
  Value memory;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_PANELS_H
