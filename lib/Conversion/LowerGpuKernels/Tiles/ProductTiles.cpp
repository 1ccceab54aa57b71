//===- ProductTiles.cpp - Matrix products tile by tile --------------------===//

#include "Tiles/ProductTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;

/// The number of neighbouring elements that a thread reads from shared memory
/// at once.
static constexpr int64_t kVector = 4;

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

ProductTiles::ProductTiles(OpBuilder &builder, Block *block,
                           ElementPuller &puller, SharedMemory &memory,
                           const KernelProduct &product,
                           const ProductTile &tile, ValueRange results,
                           Value thread)
    : builder(builder), block(block), puller(puller), memory(memory),
      product(product), op(product.op), tile(tile), results(results),
      loc(op.getLoc()), thread(thread) {
  bindDims(builder.getContext(), d0, d1);
  sumType = getElementTypeOrSelf(op->getResult(0).getType());
  sides[0].of = &product.rows;
  sides[0].tile = tile.rows;
  sides[0].ofThread = tile.threadRows;
  sides[1].of = &product.columns;
  sides[1].tile = tile.columns;
  sides[1].ofThread = tile.threadColumns;
}

/// Allocates [group, buffer, term, place] for each side. Padding makes the rows
/// of neighbouring terms begin in different banks.
void ProductTiles::allocate() {
  for (Side &side : sides)
    side.memory = memory.allocate(
        loc, {tile.groups, side.buffers, tile.terms, side.tile + kVector},
        getElementTypeOrSelf(op->getOperand(side.of->operand).getType()));
}

/// Determines the thread's tile, group and part of the tile. Each block has one
/// tile; from block to block the column of tiles changes fastest, then the row
/// of tiles, then the batch.
void ProductTiles::placeThread(Value thread) {
  int64_t threads = countBlockThreads();
  int64_t ofGroup = tile.countGroupThreads();
  inBlock = apply(d0 % threads, thread);
  group =
      tile.groups == 1 ? puller.index(0) : apply(d0.floorDiv(ofGroup), inBlock);
  inGroup = apply(d0 % ofGroup, inBlock);
  int64_t rowTiles = llvm::divideCeil(product.rows.size, tile.rows);
  int64_t columnTiles = llvm::divideCeil(product.columns.size, tile.columns);
  AffineExpr block = d0.floorDiv(threads);
  sides[1].first = apply(block % columnTiles * tile.columns, thread);
  AffineExpr above = block.floorDiv(columnTiles);
  sides[0].first = apply(above % rowTiles * tile.rows, thread);
  start.assign(op.getNumLoops(), puller.index(0));
  setLoops(start, product.batches, apply(above.floorDiv(rowTiles), thread));
  placeInTile();
}

/// Gives neighbouring elements of the results to neighbouring threads.
void ProductTiles::placeInTile() {
  int64_t rows = tile.rows / tile.threadRows;
  int64_t columns = tile.columns / tile.threadColumns;
  if (product.storesRowsInside) {
    sides[0].number = apply(d0 % rows, inGroup);
    sides[1].number = apply(d0.floorDiv(rows), inGroup);
  } else {
    sides[1].number = apply(d0 % columns, inGroup);
    sides[0].number = apply(d0.floorDiv(columns), inGroup);
  }
}

void ProductTiles::setLoops(SmallVector<Value> &loops, ArrayRef<unsigned> which,
                            Value number) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges(), sizes;
  for (unsigned loop : which)
    sizes.push_back(ranges[loop]);
  for (auto [loop, own] :
       llvm::zip(which, puller.delinearize(d0, number, sizes)))
    loops[loop] = own;
}

Value ProductTiles::clamp(Value number, int64_t last) {
  Value end = puller.index(last);
  toEnd();
  return arith::MinUIOp::create(builder, loc, number, end);
}

