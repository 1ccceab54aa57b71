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

/// The axes of the results of a kernel on tensors that are cut, the outermost
/// first. It follows from the kernel's ops and shapes, and from how many copies
/// share the threads.
SmallVector<ItemAxis> planItems(func::FuncOp kernel);

/// Into how many items the iterations of a kernel's loop over parts are cut; 1
/// if they aren't. By the same.
int64_t planParts(func::FuncOp kernel, scf::ForOp loop);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_DISTRIBUTE_ITEMPLAN_H
