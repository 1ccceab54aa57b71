//===- HftaInterfaces.h - Op interfaces and arrayed types -------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_HFTAINTERFACES_H
#define HFTA_DIALECT_HFTA_IR_HFTAINTERFACES_H

#include "Hfta/Dialect/Hfta/IR/HftaDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include <string>

namespace mlir::hfta {

/// Returns the number of copies of an arrayed type, or nothing for a shared
/// type.
std::optional<int64_t> getCopies(Type type);
inline bool isArrayed(Type type) { return getCopies(type).has_value(); }
inline bool isArrayed(Value value) { return isArrayed(value.getType()); }

/// Returns the tensor type arrayed over `copies`; a shared type if `copies` is
/// nothing.
RankedTensorType withCopies(Type type, std::optional<int64_t> copies);

/// Returns the type of one copy: the tensor type without #hfta.copies.
inline RankedTensorType getLogicalType(Type type) {
  return withCopies(type, std::nullopt);
}

/// Returns the number of copies of the first arrayed type, or nothing if all
/// types are shared.
std::optional<int64_t> getCopies(TypeRange types);

/// Returns the size in bytes of one stored element. A boolean takes one byte.
int64_t getElementBytes(Type elementType);
/// Returns the size in bytes of one copy's tensor.
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
    none,   ///< in a way that isn't known as a layer's
    passed, ///< the result consists of the parameter's elements, as for reshape
    added,  ///< the parameter is added to the other operand, as a bias
    weight, ///< the parameter is the weight of a layer
  };
  Role role = Role::none;
  /// The kind of layer, if the role is `weight`.
  LayerKind kind = LayerKind::other;
  /// Index of the operand that is the layer's input.
  std::optional<unsigned> input;
  /// Index of the operand that is the layer's bias, if the op adds the bias
  /// itself.
  std::optional<unsigned> bias;
  /// For convolutions: the strides, dilations, padding and groups, as in the
  /// op's own attributes. Windows move over the larger of input and output.
  DenseI64ArrayAttr strides, dilations, padding;
  int64_t groups = 1;
  /// For a dense layer: the affine maps from the iteration space to input,
  /// output gradient and weight, in this order.
  ArrayAttr maps;

  static ParameterUse pass() {
    ParameterUse use;
    use.role = Role::passed;
    return use;
  }
};

/// Verifies that all arrayed operands have the same number of copies, and that
/// results are arrayed if and only if an operand is.
template <typename ConcreteType>
class ArrayedTrait : public OpTrait::TraitBase<ConcreteType, ArrayedTrait> {
public:
  static LogicalResult verifyTrait(Operation *op) {
    return detail::verifyArrayed(op);
  }
};

/// Marker traits, described in HftaBase.td.
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
