//===- Norms.h - Square roots that are norms --------------------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_NORMS_H
#define HFTA_DIALECT_HFTA_IR_NORMS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// Unit attribute of an `hfta.sqrt` whose result is the norm of a vector. The
/// gradient of such a root at zero is zero, as in PyTorch, while it would be
/// infinite for other roots. The attribute is removed once gradients have been
/// built.
inline constexpr llvm::StringLiteral kNormAttrName = "hfta.norm";

/// Marks the op that defines `root` as a norm, unless it has been folded to a
/// constant. Returns `root`.
inline Value markNorm(Value root) {
  if (auto op = root ? root.getDefiningOp<SqrtOp>() : SqrtOp())
    op->setAttr(kNormAttrName, UnitAttr::get(op.getContext()));
  return root;
}

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_NORMS_H
