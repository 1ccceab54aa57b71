//===- LoopPlan.h - The loop nest of an op on memory ------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_LOOPPLAN_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_LOOPPLAN_H

#include "Hfta/Target/TargetModel.h"
#include "Plan/Access.h"

namespace mlir::hfta {

/// Neighbouring elements of a block, which are computed as a vector: the offset
/// of the first one in the block, and their number.
struct VectorPart {
  int64_t offset, lanes;
};

/// A block of an axis of terms: `size` terms are computed at a time.
struct TermBlock {
  unsigned axis;
  int64_t size;
};

/// The loop nest of an op, from the outermost loops inwards: a loop over blocks
/// of packed rows (`rowBlock`), loops over `blocks`, over `outer` in order,
/// over blocks of the vector axis, over blocks of the row axes in order, and
/// over `reductions` in order. The innermost body computes a tile: `vectors`
/// vectors for each of its rows.
struct LoopPlan {
  SmallVector<unsigned> outer, rowAxes, reductions;
  SmallVector<int64_t> rows; ///< for each row axis, the rows of a full block
  /// Indices into `rowAxes`: the order in which a tile runs through its rows,
  /// chosen such that few loaded values are live at a time. The last axis
  /// changes fastest.
  SmallVector<unsigned> rowOrder;
  SmallVector<TermBlock> blocks; ///< blocks of the outermost reductions
  /// The input that is packed: its part for a block of the vector axis is
  /// copied to contiguous memory, a panel, before the loops over rows read it
  /// repeatedly. If the input isn't contiguous along the vector axis, it is
  /// transposed at the same time.
  std::optional<unsigned> packed;
  /// The input whose rows are packed: before the loops over columns read it
  /// repeatedly, the elements of each tile's rows are copied to contiguous
  /// memory, in the order in which the tile reads them. There is one row axis
  /// then, and one axis of terms.
  std::optional<unsigned> packedRows;
  /// The rows that are packed at a time, a multiple of a tile's; 0 if all are.
  int64_t rowBlock = 0;
  std::optional<unsigned> vectorAxis;
  int64_t lanes = 1;   ///< the number of lanes of a full vector
  int64_t vectors = 1; ///< the number of vectors of a full block
  /// Whether loops over terms are unrolled, as there are few terms.
  bool unrolls = false;
  /// Whether windows of neighbouring rows overlap along a short innermost loop.
  bool sharesWindows = false;
  /// Whether elements may be computed twice, so that vectors can overlap.
  bool overlaps = false;
  /// Whether the result is so large that it would leave the caches before it is
  /// read. Full vectors are then stored past the caches (non-temporal stores),
  /// at aligned addresses.
  bool streams = false;
  /// If `streams` is set, whether all vectors of the result are aligned, so
  /// that no elements come before the first aligned address.
  bool aligned = false;
  /// Whether zero is added to each sum before it is stored. Sums that are
  /// stored between blocks of terms may have it added each time: that doesn't
  /// change the bits of what it is added to last.
  bool addsZero = false;

  /// Returns the number of terms of an axis that are computed at a time; `size`
  /// if the axis isn't blocked.
  int64_t getBlock(unsigned axis, int64_t size) const;
  /// Returns the vectors of a block of the vector axis that has `size`
  /// elements: full vectors, then the rest. `extent` is the number of elements
  /// of the axis. If `overlaps` is set, the last vector may begin before the
  /// rest, even before the block.
  SmallVector<VectorPart> getParts(int64_t size, int64_t extent) const;
};

/// Returns the number of terms of an axis that are computed at a time by
/// `blocks`; `size` if the axis isn't blocked.
int64_t getBlock(llvm::ArrayRef<TermBlock> blocks, unsigned axis, int64_t size);

/// Plans the loops of an op. The target affects only which elements are
/// computed together, never the order of terms. `initial` holds the initial
/// value of each result, null if it is read from memory. `packed` is the number
/// of an input that has to be packed; the plan has another number, or none, if
/// that isn't possible. Otherwise an input is packed where that pays.
LoopPlan planLoops(linalg::GenericOp op, ArrayRef<Value> initial,
                   const TargetModel &target,
                   std::optional<unsigned> packed = std::nullopt);

/// Returns the lengths of the vectors that cover `size` elements: full vectors,
/// then powers of two in descending order.
SmallVector<int64_t> splitIntoVectors(int64_t size, int64_t lanes);

/// Returns the allocation or argument that `memory` is a view of.
Value getRootMemory(Value memory);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_LOOPPLAN_H
