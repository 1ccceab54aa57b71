//===- HftaInterfaces.h - Op interfaces and arrayed types -------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_HFTAINTERFACES_H
#define HFTA_DIALECT_HFTA_IR_HFTAINTERFACES_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include <string>

namespace mlir::hfta {

/// Number of copies of an arrayed type, nothing for a shared one.
std::optional<int64_t> getCopies(Type type);
inline bool isArrayed(Type type) { return getCopies(type).has_value(); }
inline bool isArrayed(Value value) { return isArrayed(value.getType()); }

/// The type arrayed over `copies`, or shared if there are none.
RankedTensorType withCopies(Type type, std::optional<int64_t> copies);

/// One copy's plain type.
inline RankedTensorType getLogicalType(Type type) {
  return withCopies(type, std::nullopt);
}

/// Copies of the first arrayed value, nothing if all are shared.
std::optional<int64_t> getCopies(TypeRange types);

/// Bytes of one element as stored: booleans take one byte.
int64_t getElementBytes(Type elementType);
/// Bytes of one copy.
int64_t getLogicalBytes(Type type);

namespace detail {
LogicalResult verifyArrayed(Operation *op);
LogicalResult haveEqualAttributes(Operation *op, Operation *other,
                                  std::string &reason);
Operation *cloneWithOperands(OpBuilder &builder, Operation *op,
                             ValueRange operands);
int64_t countResultElements(Operation *op);
} // namespace detail

/// What an op is to a trained parameter at one of its operands.
struct ParameterUse {
  enum class Role {
    none,   ///< no layer that anything is known of
    passed, ///< its elements go on in the result as they are
    added,  ///< to the other operand
    weight, ///< of a layer
  };
  Role role = Role::none;
  /// Of a weight.
  LayerKind kind = LayerKind::other;
  /// The operand that is the layer's input.
  std::optional<unsigned> input;
  /// The operand that is the layer's bias, if the op adds it itself.
  std::optional<unsigned> bias;
  /// Of convolutions: how windows lie on the larger of the two activations, as
  /// the op's own attributes say it, and in how many groups.
  DenseI64ArrayAttr strides, dilations, padding;
  int64_t groups = 1;
  /// Of a dense layer: maps of the iteration space to input, output gradient
  /// and weight.
  ArrayAttr maps;

  static ParameterUse pass() { return {Role::passed}; }
};

/// Arrayed operands agree on the number of copies; results are arrayed if and
/// only if an operand is.
template <typename ConcreteType>
class ArrayedTrait : public OpTrait::TraitBase<ConcreteType, ArrayedTrait> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return detail::verifyArrayed(op);
  }
};

/// What HftaBase.td says of the ops that have them.
template <typename ConcreteType>
class AloneTrait : public OpTrait::TraitBase<ConcreteType, AloneTrait> {};
template <typename ConcreteType>
class MatrixTrait : public OpTrait::TraitBase<ConcreteType, MatrixTrait> {};
template <typename ConcreteType>
class CostlyTrait : public OpTrait::TraitBase<ConcreteType, CostlyTrait> {};
template <typename ConcreteType>
class MovementTrait : public OpTrait::TraitBase<ConcreteType, MovementTrait> {};
template <typename ConcreteType>
class ProducerTrait : public OpTrait::TraitBase<ConcreteType, ProducerTrait> {};
template <typename ConcreteType>
class RepeatedTrait : public OpTrait::TraitBase<ConcreteType, RepeatedTrait> {};
template <typename ConcreteType>
class SumTrait : public OpTrait::TraitBase<ConcreteType, SumTrait> {};
template <typename ConcreteType>
class ProductTrait : public OpTrait::TraitBase<ConcreteType, ProductTrait> {};

} // namespace mlir::hfta

#include "Hfta/Dialect/Hfta/IR/HftaInterfaces.h.inc"

#endif // HFTA_DIALECT_HFTA_IR_HFTAINTERFACES_H
