//===- PullRuns.cpp - Neighbouring elements computed together -------------===//
//
// A thread computes neighbours along an axis together, as a run: they are read
// from memory at once, padding is one condition for all of them, and values
// that are the same for all elements are computed once. Where this isn't
// possible, the elements are computed one by one.
//===----------------------------------------------------------------------===//

#include "Pull/ElementPuller.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

bool hfta::isNarrowFloat(Type type) { return type.isBF16() || type.isF16(); }

Value hfta::findWhole(ArrayRef<Value> elements) {
  Value whole;
  for (auto [number, moved] : llvm::enumerate(elements)) {
    Value element = moved;
    auto bits = element.getDefiningOp<arith::BitcastOp>();
    if (bits && isNarrowFloat(bits.getType()))
      element = bits.getIn();
    auto extract = element.getDefiningOp<vector::ExtractOp>();
    if (!extract || (whole && extract.getSource() != whole) ||
        extract.getStaticPosition() !=
            ArrayRef<int64_t>{static_cast<int64_t>(number)})
      return Value();
    whole = extract.getSource();
  }
  bool isAll = whole && cast<VectorType>(whole.getType()).getNumElements() ==
                            static_cast<int64_t>(elements.size());
  return isAll ? whole : Value();
}

/// Returns the type of an element in a vector. A 16-bit float is moved as an
/// integer: in emulation, moving a float may need instructions that the host
/// lacks.
static Type getMovedType(Type type) {
  return isNarrowFloat(type) ? IntegerType::get(type.getContext(), 16) : type;
}

static Value toType(OpBuilder &builder, Location loc, Value value, Type type) {
  return value.getType() == type
             ? value
             : arith::BitcastOp::create(builder, loc, type, value).getResult();
}

/// Returns a vector of these elements: the vector whose elements they are, or a
/// new one. A single element is returned itself.
static Value join(OpBuilder &builder, Location loc, ArrayRef<Value> elements) {
  if (elements.size() == 1)
    return elements.front();
  if (Value whole = findWhole(elements))
    return whole;
  Type moved = getMovedType(elements.front().getType());
  SmallVector<Value> all;
  for (Value element : elements)
    all.push_back(toType(builder, loc, element, moved));
  auto type = VectorType::get({static_cast<int64_t>(all.size())}, moved);
  return vector::FromElementsOp::create(builder, loc, type, all);
}

/// Returns the elements of a vector that `join` made, in their own type.
static SmallVector<Value> split(OpBuilder &builder, Location loc, Value vector,
                                Type type) {
  auto joined = dyn_cast<VectorType>(vector.getType());
  if (!joined)
    return {vector};
  SmallVector<Value> elements;
  for (int64_t i = 0; i < joined.getNumElements(); ++i)
    elements.push_back(
        toType(builder, loc, vector::ExtractOp::create(builder, loc, vector, i),
               type));
  return elements;
}

/// Returns the narrower type from which all elements are widened; null if there
/// is none.
static Type findNarrow(ArrayRef<Value> elements) {
  Type narrow;
  for (Value element : elements) {
    auto wider = element.getDefiningOp<arith::ExtFOp>();
    if (!wider || (narrow && wider.getIn().getType() != narrow))
      return Type();
    narrow = wider.getIn().getType();
  }
  return narrow;
}

