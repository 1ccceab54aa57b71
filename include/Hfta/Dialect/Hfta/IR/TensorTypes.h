//===- TensorTypes.h - Types of ranked tensors ------------------*- C++ -*-===//
//
// Helpers for values that are ranked tensors. All values of the dialect are.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_TENSORTYPES_H
#define HFTA_DIALECT_HFTA_IR_TENSORTYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace mlir::hfta {

inline RankedTensorType getTensorType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}
inline ArrayRef<int64_t> getShape(Value tensor) {
  return getTensorType(tensor).getShape();
}
inline Type getElementType(Value tensor) {
  return getTensorType(tensor).getElementType();
}

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_TENSORTYPES_H
