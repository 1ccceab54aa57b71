//===- Prefetch.h - Memory of the next work item ----------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_PREFETCH_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_PREFETCH_H

#include "Plan/LoopPlan.h"

namespace mlir::hfta {

/// Asks for what the next work item reads while this one computes. A kernel
/// that makes several passes over its item's part of an argument waits for
/// memory in the first pass only, which nothing hides; so the second pass,
/// which finds its own part in the cache, asks for the next item's.
class Prefetcher {
public:
  Prefetcher(OpBuilder &builder, linalg::GenericOp op,
             const TargetModel &target);

  /// Asks for the next item's cache line at these indices of an operand, if a
  /// vector that is `offset` elements from where vectors begin is the first
  /// that reads it.
  void create(OpOperand &operand, ValueRange indices, int64_t offset);

private:
  OpBuilder &builder;
  int64_t lineBytes;
  /// The next item's memory for some of the op's operands.
  llvm::SmallDenseMap<OpOperand *, Value> memories;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_EMIT_PREFETCH_H
