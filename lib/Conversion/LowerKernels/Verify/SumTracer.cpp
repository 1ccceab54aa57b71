//===- SumTracer.cpp - Tracing the order in which loops add terms ---------===//

#include "Verify/SumTracer.h"
#include "Hfta/Conversion/LowerKernels.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Indices and memory
//===----------------------------------------------------------------------===//

std::optional<int64_t> SumTracer::getIndex(Value value) const {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  auto found = indices.find(value);
  if (found == indices.end())
    return std::nullopt;
  return found->second;
}

static std::optional<int64_t> compute(Operation &op, ArrayRef<int64_t> values) {
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    SmallVector<int64_t> dims(values.take_front(map.getNumDims()));
    if (map.getNumSymbols() > 0)
      return std::nullopt;
    return map.compose(dims).front();
  }
  if (values.size() != 2)
    return std::nullopt;
  int64_t left = values[0], right = values[1];
  if (isa<arith::AddIOp>(op))
    return left + right;
  if (isa<arith::SubIOp>(op))
    return left - right;
  if (isa<arith::MulIOp>(op))
    return left * right;
  if (isa<arith::MinUIOp, arith::MinSIOp>(op))
    return std::min(left, right);
  if (right > 0 && isa<arith::DivUIOp>(op))
    return left / right;
  if (right > 0 && isa<arith::RemUIOp>(op))
    return left % right;
  return std::nullopt;
}

bool SumTracer::runIndex(Operation &op) {
  if (op.getNumResults() != 1 || !op.getResult(0).getType().isIndex())
    return false;
  SmallVector<int64_t> operands;
  for (Value operand : op.getOperands()) {
    std::optional<int64_t> index = getIndex(operand);
    if (!index)
      return true;
    operands.push_back(*index);
  }
  if (std::optional<int64_t> result = compute(op, operands))
    indices[op.getResult(0)] = *result;
  return true;
}

bool SumTracer::runView(Operation &op) {
  if (op.getNumResults() == 0 || !isa<MemRefType>(op.getResult(0).getType()))
    return false;
  Value result = op.getResult(0);
  if (isa<memref::AllocOp>(op)) {
    memories.push_back(std::make_unique<TracedMemory>());
    memories.back()->isPanel = op.hasAttr(kPanelAttrName);
    views[result] = {memories.back().get(), 0};
    return true;
  }
  auto view = dyn_cast<ViewLikeOpInterface>(op);
  auto source = view ? views.find(view.getViewSource()) : views.end();
  if (source == views.end())
    return true;
  View moved = source->second;
  if (auto slice = dyn_cast<memref::SubViewOp>(op)) {
    SmallVector<int64_t> strides =
        slice.getSourceType().getStridesAndOffset().first;
    for (auto [offset, stride] : llvm::zip(slice.getMixedOffsets(), strides)) {
      std::optional<int64_t> index = getConstantIntValue(offset);
      if (!index)
        index = getIndex(cast<Value>(offset));
      if (!index)
        return true;
      moved.offset += *index * stride;
    }
  }
  views[result] = moved;
  return true;
}

std::optional<int64_t> SumTracer::getAddress(Value memory,
                                             ValueRange places) const {
  auto view = views.find(memory);
  if (view == views.end())
    return std::nullopt;
  int64_t address = view->second.offset;
  auto type = cast<MemRefType>(memory.getType());
  for (auto [place, stride] :
       llvm::zip(places, type.getStridesAndOffset().first)) {
    std::optional<int64_t> index = getIndex(place);
    if (!index)
      return std::nullopt;
    address += *index * stride;
  }
  return address;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

SmallVector<int64_t> SumTracer::getLanes(Type type, bool all) const {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return {0};
  int64_t lanes = vector.getNumElements();
  if (!all && !checker.hasLanes() && lanes > 1)
    return {0, lanes - 1};
  return llvm::to_vector(llvm::seq<int64_t>(0, lanes));
}

/// Returns the traced value. A value that isn't known counts as computed
/// without reading memory.
TracedRef SumTracer::getValue(Value value) const {
  if (TracedRef known = values.lookup(value))
    return known;
  return traceBroadcast(traceLanes({TracedElement()}));
}

LogicalResult SumTracer::store(Value value, Value memory, ValueRange places) {
  std::optional<int64_t> address = getAddress(memory, places);
  if (!address)
    return success();
  TracedMemory &target = *views.find(memory)->second.memory;
  TracedRef traced = getValue(value);
  // Each packed element may be read by itself.
  for (int64_t lane : getLanes(value.getType(), /*all=*/target.isPanel))
    if (failed(checker.store(target, *address + lane, traced->get(lane))))
      return failure();
  return success();
}

bool SumTracer::runLoad(Operation &op) {
  auto load = [&](Value memory, ValueRange places) {
    std::optional<int64_t> address = getAddress(memory, places);
    if (address) {
      values[op.getResult(0)] =
          traceLoad(*views.find(memory)->second.memory, *address);
    } else {
      values.erase(op.getResult(0));
      checker.loseReads();
    }
    return true;
  };
  if (auto scalar = dyn_cast<memref::LoadOp>(op))
    return load(scalar.getMemRef(), scalar.getIndices());
  if (auto vector = dyn_cast<vector::LoadOp>(op))
    return load(vector.getBase(), vector.getIndices());
  return false;
}

bool SumTracer::runVector(Operation &op) {
  TracedRef result;
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    result = getValue(broadcast.getSource());
    if (!isa<VectorType>(broadcast.getSourceType()))
      result = traceBroadcast(result);
  } else if (auto shuffle = dyn_cast<vector::ShuffleOp>(op)) {
    result = traceShuffle(getValue(shuffle.getV1()), getValue(shuffle.getV2()),
                          shuffle.getV1VectorType().getNumElements(),
                          shuffle.getMask());
  } else if (auto extract = dyn_cast<vector::ExtractOp>(op);
             extract && extract.getStaticPosition().size() == 1 &&
             !extract.hasDynamicPosition()) {
    result = traceShuffle(
        getValue(extract.getSource()), nullptr,
        cast<VectorType>(extract.getSource().getType()).getNumElements(),
        extract.getStaticPosition());
  } else if (auto elements = dyn_cast<vector::FromElementsOp>(op)) {
    SmallVector<TracedRef> scalars;
    for (Value element : elements.getElements())
      scalars.push_back(getValue(element));
    result = traceElements(scalars);
  } else {
    return false;
  }
  // If a term's last op only broadcasts the running value to all lanes, it is
  // still checked as an addition of a term.
  if (op.hasAttr(kTermAttrName))
    return false;
  values[op.getResult(0)] = result;
  return true;
}

