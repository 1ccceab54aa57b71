//===- IndexMath.h - Arithmetic on indices ----------------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_HFTATOLINALG_INDEXMATH_H
#define HFTA_LIB_CONVERSION_HFTATOLINALG_INDEXMATH_H

#include "LoweringUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::hfta {

/// Builds index arithmetic for loops. It uses only ops that
/// hfta-verify-sum-order can interpret.
class IndexMath {
public:
  IndexMath(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value get(int64_t value) const { return createIndex(builder, loc, value); }
  Value add(Value a, Value b) const { return make<arith::AddIOp>(a, b); }
  Value add(Value a, int64_t b) const { return add(a, get(b)); }
  Value subtract(Value a, Value b) const { return make<arith::SubIOp>(a, b); }
  Value multiply(Value a, Value b) const { return make<arith::MulIOp>(a, b); }
  Value multiply(Value a, int64_t b) const { return multiply(a, get(b)); }
  Value divide(Value a, int64_t b) const {
    return make<arith::DivUIOp>(a, get(b));
  }
  /// Returns the remainder of a / b.
  Value getRest(Value a, int64_t b) const {
    return make<arith::RemUIOp>(a, get(b));
  }
  /// Returns the minimum of two indices.
  Value getLess(Value a, Value b) const { return make<arith::MinUIOp>(a, b); }
  /// Returns the maximum of two indices.
  Value getMost(Value a, Value b) const {
    return add(a, subtract(b, getLess(a, b)));
  }
  /// Returns the number of elements before row `row` of a packed lower
  /// triangle.
  Value getPackedRow(Value row) const {
    return divide(multiply(row, add(row, 1)), 2);
  }
  /// Returns the strip that is processed at position `place`, where strips are
  /// numbered in ascending order of work. The order is: the last strip, the
  /// first, the last but one, the second and so on, so that each pair of
  /// neighbours has about the same work.
  Value getFolded(Value place, int64_t strips) const {
    Value half = divide(place, 2), isOdd = getRest(place, 2);
    Value fromEnd = subtract(get(strips - 1), half);
    return add(multiply(subtract(get(1), isOdd), fromEnd),
               multiply(isOdd, half));
  }

private:
  template <typename OpTy>
  Value make(Value a, Value b) const {
    return OpTy::create(builder, loc, a, b);
  }

  OpBuilder &builder;
  Location loc;
};

/// Creates a loop that carries a tensor. `body` gets the running tensor and
/// returns the next one. Returns the loop's result.
Value createCarryingLoop(OpBuilder &builder, Location loc, Value begin,
                         Value end, int64_t step, Value carried,
                         function_ref<Value(Value index, Value carried)> body);

/// Creates a slice with unit strides and the given result shape, which may
/// leave out axes of one element.
Value createPart(OpBuilder &builder, Location loc, Value tensor,
                 ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> sizes,
                 ArrayRef<int64_t> shape);

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_HFTATOLINALG_INDEXMATH_H
