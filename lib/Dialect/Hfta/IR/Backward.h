//===- Backward.h - The backward of one op, while it is built ---*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_BACKWARD_H
#define HFTA_DIALECT_HFTA_IR_BACKWARD_H

#include "Hfta/Dialect/Hfta/IR/Expression.h"

#include "mlir/IR/TypeUtilities.h"

namespace mlir::hfta {

/// The context of a derivative rule: the op's operands and results, the
/// gradient of its first result (no other result of any op has one) and where
/// the operands' gradients go.
class Backward {
public:
  Backward(Operation *op, OpBuilder &builder, Value gradient,
           ArrayRef<bool> needed, SmallVectorImpl<Value> &operandGradients)
      : op(op), builder(builder), gradientValue(gradient), needed(needed),
        operandGradients(operandGradients) {
    operandGradients.assign(op->getNumOperands(), Value());
  }

  bool hasGradient() const { return static_cast<bool>(gradientValue); }
  /// Returns the gradient of the op's first result.
  Expression gradient() const { return wrap(gradientValue); }
  Expression operand(unsigned number) const {
    return wrap(op->getOperand(number));
  }
  Expression result(unsigned number = 0) const {
    return wrap(op->getResult(number));
  }
  Expression wrap(Value value) const { return {builder, op->getLoc(), value}; }

  template <typename OpTy, typename... Args>
  Value create(Args &&...args) const {
    return OpTy::create(builder, op->getLoc(), std::forward<Args>(args)...);
  }

  /// Whether the gradient of an operand is asked for and exists at all: there
  /// is none with respect to integers.
  bool wants(unsigned operand) const {
    return needed[operand] &&
           isa<FloatType>(getElementTypeOrSelf(op->getOperand(operand)));
  }
  void set(unsigned operand, Value gradient) {
    operandGradients[operand] = gradient;
  }

  /// Reports that the rule does not apply.
  void fail(const Twine &reason) { status = op->emitOpError(reason); }
  LogicalResult getStatus() const { return status; }

private:
  Operation *op;
  OpBuilder &builder;
  Value gradientValue;
  ArrayRef<bool> needed;
  SmallVectorImpl<Value> &operandGradients;
  LogicalResult status = success();
};

/// Defines `OpTy::buildBackward`. The body that follows is run when a gradient
/// flows into `op`.
#define HFTA_DEFINE_BACKWARD(OpTy)                                             \
  static void buildBackwardOf(OpTy op, Backward &backward);                    \
  LogicalResult OpTy::buildBackward(                                           \
      OpBuilder &builder, ValueRange resultGradients, ArrayRef<bool> needed,   \
      SmallVectorImpl<Value> &operandGradients) {                              \
    Backward backward(getOperation(), builder, resultGradients.front(),        \
                      needed, operandGradients);                               \
    if (backward.hasGradient())                                                \
      buildBackwardOf(*this, backward);                                        \
    return backward.getStatus();                                               \
  }                                                                            \
  static void buildBackwardOf([[maybe_unused]] OpTy op, Backward &backward)

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_BACKWARD_H
