//===- TermBlocks.cpp - Sums in blocks that stay in the cache -------------===//
//
// The memory traffic of a loop nest is estimated from the innermost loop
// outwards. Data that a loop's body accesses is accessed again in the next
// iteration, at no cost if all of it fits into the cache. The associativity of
// the cache counts, too: columns of a matrix whose distance is a power of two
// use only few of the cache's sets.
//===----------------------------------------------------------------------===//

#include "Plan/TermBlocks.h"
#include "Plan/PackingPlan.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace mlir::hfta;

using Costs = TargetModel::Blocks;

namespace {

/// A loop, each iteration of which covers `block` elements of an axis.
struct BlockLoop {
  unsigned axis;
  int64_t block, trips;
};

/// The cache lines of an operand's part, and the cache lines that it takes up
/// effectively, which are more if its lines fall into only some of the cache's
/// sets.
struct Footprint {
  double lines = 0, crowded = 0;
};

class TermBlocker {
public:
  TermBlocker(linalg::GenericOp op, const LoopPlan &plan,
              const TargetModel &target)
      : op(op), plan(plan), sizes(op.getStaticLoopRanges()),
        cache(target.getCoreCache()),
        sets(cache.getBytes() / cache.getLineBytes() / cache.getWays()) {
    for (OpOperand &operand : op->getOpOperands())
      if (auto type = dyn_cast<MemRefType>(operand.get().getType()))
        strides[operand.getOperandNumber()] = type.getStridesAndOffset().first;
  }

  SmallVector<TermBlock> choose();

private:
  /// Returns the estimated cycles of a choice in addition to the arithmetic.
  double getCost(ArrayRef<TermBlock> blocks);
  double getTrafficCost(ArrayRef<TermBlock> blocks);
  /// Returns the number of tiles in all blocks, which is how often a tile's
  /// sums are stored and loaded again.
  double countTiles(ArrayRef<TermBlock> blocks);
  bool fitsPanel(ArrayRef<TermBlock> blocks) const;
  SmallVector<BlockLoop> getLoops(ArrayRef<TermBlock> blocks) const;
  SmallVector<int64_t> getTile() const;
  Footprint getFootprint(OpOperand &operand, ArrayRef<int64_t> axes);

  linalg::GenericOp op;
  const LoopPlan &plan;
  SmallVector<int64_t> sizes;
  CacheAttr cache;
  int64_t sets;
  /// The strides of each operand, by its number. They are cached, as computing
  /// them is slow and there are many choices.
  DenseMap<unsigned, SmallVector<int64_t>> strides;
};

} // namespace

SmallVector<int64_t> TermBlocker::getTile() const {
  SmallVector<int64_t> tile(sizes.size(), 1);
  for (auto [axis, count] : llvm::zip(plan.rowAxes, plan.rows))
    tile[axis] = std::min(count, sizes[axis]);
  if (plan.vectorAxis)
    tile[*plan.vectorAxis] =
        std::min(plan.lanes * plan.vectors, sizes[*plan.vectorAxis]);
  return tile;
}

/// Returns the loops of the nest, the innermost first.
SmallVector<BlockLoop> TermBlocker::getLoops(ArrayRef<TermBlock> blocks) const {
  SmallVector<BlockLoop> loops;
  SmallVector<int64_t> tile = getTile();
  auto add = [&](unsigned axis, int64_t block, int64_t size) {
    loops.push_back(
        {axis, block, static_cast<int64_t>(llvm::divideCeil(size, block))});
  };
  for (unsigned axis : llvm::reverse(plan.reductions))
    add(axis, 1, getBlock(blocks, axis, sizes[axis]));
  for (unsigned axis : llvm::reverse(plan.rowAxes))
    add(axis, tile[axis], sizes[axis]);
  if (plan.vectorAxis)
    add(*plan.vectorAxis, tile[*plan.vectorAxis], sizes[*plan.vectorAxis]);
  for (unsigned axis : llvm::reverse(plan.outer))
    add(axis, 1, sizes[axis]);
  for (const TermBlock &block : llvm::reverse(blocks))
    add(block.axis, block.size, sizes[block.axis]);
  return loops;
}

