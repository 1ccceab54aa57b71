//===- ItemPlan.h - How a kernel is cut into work items ---------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_DISTRIBUTE_ITEMPLAN_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_DISTRIBUTE_ITEMPLAN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::hfta {

/// One axis that all results share, cut into `parts` of `size` elements.
struct ItemAxis {
  int64_t axis, parts, size;
};

/// Returns the axes that are cut of the results of a kernel on tensors, the
/// outermost first. They follow from the kernel's ops and shapes, and from how
/// many copies share the threads.
SmallVector<ItemAxis> planItems(func::FuncOp kernel);

/// Returns into how many items the iterations of a kernel's loop over parts are
/// cut; 1 if they aren't. It follows from the same.
int64_t planParts(func::FuncOp kernel, scf::ForOp loop);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_DISTRIBUTE_ITEMPLAN_H
