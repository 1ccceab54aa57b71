//===- ItemPlan.h - How a kernel is cut into work items ---------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_DISTRIBUTE_ITEMPLAN_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_DISTRIBUTE_ITEMPLAN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hfta {

/// One axis that all results share, cut into `parts` of `size` elements.
struct ItemAxis {
  int64_t axis, parts, size;
};

/// The axes of the results of a kernel on tensors that are cut, the outermost
/// first. It follows from the kernel's ops and shapes, and from how many copies
/// share the threads.
SmallVector<ItemAxis> planItems(func::FuncOp kernel);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_DISTRIBUTE_ITEMPLAN_H
