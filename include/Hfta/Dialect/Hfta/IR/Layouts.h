//===- Layouts.h - The order in which axes are stored -----------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_LAYOUTS_H
#define HFTA_DIALECT_HFTA_IR_LAYOUTS_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::hfta {

/// Returns the permutation from [n, c, space…] to [n, space…, c], rank >= 2:
/// result axis i is input axis permutation[i].
SmallVector<int64_t> getChannelsLast(size_t rank);
/// Returns the inverse of getChannelsLast.
SmallVector<int64_t> getChannelsFirst(size_t rank);

/// Returns the elements of `values` in the order of `permutation`.
SmallVector<int64_t> permute(ArrayRef<int64_t> values,
                             ArrayRef<int64_t> permutation);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_LAYOUTS_H
