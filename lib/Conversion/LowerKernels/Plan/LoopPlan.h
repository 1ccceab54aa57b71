//===- LoopPlan.h - The loop nest of an op on memory ------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_LOOPPLAN_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_LOOPPLAN_H

#include "Hfta/Target/TargetModel.h"
#include "Plan/Access.h"

namespace mlir::hfta {

/// Neighbouring elements of a block, from its first one.
struct VectorPart {
  int64_t offset, lanes;
};

/// So many terms of an axis at a time.
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
  SmallVector<int64_t> rows; ///< of a full block, for each row axis
  /// Places in `rowAxes`: how a tile goes through its rows, so that it holds
  /// few of the values that it has read. The last one changes fastest.
  SmallVector<unsigned> rowOrder;
  SmallVector<TermBlock> blocks; ///< of the first reductions
  /// The input whose part for a block of the vector axis is copied to
  /// contiguous memory before the loops over rows use it again and again.
  std::optional<unsigned> packed;
  std::optional<unsigned> vectorAxis;
  int64_t lanes = 1;   ///< of a full vector
  int64_t vectors = 1; ///< of a full block
  /// Whether the few terms of a sum are computed without loops.
  bool unrolls = false;
  /// Whether windows of neighbouring rows overlap along a short innermost loop.
  bool sharesWindows = false;
  /// Whether elements may be computed twice, so that vectors can overlap.
  bool overlaps = false;
  /// Whether the result is so large that it leaves the caches before anyone
  /// reads it: full vectors are then stored past them, at aligned addresses.
  bool streams = false;
  /// Then, whether all vectors of the result are aligned as they come.
  bool aligned = false;

  /// So many terms of an axis, of `size`, are computed in one go.
  int64_t getBlock(unsigned axis, int64_t size) const;
  /// The vectors of a block of the vector axis that ends at most at the axis'
  /// end: full ones, then what is left.
  SmallVector<VectorPart> getParts(int64_t size, int64_t extent) const;
};

/// Depends on the target in what is computed together only. `initial` are the
/// values that the results start from, null where they are read from memory.
LoopPlan planLoops(linalg::GenericOp op, ArrayRef<Value> initial,
                   const TargetModel &target);

/// The widths of the vectors that cover `size` elements: full ones, then
/// powers of two in descending order.
SmallVector<int64_t> splitIntoVectors(int64_t size, int64_t lanes);

/// The allocation or argument that memory is a view of.
Value getRootMemory(Value memory);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_LOOPPLAN_H