/// Converts constants to a narrower type. Returns whether all elements are
/// constants that lose nothing.
static bool narrowConstants(ArrayRef<Value> elements, FloatType type,
                            SmallVectorImpl<TypedAttr> &narrow) {
  for (Value element : elements) {
    FloatAttr constant;
    if (!matchPattern(element, m_Constant(&constant)))
      return false;
    APFloat value = constant.getValue();
    bool isInexact = false;
    value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &isInexact);
    if (isInexact)
      return false;
    narrow.push_back(FloatAttr::get(type, value));
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>>
ElementPuller::chooseRun(Value condition, MakeRun inside, MakeRun outside) {
  if (!condition)
    return inside();
  setInsertionPoint(scopes.size() - 1);
  Location loc = condition.getLoc();
  // Builds the branch without results first, as the type of its results depends
  // on the code inside.
  auto open = scf::IfOp::create(builder, loc, condition, /*withElse=*/true);
  std::array<SmallVector<Value>, 2> runs;
  for (auto [number, make] : llvm::enumerate(std::array{inside, outside})) {
    Block *block = &open->getRegion(number).front();
    block->getTerminator()->erase();
    scopes.push_back({block, open, true, true});
    FailureOr<SmallVector<Value>> run = make();
    scopes.pop_back();
    if (failed(run))
      return failure();
    runs[number] = *run;
  }
  Type type = runs[0].front().getType();
  SmallVector<TypedAttr> constants;
  auto narrow = dyn_cast_or_null<FloatType>(findNarrow(runs[0]));
  bool isNarrow = narrow && narrowConstants(runs[1], narrow, constants);
  if (isNarrow)
    for (Value &element : runs[0])
      element = element.getDefiningOp<arith::ExtFOp>().getIn();
  std::array<Value, 2> yielded;
  for (auto [number, run] : llvm::enumerate(runs)) {
    builder.setInsertionPointToEnd(&open->getRegion(number).front());
    if (number == 1 && isNarrow)
      for (auto [element, constant] : llvm::zip(run, constants))
        element = arith::ConstantOp::create(builder, loc, constant);
    yielded[number] = join(builder, loc, run);
    scf::YieldOp::create(builder, loc, yielded[number]);
  }
  builder.setInsertionPoint(open);
  auto branch = scf::IfOp::create(builder, loc, yielded[0].getType(), condition,
                                  /*withElseRegion=*/true);
  for (unsigned number : {0, 1})
    branch->getRegion(number).takeBody(open->getRegion(number));
  open.erase();
  builder.setInsertionPointAfter(branch);
  SmallVector<Value> elements =
      split(builder, loc, branch.getResult(0), isNarrow ? narrow : type);
  if (isNarrow)
    for (Value &element : elements)
      element = arith::ExtFOp::create(builder, loc, type, element);
  return elements;
}

//===----------------------------------------------------------------------===//
// Runs of tensors
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>> ElementPuller::pullOneByOne(Value tensor,
                                                          const Run &run) {
  SmallVector<Value> elements;
  AffineExpr first = builder.getAffineDimExpr(0);
  for (int64_t i = 0; i < run.count; ++i) {
    SmallVector<Value> indices(run.indices);
    indices[run.axis] = apply(first + i, indices[run.axis]);
    FailureOr<Value> element = pull(tensor, indices);
    if (failed(element))
      return failure();
    elements.push_back(*element);
  }
  return elements;
}

/// Reads a run by as few accesses as possible.
SmallVector<Value> ElementPuller::readRun(Value memory, Location loc,
                                          const Run &run) {
  auto type = cast<MemRefType>(memory.getType());
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  int64_t atOnce = std::min(run.count, kAccessBytes / bytes);
  SmallVector<Value> elements;
  for (int64_t begin = 0; begin < run.count; begin += atOnce) {
    SmallVector<Value> indices(run.indices);
    indices[run.axis] =
        apply(builder.getAffineDimExpr(0) + begin, indices[run.axis]);
    setInsertionPoint(findLevel(indices));
    Value vector = vector::LoadOp::create(
        builder, loc, VectorType::get({atOnce}, type.getElementType()), memory,
        indices, /*nontemporal=*/false, llvm::MaybeAlign(atOnce * bytes));
    Type moved = getMovedType(type.getElementType());
    if (moved != type.getElementType())
      vector = vector::BitCastOp::create(
          builder, loc, VectorType::get({atOnce}, moved), vector);
    llvm::append_range(elements,
                       split(builder, loc, vector, type.getElementType()));
  }
  return elements;
}

void ElementPuller::writeRun(Value memory, ArrayRef<Value> elements,
                             const Run &run) {
  auto type = cast<MemRefType>(memory.getType());
  Location loc = elements.front().getLoc();
  int64_t bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  setInsertionPoint(scopes.size() - 1);
  if (elements.size() == 1) {
    memref::StoreOp::create(builder, loc, elements.front(), memory,
                            run.indices);
    return;
  }
  Value vector = join(builder, loc, elements);
  auto stored = VectorType::get({run.count}, type.getElementType());
  if (vector.getType() != stored)
    vector = vector::BitCastOp::create(builder, loc, stored, vector);
  vector::StoreOp::create(builder, loc, vector, memory, run.indices,
                          /*nontemporal=*/false,
                          llvm::MaybeAlign(run.count * bytes));
}

/// Returns a remembered run, unless it was built in a scope that has been left.
const SmallVector<Value> *ElementPuller::recallRun(const Key &key) const {
  auto known = runs.find(key);
  if (known == runs.end())
    return nullptr;
  bool areOpen = llvm::all_of(known->second, [&](Value element) {
    return llvm::any_of(scopes, [&](const Scope &scope) {
      return scope.block == element.getParentBlock();
    });
  });
  return areOpen ? &known->second : nullptr;
}

FailureOr<SmallVector<Value>> ElementPuller::pullRun(Value tensor,
                                                     const Run &run) {
  // Sums and owned elements aren't remembered: they have other values at other
  // places in the code.
  if (run.count == 1 || owned.contains(tensor) || carried.contains(tensor))
    return pullOneByOne(tensor, run);
  Key key = {tensor.getAsOpaquePointer(), index(run.axis).getAsOpaquePointer(),
             index(run.count).getAsOpaquePointer()};
  for (Value own : run.indices)
    key.push_back(own.getAsOpaquePointer());
  if (const SmallVector<Value> *known = recallRun(key))
    return *known;
  FailureOr<SmallVector<Value>> elements = computeRun(tensor, run);
  if (succeeded(elements))
    runs[key] = *elements;
  return elements;
}

FailureOr<SmallVector<Value>> ElementPuller::computeRun(Value tensor,
                                                        const Run &run) {
  if (!isWhole(tensor, run))
    return pullOneByOne(tensor, run);
  if (Value memory = places.lookup(tensor))
    return isReadTogether(tensor, run)
               ? readRun(memory, tensor.getLoc(),
                         {simplify(tensor, run.indices), run.axis, run.count})
               : pullOneByOne(tensor, run);
  if (auto generic = tensor.getDefiningOp<linalg::GenericOp>())
    return computeGenericRun(generic, cast<OpResult>(tensor), run);
  FailureOr<std::optional<MovedRun>> moved = moveRun(tensor, run);
  if (failed(moved))
    return failure();
  if (!*moved)
    return pullOneByOne(tensor, run);
  return chooseRun((*moved)->isInside,
                   [&] { return pullRun((*moved)->from, (*moved)->run); },
                   [&]() -> FailureOr<SmallVector<Value>> {
                     FailureOr<Value> value = computeScalar((*moved)->outside);
                     if (failed(value))
                       return failure();
                     return SmallVector<Value>(run.count, *value);
                   });
}

bool hfta::computesRuns(linalg::GenericOp op) {
  return llvm::none_of(*op.getBody(),
                       [](Operation &own) { return own.getNumRegions() > 0; });
}

/// Computes values that depend on the run's axis for each element, and all
/// others once.
FailureOr<SmallVector<Value>>
ElementPuller::computeGenericRun(linalg::GenericOp op, OpResult result,
                                 const Run &run) {
  if (op.getNumReductionLoops() > 0)
    return addRun(op, result, run);
  std::optional<RunLoops> found = findRunLoops(op, result, run);
  if (!found || !computesRuns(op))
    return pullOneByOne(result, run);
  return computeBodies(op, found->loops, found->loop, run.count,
                       result.getResultNumber(), /*running=*/{});
}

FailureOr<SmallVector<Value>>
ElementPuller::computeBodies(linalg::GenericOp op, ArrayRef<Value> loops,
                             unsigned loop, int64_t count, unsigned result,
                             ArrayRef<Value> running) {
  Block *body = op.getBody();
  DenseMap<Value, SmallVector<Value>> operands;
  SmallVector<Value> elements;
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<Value> own(loops);
    own[loop] = apply(builder.getAffineDimExpr(0) + i, loops[loop]);
    IRMapping known;
    auto find = [&](Value value) -> FailureOr<Value> {
      if (auto number = value.getDefiningOp<linalg::IndexOp>())
        return own[number.getDim()];
      auto argument = dyn_cast<BlockArgument>(value);
      if (!argument || argument.getOwner() != body)
        return computeScalar(value);
      unsigned place = argument.getArgNumber();
      if (!running.empty() && place >= op.getNumDpsInputs()) {
        if (running.size() > 1)
          return running[i];
        return elements.empty() ? running.front() : elements.back();
      }
      SmallVector<Value> &all = operands[argument];
      if (all.empty()) {
        FailureOr<SmallVector<Value>> pulled =
            pullOperandRun(op, op->getOpOperand(place), loops, loop, count);
        if (failed(pulled))
          return failure();
        all = *pulled;
      }
      return all[i];
    };
    FailureOr<Value> element =
        compute(body->getTerminator()->getOperand(result), known, find);
    if (failed(element))
      return failure();
    elements.push_back(*element);
  }
  return elements;
}

FailureOr<SmallVector<Value>>
ElementPuller::pullOperandRun(linalg::GenericOp op, OpOperand &operand,
                              ArrayRef<Value> loops, unsigned loop,
                              int64_t count) {
  if (std::optional<Run> run = findOperandRun(op, operand, loops, loop, count))
    return pullRun(operand.get(), *run);
  bool isSame = !isa<RankedTensorType>(operand.get().getType()) ||
                !op.getMatchingIndexingMap(&operand).isFunctionOfDim(loop);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < (isSame ? 1 : count); ++i) {
    SmallVector<Value> own(loops);
    own[loop] = apply(builder.getAffineDimExpr(0) + i, own[loop]);
    FailureOr<Value> element = pullOperand(op, operand, own);
    if (failed(element))
      return failure();
    elements.push_back(*element);
  }
  elements.resize(count, elements.front());
  return elements;
}
