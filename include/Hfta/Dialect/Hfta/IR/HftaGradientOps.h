//===- HftaGradientOps.h - Where gradients end or begin ---------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_HFTAGRADIENTOPS_H
#define HFTA_DIALECT_HFTA_IR_HFTAGRADIENTOPS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// Marker trait of ops that stop gradients, described in HftaGradientOps.td.
template <typename ConcreteType>
class DetachedTrait : public OpTrait::TraitBase<ConcreteType, DetachedTrait> {};

/// Unit attribute of an op that stays in evaluation mode in training
/// (ModalOpInterface): a batch normalization uses its running statistics, and
/// no op updates them; a dropout drops nothing.
inline constexpr StringLiteral kFrozenAttrName = "hfta.frozen";

/// Returns whether the op normalizes with the mean and variance of its input,
/// rather than with its running statistics.
bool usesBatchStatistics(BatchNormOp norm);

} // namespace mlir::hfta

#define GET_OP_CLASSES
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h.inc"

#endif // HFTA_DIALECT_HFTA_IR_HFTAGRADIENTOPS_H
