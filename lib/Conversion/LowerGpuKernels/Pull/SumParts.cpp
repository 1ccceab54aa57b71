//===- SumParts.cpp - Sums of lanes and of groups of terms ----------------===//
//
// Attributes of an op say which of its terms are added up separately, so that
// the bits are the same whether several threads add them up or one does.
//===----------------------------------------------------------------------===//

#include "Hfta/Conversion/LowerGpuKernels.h"
#include "Pull/ElementPuller.h"
#include "Read/ProductTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::hfta;

static SmallVector<int64_t> getSizes(linalg::GenericOp op,
                                     ArrayRef<unsigned> loops) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges(), sizes;
  for (unsigned loop : loops)
    sizes.push_back(ranges[loop]);
  return sizes;
}

FailureOr<SmallVector<Value>> ElementPuller::addStep(linalg::GenericOp op,
                                                     ArrayRef<Value> loops,
                                                     ArrayRef<Value> before,
                                                     SumStep step) {
  if (step.count > 1) {
    FailureOr<SmallVector<Value>> sums =
        computeBodies(op, loops, step.loop, step.count, /*result=*/0, before);
    if (succeeded(sums) && step.areTerms)
      return SmallVector<Value>{sums->back()};
    return sums;
  }
  FailureOr<Value> sum = computeBody(op, loops, /*outputs=*/before,
                                     /*result=*/0);
  if (failed(sum))
    return failure();
  return SmallVector<Value>{*sum};
}

FailureOr<SmallVector<Value>>
ElementPuller::addSome(linalg::GenericOp op, SmallVector<Value> loops,
                       ArrayRef<unsigned> reduced, ArrayRef<Value> begins,
                       SumStep step, std::array<Value, 3> range, size_t level,
                       bool diverges) {
  Location loc = op.getLoc();
  auto loop =
      scf::ForOp::create(builder, loc, range[0], range[1], range[2], begins);
  SmallVector<Scope> outer = scopes;
  scopes.truncate(level + 1);
  scopes.push_back({loop.getBody(), loop, false, diverges});
  SmallVector<Value> numbers =
      delinearize(builder.getAffineDimExpr(0), loop.getInductionVar(),
                  getSizes(op, reduced));
  for (auto [which, number] : llvm::zip(reduced, numbers))
    loops[which] = number;
  SmallVector<Value> before(loop.getRegionIterArgs().begin(),
                            loop.getRegionIterArgs().end());
  FailureOr<SmallVector<Value>> sums = addStep(op, loops, before, step);
  scopes = outer;
  if (failed(sums))
    return failure();
  builder.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(builder, loc, *sums);
  builder.setInsertionPointAfter(loop);
  return SmallVector<Value>(loop.getResults());
}

bool ElementPuller::meetIn(size_t level) const {
  return llvm::none_of(ArrayRef(scopes).take_front(level + 1),
                       [](const Scope &scope) { return scope.diverges; });
}

static int64_t getLanes(linalg::GenericOp op) {
  return op->getAttrOfType<IntegerAttr>(kSumLanesAttrName).getInt();
}

ElementPuller::SumStep ElementPuller::getStep(linalg::GenericOp op,
                                              ArrayRef<unsigned> reduced) {
  auto unit = op->getAttrOfType<IntegerAttr>(kSumUnitAttrName);
  return {reduced.back(), unit ? unit.getInt() : 1, /*areTerms=*/true};
}

/// Adds up the lanes of a sum: each thread one lane, if all threads get here
/// together, else every thread all lanes.
FailureOr<Value> ElementPuller::addLanes(linalg::GenericOp op,
                                         ArrayRef<Value> loops,
                                         ArrayRef<unsigned> reduced,
                                         Value begin, size_t level) {
  std::optional<SumCombiner> combiner = findCombiner(op, 0);
  if (!combiner)
    return op.emitOpError("can't be added up by several threads");
  if (!sumLanes || !meetIn(level))
    return addLanesAlone(op, SmallVector<Value>(loops), reduced, begin,
                         *combiner, getLanes(op), level);
  FailureOr<SmallVector<Value>> sums = addLanesTogether(
      op, loops, reduced, begin, getStep(op, reduced), *combiner, level);
  if (failed(sums))
    return failure();
  return sums->front();
}

/// Adds up one lane in each thread, then combines the lanes' sums. A step
/// consists of one unit of terms for each lane. Threads beyond the number of
/// lanes have no terms.
FailureOr<SmallVector<Value>>
ElementPuller::addLanesTogether(linalg::GenericOp op, ArrayRef<Value> loops,
                                ArrayRef<unsigned> reduced,
                                ArrayRef<Value> begins, SumStep step,
                                const SumCombiner &combiner, size_t level) {
  Location loc = op.getLoc();
  int64_t lanes = getLanes(op), terms = step.countTerms();
  Value end = index(llvm::product_of(getSizes(op, reduced)));
  Value all = index(lanes), distance = index(lanes * terms);
  Value own = apply(builder.getAffineDimExpr(0) * terms, sumLanes->lane);
  setInsertionPoint(level);
  Value hasTerms = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ult, sumLanes->lane, all);
  Value first = arith::SelectOp::create(builder, loc, hasTerms, own, end);
  SmallVector<Value> from;
  for (Value begin : begins)
    from.push_back(combiner.begin(builder, loc, sumLanes->lane, begin));
  FailureOr<SmallVector<Value>> sums =
      addSome(op, SmallVector<Value>(loops), reduced, from, step,
              {first, end, distance}, level, /*diverges=*/true);
  if (failed(sums))
    return failure();
  return sumLanes->combine(builder, loc, *sums, lanes, combiner);
}

