//===- VectorBody.cpp - An op's scalar body on vectors --------------------===//

#include "Emit/VectorBody.h"
#include "Emit/SumMarks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::hfta;

Value VectorBody::broadcast(Location loc, Value value) {
  if (lanes == 1 || isa<VectorType>(value.getType()))
    return value;
  auto type = VectorType::get(lanes, value.getType());
  return vector::BroadcastOp::create(builder, loc, type, value);
}

Value VectorBody::createIndex(linalg::IndexOp index) {
  Value first = position[index.getDim()];
  if (lanes == 1 || index.getDim() != axis)
    return first;
  Location loc = index.getLoc();
  SmallVector<int64_t> numbers = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
  Value steps = arith::ConstantOp::create(builder, loc,
                                          builder.getIndexVectorAttr(numbers));
  return arith::AddIOp::create(builder, loc, broadcast(loc, first), steps);
}

void VectorBody::cloneOnVectors(Operation &inner) {
  IRMapping widened;
  for (Value operand : inner.getOperands())
    widened.map(operand,
                broadcast(inner.getLoc(), mapping.lookupOrDefault(operand)));
  Operation *clone = builder.clone(inner, widened);
  for (auto [from, to] : llvm::zip(inner.getResults(), clone->getResults())) {
    to.setType(VectorType::get(lanes, from.getType()));
    mapping.map(from, to);
  }
}

void VectorBody::cloneLaneByLane(Operation &inner) {
  Location loc = inner.getLoc();
  SmallVector<SmallVector<Value>> results(inner.getNumResults());
  for (int64_t lane = 0; lane < lanes; ++lane) {
    IRMapping scalars = mapping;
    for (Value operand : inner.getOperands())
      if (!isUniform(operand))
        scalars.map(operand, vector::ExtractOp::create(
                                 builder, loc, mapping.lookup(operand), lane)
                                 .getResult());
    Operation *clone = builder.clone(inner, scalars);
    for (auto [index, result] : llvm::enumerate(clone->getResults()))
      results[index].push_back(result);
  }
  for (auto [result, scalars] : llvm::zip(inner.getResults(), results)) {
    auto type = VectorType::get(lanes, result.getType());
    mapping.map(result,
                vector::FromElementsOp::create(builder, loc, type, scalars)
                    .getResult());
  }
}

Value VectorBody::cloneAsVectorLoad(Operation &inner) {
  auto load = dyn_cast<memref::LoadOp>(inner);
  if (!load || load.getIndices().empty())
    return Value();
  auto index = load.getIndices().back().getDefiningOp<linalg::IndexOp>();
  Type elementType = load.getType();
  if (!index || index.getDim() != axis || elementType.isInteger(1) ||
      load.getMemRefType().getStridesAndOffset().first.back() != 1)
    return Value();
  SmallVector<Value> indices;
  for (Value leading : load.getIndices().drop_back()) {
    if (!isUniform(leading))
      return Value();
    indices.push_back(mapping.lookupOrDefault(leading));
  }
  indices.push_back(position[index.getDim()]);
  return vector::LoadOp::create(builder, load.getLoc(),
                                VectorType::get(lanes, elementType),
                                load.getMemRef(), indices);
}

void VectorBody::cloneOp(Operation &inner) {
  if (auto index = dyn_cast<linalg::IndexOp>(inner))
    return mapping.map(index.getResult(), createIndex(index));
  auto uniform = [&](Value operand) { return isUniform(operand); };
  if (inner.getNumRegions() == 0 &&
      llvm::all_of(inner.getOperands(), uniform)) {
    builder.clone(inner, mapping);
    return;
  }
  if (Value loaded = cloneAsVectorLoad(inner))
    return mapping.map(inner.getResult(0), loaded);
  if (OpTrait::hasElementwiseMappableTraits(&inner))
    return cloneOnVectors(inner);
  cloneLaneByLane(inner);
}

SmallVector<Value> VectorBody::clone(ValueRange arguments,
                                     ValueRange firstPosition) {
  position.assign(firstPosition.begin(), firstPosition.end());
  mapping.clear();
  mapping.map(op.getBody()->getArguments(), arguments);
  for (Operation &inner : op.getBody()->without_terminator())
    cloneOp(inner);
  SmallVector<Value> results;
  for (Value yielded : op.getBody()->getTerminator()->getOperands())
    results.push_back(broadcast(op.getLoc(), mapping.lookupOrDefault(yielded)));
  markTerms(op, results);
  return results;
}
