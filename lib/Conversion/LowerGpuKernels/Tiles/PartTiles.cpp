//===- PartTiles.cpp - Elements and their sums, tile by tile --------------===//

#include "Tiles/PartTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;

Value hfta::isBelow(OpBuilder &builder, ElementPuller &puller, Block *block,
                    Value number, int64_t tile, int64_t end) {
  if (end % tile == 0)
    return Value();
  Value last = puller.index(end);
  builder.setInsertionPointToEnd(block);
  return arith::CmpIOp::create(builder, number.getLoc(),
                               arith::CmpIPredicate::ult, number, last);
}

Value hfta::both(OpBuilder &builder, Block *block, Value one, Value other) {
  if (!one || !other)
    return one ? one : other;
  builder.setInsertionPointToEnd(block);
  return arith::AndIOp::create(builder, one.getLoc(), one, other);
}

LogicalResult
hfta::buildWhere(OpBuilder &builder, ElementPuller &puller, Block *block,
                 Value condition,
                 llvm::function_ref<LogicalResult(Block *)> build) {
  if (!condition)
    return build(block);
  builder.setInsertionPointToEnd(block);
  auto branch = scf::IfOp::create(builder, condition.getLoc(), condition,
                                  /*withElseRegion=*/false);
  puller.enter(branch.thenBlock(), branch, /*isConditional=*/true,
               /*diverges=*/true);
  branch.thenBlock()->getTerminator()->erase();
  LogicalResult built = build(branch.thenBlock());
  puller.leave();
  builder.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(builder, condition.getLoc());
  return built;
}

