//===- Backward.h - Context of an op's derivative rule ----------*- C++ -*-===//

#ifndef HFTA_DIALECT_HFTA_IR_BACKWARD_H
#define HFTA_DIALECT_HFTA_IR_BACKWARD_H

#include "Hfta/Dialect/Hfta/IR/Expression.h"

#include "mlir/IR/TypeUtilities.h"

namespace mlir::hfta {

/// The context of an op's derivative rule: the op's operands and results, the
/// gradient of its first result (no op has a gradient for another result), and
/// the list that receives the operands' gradients.
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

  /// Returns whether the rule has to compute an operand's gradient: it is asked
  /// for, and the operand's elements are floats (integers have no gradient).
  bool wants(unsigned operand) const {
    return needed[operand] &&
           isa<FloatType>(getElementTypeOrSelf(op->getOperand(operand)));
  }
  void set(unsigned operand, Value gradient) {
    operandGradients[operand] = gradient;
  }

  /// Emits an error on the op: the rule doesn't apply, for this reason. From
  /// then on `getStatus` returns failure.
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

/// Defines `OpTy::buildBackward`. The function body that follows the macro is
/// the derivative rule. It runs only if the op's first result has a gradient.
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
