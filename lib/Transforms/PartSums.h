//===- PartSums.h - Sums beside what they add up ----------------*- C++ -*-===//
//
// A kernel that computes a tensor adds up the columns of its own tile, part by
// part, before it forgets them.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_PARTSUMS_H
#define HFTA_LIB_TRANSFORMS_PARTSUMS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// Whether the kernel of a sum of parts can have an op in it that computes, or
/// leads to, what is added up: an elementwise one, or a producer whose elements
/// a block of threads has by tiles with whole parts in them, or one by one at
/// little cost.
bool canHaveParts(PartSumsOp sums, Operation *op);

/// Whether a kernel that has these ops can have another one, too: of all
/// tensors whose parts it adds up a tile is in memory that a block shares.
bool haveRoomForParts(ArrayRef<Operation *> members, Operation *op);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_PARTSUMS_H
