//===- LoopBuilder.h - Loops and index arithmetic ---------------*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_LOOPBUILDER_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_LOOPBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::hfta {

/// Builds the loops of algorithms on matrices. Indices have the type `index`.
class LoopBuilder : public ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;
  using Body = llvm::function_ref<void(Value)>;
  using Fold = llvm::function_ref<SmallVector<Value>(Value, ValueRange)>;

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(*this, value);
  }
  Value number(Type type, double value);
  Value add(Value a, Value b) { return arith::AddIOp::create(*this, a, b); }
  Value add(Value a, int64_t b) { return add(a, index(b)); }
  Value sub(Value a, Value b) { return arith::SubIOp::create(*this, a, b); }
  Value mul(Value a, int64_t b) {
    return arith::MulIOp::create(*this, a, index(b));
  }
  Value isLess(Value a, Value b) {
    return arith::CmpIOp::create(*this, arith::CmpIPredicate::slt, a, b);
  }
  /// Returns the offset of a row in a packed lower triangle, in elements.
  Value packedRow(Value row);
  /// Creates a vector of `lanes` booleans, of which the first `count` are true.
  Value maskBefore(int64_t lanes, Value count);

  /// Builds a loop of `body` over first, first + step, … below `end`.
  void loop(Value first, Value end, int64_t step, Body body);
  /// Builds a loop as `loop` does, but from the last index to the first. `end`
  /// - `first` must be a multiple of `step`.
  void loopDown(Value first, Value end, int64_t step, Body body);
  /// Builds a loop that carries values. `body` gets the running values and
  /// returns the next ones. Returns the last values.
  SmallVector<Value> fold(Value first, Value end, int64_t step,
                          ValueRange initial, Fold body);
  /// Builds a loop as `fold` does, but from the last index to the first.
  SmallVector<Value> foldDown(Value first, Value end, int64_t step,
                              ValueRange initial, Fold body);
  /// Returns the values of `body` if the condition holds at run time, else
  /// `otherwise`.
  SmallVector<Value> choose(Value condition, ValueRange otherwise,
                            llvm::function_ref<SmallVector<Value>()> body);
  void ifTrue(Value condition, llvm::function_ref<void()> body);
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_LOOPBUILDER_H
