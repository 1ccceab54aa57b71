//===- Norms.h - Square roots that are norms --------------------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_NORMS_H
#define HFTA_DIALECT_HFTA_IR_NORMS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// Name of a unit attribute of an `hfta.sqrt` that takes the norm of a vector.
/// The gradient of a norm of zero is zero, as in PyTorch; that of any other
/// root of zero is infinite. The attribute is removed once gradients are built.
inline constexpr llvm::StringLiteral kNormAttrName = "hfta.norm";

/// Marks a root as a norm, unless it has been folded to a constant.
inline Value markNorm(Value root) {
  if (auto op = root ? root.getDefiningOp<SqrtOp>() : SqrtOp())
    op->setAttr(kNormAttrName, UnitAttr::get(op.getContext()));
  return root;
}

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_NORMS_H