/// Adds up a run of neighbouring sums that threads share: at a time, a thread
/// adds one term of each of the sums.
FailureOr<SmallVector<Value>>
ElementPuller::addRun(linalg::GenericOp op, OpResult result, const Run &run) {
  AffineMap map = op.getIndexingMapMatchingResult(result);
  std::optional<SumCombiner> combiner = findCombiner(op, 0);
  bool isShared = sumLanes && combiner && op->hasAttr(kSumLanesAttrName) &&
                  !op->hasAttr(kSumUnitAttrName);
  if (!isShared || !computesRuns(op) || !map.isProjectedPermutation())
    return pullOneByOne(result, run);
  SmallVector<Value> loops(op.getNumLoops());
  for (auto [expression, index] : llvm::zip(map.getResults(), run.indices))
    loops[cast<AffineDimExpr>(expression).getPosition()] = index;
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  FailureOr<SmallVector<Value>> begins =
      pullRun(op.getDpsInits()[result.getResultNumber()], run);
  if (failed(begins))
    return failure();
  SmallVector<Value> context(run.indices);
  llvm::append_range(context, *begins);
  size_t level = findLevel(context);
  if (!meetIn(level))
    return pullOneByOne(result, run);
  SumStep step = {map.getDimPosition(run.axis), run.count, /*areTerms=*/false};
  return addLanesTogether(op, loops, reduced, *begins, step, *combiner, level);
}

/// Adds up all lanes in one thread, in the same order as several threads would.
FailureOr<Value> ElementPuller::addLanesAlone(
    linalg::GenericOp op, ArrayRef<Value> loops, ArrayRef<unsigned> reduced,
    Value begin, const SumCombiner &combiner, int64_t lanes, size_t level) {
  Location loc = op.getLoc();
  SumStep step = getStep(op, reduced);
  Value zero = index(0), one = index(1), all = index(lanes),
        distance = index(lanes * step.count);
  Value end = index(llvm::product_of(getSizes(op, reduced)));
  SmallVector<Value> halves;
  for (int64_t half = lanes / 2; half > 0; half /= 2)
    halves.push_back(index(half));
  setInsertionPoint(level);
  Value values = memref::AllocOp::create(
      builder, loc, MemRefType::get({lanes}, begin.getType()));
  auto each = scf::ForOp::create(builder, loc, zero, all, one);
  SmallVector<Scope> outer = scopes;
  scopes.truncate(level + 1);
  scopes.push_back({each.getBody(), each, false, false});
  Value lane = each.getInductionVar();
  builder.setInsertionPoint(each.getBody()->getTerminator());
  Value from = combiner.begin(builder, loc, lane, begin);
  Value first = apply(builder.getAffineDimExpr(0) * step.count, lane);
  FailureOr<SmallVector<Value>> sum =
      addSome(op, SmallVector<Value>(loops), reduced, from, step,
              {first, end, distance}, level + 1, /*diverges=*/false);
  scopes = outer;
  if (failed(sum))
    return failure();
  memref::StoreOp::create(builder, loc, sum->front(), values, lane);
  builder.setInsertionPointAfter(each);
  for (Value half : halves)
    scf::ForOp::create(
        builder, loc, zero, half, one, ValueRange(),
        [&](OpBuilder &b, Location loc, Value own, ValueRange) {
          Value other = arith::AddIOp::create(b, loc, own, half);
          Value first = memref::LoadOp::create(b, loc, values, own);
          Value second = memref::LoadOp::create(b, loc, values, other);
          memref::StoreOp::create(
              b, loc, combiner.combine(b, loc, first, second), values, own);
          scf::YieldOp::create(b, loc);
        });
  return Value(memref::LoadOp::create(builder, loc, values, zero));
}

/// Adds up a product that isn't computed in tiles: the terms of one group after
/// those of another, in the same order as tiles would.
FailureOr<Value> ElementPuller::addGroups(linalg::GenericOp op,
                                          ArrayRef<Value> loops,
                                          ArrayRef<unsigned> reduced,
                                          Value begin, size_t level) {
  Location loc = op.getLoc();
  int64_t terms = llvm::product_of(getSizes(op, reduced));
  ProductTile tile = *ProductTile::get(op);
  int64_t ofGroup = tile.countSteps(terms) * tile.terms;
  Value one = index(1), total;
  for (int64_t group = 0; group < tile.groups; ++group) {
    Value first = index(std::min(terms, group * ofGroup));
    Value end = index(std::min(terms, (group + 1) * ofGroup));
    if (total)
      builder.setInsertionPointAfterValue(total);
    else
      setInsertionPoint(level);
    FailureOr<SmallVector<Value>> sums =
        addSome(op, SmallVector<Value>(loops), reduced, begin,
                getStep(op, reduced), {first, end, one}, level,
                /*diverges=*/false);
    if (failed(sums))
      return failure();
    Value sum = sums->front();
    total = total ? arith::AddFOp::create(builder, loc, total, sum).getResult()
                  : sum;
  }
  return total;
}
