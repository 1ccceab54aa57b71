//===- ItemPlan.h - How a kernel is cut into work items ---------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_DISTRIBUTE_ITEMPLAN_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_DISTRIBUTE_ITEMPLAN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::hfta {

/// An axis that all results have in common, cut into `parts` parts of `size`
/// elements.
struct ItemAxis {
  int64_t axis, parts, size;
};

/// Returns the axes of the results of a kernel on tensors that are cut, the
/// outermost first. They follow from the kernel's ops and shapes, and from the
/// number of copies, which share the threads.
SmallVector<ItemAxis> planItems(func::FuncOp kernel);

/// Returns the number of items into which the iterations of a kernel's loop
/// over parts are cut; 1 if they aren't cut. It follows from the kernel's ops
/// and shapes, and from the number of copies.
int64_t planParts(func::FuncOp kernel, scf::ForOp loop);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_DISTRIBUTE_ITEMPLAN_H
