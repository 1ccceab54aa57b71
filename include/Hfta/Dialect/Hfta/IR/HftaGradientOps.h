//===- HftaGradientOps.h - Where gradients end ------------------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_HFTAGRADIENTOPS_H
#define HFTA_DIALECT_HFTA_IR_HFTAGRADIENTOPS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// Marker trait of ops that stop gradients, described in HftaGradientOps.td.
template <typename ConcreteType>
class DetachedTrait : public OpTrait::TraitBase<ConcreteType, DetachedTrait> {};

/// Unit attribute of a batch normalization that uses its running statistics
/// even in training, and doesn't update them.
inline constexpr StringLiteral kFrozenAttrName = "hfta.frozen";

/// Returns whether the op normalizes with the mean and variance of its input,
/// rather than with its running statistics.
bool usesBatchStatistics(BatchNormOp norm);

} // namespace mlir::hfta

#define GET_OP_CLASSES
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h.inc"

#endif // HFTA_DIALECT_HFTA_IR_HFTAGRADIENTOPS_H
