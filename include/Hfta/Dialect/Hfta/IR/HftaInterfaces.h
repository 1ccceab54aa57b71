//===- HftaInterfaces.h - Op interfaces and arrayed types -------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_HFTAINTERFACES_H
#define HFTA_DIALECT_HFTA_IR_HFTAINTERFACES_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include <string>

namespace mlir::hfta {

/// Returns the number of copies of an arrayed type, nothing for a shared one.
std::optional<int64_t> getCopies(Type type);
inline bool isArrayed(Type type) { return getCopies(type).has_value(); }
inline bool isArrayed(Value value) { return isArrayed(value.getType()); }

/// Returns the type arrayed over `copies`, or shared if there are none.
RankedTensorType withCopies(Type type, std::optional<int64_t> copies);

/// Returns the plain type of one copy.
inline RankedTensorType getLogicalType(Type type) {
  return withCopies(type, std::nullopt);
}

/// Returns the copies of the first arrayed type, nothing if all are shared.
std::optional<int64_t> getCopies(TypeRange types);

/// Returns the bytes of one element as stored: a boolean takes one byte.
int64_t getElementBytes(Type elementType);
/// Returns the bytes of one copy.
int64_t getLogicalBytes(Type type);

namespace detail {
LogicalResult verifyArrayed(Operation *op);
LogicalResult haveEqualAttributes(Operation *op, Operation *other,
                                  std::string &reason);
Operation *cloneWithOperands(OpBuilder &builder, Operation *op,
                             ValueRange operands);
int64_t countResultElements(Operation *op);
} // namespace detail

/// How an op uses a trained parameter at one of its operands.
struct ParameterUse {
  enum class Role {
    none,   ///< not as a layer of a known kind
    passed, ///< its elements go on in the result as they are
    added,  ///< it is added to the other operand
    weight, ///< it is the weight of a layer
  };
  Role role = Role::none;
  /// The kind of layer, if the parameter is its weight.
  LayerKind kind = LayerKind::other;
  /// The operand that is the layer's input.
  std::optional<unsigned> input;
  /// The operand that is the layer's bias, if the op adds it itself.
  std::optional<unsigned> bias;
  /// For convolutions: how windows lie on the larger of the two activations, as
  /// in the op's own attributes, and in how many groups.
  DenseI64ArrayAttr strides, dilations, padding;
  int64_t groups = 1;
  /// For a dense layer: maps of the iteration space to input, output gradient
  /// and weight.
  ArrayAttr maps;

  static ParameterUse pass() { return {Role::passed}; }
};

/// The ops whose arrayed operands agree on the number of copies; results are
/// arrayed if and only if an operand is.
template <typename ConcreteType>
class ArrayedTrait : public OpTrait::TraitBase<ConcreteType, ArrayedTrait> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return detail::verifyArrayed(op);
  }
};

/// The marker traits, whose meaning HftaBase.td describes.
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