/// Gives neighbours in memory to neighbouring threads.
std::pair<AffineExpr, AffineExpr>
ProductTiles::placeUnit(const Side &side) const {
  int64_t unitsOfPlace = tile.terms / unit, unitsOfTerm = side.tile / unit;
  if (side.along)
    return {d0.floorDiv(unitsOfTerm), d0 % unitsOfTerm * unit};
  if (side.of->hasTermsInside)
    return {d0 % unitsOfPlace * unit, d0.floorDiv(unitsOfPlace)};
  return {d0.floorDiv(side.tile) * unit, d0 % side.tile};
}

/// Computes the places of units. Beyond the end of a side the last place is
/// repeated; the results there aren't stored.
LogicalResult ProductTiles::prepare(Side &side) {
  int64_t threads = tile.countGroupThreads();
  int64_t units = side.tile * tile.terms / unit;
  auto [term, place] = placeUnit(side);
  for (int64_t begin = 0; begin < units; begin += threads) {
    Value number = apply(d0 + begin, inGroup);
    if (begin + threads > units)
      number = clamp(number, units - 1);
    side.terms.push_back(apply(term, number));
    side.places.push_back(apply(place, number));
    Value own = apply(d0 + d1, {side.first, side.places.back()});
    side.loops.push_back(start);
    if (side.of->size % side.tile != 0)
      own = clamp(own, side.of->size - (side.along ? unit : 1));
    setLoops(side.loops.back(), side.of->loops, own);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

static TypedAttr getZero(Type type, bool isNegative) {
  auto real = cast<FloatType>(type);
  return FloatAttr::get(
      type, llvm::APFloat::getZero(real.getFloatSemantics(), isNegative));
}

bool ProductTiles::hasRuns(const Side &side) {
  return side.along ||
         (unit > 1 &&
          op.getStaticLoopRanges()[product.terms.back()] % unit == 0);
}

Value ProductTiles::findTerm(const Side &side, size_t number, Value step) {
  return apply(d0 * tile.terms + d1, {step, side.terms[number]});
}

SmallVector<Value> ProductTiles::findLoops(const Side &side, size_t number,
                                           Value term) {
  SmallVector<Value> loops(side.loops[number]);
  setLoops(loops, product.terms, term);
  return loops;
}

Value ProductTiles::isTerm(Value term) {
  if (product.termCount == countSteps() * tile.groups * tile.terms)
    return Value();
  Value end = puller.index(product.termCount);
  toEnd();
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, term,
                               end);
}

/// Computes `count` elements of a unit, the first one at `term`.
FailureOr<SmallVector<Value>> ProductTiles::computeRun(const Side &side,
                                                       size_t number,
                                                       Value term,
                                                       int64_t count) {
  OpOperand &operand = op->getOpOperand(side.of->operand);
  SmallVector<Value> loops = findLoops(side, number, term);
  if (count > 1)
    return puller.pullOperandRun(op, operand, loops, getRunLoop(side), count);
  FailureOr<Value> element = puller.pullOperand(op, operand, loops);
  if (failed(element))
    return failure();
  return SmallVector<Value>{*element};
}

/// Computes the elements of a unit. Beyond the last term the operands are 0 and
/// -0, whose product -0 changes no sum.
LogicalResult ProductTiles::computeUnit(const Side &side, size_t number,
                                        Value step,
                                        SmallVector<Value> &elements) {
  Value first = findTerm(side, number, step);
  int64_t count = hasRuns(side) ? unit : 1;
  for (int64_t i = 0; i < unit; i += count) {
    Value term = apply(d0 + i, first);
    auto compute = [&] { return computeRun(side, number, term, count); };
    Value behind = puller.pullSplat(getZero(
        getElementTypeOrSelf(op->getOperand(side.of->operand).getType()),
        /*isNegative=*/side.of->operand == 1));
    FailureOr<SmallVector<Value>> run = puller.chooseRun(
        isTerm(term), compute, [&]() -> FailureOr<SmallVector<Value>> {
          return SmallVector<Value>(count, behind);
        });
    if (failed(run))
      return failure();
    llvm::append_range(elements, *run);
  }
  return success();
}

/// Computes the elements that the thread loads for a step.
FailureOr<SmallVector<Value>> ProductTiles::computeElements(Side &side,
                                                            Value step) {
  SmallVector<Value> elements;
  for (size_t number = 0; number < side.terms.size(); ++number)
    if (failed(computeUnit(side, number, step, elements)))
      return failure();
  return elements;
}

void ProductTiles::storeUnit(OpBuilder &b, const Side &side, size_t number,
                             ArrayRef<Value> elements, Value buffer) {
  memref::StoreOp::create(
      b, loc, elements.front(), side.memory,
      {group, buffer, side.terms[number], side.places[number]});
}

void ProductTiles::buildUnit(OpBuilder &b, const Side &side, size_t number,
                             llvm::function_ref<void(OpBuilder &)> build) {
  int64_t threads = tile.countGroupThreads();
  int64_t left =
      side.tile * tile.terms / unit - static_cast<int64_t>(number) * threads;
  if (left >= threads)
    return build(b);
  OpBuilder::InsertPoint place = b.saveInsertionPoint();
  Value end = puller.index(left);
  b.restoreInsertionPoint(place);
  Value isOwn =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, inGroup, end);
  scf::IfOp::create(b, loc, isOwn, [&](OpBuilder &inner, Location loc) {
    build(inner);
    scf::YieldOp::create(inner, loc);
  });
}

