//===- SumOrder.h - The order of an op's sums -------------------*- C++ -*-===//

#ifndef HFTA_CONVERSION_SUMORDER_H
#define HFTA_CONVERSION_SUMORDER_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::hfta {

/// If an op adds a product to a sum at once (`math.fma`,
/// `hfta.multiply_pairs`), returns that sum; else null. `op` may be null.
Value getAddend(Operation *op);
/// Returns whether the body of an op adds products to sums.
bool multiplies(linalg::LinalgOp op);

/// Returns the order in which an op's loops add its terms, or null if it has no
/// reduction loops or one of them has no iterations. The order describes each
/// operand's read by the indices of the element.
SumOrderAttr getLoopOrder(linalg::GenericOp op);

/// Returns the order of an op on memory whose reduction loops are over `axes`,
/// the outermost first, or null as above. The order describes each operand's
/// read by the element's address. For `lanes` and `vectors` see
/// #hfta.sum_order.
SumOrderAttr getAddressOrder(linalg::GenericOp op, ArrayRef<unsigned> axes,
                             int64_t lanes, int64_t vectors);

/// Sets an op's attribute `hfta.sum_order` to the order of its loops, if it has
/// one.
void stateSumOrder(linalg::GenericOp op);

/// Sets the attribute `hfta.sum_order` of an op that replaces another one with
/// the order `stated`. The op must add the same terms in the same order, but
/// may read them from other places. Does nothing if the sizes of the reduction
/// loops differ.
void keepSumOrder(linalg::GenericOp op, SumOrderAttr stated);

} // namespace mlir::hfta

#endif // HFTA_CONVERSION_SUMORDER_H
