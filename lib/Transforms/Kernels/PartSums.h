//===- PartSums.h - Sums in the kernels of their terms ----------*- C++ -*-===//
//
// A kernel that computes a tensor can also add up the columns of its tile, part
// by part, while the tile is still in fast memory.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_KERNELS_PARTSUMS_H
#define HFTA_LIB_TRANSFORMS_KERNELS_PARTSUMS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// Returns whether an op that computes the terms of `sums`, directly or through
/// other ops, can be in the same kernel. It can if it is elementwise, or a
/// producer whose elements a thread block computes in tiles that contain whole
/// parts, or one by one at little cost.
bool canHaveParts(PartSumsOp sums, Operation *op);

/// Returns whether a kernel with these ops has room for another one. The kernel
/// keeps a tile of every tensor whose parts it adds up in the thread block's
/// shared memory.
bool haveRoomForParts(ArrayRef<Operation *> members, Operation *op);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_KERNELS_PARTSUMS_H
