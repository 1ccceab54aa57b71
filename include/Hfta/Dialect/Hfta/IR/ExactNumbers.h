//===- ExactNumbers.h - What constants were before rounding -----*- C++ -*-===//
//
// Models are built in their natural types, often f32; a job may compute in f64.
// A constant whose elements aren't the numbers that its author wrote, or that
// follow from them, because its type doesn't hold these, keeps them beside: in
// the discardable attribute `hfta.exact`, elements of f64. The pass that gives
// floats the job's types takes a constant's elements from there if they are
// wider.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_EXACTNUMBERS_H
#define HFTA_DIALECT_HFTA_IR_EXACTNUMBERS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace mlir::hfta {

/// `elements` of floats in another float type, rounded to the nearest, ties to
/// even. Dense elements and resources; others come back as they are.
ElementsAttr convertElements(ElementsAttr elements, FloatType elementType);

/// Notes on a constant of these `elements` that they stand for these numbers of
/// f64; nothing if they are equal, or `exact` is null.
void setExactElements(Operation *op, ElementsAttr elements, ElementsAttr exact);

/// The numbers that have been noted; null: the op's elements are exact.
ElementsAttr getExactElements(Operation *op);

/// Forgets the note and returns it.
ElementsAttr takeExactElements(Operation *op);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_EXACTNUMBERS_H
