//===- LossScale.h - Scales of losses ---------------------------*- C++ -*-===//
//
// The loss scales of a job with `loss_scale`. Gradients of a loss times a power
// of two are those of the loss times it, except for values that are too small
// or too large for the types that they are rounded to on their way. Each copy
// has a scale of its own, which follows from its own gradients: Micikevicius et
// al., "Mixed precision training", ICLR 2018, by the rules of PyTorch's
// GradScaler.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_LOSSSCALE_H
#define HFTA_LIB_TRANSFORMS_LOSSSCALE_H

#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "TaskBuilder.h"

namespace mlir::hfta {

/// Declares each copy's scale and its counts, which are state as the
/// optimizer's is, and the results that a step reports of them.
void declareLossScale(TaskBuilder &tasks);

/// Reads each copy's scale in `type`: the gradient with respect to its loss.
Value readLossScale(TaskBuilder &tasks, Type type);

/// Reads how many of the steps so far have changed a copy, as its optimizer has
/// counted them: a scalar in f64.
Value readStepsTaken(TaskBuilder &tasks, std::optional<int64_t> copy);

/// Builds into the clip task the next step's scale. `squares` is the sum of the
/// squares of all gradients, still scaled, and `clip` the factor for gradients
/// of the loss itself; f64 scalars, one per copy. Returns the factor that
/// gradients are multiplied by: NaN where `squares` isn't finite, in which case
/// the step leaves the copy as it was.
Expression buildLossScale(TaskBuilder &tasks, const Expression &squares,
                          const Expression &clip);

/// Whether gradients multiplied by this factor change the copy.
inline Expression isTaken(const Expression &clipScale) {
  return clipScale.compare(ComparePredicate::greater_equal, 0.0);
}

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_LOSSSCALE_H
