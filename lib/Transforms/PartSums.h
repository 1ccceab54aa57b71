//===- PartSums.h - Sums beside the tensors they add up ---------*- C++ -*-===//
//
// A kernel that computes a tensor adds up the columns of its own tile, part by
// part, while it still has them at hand.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_PARTSUMS_H
#define HFTA_LIB_TRANSFORMS_PARTSUMS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// Whether the kernel of a sum of parts can also have an op that computes its
/// terms, directly or by way of other ops: an elementwise one, or a producer
/// whose elements a thread block computes by tiles with whole parts in them, or
/// one by one at little cost.
bool canHaveParts(PartSumsOp sums, Operation *op);

/// Whether a kernel with these ops has room for another one: it keeps a tile of
/// every tensor whose parts it adds up in the thread block's shared memory.
bool haveRoomForParts(ArrayRef<Operation *> members, Operation *op);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_PARTSUMS_H