void ProductTiles::storeElements(Side &side, ArrayRef<Value> elements,
                                 Value buffer) {
  for (size_t number = 0; number < side.terms.size(); ++number) {
    toEnd();
    buildUnit(builder, side, number, [&](OpBuilder &b) {
      storeUnit(b, side, number, elements.slice(number * unit, unit), buffer);
    });
  }
}

/// A thread's elements form groups of kVector neighbours. Between two groups of
/// one thread lie the groups of all other threads, so that neighbouring threads
/// read neighbouring vectors.
AffineExpr ProductTiles::getPlaceOf(const Side &side, AffineExpr thread,
                                    AffineExpr number) const {
  int64_t vector = std::min(kVector, side.ofThread);
  int64_t threads = side.tile / side.ofThread;
  return thread * vector + number.floorDiv(vector) * (vector * threads) +
         number % vector;
}

Value ProductTiles::getPlace(const Side &side, int64_t number) {
  return apply(getPlaceOf(side, d0, builder.getAffineConstantExpr(number)),
               side.number);
}

/// Builds the op's body: adds the product of lhs and rhs to a sum.
Value ProductTiles::add(Value lhs, Value rhs, Value sum) {
  Block *body = op.getBody();
  IRMapping known;
  known.map(body->getArgument(0), lhs);
  known.map(body->getArgument(1), rhs);
  known.map(body->getArgument(2), sum);
  for (Operation &op : body->without_terminator())
    builder.clone(op, known);
  return known.lookup(body->getTerminator()->getOperand(0));
}

std::array<Value, 2> ProductTiles::findBuffers(Value step) {
  std::array<Value, 2> buffers;
  for (auto [side, buffer] : llvm::zip(sides, buffers))
    buffer = apply(d0 % side.buffers, step);
  return buffers;
}

SmallVector<Value> ProductTiles::addTerms(Value step, ArrayRef<Value> before) {
  std::array<Value, 2> buffers = findBuffers(step);
  SmallVector<Value> sums(before);
  std::array<SmallVector<Value>, 2> places;
  for (auto [side, own] : llvm::zip(sides, places))
    for (int64_t i = 0; i < side.ofThread; ++i)
      own.push_back(getPlace(side, i));
  for (int64_t term = 0; term < tile.terms; ++term) {
    Value number = puller.index(term);
    toEnd();
    std::array<SmallVector<Value>, 2> elements;
    for (auto [side, buffer, own, read] :
         llvm::zip(sides, buffers, places, elements))
      for (Value place : own)
        read.push_back(memref::LoadOp::create(builder, loc, side.memory,
                                              {group, buffer, number, place}));
    auto *sum = sums.begin();
    for (Value lhs : elements[0])
      for (Value rhs : elements[1]) {
        *sum = add(lhs, rhs, *sum);
        ++sum;
      }
  }
  return sums;
}

