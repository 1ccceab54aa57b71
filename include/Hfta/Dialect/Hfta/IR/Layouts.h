//===- Layouts.h - In which order a tensor's axes are stored ----*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_LAYOUTS_H
#define HFTA_DIALECT_HFTA_IR_LAYOUTS_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/SmallVector.h"

namespace mlir::hfta {

/// The permutation from [n, c, space…] to [n, space…, c], rank >= 2: result
/// axis i is input axis permutation[i].
SmallVector<int64_t> getChannelsLast(size_t rank);
/// Its inverse.
SmallVector<int64_t> getChannelsFirst(size_t rank);

/// Elements of `values` in the order of `permutation`.
SmallVector<int64_t> permute(ArrayRef<int64_t> values,
                             ArrayRef<int64_t> permutation);

/// Relative cost of an element of a contiguous innermost loop of `size`
/// iterations that is vectorized, with its remainder in shorter vectors. The
/// same for all targets, so that what follows from it is, too.
double getVectorCost(int64_t size, Type elementType);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_LAYOUTS_H
