//===- LossWeight.h - Division by the sum of losses' weights ----*- C++ -*-===//
//
// A mean loss is a sum divided by the sum of its weights. Where nothing counts,
// as in a batch whose labels are all ignored, the sum of weights is zero: the
// mean is NaN, but its gradient is zero, as PyTorch's is.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_LOSSWEIGHT_H
#define HFTA_LIB_TRANSFORMS_LOSSWEIGHT_H

#include "Hfta/Dialect/Hfta/IR/Expression.h"

namespace mlir::hfta {

/// Returns the divisor of gradients for a sum of weights: the sum, or 1 where
/// nothing counts. The gradients of the sum of losses are zero there, and a
/// division by zero would make them NaN.
inline Expression getGradientDivisor(const Expression &weight) {
  return weight.compare(ComparePredicate::equal, 0.0).select(1.0, weight);
}

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_LOSSWEIGHT_H
