//===- TensorBuilder.h - Short forms of hfta ops ----------------*- C++ -*-===//

#ifndef HFTA_LIB_LANGUAGE_BUILDING_TENSORBUILDER_H
#define HFTA_LIB_LANGUAGE_BUILDING_TENSORBUILDER_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "Hfta/Dialect/Hfta/IR/VariableNames.h"

namespace mlir::hfta::language {

/// Builds ops on shared tensors, all with the same location. It checks nothing:
/// the operands must fit.
class TensorBuilder {
public:
  TensorBuilder(OpBuilder &builder, Location loc)
      : builder(builder), loc(loc) {}

  OpBuilder &getBuilder() { return builder; }
  Location getLoc() const { return loc; }
  /// Returns the type of floats in the job language before any precision is
  /// applied.
  Type getFloatType() const { return builder.getF32Type(); }

  template <typename OpTy, typename... Args>
  auto create(Args &&...args) {
    return OpTy::create(builder, loc, std::forward<Args>(args)...);
  }
  template <typename OpTy>
  Value unary(Value x) {
    return OpTy::create(builder, loc, x);
  }
  template <typename OpTy>
  Value binary(Value x, Value y) {
    return OpTy::create(builder, loc, x, y);
  }
  /// Builds an op whose second operand is a constant tensor filled with
  /// `number`.
  template <typename OpTy>
  Value binary(Value x, double number) {
    return OpTy::create(builder, loc, x, splatLike(x, number));
  }

  /// Builds the logarithms of the softmax of `x` along an axis.
  Value logSoftmax(Value x, int64_t axis) {
    return create<LogSoftmaxOp>(x, axis).getResult();
  }
  Value splat(ArrayRef<int64_t> shape, Type elementType, double number);
  /// Makes a constant of rank 1.
  Value list(ArrayRef<double> numbers, FloatType elementType);
  Value splatLike(Value x, double number) {
    return splat(getShape(x), getElementType(x), number);
  }
  Value cast(Value x, Type elementType);
  Value reshape(Value x, ArrayRef<int64_t> shape);
  Value transpose(Value x, ArrayRef<int64_t> permutation);
  /// Broadcasts `x`: input axis i becomes axis `dimensions[i]` of `shape`.
  Value broadcast(Value x, ArrayRef<int64_t> shape,
                  ArrayRef<int64_t> dimensions);
  /// Inserts `axis` into the shape of `x` and repeats `x` `size` times along
  /// it.
  Value repeat(Value x, int64_t axis, int64_t size);
  Value reduce(ReduceKind kind, Value x, ArrayRef<int64_t> axes);
  Value compare(ComparePredicate predicate, Value x, Value y);
  Value compare(ComparePredicate predicate, Value x, double number) {
    return compare(predicate, x, splatLike(x, number));
  }
  Value select(Value condition, Value onTrue, Value onFalse);
  /// Makes normal numbers of variance 1/2 from two tensors of uniform numbers
  /// in [0, 1), as sqrt(-log(1 - u)) cos(2 pi v). Source: Box and Muller, "A
  /// note on the generation of random normal deviates", 1958.
  Value makeNormal(Value u, Value v);

private:
  OpBuilder &builder;
  Location loc;
};

} // namespace mlir::hfta::language

#endif // HFTA_LIB_LANGUAGE_BUILDING_TENSORBUILDER_H
