//===- ElementPuller.cpp - Kernels element by element ---------------------===//

#include "Pull/ElementPuller.h"
#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Read/ElementPlaces.h"
#include "Read/ProductTile.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Scopes of values
//===----------------------------------------------------------------------===//

ElementPuller::ElementPuller(OpBuilder &builder, Block *block,
                             std::function<Value(arith::ConstantOp)> globals)
    : builder(builder), globals(std::move(globals)),
      scopes{{block, nullptr, false, false}} {}

void ElementPuller::own(Value tensor, Value element) {
  if (element)
    owned[tensor] = element;
  else
    owned.erase(tensor);
}

size_t ElementPuller::findLevel(ValueRange operands) const {
  size_t level = 0;
  for (size_t i = 0; i < scopes.size(); ++i) {
    bool isNeeded = scopes[i].isConditional;
    for (Value operand : operands)
      isNeeded |= operand.getParentBlock() == scopes[i].block;
    if (isNeeded)
      level = i;
  }
  return level;
}

void ElementPuller::setInsertionPoint(size_t level) {
  if (level + 1 < scopes.size())
    return builder.setInsertionPoint(scopes[level + 1].opener);
  Block *block = scopes[level].block;
  if (!block->empty() && block->back().hasTrait<OpTrait::IsTerminator>())
    return builder.setInsertionPoint(&block->back());
  builder.setInsertionPointToEnd(block);
}

Value ElementPuller::remember(const Key &key, Value value) {
  entries[key] = {value, value.getParentBlock()};
  return value;
}

