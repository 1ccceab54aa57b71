//===- SumParts.cpp - Sums of lanes and of groups of terms ----------------===//
//
// An op says which terms are added up by themselves, so that whoever adds them,
// threads together or one alone, gets the same bits.
//===----------------------------------------------------------------------===//

#include "ElementPuller.h"
#include "Hfta/Conversion/LowerGpuKernels.h"
#include "ProductTiles.h"

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

/// What neighbours are read of is read together.
FailureOr<Value> ElementPuller::addUnit(linalg::GenericOp op,
                                        ArrayRef<Value> loops, unsigned loop,
                                        Value before, int64_t unit) {
  if (unit == 1)
    return computeBody(op, loops, /*outputs=*/before, /*result=*/0);
  FailureOr<SmallVector<Value>> sums =
      computeBodies(op, loops, loop, unit, /*result=*/0, before);
  if (failed(sums))
    return failure();
  return sums->back();
}

FailureOr<Value> ElementPuller::addSome(linalg::GenericOp op,
                                        SmallVector<Value> loops,
                                        ArrayRef<unsigned> reduced, Value begin,
                                        int64_t unit,
                                        std::array<Value, 3> range,
                                        size_t level, bool diverges) {
  Location loc = op.getLoc();
  auto loop =
      scf::ForOp::create(builder, loc, range[0], range[1], range[2], begin);
  SmallVector<Scope> outer = scopes;
  scopes.truncate(level + 1);
  scopes.push_back({loop.getBody(), loop, false, diverges});
  SmallVector<Value> numbers =
      delinearize(builder.getAffineDimExpr(0), loop.getInductionVar(),
                  getSizes(op, reduced));
  for (auto [which, number] : llvm::zip(reduced, numbers))
    loops[which] = number;
  Value before = loop.getRegionIterArg(0);
  FailureOr<Value> sum = addUnit(op, loops, reduced.back(), before, unit);
  scopes = outer;
  if (failed(sum))
    return failure();
  builder.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(builder, loc, *sum);
  builder.setInsertionPointAfter(loop);
  return loop.getResult(0);
}

bool ElementPuller::meetIn(size_t level) const {
  return llvm::none_of(ArrayRef(scopes).take_front(level + 1),
                       [](const Scope &scope) { return scope.diverges; });
}

/// The terms that a lane takes at a time.
static int64_t getUnit(linalg::GenericOp op) {
  auto unit = op->getAttrOfType<IntegerAttr>(kSumUnitAttrName);
  return unit ? unit.getInt() : 1;
}

/// Lane i has every unit of terms from the ith one on. Threads that aren't
/// needed have none.
FailureOr<Value> ElementPuller::addLanes(linalg::GenericOp op,
                                         ArrayRef<Value> loops,
                                         ArrayRef<unsigned> reduced,
                                         Value begin, size_t level) {
  Location loc = op.getLoc();
  std::optional<SumCombiner> combiner = findCombiner(op, 0);
  int64_t lanes = op->getAttrOfType<IntegerAttr>(kSumLanesAttrName).getInt();
  if (!combiner)
    return op.emitError("can't be added up by several threads");
  if (!sumLanes || !meetIn(level))
    return addLanesAlone(op, SmallVector<Value>(loops), reduced, begin,
                         *combiner, lanes, level);
  int64_t unit = getUnit(op);
  Value end = index(llvm::product_of(getSizes(op, reduced)));
  Value all = index(lanes), step = index(lanes * unit);
  Value own = apply(builder.getAffineDimExpr(0) * unit, sumLanes->lane);
  setInsertionPoint(level);
  Value hasTerms = arith::CmpIOp::create(
      builder, loc, arith::CmpIPredicate::ult, sumLanes->lane, all);
  Value first = arith::SelectOp::create(builder, loc, hasTerms, own, end);
  Value from = combiner->begin(builder, loc, sumLanes->lane, begin);
  FailureOr<Value> sum =
      addSome(op, SmallVector<Value>(loops), reduced, from, unit,
              {first, end, step}, level, /*diverges=*/true);
  if (failed(sum))
    return failure();
  return sumLanes->combine(builder, loc, *sum, lanes, *combiner);
}

/// One thread does what several would.
FailureOr<Value> ElementPuller::addLanesAlone(
    linalg::GenericOp op, ArrayRef<Value> loops, ArrayRef<unsigned> reduced,
    Value begin, const SumCombiner &combiner, int64_t lanes, size_t level) {
  Location loc = op.getLoc();
  int64_t unit = getUnit(op);
  Value zero = index(0), one = index(1), all = index(lanes),
        step = index(lanes * unit);
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
  Value first = apply(builder.getAffineDimExpr(0) * unit, lane);
  FailureOr<Value> sum =
      addSome(op, SmallVector<Value>(loops), reduced, from, unit,
              {first, end, step}, level + 1, /*diverges=*/false);
  scopes = outer;
  if (failed(sum))
    return failure();
  memref::StoreOp::create(builder, loc, *sum, values, lane);
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

/// A product of which no tile is computed: one group's terms after the other's.
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
    FailureOr<Value> sum =
        addSome(op, SmallVector<Value>(loops), reduced, begin, /*unit=*/1,
                {first, end, one}, level, /*diverges=*/false);
    if (failed(sum))
      return failure();
    total =
        total ? Value(arith::AddFOp::create(builder, loc, total, *sum)) : *sum;
  }
  return total;
}
