//===- ProductParts.cpp - Sums of parts of a product's elements -----------===//
//
// The elements of a tile are distributed to threads in the way that suits the
// product. To add up each column of a part in the order of its rows, the
// elements are stored in shared memory, which is free once all terms are added.
// As they may not all fit, some columns of each thread are handled at a time.
//===----------------------------------------------------------------------===//

#include "Tiles/ProductTiles.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::hfta;

/// Elements of padding of each row in shared memory. It avoids bank conflicts
/// when threads store neighbouring rows or read neighbouring columns.
static constexpr int64_t kPadding = 4;

/// Returns the shape of a tile's elements in shared memory, [part, row,
/// column], with `count` columns of each thread.
static SmallVector<int64_t> getKeptShape(const KernelProduct &product,
                                         const ProductTile &tile,
                                         int64_t count) {
  int64_t rows = tile.rows, threads = tile.columns / tile.threadColumns;
  if (!product.hasPartsOfRows) {
    rows = tile.columns;
    threads = tile.rows / tile.threadRows;
  }
  int64_t length = product.parts->length;
  return {rows / length, length, threads * count + kPadding};
}

static Type getKeptType(const KernelParts::Summed &summed) {
  return getElementTypeOrSelf(summed.view.getType());
}

int64_t ProductTiles::countKeptBytes(const KernelProduct &product,
                                     const ProductTile &tile, int64_t count) {
  int64_t bytes = 0;
  for (const KernelParts::Summed &summed : product.parts->summed)
    bytes += SharedMemory::countBytes(getKeptShape(product, tile, count),
                                      getKeptType(summed));
  return bytes;
}

/// Chooses how many columns are kept at a time, as many as fit into the
/// operands' memory or into 20 KiB, and places them there.
void ProductTiles::shareParts() {
  constexpr int64_t kBytes = 20 * 1024;
  kept.rows = product.hasPartsOfRows ? 0 : 1;
  kept.columns = 1 - kept.rows;
  const Side &columns = sides[kept.columns];
  kept.threads = columns.tile / columns.ofThread;
  int64_t most = std::max(memory.countBytes(), kBytes);
  kept.count = columns.ofThread;
  while (kept.count > 1 && countKeptBytes(product, tile, kept.count) > most)
    kept.count /= 2;
  SmallVector<int64_t> shape = getKeptShape(product, tile, kept.count);
  int64_t offset = 0;
  for (const KernelParts::Summed &summed : product.parts->summed) {
    kept.memories.push_back(
        memory.share(loc, shape, getKeptType(summed), offset));
    offset += SharedMemory::countBytes(shape, getKeptType(summed));
  }
}

void ProductTiles::keepSummed(std::array<int64_t, 2> at,
                              ArrayRef<Value> elements) {
  Value row = getPlace(sides[kept.rows], at[kept.rows]);
  int64_t length = product.parts->length;
  SmallVector<Value> indices = {
      apply(d0.floorDiv(length), row), apply(d0 % length, row),
      apply(d0 + (at[kept.columns] - kept.begin) * kept.threads,
            getNumber(sides[kept.columns]))};
  toEnd();
  for (auto [element, to] : llvm::zip(elements, kept.memories))
    memref::StoreOp::create(builder, loc, element, to, indices);
}

LogicalResult ProductTiles::addParts(Store store) {
  const KernelParts &parts = *product.parts;
  const Side &rows = sides[kept.rows], &columns = sides[kept.columns];
  AffineExpr own = d0 % kept.threads;
  AffineExpr number = d0.floorDiv(kept.threads) + kept.begin;
  auto place = [&](Block *inner, Value part, Value column) {
    PartPlace found = {
        apply(d0 + d1.floorDiv(parts.length), {part, rows.first}),
        apply(getPlaceOf(columns, own, number) + d1, {column, columns.first}),
        Value()};
    found.isInside = isBelow(builder, puller, inner, found.column, columns.tile,
                             columns.of->size);
    return found;
  };
  return PartSums(builder, puller, parts, results)
      .build(block, kept.memories, rows.tile / parts.length,
             kept.threads * kept.count, inBlock, tile.countThreads(), place,
             store);
}

LogicalResult ProductTiles::storeWithParts(ArrayRef<Value> sums, Store store) {
  shareParts();
  int64_t all = sides[kept.columns].ofThread;
  for (kept.begin = 0; kept.begin < all; kept.begin += kept.count) {
    std::array<Range, 2> ranges = {Range(0, tile.threadRows),
                                   Range(0, tile.threadColumns)};
    ranges[kept.columns] = {kept.begin, kept.begin + kept.count};
    if (failed(storeResults(sums, ranges, store)))
      return failure();
    toEnd();
    memory.synchronize(builder, loc);
    if (failed(addParts(store)))
      return failure();
    toEnd();
    if (kept.begin + kept.count < all)
      memory.synchronize(builder, loc);
  }
  return success();
}