int64_t ProductTiles::countSteps() const {
  return tile.countSteps(product.termCount);
}

/// Builds a software pipeline: while the terms of a step are added, the
/// elements of the next one are computed; then they are stored in the other
/// buffer.
LogicalResult ProductTiles::addAll(SmallVector<Value> &sums) {
  int64_t steps = countSteps();
  Value zero = puller.index(0), one = puller.index(1);
  if (failed(beginCopies()))
    return failure();
  for (Side &side : sides) {
    if (side.isCopied)
      continue;
    FailureOr<SmallVector<Value>> first = computeElements(side, findStep(zero));
    if (failed(first))
      return failure();
    storeElements(side, *first, zero);
  }
  Value last = puller.index(steps - 1), end = puller.index(steps);
  toEnd();
  waitForCopies();
  memory.synchronize(builder, loc);
  auto loop = scf::ForOp::create(builder, loc, zero, end, one, sums);
  Block *outer = std::exchange(block, loop.getBody());
  puller.enter(block, loop, /*isConditional=*/false, /*diverges=*/false);
  Value step = loop.getInductionVar();
  beginTerms(step, SmallVector<Value>(loop.getRegionIterArgs()));
  if (failed(continueCopies(step)))
    return failure();
  Value next = apply(d0 + 1, step);
  toEnd();
  // The last step loads its own elements once more; they aren't used.
  next = arith::MinUIOp::create(builder, loc, next, last);
  std::array<SmallVector<Value>, 2> elements;
  for (auto [side, own] : llvm::zip(sides, elements)) {
    if (side.isCopied)
      continue;
    FailureOr<SmallVector<Value>> computed =
        computeElements(side, findStep(next));
    if (failed(computed))
      return failure();
    own = *computed;
  }
  SmallVector<Value> added =
      addTerms(step, SmallVector<Value>(loop.getRegionIterArgs()));
  for (auto [side, own] : llvm::zip(sides, elements))
    if (!side.isCopied)
      storeElements(side, own, apply((d0 + 1) % side.buffers, step));
  toEnd();
  waitForCopies();
  memory.synchronize(builder, loc);
  scf::YieldOp::create(builder, loc, added);
  puller.leave();
  block = outer;
  sums.assign(loop.getResults().begin(), loop.getResults().end());
  return success();
}

Value ProductTiles::isGroup(int64_t number) {
  Value other = puller.index(number);
  toEnd();
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, group,
                               other);
}

/// Adds sums of group `other` to those of the first group. All groups run the
/// additions, but only the first group's sums are stored.
void ProductTiles::addGroup(int64_t other, ArrayRef<Value> own, Value shared,
                            MutableArrayRef<Value> sums) {
  SmallVector<Value> places;
  for (size_t i = 0; i < own.size(); ++i)
    places.push_back(puller.index(static_cast<int64_t>(i)));
  scf::IfOp::create(
      builder, loc, isGroup(other), [&](OpBuilder &b, Location loc) {
        for (auto [sum, place] : llvm::zip(own, places))
          memref::StoreOp::create(b, loc, sum, shared, {place, inGroup});
        scf::YieldOp::create(b, loc);
      });
  memory.synchronize(builder, loc);
  for (auto [sum, place] : llvm::zip(sums, places)) {
    Value part = memref::LoadOp::create(builder, loc, shared, {place, inGroup});
    sum = arith::AddFOp::create(builder, loc, sum, part);
  }
  memory.synchronize(builder, loc);
}

