//===- LoopBuilder.cpp - Loops and index arithmetic -----------------------===//

#include "Matrices/LoopBuilder.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::hfta;

Value LoopBuilder::number(Type type, double value) {
  TypedAttr attribute = getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, attribute);
  return arith::ConstantOp::create(*this, attribute);
}

Value LoopBuilder::packedRow(Value row) {
  Value twice = arith::MulIOp::create(*this, row, add(row, 1));
  return arith::ShRUIOp::create(*this, twice, index(1));
}

Value LoopBuilder::maskBefore(int64_t lanes, Value count) {
  auto type = VectorType::get({lanes}, getI32Type());
  SmallVector<int32_t> numbers =
      llvm::to_vector(llvm::seq<int32_t>(0, static_cast<int32_t>(lanes)));
  Value places = arith::ConstantOp::create(
      *this, DenseElementsAttr::get(type, ArrayRef(numbers)));
  Value narrow = arith::IndexCastOp::create(*this, getI32Type(), count);
  return arith::CmpIOp::create(
      *this, arith::CmpIPredicate::slt, places,
      vector::BroadcastOp::create(*this, type, narrow));
}

SmallVector<Value> LoopBuilder::fold(Value first, Value end, int64_t step,
                                     ValueRange initial, Fold body) {
  auto loop = scf::ForOp::create(
      *this, first, end, index(step), initial,
      [&](OpBuilder &inner, Location loc, Value i, ValueRange values) {
        OpBuilder::InsertionGuard guard(*this);
        setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        SmallVector<Value> next = body(i, values);
        scf::YieldOp::create(*this, next);
      });
  return loop.getResults();
}

SmallVector<Value> LoopBuilder::foldDown(Value first, Value end, int64_t step,
                                         ValueRange initial, Fold body) {
  Value last = sub(add(first, end), index(step));
  return fold(first, end, step, initial, [&](Value i, ValueRange values) {
    return body(sub(last, i), values);
  });
}

void LoopBuilder::loop(Value first, Value end, int64_t step, Body body) {
  fold(first, end, step, {}, [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}

void LoopBuilder::loopDown(Value first, Value end, int64_t step, Body body) {
  foldDown(first, end, step, {}, [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}

SmallVector<Value>
LoopBuilder::choose(Value condition, ValueRange otherwise,
                    llvm::function_ref<SmallVector<Value>()> body) {
  auto branch = scf::IfOp::create(
      *this, condition,
      [&](OpBuilder &inner, Location) {
        OpBuilder::InsertionGuard guard(*this);
        setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        SmallVector<Value> values = body();
        scf::YieldOp::create(*this, values);
      },
      [&](OpBuilder &inner, Location loc) {
        scf::YieldOp::create(inner, loc, otherwise);
      });
  return branch.getResults();
}

void LoopBuilder::ifTrue(Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(*this, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  body();
}