/// Returns a remembered value, unless it was built in a scope that has been
/// left.
Value ElementPuller::recall(const Key &key) const {
  auto known = entries.find(key);
  if (known == entries.end())
    return Value();
  bool isOpen = llvm::any_of(scopes, [&](const Scope &scope) {
    return scope.block == known->second.block;
  });
  return isOpen ? known->second.value : Value();
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

Value ElementPuller::index(int64_t value) {
  Attribute attribute = builder.getIndexAttr(value);
  Key key = {attribute.getAsOpaquePointer()};
  if (Value known = recall(key))
    return known;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(scopes.front().block);
  return remember(key, arith::ConstantIndexOp::create(
                           builder, builder.getUnknownLoc(), value));
}

Value ElementPuller::apply(AffineExpr expression, ArrayRef<Value> operands) {
  AffineMap map = AffineMap::get(operands.size(), 0, expression);
  SmallVector<Value> inputs(operands);
  affine::fullyComposeAffineMapAndOperands(&map, &inputs);
  affine::canonicalizeMapAndOperands(&map, &inputs);
  map = simplifyAffineMap(map);
  AffineExpr simple = map.getResult(0);
  if (auto constant = dyn_cast<AffineConstantExpr>(simple))
    return index(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(simple))
    return inputs[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(simple))
    return inputs[map.getNumDims() + symbol.getPosition()];
  Key key = {map.getAsOpaquePointer()};
  for (Value input : inputs)
    key.push_back(input.getAsOpaquePointer());
  if (Value known = recall(key))
    return known;
  setInsertionPoint(findLevel(inputs));
  return remember(key, affine::AffineApplyOp::create(
                           builder, builder.getUnknownLoc(), map, inputs));
}

Value ElementPuller::exclusiveOr(Value lhs, Value rhs) {
  for (auto [none, other] : {std::pair(lhs, rhs), std::pair(rhs, lhs)})
    if (getConstantIntValue(none) == 0)
      return other;
  // The address of `name` identifies this expression in keys, as there is no op
  // that would.
  static const char name = 0;
  Key key = {&name, lhs.getAsOpaquePointer(), rhs.getAsOpaquePointer()};
  if (Value known = recall(key))
    return known;
  setInsertionPoint(findLevel({lhs, rhs}));
  return remember(
      key, arith::XOrIOp::create(builder, builder.getUnknownLoc(), lhs, rhs));
}

SmallVector<Value> ElementPuller::delinearize(AffineExpr number,
                                              ArrayRef<Value> operands,
                                              ArrayRef<int64_t> shape) {
  SmallVector<Value> indices(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    // A tensor without elements has axes of size 0; their indices are never
    // used.
    int64_t size = std::max<int64_t>(shape[axis], 1);
    indices[axis] = apply(axis == 0 ? number : number % size, operands);
    number = number.floorDiv(size);
  }
  return indices;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// Computes a scalar by a clone of its op, in the outermost scope in which the
/// operands are available.
FailureOr<Value>
ElementPuller::compute(Value scalar, const IRMapping &known,
                       llvm::function_ref<FailureOr<Value>(Value)> find) {
  if (Value value = known.lookupOrNull(scalar))
    return value;
  Operation *op = scalar.getDefiningOp();
  if (!op)
    return find(scalar);
  if (isa<linalg::IndexOp>(op))
    return find(scalar);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return computeLoop(loop, cast<OpResult>(scalar).getResultNumber(), known,
                       find);
  SmallVector<Value> operands;
  bool extracts = isa<tensor::ExtractOp>(op);
  for (Value operand : op->getOperands().drop_front(extracts)) {
    FailureOr<Value> value = compute(operand, known, find);
    if (failed(value))
      return failure();
    operands.push_back(*value);
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return pull(extract.getTensor(), operands);
  if (op->getNumRegions() > 0)
    return op->emitOpError("can't be computed element by element");
  Key key = {op, scalar.getAsOpaquePointer()};
  for (Value operand : operands)
    key.push_back(operand.getAsOpaquePointer());
  if (Value value = recall(key))
    return value;
  setInsertionPoint(findLevel(operands));
  Operation *made = builder.clone(*op);
  made->setOperands(operands);
  return remember(key,
                  made->getResult(cast<OpResult>(scalar).getResultNumber()));
}

/// Builds a loop that carries scalars. Threads may run it different numbers of
/// times. Values computed in the loop aren't reused outside, as the indices at
/// which they are read may be out of bounds there.
FailureOr<Value>
ElementPuller::computeLoop(scf::ForOp op, unsigned result,
                           const IRMapping &known,
                           llvm::function_ref<FailureOr<Value>(Value)> find) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    FailureOr<Value> value = compute(operand, known, find);
    if (failed(value))
      return failure();
    operands.push_back(*value);
  }
  setInsertionPoint(scopes.size() - 1);
  auto loop = scf::ForOp::create(builder, op.getLoc(), operands[0], operands[1],
                                 operands[2], ArrayRef(operands).drop_front(3));
  IRMapping inner(known);
  inner.map(op.getInductionVar(), loop.getInductionVar());
  inner.map(op.getRegionIterArgs(), loop.getRegionIterArgs());
  enter(loop.getBody(), loop, /*isConditional=*/true, /*diverges=*/true);
  llvm::scope_exit leaveLoop([&] { leave(); });
  SmallVector<Value> yielded;
  for (Value value : op.getYieldedValues()) {
    FailureOr<Value> made = compute(value, inner, find);
    if (failed(made))
      return failure();
    yielded.push_back(*made);
  }
  builder.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(builder, op.getLoc(), yielded);
  return loop.getResult(result);
}

FailureOr<Value> ElementPuller::computeScalar(Value scalar) {
  return compute(scalar, iterations, [&](Value value) -> FailureOr<Value> {
    return emitError(value.getLoc(),
                     "a thread of a GPU can't compute this value");
  });
}

FailureOr<Value>
ElementPuller::choose(Value condition, Type type,
                      llvm::function_ref<FailureOr<Value>()> inside,
                      llvm::function_ref<FailureOr<Value>()> outside) {
  if (!condition)
    return inside();
  // Builds the branch in the innermost scope, as it isn't known yet which
  // values the branches will use.
  setInsertionPoint(scopes.size() - 1);
  auto branch = scf::IfOp::create(builder, condition.getLoc(), type, condition,
                                  /*withElseRegion=*/true);
  auto fill =
      [&](Region &region,
          llvm::function_ref<FailureOr<Value>()> make) -> LogicalResult {
    scopes.push_back({&region.front(), branch, true, true});
    llvm::scope_exit leave([&] { scopes.pop_back(); });
    FailureOr<Value> value = make();
    if (failed(value))
      return failure();
    builder.setInsertionPointToEnd(&region.front());
    scf::YieldOp::create(builder, condition.getLoc(), *value);
    return success();
  };
  if (failed(fill(branch.getThenRegion(), inside)) ||
      failed(fill(branch.getElseRegion(), outside)))
    return failure();
  return branch.getResult(0);
}

Value ElementPuller::isBetween(Value index, Value low, Value high,
                               int64_t size) {
  auto isConstant = [](Value value, int64_t expected) {
    IntegerAttr attribute;
    return matchPattern(value, m_Constant(&attribute)) &&
           attribute.getInt() == expected;
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value bound) -> Value {
    setInsertionPoint(findLevel({index, bound}));
    return arith::CmpIOp::create(builder, index.getLoc(), predicate, index,
                                 bound);
  };
  Value condition;
  if (!isConstant(low, 0))
    condition = compare(arith::CmpIPredicate::sge, low);
  if (!isConstant(high, size))
    condition = both(condition, compare(arith::CmpIPredicate::slt, high));
  return condition;
}

Value ElementPuller::isMultiple(Value number, int64_t of) {
  Value rest = apply(builder.getAffineDimExpr(0) % of, number);
  setInsertionPoint(findLevel(rest));
  return arith::CmpIOp::create(builder, number.getLoc(),
                               arith::CmpIPredicate::eq, rest, index(0));
}

Value ElementPuller::both(Value first, Value second) {
  if (!first || !second)
    return first ? first : second;
  setInsertionPoint(findLevel({first, second}));
  return arith::AndIOp::create(builder, first.getLoc(), first, second);
}

//===----------------------------------------------------------------------===//
// Elements of tensors
//===----------------------------------------------------------------------===//

SmallVector<AffineExpr> ElementPuller::getDims(size_t count) {
  SmallVector<AffineExpr> dims;
  for (size_t i = 0; i < count; ++i)
    dims.push_back(builder.getAffineDimExpr(i));
  return dims;
}

SmallVector<Value> ElementPuller::simplify(Value tensor,
                                           ArrayRef<Value> indices) {
  SmallVector<Value> simple(indices);
  for (auto [axis, size] :
       llvm::enumerate(cast<RankedTensorType>(tensor.getType()).getShape()))
    if (size == 1)
      simple[axis] = index(0);
  return simple;
}

FailureOr<Value> ElementPuller::pull(Value tensor, ArrayRef<Value> wanted) {
  auto type = cast<RankedTensorType>(tensor.getType());
  // An empty tensor has no elements, so this code is never reached at run time.
  if (type.getNumElements() == 0)
    return pullSplat(builder.getZeroAttr(type.getElementType()));
  if (Value element = owned.lookup(tensor))
    return element;
  SmallVector<Value> indices = simplify(tensor, wanted);
  Key key = {tensor.getAsOpaquePointer()};
  for (Value index : indices)
    key.push_back(index.getAsOpaquePointer());
  if (Value known = recall(key))
    return known;
  if (Value memory = places.lookup(tensor)) {
    setInsertionPoint(findLevel(indices));
    return remember(
        key, memref::LoadOp::create(builder, tensor.getLoc(), memory, indices));
  }
  if (carried.contains(tensor))
    return pullCarried(tensor, indices);
  FailureOr<Value> element = compute(tensor, indices);
  if (failed(element))
    return failure();
  return remember(key, *element);
}

/// Computes an element that hasn't been computed before.
FailureOr<Value> ElementPuller::compute(Value tensor, ArrayRef<Value> indices) {
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return emitError(tensor.getLoc(),
                     "a thread of a GPU can't compute this value");
  unsigned result = cast<OpResult>(tensor).getResultNumber();
  return llvm::TypeSwitch<Operation *, FailureOr<Value>>(op)
      .Case([&](arith::ConstantOp constant) {
        return pullConstant(constant, indices);
      })
      .Case([&](tensor::EmptyOp) -> FailureOr<Value> {
        // The elements of a tensor.empty are undefined, so any value will do.
        return pullSplat(
            builder.getZeroAttr(getElementTypeOrSelf(tensor.getType())));
      })
      .Case([&](linalg::FillOp fill) {
        return computeScalar(fill.getInputs().front());
      })
      .Case([&](linalg::GenericOp generic) {
        return pullGeneric(generic, result, indices);
      })
      .Case([&](linalg::TransposeOp transpose) {
        SmallVector<Value> from(indices.size());
        for (auto [to, axis] : llvm::enumerate(transpose.getPermutation()))
          from[axis] = indices[to];
        return pull(transpose.getInput(), from);
      })
      .Case([&](tensor::ExtractSliceOp slice) {
        return pullSlice(slice, indices);
      })
      .Case([&](tensor::InsertSliceOp insertion) {
        return pullInsertion(insertion, indices);
      })
      .Case([&](tensor::PadOp pad) { return pullPadded(pad, indices); })
      .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp>([&](auto reshape) {
        return pullReshaped(reshape.getSrc(),
                            getSourceIndices(reshape, getDims(indices.size())),
                            indices);
      })
      .Case([&](tensor::InsertOp inserted) {
        return pullInserted(inserted, indices);
      })
      .Case([&](scf::ForOp loop) { return pullLoop(loop, result, indices); })
      .Default([&](Operation *other) -> FailureOr<Value> {
        return other->emitOpError("can't be computed element by element");
      });
}

Value ElementPuller::pullSplat(TypedAttr value) {
  Key key = {Attribute(value).getAsOpaquePointer()};
  if (Value known = recall(key))
    return known;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(scopes.front().block);
  return remember(
      key, arith::ConstantOp::create(builder, builder.getUnknownLoc(), value));
}

FailureOr<Value> ElementPuller::pullConstant(arith::ConstantOp op,
                                             ArrayRef<Value> indices) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements)
    return op.emitOpError("can't be computed element by element");
  if (elements.isSplat())
    return pullSplat(cast<TypedAttr>(elements.getSplatValue<Attribute>()));
  Value memory = globals(op);
  setInsertionPoint(findLevel(indices));
  return Value(memref::LoadOp::create(builder, op.getLoc(), memory, indices));
}

