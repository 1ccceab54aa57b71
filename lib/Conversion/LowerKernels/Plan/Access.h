//===- Access.h - Operands' memory accesses by vectors ----------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_ACCESS_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_ACCESS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace mlir::hfta {

/// How an operand is read or written by vectors along an axis.
struct Access {
  enum Kind {
    Uniform,   ///< one element for all lanes
    Strided,   ///< every `stride`-th element
    Scattered, ///< anywhere
    /// Anywhere, but contiguous along the innermost reduction: vectors along
    /// that are read for all lanes and transposed.
    Transposed
  };
  Kind kind = Uniform;
  int64_t stride = 0;

  bool isContiguous() const { return kind == Strided && stride == 1; }
  /// Returns whether whole vectors are read and lanes picked from them.
  bool isShuffled() const {
    return kind == Strided && stride > 1 && stride <= 4;
  }
};

Access getAccess(linalg::GenericOp op, OpOperand &operand,
                 std::optional<unsigned> axis);

/// Returns whether vectors along an axis are read by transposing an input.
bool transposes(linalg::GenericOp op, std::optional<unsigned> axis);

/// Returns the bytes in memory of an element of a tensor, vector or memref.
int64_t getStoredElementBytes(Type type);

/// Returns the axis of the innermost loop if that is over the terms of sums.
std::optional<unsigned> getInnermostReduction(linalg::GenericOp op);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_PLAN_ACCESS_H