/// Returns the factor by which a part takes up more of the cache than its
/// number of lines, as strides lead to only some of the sets.
static double getCrowding(ArrayRef<int64_t> strides, int64_t bytes,
                          ArrayRef<int64_t> extents, int64_t run, int64_t sets,
                          int64_t lineBytes) {
  int64_t common = sets * lineBytes;
  for (auto [stride, extent] :
       llvm::zip(strides.drop_back(), extents.drop_back()))
    if (extent > 1)
      common = std::gcd(common, stride * bytes);
  int64_t lines = std::max<int64_t>(1, common / lineBytes);
  return static_cast<double>(lines) / static_cast<double>(std::min(run, lines));
}

Footprint TermBlocker::getFootprint(OpOperand &operand,
                                    ArrayRef<int64_t> axes) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  if (!type || type.getRank() == 0 || type.getElementType().isIndex() ||
      isOfEpilogue(op, operand))
    return {};
  SmallVector<int64_t> first(axes.size(), 0), last;
  for (int64_t extent : axes)
    last.push_back(extent - 1);
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<int64_t> from = map.compose(first), to = map.compose(last);
  SmallVector<int64_t> extents;
  double lines = 1;
  for (auto [begin, end] : llvm::zip(from, to)) {
    extents.push_back(std::abs(end - begin) + 1);
    lines *= static_cast<double>(extents.back());
  }
  int64_t bytes = std::max<int64_t>(1, type.getElementTypeBitWidth() / 8);
  int64_t run = llvm::divideCeil(extents.back() * bytes, cache.getLineBytes());
  lines *= static_cast<double>(run) / static_cast<double>(extents.back());
  if (plan.packed == operand.getOperandNumber() ||
      plan.packedRows == operand.getOperandNumber())
    return {lines, lines};
  return {lines, lines * getCrowding(strides[operand.getOperandNumber()],
                                     type.getElementTypeBitWidth() / 8, extents,
                                     run, sets, cache.getLineBytes())};
}

double TermBlocker::getTrafficCost(ArrayRef<TermBlock> blocks) {
  SmallVector<int64_t> axes = getTile();
  double capacity =
      Costs::kCacheShare * static_cast<double>(sets * cache.getWays());
  auto measure = [&] {
    SmallVector<Footprint> parts;
    for (OpOperand &operand : op->getOpOperands())
      parts.push_back(getFootprint(operand, axes));
    return parts;
  };
  SmallVector<Footprint> parts = measure();
  SmallVector<double> traffic;
  for (const Footprint &part : parts)
    traffic.push_back(part.lines);
  // Sums stay in registers while the innermost loops, those over terms, run.
  size_t innermost = plan.reductions.size();
  for (auto [depth, loop] : llvm::enumerate(getLoops(blocks))) {
    double used = 0;
    for (const Footprint &part : parts)
      used += part.crowded;
    axes[loop.axis] = std::min(loop.block * loop.trips, sizes[loop.axis]);
    SmallVector<Footprint> grown = measure();
    for (auto [index, part] : llvm::enumerate(parts)) {
      OpOperand &operand = op->getOpOperand(index);
      bool varies =
          op.getMatchingIndexingMap(&operand).isFunctionOfDim(loop.axis);
      bool stays = op.isDpsInit(&operand) && depth < innermost;
      if (varies && part.lines > 0)
        traffic[index] *= grown[index].lines / part.lines;
      else if (!stays && used > capacity)
        traffic[index] *= static_cast<double>(loop.trips);
    }
    parts = std::move(grown);
  }
  return Costs::kLineCost *
         std::accumulate(traffic.begin(), traffic.end(), 0.0);
}

double TermBlocker::countTiles(ArrayRef<TermBlock> blocks) {
  double tiles = 1;
  SmallVector<BlockLoop> loops = getLoops(blocks);
  for (const BlockLoop &loop :
       ArrayRef(loops).drop_front(plan.reductions.size()))
    tiles *= static_cast<double>(loop.trips);
  return tiles;
}