//===----------------------------------------------------------------------===//
// Loops over elements
//===----------------------------------------------------------------------===//

/// Returns the results on whose running values a result depends, beginning with
/// that result.
static SmallVector<unsigned> findRunning(linalg::GenericOp op,
                                         unsigned result) {
  Block *body = op.getBody();
  SmallVector<unsigned> results = {result};
  llvm::SmallDenseSet<Value> seen;
  SmallVector<Value> left = {body->getTerminator()->getOperand(result)};
  while (!left.empty()) {
    Value value = left.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (Operation *made = value.getDefiningOp()) {
      llvm::append_range(left, made->getOperands());
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != body ||
        argument.getArgNumber() < op.getNumDpsInputs())
      continue;
    unsigned other = argument.getArgNumber() - op.getNumDpsInputs();
    if (llvm::is_contained(results, other))
      continue;
    results.push_back(other);
    left.push_back(body->getTerminator()->getOperand(other));
  }
  return results;
}

FailureOr<Value> ElementPuller::pullOperand(linalg::GenericOp op,
                                            OpOperand &operand,
                                            ArrayRef<Value> loops) {
  if (!isa<RankedTensorType>(operand.get().getType()))
    return computeScalar(operand.get());
  SmallVector<Value> indices;
  for (AffineExpr expression : op.getMatchingIndexingMap(&operand).getResults())
    indices.push_back(apply(expression, loops));
  return pull(operand.get(), indices);
}

