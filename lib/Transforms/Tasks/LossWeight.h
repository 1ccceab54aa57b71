//===- LossWeight.h - Division by the sum of losses' weights ----*- C++ -*-===//
//
// A mean loss is a sum divided by the sum of its weights. If no term counts, as
// in a batch whose labels are all ignored, the sum of weights is zero; then the
// mean is NaN, but its gradient is zero, as in PyTorch. With smoothed labels,
// classes of weight zero can have losses that aren't zero; then the mean is
// infinite, and its gradient is zero as well, so that training goes on.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_TASKS_LOSSWEIGHT_H
#define HFTA_LIB_TRANSFORMS_TASKS_LOSSWEIGHT_H

#include "Hfta/Dialect/Hfta/IR/Expression.h"

#include <limits>

namespace mlir::hfta {

/// Returns the divisor of gradients for a sum of weights: the sum itself or, if
/// it is zero, infinity, so that gradients are zero.
inline Expression getGradientDivisor(const Expression &weight) {
  return weight.compare(ComparePredicate::equal, 0.0)
      .select(std::numeric_limits<double>::infinity(), weight);
}

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_TASKS_LOSSWEIGHT_H