double TermBlocker::getCost(ArrayRef<TermBlock> blocks) {
  double cost = getTrafficCost(blocks);
  if (blocks.empty())
    return cost;
  double vectors = static_cast<double>(plan.vectors);
  for (int64_t count : plan.rows)
    vectors *= static_cast<double>(count);
  return cost + Costs::kWaitCost * vectors * countTiles(blocks);
}

/// Returns whether a panel of windows, which all tiles of rows read, fits into
/// the cache.
bool TermBlocker::fitsPanel(ArrayRef<TermBlock> blocks) const {
  if (!plan.packed || !readsWindows(op, op->getOpOperand(*plan.packed)))
    return true;
  int64_t bytes = plan.vectors * plan.lanes *
                  getStoredElementBytes(op->getOperand(*plan.packed).getType());
  for (unsigned axis : plan.reductions)
    bytes *= getBlock(blocks, axis, sizes[axis]);
  return static_cast<double>(bytes) <=
         Costs::kCacheShare * static_cast<double>(cache.getBytes());
}

SmallVector<TermBlock> TermBlocker::choose() {
  SmallVector<TermBlock> best, whole;
  double bestCost = fitsPanel({}) ? Costs::kMinGain * getCost({})
                                  : std::numeric_limits<double>::infinity();
  for (unsigned axis : plan.reductions) {
    int64_t size = sizes[axis];
    for (int64_t parts = 2; parts <= size;
         parts += std::max(parts / 4, int64_t(1))) {
      SmallVector<TermBlock> blocks(whole);
      blocks.push_back(
          {axis, static_cast<int64_t>(llvm::divideCeil(size, parts))});
      double cost = getCost(blocks);
      if (cost >= bestCost || !fitsPanel(blocks))
        continue;
      bestCost = cost;
      best = blocks;
    }
    if (size > 1)
      whole.push_back({axis, 1});
  }
  return best;
}

/// Chooses how many rows are packed at a time, and of how many terms, such that
/// they stay in the cache. With blocks of r rows and t terms, an element of the
/// other input is read once for each block of rows, and one of the result once
/// for each block of terms, so r * t elements are best spent on a square. If
/// the block of terms that was chosen by memory traffic is larger, and leaves
/// space for all rows, it is kept.
static void choosePackedBlock(linalg::GenericOp op, LoopPlan &plan,
                              const TargetModel &target) {
  unsigned axis = plan.rowAxes.front(), terms = plan.reductions.front();
  int64_t rows = op.getStaticLoopRanges()[axis];
  int64_t size = op.getStaticLoopRanges()[terms];
  double most = Costs::kCacheShare *
                static_cast<double>(target.getCoreCache().getBytes()) /
                static_cast<double>(getStoredElementBytes(
                    op->getOperand(*plan.packedRows).getType()));
  auto side = static_cast<int64_t>(std::sqrt(most));
  auto mostTerms =
      std::max(side, static_cast<int64_t>(most / static_cast<double>(rows)));
  int64_t block = plan.getBlock(terms, size);
  if (block < side || block > mostTerms) {
    int64_t blocks = llvm::divideCeil(size, block < side ? side : mostTerms);
    plan.blocks.clear();
    if (blocks > 1)
      plan.blocks.push_back(
          {terms, static_cast<int64_t>(llvm::divideCeil(size, blocks))});
  }
  auto mostRows = static_cast<int64_t>(
      most / static_cast<double>(plan.getBlock(terms, size)));
  int64_t tile = plan.rows.front();
  if (rows > std::max(mostRows, tile)) {
    int64_t blocks = llvm::divideCeil(rows, std::max(mostRows, tile));
    plan.rowBlock = llvm::alignTo(llvm::divideCeil(rows, blocks), tile);
  }
}

void hfta::chooseTermBlocks(linalg::GenericOp op, LoopPlan &plan,
                            const TargetModel &target) {
  if (plan.reductions.empty() || op.getNumParallelLoops() == 0)
    return;
  plan.blocks = TermBlocker(op, plan, target).choose();
  if (plan.packedRows)
    choosePackedBlock(op, plan, target);
}
