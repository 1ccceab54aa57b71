//===- LossScale.h - Scales of losses ---------------------------*- C++ -*-===//
//
// The loss scales of a job with `loss_scale`. If the loss is multiplied by a
// power of two, so are its gradients, and fewer of them are too small for the
// types to which they are rounded. Each copy has its own scale, which follows
// from its own gradients by the rules of PyTorch's GradScaler. Source:
// Micikevicius et al., "Mixed precision training", ICLR 2018.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_TASKS_LOSSSCALE_H
#define HFTA_LIB_TRANSFORMS_TASKS_LOSSSCALE_H

#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "Tasks/TaskBuilder.h"

namespace mlir::hfta {

/// Declares each copy's scale and counts, which are state like the optimizer's,
/// and the results about them that a step reports.
void declareLossScale(TaskBuilder &tasks);

/// Reads each copy's scale in `type`. It is the gradient with respect to the
/// copy's loss, from which the backward begins.
Value readLossScale(TaskBuilder &tasks, Type type);

/// Reads the number of steps so far that weren't skipped, as a scalar in f64,
/// for one copy, for those `only`, or for all. The optimizer counts a copy's
/// steps by it.
Value readStepsTaken(TaskBuilder &tasks, std::optional<int64_t> copy,
                     DenseI64ArrayAttr only);

/// How a step's gradients are unscaled.
struct LossScaling {
  Expression scale;    ///< the copies' present scales
  Expression isFinite; ///< whether no gradient has overflowed

  /// Returns the factor for gradients that are to be clipped by `clip`, or NaN
  /// in a step that is skipped.
  Expression apply(const Expression &clip) const {
    return isFinite.select(clip / scale,
                           std::numeric_limits<double>::quiet_NaN());
  }
};

/// Builds the next step's scale into the task `clip`. `squares` is the sum of
/// the squares of all gradients, which are still scaled, and `clip` is the
/// factor that clips unscaled gradients; both are scalars in f64, one per copy.
/// Returns the factor by which gradients are multiplied, or NaN where `squares`
/// isn't finite: then the step leaves the copy unchanged. `useOld` is called
/// before the scale changes, and may write other factors.
Expression
buildLossScale(TaskBuilder &tasks, const Expression &squares,
               const Expression &clip,
               function_ref<void(const LossScaling &scaling)> useOld);

/// Returns whether a step with this factor for gradients changes the copy.
inline Expression isTaken(const Expression &clipScale) {
  return clipScale.compare(ComparePredicate::greater_equal, 0.0);
}

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_TASKS_LOSSSCALE_H
