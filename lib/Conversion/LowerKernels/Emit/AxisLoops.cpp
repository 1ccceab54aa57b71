//===- AxisLoops.cpp - Loops over an op's axes ----------------------------===//

#include "Emit/AxisLoops.h"
#include "Emit/SumMarks.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::hfta;

Value hfta::createLoad(OpBuilder &builder, Location loc, Value memory,
                       ValueRange indices, int64_t lanes) {
  if (lanes == 1)
    return memref::LoadOp::create(builder, loc, memory, indices);
  auto type = VectorType::get(
      lanes, cast<MemRefType>(memory.getType()).getElementType());
  return vector::LoadOp::create(builder, loc, type, memory, indices);
}

void hfta::createStore(OpBuilder &builder, Location loc, Value value,
                       Value memory, ValueRange indices) {
  if (isa<VectorType>(value.getType()))
    vector::StoreOp::create(builder, loc, value, memory, indices);
  else
    memref::StoreOp::create(builder, loc, value, memory, indices);
}

Value AxisLoops::createIndex(int64_t value) {
  return arith::ConstantIndexOp::create(builder, op.getLoc(), value);
}

void AxisLoops::emitLoop(unsigned axis, int64_t begin, int64_t end,
                         int64_t step, llvm::function_ref<void()> body) {
  if (begin == end)
    return;
  if (begin + step == end) {
    moveTo(axis, begin);
    return body();
  }
  emitLoopFrom(axis, createIndex(begin), end, step, body);
}

void AxisLoops::emitLoopFrom(unsigned axis, Value begin, int64_t end,
                             int64_t step, llvm::function_ref<void()> body) {
  auto loop = scf::ForOp::create(builder, op.getLoc(), begin, createIndex(end),
                                 createIndex(step));
  markLoop(op, axis, loop);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  bases[axis] = fromOrigin(axis, loop.getInductionVar());
  body();
}

void AxisLoops::emitBlocks(unsigned axis, int64_t block,
                           llvm::function_ref<void(int64_t)> body) {
  int64_t size = sizes[axis], rest = size % block;
  emitLoop(axis, 0, size - rest, block, [&] { body(block); });
  emitLoop(axis, size - rest, size, rest, [&] { body(rest); });
}

void AxisLoops::emitWithin(unsigned axis, int64_t block,
                           llvm::function_ref<void()> body) {
  int64_t whole = sizes[axis];
  emitBlocks(axis, block, [&](int64_t size) {
    origins[axis] = bases[axis];
    sizes[axis] = size;
    body();
    sizes[axis] = whole;
    origins[axis] = builder.getIndexAttr(0);
  });
}

OpFoldResult AxisLoops::fromOrigin(unsigned axis, OpFoldResult index) {
  AffineExpr first = getAffineDimExpr(0, op.getContext());
  AffineExpr second = getAffineDimExpr(1, op.getContext());
  return affine::makeComposedFoldedAffineApply(
      builder, op.getLoc(), first + second, {origins[axis], index});
}

SmallVector<Value> AxisLoops::emitCarrying(
    unsigned axis, int64_t begin, int64_t end, int64_t step, ValueRange running,
    llvm::function_ref<SmallVector<Value>(ValueRange)> body) {
  if (begin == end)
    return running;
  if (begin + step == end) {
    bases[axis] = fromOrigin(axis, builder.getIndexAttr(begin));
    return body(running);
  }
  auto loop = scf::ForOp::create(builder, op.getLoc(), createIndex(begin),
                                 createIndex(end), createIndex(step), running);
  markLoop(op, axis, loop);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  bases[axis] = fromOrigin(axis, loop.getInductionVar());
  SmallVector<Value> next = body(loop.getRegionIterArgs());
  if (!running.empty())
    scf::YieldOp::create(builder, op.getLoc(), next);
  return SmallVector<Value>(loop.getResults());
}

SmallVector<Value> AxisLoops::getIndices(OpOperand &operand,
                                         ArrayRef<int64_t> offsets) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<AffineExpr> shifted;
  for (auto [axis, offset] : llvm::enumerate(offsets))
    shifted.push_back(getAffineDimExpr(axis, op.getContext()) + offset);
  map = map.replaceDimsAndSymbols(shifted, {}, sizes.size(), 0);
  SmallVector<Value> indices;
  for (unsigned place = 0; place < map.getNumResults(); ++place)
    indices.push_back(getValueOrCreateConstantIndexOp(
        builder, op.getLoc(),
        affine::makeComposedFoldedAffineApply(builder, op.getLoc(),
                                              map.getSubMap({place}), bases)));
  return indices;
}

SmallVector<Value> AxisLoops::getPosition(ArrayRef<int64_t> offsets) {
  SmallVector<Value> position;
  for (auto [base, offset] : llvm::zip(bases, offsets))
    position.push_back(getValueOrCreateConstantIndexOp(
        builder, op.getLoc(),
        affine::makeComposedFoldedAffineApply(
            builder, op.getLoc(), getAffineDimExpr(0, op.getContext()) + offset,
            base)));
  return position;
}

Value AxisLoops::getDistance(unsigned axis, int64_t offset) {
  AffineExpr place = getAffineDimExpr(0, op.getContext());
  AffineExpr origin = getAffineDimExpr(1, op.getContext());
  return getValueOrCreateConstantIndexOp(
      builder, op.getLoc(),
      affine::makeComposedFoldedAffineApply(builder, op.getLoc(),
                                            place - origin + offset,
                                            {bases[axis], origins[axis]}));
}

Value AxisLoops::getWeightedSum(std::pair<unsigned, int64_t> first,
                                std::pair<unsigned, int64_t> second,
                                int64_t offset) {
  auto place = [&](unsigned dim) {
    return getAffineDimExpr(dim, op.getContext());
  };
  return getValueOrCreateConstantIndexOp(
      builder, op.getLoc(),
      affine::makeComposedFoldedAffineApply(
          builder, op.getLoc(),
          (place(0) - place(1)) * first.second +
              (place(2) - place(3)) * second.second + offset,
          {bases[first.first], origins[first.first], bases[second.first],
           origins[second.first]}));
}

Value AxisLoops::addConstant(Value index, int64_t constant) {
  if (constant == 0)
    return index;
  return arith::AddIOp::create(builder, op.getLoc(), index,
                               createIndex(constant));
}