/// Adds the sums of all other groups to those of the first one. The sums pass
/// through the operands' shared memory, which is free by now but small, so some
/// of them are added at a time.
void ProductTiles::addGroups(SmallVector<Value> &sums) {
  if (tile.groups == 1)
    return;
  constexpr int64_t kBytes = 16 * 1024;
  int64_t threads = tile.countGroupThreads();
  int64_t ofThread = kBytes / threads / (sumType.getIntOrFloatBitWidth() / 8);
  auto atOnce = std::clamp<size_t>(ofThread, 1, sums.size());
  Value shared =
      memory.share(loc, {static_cast<int64_t>(atOnce), threads}, sumType);
  isFirstGroup = isGroup(0);
  const SmallVector<Value> own(sums);
  for (int64_t other = 1; other < tile.groups; ++other)
    for (size_t begin = 0; begin < sums.size(); begin += atOnce) {
      size_t count = std::min(atOnce, sums.size() - begin);
      addGroup(other, ArrayRef(own).slice(begin, count), shared,
               MutableArrayRef<Value>(sums).slice(begin, count));
    }
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Stores the results' elements that belong to one element of the product. All
/// are computed before one is stored, as a result may overwrite an argument.
LogicalResult ProductTiles::storeResult(std::array<int64_t, 2> at, Value row,
                                        Value column, Value sum, Store store) {
  SmallVector<Value> loops(start);
  setLoops(loops, product.rows.loops, row);
  setLoops(loops, product.columns.loops, column);
  Value tensor = op->getResult(0);
  puller.own(tensor, sum);
  SmallVector<Value> elements, summed;
  SmallVector<SmallVector<Value>> places;
  auto pull = [&](Value made, AffineMap map, SmallVector<Value> &pulled) {
    SmallVector<Value> &indices = places.emplace_back();
    for (AffineExpr expression : map.getResults())
      indices.push_back(apply(expression, loops));
    FailureOr<Value> element = puller.pull(made, indices);
    pulled.push_back(succeeded(element) ? *element : Value());
    return LogicalResult(element);
  };
  for (auto [result, map] : llvm::zip(results, product.results))
    if (map && failed(pull(result, map, elements)))
      return failure();
  if (product.parts)
    for (const KernelParts::Summed &own : product.parts->summed)
      if (failed(pull(own.tensor, product.summedPlace, summed)))
        return failure();
  puller.own(tensor, Value());
  toEnd();
  size_t next = 0;
  for (auto [number, map] : llvm::enumerate(product.results))
    if (map) {
      store(number, elements[next], places[next]);
      ++next;
    }
  if (product.parts)
    keepSummed(at, summed);
  return success();
}

LogicalResult ProductTiles::storeResults(ArrayRef<Value> sums,
                                         std::array<Range, 2> ranges,
                                         Store store) {
  for (int64_t i = ranges[0].first; i < ranges[0].second; ++i) {
    for (int64_t j = ranges[1].first; j < ranges[1].second; ++j) {
      Value sum = sums[i * tile.threadColumns + j];
      std::array<Value, 2> own;
      Value isInside = isFirstGroup;
      for (auto [side, at, number] :
           llvm::zip(sides, std::array<int64_t, 2>{i, j}, own)) {
        number = apply(d0 + d1, {side.first, getPlace(side, at)});
        isInside = both(
            builder, block, isInside,
            isBelow(builder, puller, block, number, side.tile, side.of->size));
      }
      Block *outer = block;
      LogicalResult stored =
          buildWhere(builder, puller, block, isInside, [&](Block *inner) {
            block = inner;
            return storeResult({i, j}, own[0], own[1], sum, store);
          });
      block = outer;
      if (failed(stored))
        return failure();
    }
  }
  return success();
}

LogicalResult ProductTiles::build(Store store) {
  placeThread(thread);
  for (Side &side : sides)
    if (failed(prepare(side)))
      return failure();
  allocate();
  return compute(store);
}

LogicalResult ProductTiles::compute(Store store) {
  auto fill = op.getDpsInits().front().getDefiningOp<linalg::FillOp>();
  FailureOr<Value> begin = puller.pull(
      fill.getResult(0),
      SmallVector<Value>(
          cast<RankedTensorType>(op->getResult(0).getType()).getRank(),
          puller.index(0)));
  if (failed(begin))
    return failure();
  SmallVector<Value> sums(tile.threadRows * tile.threadColumns, *begin);
  if (failed(addAll(sums)))
    return failure();
  addGroups(sums);
  if (product.parts)
    return storeWithParts(sums, store);
  return storeResults(
      sums, {Range(0, tile.threadRows), Range(0, tile.threadColumns)}, store);
}
