//===- GradientsAtCuts.h - Which gradients go back over cuts ----*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_GRADIENTSATCUTS_H
#define HFTA_LIB_TRANSFORMS_GRADIENTSATCUTS_H

#include "TaskBuilder.h"
#include "TaskTags.h"

namespace mlir::hfta {

/// Where a block ends with a function such as relu, the block behind it has the
/// function's result at hand, if its own backward reads it, as that of a layer
/// with a trained weight does. The function's derivative then goes to that
/// backward, and what goes back over the cut is the gradient of the function's
/// operand. So the earlier block's backward doesn't need the result any longer,
/// and the derivative joins the kernel that computes the gradient. The same for
/// all that only moves a gradient, or does little with it, and makes it no
/// larger.
void moveGradientsBehindCuts(TaskBuilder &tasks, Block &step, TaskTags &tags);

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_GRADIENTSATCUTS_H