LogicalResult SumTracer::runOnLane(Operation &op, int64_t lane,
                                   TracedElement &result) {
  SmallVector<TracedElement> operands;
  for (Value operand : op.getOperands())
    operands.push_back(
        getValue(operand)->get(isa<VectorType>(operand.getType()) ? lane : 0));
  if (auto term = op.getAttrOfType<DenseI64ArrayAttr>(kTermAttrName))
    return checker.addTerm(op, term[0], term[1], operands, result);
  if (auto sum = op.getAttrOfType<IntegerAttr>(kCombineAttrName))
    return checker.combine(op, sum.getInt(), operands, result);
  for (const TracedElement &operand : operands)
    result.add(operand);
  return success();
}

/// Runs an op that computes each lane separately.
LogicalResult SumTracer::runScalars(Operation &op) {
  for (Value result : op.getResults()) {
    auto vector = dyn_cast<VectorType>(result.getType());
    SmallVector<TracedElement> lanes(vector ? vector.getNumElements() : 1);
    for (int64_t lane : getLanes(result.getType()))
      if (failed(runOnLane(op, lane, lanes[lane])))
        return failure();
    values[result] = traceLanes(std::move(lanes));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

LogicalResult SumTracer::runOnce(scf::ForOp loop, int64_t index) {
  indices[loop.getInductionVar()] = index;
  if (failed(runBlock(*loop.getBody())))
    return failure();
  SmallVector<TracedRef> next;
  for (Value yielded : loop.getYieldedValues())
    next.push_back(getValue(yielded));
  for (auto [argument, value] : llvm::zip(loop.getRegionIterArgs(), next))
    values[argument] = value;
  return success();
}

LogicalResult SumTracer::runLoop(scf::ForOp loop) {
  std::optional<int64_t> begin = getIndex(loop.getLowerBound());
  std::optional<int64_t> end = getIndex(loop.getUpperBound());
  std::optional<int64_t> step = getIndex(loop.getStep());
  bool isOverTerms = loop->hasAttr(kTermLoopAttrName);
  if (!isOverTerms && loop.getNumRegionIterArgs() > 0)
    return loop.emitOpError(
        "carries values, but isn't a loop over the terms of a sum");
  if (!begin || !end || !step)
    return isOverTerms
               ? loop.emitOpError("is a loop over the terms of a sum, whose "
                                  "number of iterations must be known")
               : success();
  for (auto [argument, init] :
       llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs()))
    values[argument] = getValue(init);
  int64_t last = *end > *begin ? *begin + (*end - 1 - *begin) / *step * *step
                               : *begin - *step;
  for (int64_t index = *begin; index <= last; index += *step) {
    if (failed(runOnce(loop, index)))
      return failure();
    if (!isOverTerms && index < last)
      index = runsLast ? last - *step : last;
  }
  for (auto [result, argument] :
       llvm::zip(loop.getResults(), loop.getRegionIterArgs()))
    values[result] = getValue(argument);
  return success();
}

LogicalResult SumTracer::run(Operation &op) {
  ++steps;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return runLoop(loop);
  if (op.hasTrait<OpTrait::IsTerminator>() || runIndex(op) || runView(op))
    return success();
  if (auto scalar = dyn_cast<memref::StoreOp>(op))
    return store(scalar.getValue(), scalar.getMemRef(), scalar.getIndices());
  if (auto vector = dyn_cast<vector::StoreOp>(op))
    return store(vector.getValueToStore(), vector.getBase(),
                 vector.getIndices());
  if (!runLoad(op) && !runVector(op) && failed(runScalars(op)))
    return failure();
  if (auto sum = op.getAttrOfType<IntegerAttr>(kStartAttrName))
    values[op.getResult(0)] =
        traceStart(getValue(op.getResult(0)), sum.getInt());
  return success();
}

LogicalResult SumTracer::runBlock(Block &block) {
  for (Operation &op : block)
    if (failed(run(op)))
      return failure();
  return success();
}

LogicalResult SumTracer::trace() {
  for (BlockArgument argument : kernel.getArguments()) {
    if (argument.getType().isIndex())
      indices[argument] = 0;
    if (!isa<MemRefType>(argument.getType()))
      continue;
    memories.push_back(std::make_unique<TracedMemory>());
    views[argument] = {memories.back().get(), 0};
  }
  if (failed(runBlock(kernel.getBody().front())))
    return failure();
  for (const std::unique_ptr<TracedMemory> &memory : memories)
    if (!memory->isPanel && failed(checker.checkStored(*memory)))
      return failure();
  return checker.checkAll();
}