/// Builds a loop that starts at the thread's index and advances by the number
/// of threads.
static LogicalResult
buildLoop(OpBuilder &builder, ElementPuller &puller, Block *block, Value thread,
          int64_t count, int64_t threads,
          llvm::function_ref<LogicalResult(Block *, Value)> build) {
  Value end = puller.index(count), step = puller.index(threads);
  builder.setInsertionPointToEnd(block);
  auto loop = scf::ForOp::create(builder, thread.getLoc(), thread, end, step);
  loop.getBody()->getTerminator()->erase();
  puller.enter(loop.getBody(), loop, /*isConditional=*/true,
               /*diverges=*/true);
  LogicalResult built = build(loop.getBody(), loop.getInductionVar());
  puller.leave();
  builder.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(builder, thread.getLoc());
  return built;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

LogicalResult PartSums::add(Block *block, Value part, Value column,
                            const PartPlace &place, Store store) {
  SmallVector<Value> sums;
  for (auto [number, result] : llvm::enumerate(results)) {
    if (!parts.isSum(number))
      continue;
    FailureOr<Value> sum = puller.pull(result, {part, column});
    if (failed(sum))
      return failure();
    sums.push_back(*sum);
  }
  builder.setInsertionPointToEnd(block);
  const auto *sum = sums.begin();
  for (unsigned number = 0; number < results.size(); ++number)
    if (parts.isSum(number))
      store(number, *sum++, {place.part, place.column});
  return success();
}

LogicalResult PartSums::build(Block *block, ValueRange memories,
                              int64_t tileParts, int64_t tileColumns,
                              Value thread, int64_t threads, Place place,
                              Store store) {
  for (auto [summed, own] : llvm::zip(parts.summed, memories))
    puller.place(summed.view, own);
  AffineExpr number = builder.getAffineDimExpr(0);
  LogicalResult built = buildLoop(
      builder, puller, block, thread, tileParts * tileColumns, threads,
      [&](Block *inner, Value iteration) {
        Value part = puller.apply(number.floorDiv(tileColumns), iteration);
        Value column = puller.apply(number % tileColumns, iteration);
        PartPlace own = place(inner, part, column);
        Value isPart =
            isBelow(builder, puller, inner, own.part, tileParts, parts.count);
        Value isInside = both(builder, inner, own.isInside, isPart);
        return buildWhere(builder, puller, inner, isInside, [&](Block *last) {
          return add(last, part, column, own, store);
        });
      });
  // Forgets the memory of the view. A summed tensor may be its own view, and
  // its elements in other columns have to be computed, not read from this
  // memory.
  for (const KernelParts::Summed &summed : parts.summed)
    puller.place(summed.view, Value());
  return built;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

namespace {
/// The numbers of parts and columns of a tile.
struct TileSize {
  int64_t parts, columns;
};
} // namespace

/// Chooses a tile. It has up to 32 columns, fewer if it would exceed 32 KiB,
/// and as many parts as keep it within 2048 elements and 32 KiB.
static TileSize chooseSize(const KernelParts &parts) {
  constexpr int64_t kColumns = 32, kElements = 2048, kBytes = 32 * 1024;
  int64_t bytes = 0;
  for (const KernelParts::Summed &summed : parts.summed)
    bytes +=
        getElementTypeOrSelf(summed.view.getType()).getIntOrFloatBitWidth() / 8;
  TileSize size = {1, std::min(parts.columns, kColumns)};
  auto countElements = [&] { return size.parts * parts.length * size.columns; };
  while (size.columns > 1 && countElements() * bytes > kBytes)
    size.columns = llvm::divideCeil(size.columns, 2);
  while (2 * size.parts <= parts.count && 2 * countElements() <= kElements &&
         2 * countElements() * bytes <= kBytes)
    size.parts *= 2;
  return size;
}

/// Returns how many neighbouring columns a thread computes at a time: at most
/// 16 bytes of each tensor that is stored or kept in shared memory, and 1 if
/// columns aren't contiguous.
static int64_t chooseRun(const KernelParts &parts, ValueRange results,
                         int64_t tileColumns) {
  int64_t run = kAccessBytes / 4;
  auto add = [&](Value tensor) {
    unsigned bits =
        getElementTypeOrSelf(tensor.getType()).getIntOrFloatBitWidth();
    // Vectors of single bits would be packed, but memory has a byte for each.
    run = bits < 8 ? 1 : std::min<int64_t>(run, kAccessBytes * 8 / bits);
  };
  for (const KernelParts::Summed &summed : parts.summed)
    add(summed.tensor);
  AffineExpr column =
      getAffineDimExpr(parts.shape.size() - 1, results[0].getContext());
  for (auto [number, result] : llvm::enumerate(results)) {
    if (parts.isSum(number))
      continue;
    add(result);
    if (parts.places[number]->getResults().back() != column)
      return 1;
  }
  bool isWhole = parts.hasColumnsInside && parts.columns % run == 0 &&
                 tileColumns % run == 0;
  return isWhole ? run : 1;
}

int64_t PartTiles::countBlocks(const KernelParts &parts) {
  TileSize size = chooseSize(parts);
  return llvm::divideCeil(parts.count, size.parts) *
         llvm::divideCeil(parts.columns, size.columns);
}

PartTiles::PartTiles(OpBuilder &builder, Block *block, ElementPuller &puller,
                     SharedMemory &memory, const KernelParts &parts,
                     ValueRange results, ValueRange targets, Value thread)
    : builder(builder), block(block), puller(puller), memory(memory),
      parts(parts), results(results), targets(targets), loc(thread.getLoc()) {
  TileSize size = chooseSize(parts);
  tileParts = size.parts;
  tileColumns = size.columns;
  run = chooseRun(parts, results, tileColumns);
  AffineExpr number = builder.getAffineDimExpr(0);
  AffineExpr tile = number.floorDiv(kThreads);
  int64_t columnTiles = llvm::divideCeil(parts.columns, tileColumns);
  this->thread = puller.apply(number % kThreads, thread);
  firstPart = puller.apply(tile.floorDiv(columnTiles) * tileParts, thread);
  firstColumn = puller.apply(tile % columnTiles * tileColumns, thread);
}

/// Computes a run of neighbours of one row. All elements are computed before
/// one is stored, as a result may overwrite an argument.
LogicalResult PartTiles::computeInside(Value row, Value column) {
  AffineExpr d0, d1;
  bindDims(builder.getContext(), d0, d1);
  SmallVector<Value> own =
      puller.delinearize(d0 + d1 * parts.length, {row, firstPart},
                         ArrayRef(parts.shape).drop_back());
  own.push_back(puller.apply(d0 + d1, {column, firstColumn}));
  SmallVector<std::tuple<Value, SmallVector<Value>, Run>> runs;
  auto pull = [&](Value tensor, ArrayRef<Value> indices, Value to,
                  ArrayRef<Value> toIndices) {
    auto axis = [](ArrayRef<Value> of) {
      return static_cast<unsigned>(of.size() - 1);
    };
    FailureOr<SmallVector<Value>> elements = puller.pullRun(
        tensor, Run{SmallVector<Value>(indices), axis(indices), run});
    if (failed(elements))
      return failure();
    runs.emplace_back(to, *elements,
                      Run{SmallVector<Value>(toIndices), axis(toIndices), run});
    return success();
  };
  for (auto [number, result] : llvm::enumerate(results)) {
    if (parts.isSum(number))
      continue;
    SmallVector<Value> indices;
    for (AffineExpr index : parts.places[number]->getResults())
      indices.push_back(puller.apply(index, own));
    if (failed(pull(result, indices, targets[number], indices)))
      return failure();
  }
  SmallVector<Value> kept = {puller.apply(d0.floorDiv(parts.length), row),
                             puller.apply(d0 % parts.length, row), column};
  for (auto [summed, to] : llvm::zip(parts.summed, memories))
    if (failed(pull(summed.tensor, own, to, kept)))
      return failure();
  for (auto &[to, elements, place] : runs)
    puller.writeRun(to, elements, place);
  return success();
}

/// Computes the run with this number in the tile. Neighbouring threads compute
/// neighbours in memory.
LogicalResult PartTiles::computeElements(Value number) {
  AffineExpr d0, d1;
  bindDims(builder.getContext(), d0, d1);
  Block *inner = number.getParentBlock();
  int64_t rows = tileParts * parts.length, units = tileColumns / run;
  bool isRowFirst = !parts.hasColumnsInside;
  Value row = puller.apply(isRowFirst ? d0 % rows : d0.floorDiv(units), number);
  Value column =
      puller.apply((isRowFirst ? d0.floorDiv(rows) : d0 % units) * run, number);
  Value part = puller.apply(d0.floorDiv(parts.length) + d1, {row, firstPart});
  Value isInside =
      both(builder, inner,
           isBelow(builder, puller, inner, part, tileParts, parts.count),
           isBelow(builder, puller, inner,
                   puller.apply(d0 + d1, {column, firstColumn}), tileColumns,
                   parts.columns));
  return buildWhere(builder, puller, inner, isInside,
                    [&](Block *) { return computeInside(row, column); });
}

LogicalResult PartTiles::build() {
  // Where threads of a warp read several parts at once, one more row for each
  // part places these in different banks.
  int64_t rows = parts.length + (tileColumns < 32 ? 1 : 0);
  for (const KernelParts::Summed &summed : parts.summed)
    memories.push_back(
        memory.allocate(loc, {tileParts, rows, tileColumns},
                        getElementTypeOrSelf(summed.view.getType())));
  int64_t units = tileParts * parts.length * tileColumns / run;
  if (failed(buildLoop(
          builder, puller, block, thread, units, kThreads,
          [&](Block *, Value number) { return computeElements(number); })))
    return failure();
  builder.setInsertionPointToEnd(block);
  memory.synchronize(builder, loc);
  AffineExpr d0, d1;
  bindDims(builder.getContext(), d0, d1);
  return PartSums(builder, puller, parts, results)
      .build(
          block, memories, tileParts, tileColumns, thread, kThreads,
          [&](Block *inner, Value part, Value column) {
            PartPlace place = {puller.apply(d0 + d1, {part, firstPart}),
                               puller.apply(d0 + d1, {column, firstColumn}),
                               Value()};
            place.isInside = isBelow(builder, puller, inner, place.column,
                                     tileColumns, parts.columns);
            return place;
          },
          [&](unsigned result, Value sum, ArrayRef<Value> indices) {
            memref::StoreOp::create(builder, loc, sum, targets[result],
                                    indices);
          });
}
