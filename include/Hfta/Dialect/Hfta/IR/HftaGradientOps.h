//===- HftaGradientOps.h - Where gradients end ------------------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_HFTAGRADIENTOPS_H
#define HFTA_DIALECT_HFTA_IR_HFTAGRADIENTOPS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// The marker trait, whose meaning HftaGradientOps.td describes.
template <typename ConcreteType>
class DetachedTrait : public OpTrait::TraitBase<ConcreteType, DetachedTrait> {};

/// Marks a batch normalization that normalizes with its running statistics in
/// training, too, and leaves them as they are.
inline constexpr StringLiteral kFrozenAttrName = "hfta.frozen";

/// Returns whether the normalization's statistics are those of its input.
bool usesBatchStatistics(BatchNormOp norm);

} // namespace mlir::hfta

#define GET_OP_CLASSES
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h.inc"

#endif // HFTA_DIALECT_HFTA_IR_HFTAGRADIENTOPS_H
