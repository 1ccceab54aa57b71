//===- LossWeight.h - Division by the sum of losses' weights ----*- C++ -*-===//
//
// A mean loss is a sum divided by the sum of its weights. Where nothing counts,
// as in a batch whose labels are all ignored, the sum of weights is zero: the
// mean is NaN, but its gradient is zero, as PyTorch's is. Smoothed labels of
// classes whose weight is zero have losses that aren't, and whose mean is
// infinite; its gradient is zero as well, so that the training goes on.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_LOSSWEIGHT_H
#define HFTA_LIB_TRANSFORMS_LOSSWEIGHT_H

#include "Hfta/Dialect/Hfta/IR/Expression.h"

#include <limits>

namespace mlir::hfta {

/// Returns the divisor of gradients for a sum of weights: the sum, or infinity,
/// which makes gradients zero, where nothing counts.
inline Expression getGradientDivisor(const Expression &weight) {
  return weight.compare(ComparePredicate::equal, 0.0)
      .select(std::numeric_limits<double>::infinity(), weight);
}

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_LOSSWEIGHT_H
