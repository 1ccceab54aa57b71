//===- LoopPlan.h - The loop nest of an op on memory ------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_LOOPPLAN_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_LOOPPLAN_H

#include "Hfta/Target/TargetModel.h"
#include "Plan/Access.h"

namespace mlir::hfta {

/// Neighbouring elements of a block: their offset from its first one and their
/// number.
struct VectorPart {
  int64_t offset, lanes;
};

/// An axis of which `size` terms are computed at a time.
struct TermBlock {
  unsigned axis;
  int64_t size;
};

/// The loops of an op: those over `blocks`, over `outer` in order, over blocks
/// of the vector axis, over blocks of the row axes in order, and over
/// `reductions` in order. The innermost body computes `vectors` vectors for
/// each of its rows.
struct LoopPlan {
  SmallVector<unsigned> outer, rowAxes, reductions;
  SmallVector<int64_t> rows; ///< the rows of a full block, for each row axis
  /// Indices into `rowAxes`: the order in which a tile runs through its rows,
  /// such that few of the values that it has read are live. The last one
  /// changes fastest.
  SmallVector<unsigned> rowOrder;
  SmallVector<TermBlock> blocks; ///< blocks of the outermost reductions
  /// The input whose part for a block of the vector axis is copied to
  /// contiguous memory before the loops over rows read it repeatedly.
  std::optional<unsigned> packed;
  std::optional<unsigned> vectorAxis;
  int64_t lanes = 1;   ///< the lanes of a full vector
  int64_t vectors = 1; ///< the vectors of a full block
  /// Whether the few terms of a sum are computed without loops.
  bool unrolls = false;
  /// Whether windows of neighbouring rows overlap along a short innermost loop.
  bool sharesWindows = false;
  /// Whether elements may be computed twice, so that vectors can overlap.
  bool overlaps = false;
  /// Whether the result is so large that it leaves the caches before it is
  /// read: full vectors are then stored past the caches, at aligned addresses.
  bool streams = false;
  /// If so, whether all vectors of the result are aligned without a lead.
  bool aligned = false;

  /// Returns how many terms of an axis, of `size`, are computed at once.
  int64_t getBlock(unsigned axis, int64_t size) const;
  /// Returns the vectors of a block of the vector axis that doesn't go beyond
  /// the axis' end: full ones, then the rest.
  SmallVector<VectorPart> getParts(int64_t size, int64_t extent) const;
};

/// Plans the loops of an op. The target affects only what is computed together.
/// `initial` are the values that the results start from, null if they are read
/// from memory.
LoopPlan planLoops(linalg::GenericOp op, ArrayRef<Value> initial,
                   const TargetModel &target);

/// Returns the widths of the vectors that cover `size` elements: full ones,
/// then powers of two in descending order.
SmallVector<int64_t> splitIntoVectors(int64_t size, int64_t lanes);

/// Returns the allocation or argument of which memory is a view.
Value getRootMemory(Value memory);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_LOOPPLAN_H