FailureOr<Value> ElementPuller::computeBody(linalg::GenericOp op,
                                            ArrayRef<Value> loops,
                                            ArrayRef<Value> outputs,
                                            unsigned result) {
  Block *body = op.getBody();
  IRMapping known;
  auto find = [&](Value value) -> FailureOr<Value> {
    if (auto number = value.getDefiningOp<linalg::IndexOp>())
      return loops[number.getDim()];
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != body)
      return computeScalar(value);
    unsigned place = argument.getArgNumber();
    if (place >= op.getNumDpsInputs() && !outputs.empty())
      return outputs[place - op.getNumDpsInputs()];
    return pullOperand(op, op->getOpOperand(place), loops);
  };
  return compute(body->getTerminator()->getOperand(result), known, find);
}

FailureOr<Value> ElementPuller::pullGeneric(linalg::GenericOp op,
                                            unsigned result,
                                            ArrayRef<Value> indices) {
  AffineMap map = op.getIndexingMapMatchingResult(op->getResult(result));
  SmallVector<Value> loops(op.getNumLoops());
  for (auto [expression, index] : llvm::zip(map.getResults(), indices))
    if (auto dim = dyn_cast<AffineDimExpr>(expression))
      loops[dim.getPosition()] = index;
  SmallVector<unsigned> reduced;
  for (auto [loop, value] : llvm::enumerate(loops)) {
    if (value)
      continue;
    if (op.getIteratorTypesArray()[loop] != utils::IteratorType::reduction)
      return op.emitOpError("has results whose elements aren't those of its "
                            "parallel loops");
    reduced.push_back(loop);
  }
  if (reduced.empty())
    return computeBody(op, loops, /*outputs=*/{}, result);
  return addTerms(op, loops, reduced, result, indices);
}

