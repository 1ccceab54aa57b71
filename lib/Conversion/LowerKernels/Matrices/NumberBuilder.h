//===- NumberBuilder.h - Arithmetic and memory of algorithms ----*- C++ -*-===//

#ifndef HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_NUMBERBUILDER_H
#define HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_NUMBERBUILDER_H

#include "Matrices/LoopBuilder.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::hfta {

/// Gives an algorithm short names for the ops that it is built of. Numbers and
/// vectors are floating-point values of the algorithm's type.
class NumberBuilder {
protected:
  NumberBuilder(LoopBuilder &builder, VectorType vector)
      : b(builder), element(vector.getElementType()), vector(vector) {}

  Value number(double value) { return b.number(element, value); }
  Value load(Value memory, ValueRange place) {
    return memref::LoadOp::create(b, memory, place);
  }
  void store(Value value, Value memory, ValueRange place) {
    memref::StoreOp::create(b, value, memory, place);
  }
  Value loadVector(Value memory, ValueRange place) {
    return vector::LoadOp::create(b, vector, memory, place);
  }
  void storeVector(Value value, Value memory, ValueRange place) {
    vector::StoreOp::create(b, value, memory, place);
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value div(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, x, y, z);
  }
  Value negate(Value x) { return arith::NegFOp::create(b, x); }
  Value root(Value x) { return math::SqrtOp::create(b, x); }
  Value absolute(Value x) { return math::AbsFOp::create(b, x); }
  Value larger(Value x, Value y) { return arith::MaximumFOp::create(b, x, y); }
  Value isLess(Value x, Value y) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, y);
  }
  /// Compares indices or other integers.
  Value isEqual(Value i, Value j) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, i, j);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value isNot(Value condition) {
    return arith::XOrIOp::create(b, condition,
                                 arith::ConstantIntOp::create(b, 1, 1));
  }

  LoopBuilder &b;
  Type element;
  VectorType vector;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_CONVERSION_LOWERKERNELS_MATRICES_NUMBERBUILDER_H
