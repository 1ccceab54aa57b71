//===- Expression.h - Values that compose like formulas ---------*- C++ -*-===//
//
// Derivatives and decompositions are formulas over tensors. An Expression is a
// tensor value for which C++ operators build ops, so that code looks like the
// formula.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DIALECT_HFTA_IR_EXPRESSION_H
#define HFTA_DIALECT_HFTA_IR_EXPRESSION_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

namespace mlir::hfta {

/// A tensor value, with the builder and location for ops that are computed from
/// it. In an operator with a number, the number becomes a splat of the other
/// operand's logical type. A default-constructed expression means that there is
/// no value.
class Expression {
public:
  Expression() = default;
  Expression(OpBuilder &builder, Location loc, Value value)
      : builder(&builder), loc(loc), value(value) {}

  operator Value() const { return value; }
  bool isNull() const { return !value; }
  RankedTensorType getType() const {
    return cast<RankedTensorType>(value.getType());
  }
  ArrayRef<int64_t> getShape() const { return getType().getShape(); }
  Type getElementType() const { return getType().getElementType(); }

  /// Returns an expression for another value, with this one's builder and
  /// location.
  Expression at(Value other) const { return {*builder, loc, other}; }

  /// Builds `OpTy` with this value as first operand.
  template <typename OpTy, typename... Args>
  Expression apply(Args &&...args) const {
    return at(OpTy::create(*builder, loc, value,
                           unwrap(std::forward<Args>(args))...));
  }

  /// Builds the splat of `number` in this value's logical type.
  Expression splat(double number) const;
  /// Casts this value to another element type.
  Expression to(Type elementType) const;
  /// Reshapes this value to a shape with as many elements.
  Expression reshape(ArrayRef<int64_t> shape) const;
  /// Broadcasts this rank-0 value to `shape`.
  Expression fill(ArrayRef<int64_t> shape) const;

  /// Reduces this value over `axes`. `accumulate` is the type in which terms
  /// are added up; by default the value's own. The sum is the adjoint of
  /// `repeat`.
  Expression reduce(ReduceKind kind, ArrayRef<int64_t> axes,
                    TypeAttr accumulate = {}) const;
  Expression sum(ArrayRef<int64_t> axes, TypeAttr accumulate = {}) const {
    return reduce(ReduceKind::sum, axes, accumulate);
  }
  /// Broadcasts this value to `shape`. Its own axes are those of `shape` except
  /// `axes`.
  Expression repeat(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes) const;

  Expression compare(ComparePredicate predicate, const Expression &other) const;
  Expression compare(ComparePredicate predicate, double other) const {
    return compare(predicate, splat(other));
  }
  /// Returns `onTrue` where this boolean is true, and `onFalse` elsewhere.
  Expression select(const Expression &onTrue, const Expression &onFalse) const {
    return apply<SelectOp>(onTrue, onFalse);
  }
  Expression select(const Expression &onTrue, double onFalse) const {
    return select(onTrue, onTrue.splat(onFalse));
  }
  Expression select(double onTrue, const Expression &onFalse) const {
    return select(onFalse.splat(onTrue), onFalse);
  }

private:
  static Value unwrap(const Expression &expression) { return expression.value; }
  static Value unwrap(Expression &expression) { return expression.value; }
  static Value unwrap(Expression &&expression) { return expression.value; }
  template <typename T>
  static T &&unwrap(T &&other) {
    return std::forward<T>(other);
  }

  OpBuilder *builder = nullptr;
  LocationAttr loc;
  Value value;
};

inline Expression operator-(const Expression &x) { return x.apply<NegOp>(); }

#define HFTA_EXPRESSION_OPERATOR(symbol, OpTy)                                 \
  inline Expression operator symbol(const Expression &x,                       \
                                    const Expression &y) {                     \
    return x.apply<OpTy>(y);                                                   \
  }                                                                            \
  inline Expression operator symbol(const Expression &x, double y) {           \
    return x.apply<OpTy>(x.splat(y));                                          \
  }                                                                            \
  inline Expression operator symbol(double x, const Expression &y) {           \
    return y.splat(x).apply<OpTy>(y);                                          \
  }
HFTA_EXPRESSION_OPERATOR(+, AddOp)
HFTA_EXPRESSION_OPERATOR(-, SubOp)
HFTA_EXPRESSION_OPERATOR(*, MulOp)
HFTA_EXPRESSION_OPERATOR(/, DivOp)
#undef HFTA_EXPRESSION_OPERATOR

/// Returns standard normal numbers from uniform ones in [0, 1), by Box and
/// Muller's transform: sqrt(-2 log(1 - u)) cos(2 pi v). Source: Box and Muller,
/// "A note on the generation of random normal deviates", 1958.
Expression makeNormal(const Expression &u, const Expression &v);

/// Multiplies matrices, [..., m, k] by [..., k, n], along equal leading axes. A
/// transposed operand has the shape [..., k, m], or [..., n, k].
Expression multiplyMatrices(const Expression &left, const Expression &right,
                            bool isLeftTransposed = false,
                            bool isRightTransposed = false);

/// Converts `values` to the types of `op`'s results: casts them to the results'
/// element types, and stacks a shared value for all copies where the result is
/// arrayed.
SmallVector<Value> giveResults(Operation *op, OpBuilder &builder,
                               ArrayRef<Expression> values);

/// Returns the axes of a tensor of rank `rank` that are not in `axes`.
SmallVector<int64_t> getOtherAxes(int64_t rank, ArrayRef<int64_t> axes);

} // namespace mlir::hfta

#endif // HFTA_DIALECT_HFTA_IR_EXPRESSION_H