/// Builds the loops over a sum's terms, the outermost first. The loops carry
/// the running values.
FailureOr<Value> ElementPuller::addTerms(linalg::GenericOp op,
                                         SmallVector<Value> loops,
                                         ArrayRef<unsigned> reduced,
                                         unsigned result,
                                         ArrayRef<Value> indices) {
  SmallVector<unsigned> results = findRunning(op, result);
  SmallVector<Value> running;
  for (unsigned other : results) {
    FailureOr<Value> begin = pull(op.getDpsInits()[other], indices);
    if (failed(begin))
      return failure();
    running.push_back(*begin);
  }
  Location loc = op.getLoc();
  SmallVector<Value> context(indices);
  llvm::append_range(context, running);
  size_t level = findLevel(context);
  if (op->hasAttr(kSumLanesAttrName))
    return addLanes(op, loops, reduced, running.front(), level);
  if (std::optional<ProductTile> tile = ProductTile::get(op);
      tile && tile->groups > 1)
    return addGroups(op, loops, reduced, running.front(), level);
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  Value zero = index(0), one = index(1);
  SmallVector<Value> ends;
  for (unsigned loop : reduced)
    ends.push_back(index(sizes[loop]));
  setInsertionPoint(level);
  SmallVector<Scope> outer = scopes;
  llvm::scope_exit leave([&] { scopes = outer; });
  scopes.truncate(level + 1);
  SmallVector<scf::ForOp> nest;
  for (auto [loop, end] : llvm::zip(reduced, ends)) {
    auto made = scf::ForOp::create(builder, loc, zero, end, one, running);
    nest.push_back(made);
    loops[loop] = made.getInductionVar();
    running.assign(made.getRegionIterArgs().begin(),
                   made.getRegionIterArgs().end());
    scopes.push_back({made.getBody(), made, false, false});
    builder.setInsertionPointToEnd(made.getBody());
  }
  SmallVector<Value> outputs(op.getNumDpsInits()), sums;
  for (auto [other, value] : llvm::zip(results, running))
    outputs[other] = value;
  for (unsigned other : results) {
    FailureOr<Value> sum = computeBody(op, loops, outputs, other);
    if (failed(sum))
      return failure();
    sums.push_back(*sum);
  }
  for (scf::ForOp loop : llvm::reverse(nest)) {
    builder.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(builder, loc, sums);
    sums.assign(loop.getResults().begin(), loop.getResults().end());
  }
  return sums.front();
}
