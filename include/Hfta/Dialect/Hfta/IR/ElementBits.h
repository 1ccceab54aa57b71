//===- ElementBits.h - The elements of a constant as bits -------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_ELEMENTBITS_H
#define HFTA_DIALECT_HFTA_IR_ELEMENTBITS_H

#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::hfta {

/// Returns the bits of each element of a constant, of floats or integers.
/// Unlike DenseElementsAttr::getValues<Attribute>, it creates no attribute per
/// element, which would stay in the context for the rest of the process.
inline SmallVector<APInt, 0> getElementBits(DenseElementsAttr elements) {
  if (!isa<FloatType>(elements.getElementType()))
    return llvm::to_vector_of<APInt, 0>(elements.getValues<APInt>());
  SmallVector<APInt, 0> bits;
  bits.reserve(elements.getNumElements());
  for (const APFloat &number : elements.getValues<APFloat>())
    bits.push_back(number.bitcastToAPInt());
  return bits;
}

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_ELEMENTBITS_H
