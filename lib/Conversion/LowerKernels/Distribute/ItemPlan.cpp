//===- ItemPlan.cpp - How a kernel is cut into work items -----------------===//
//
// If an axis is cut, items compute only a part of some ops; all other ops are
// computed as a whole by every item.
//===----------------------------------------------------------------------===//

#include "Distribute/ItemPlan.h"
#include "Distribute/TensorSlicer.h"
#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Conversion/SumOrder.h"
#include "Hfta/Target/ReferenceModel.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;

using Costs = ReferenceModel::Items;

/// Returns the number of threads for which a kernel of one of `copies` copies
/// is cut.
static int64_t getCopyThreads(int64_t copies) {
  return std::clamp<int64_t>(Costs::kThreads / std::max<int64_t>(copies, 1), 1,
                             Costs::kMaxCopyThreads);
}

static double getElements(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? static_cast<double>(shaped.getNumElements()) : 1;
}

namespace {

/// An axis that can be cut, and the ops of which an item then computes only a
/// part.
struct Candidate {
  int64_t axis = 0, extent = 0;
  SlicedOps sliced;
};

class ItemPlanner {
public:
  explicit ItemPlanner(func::FuncOp kernel)
      : kernel(kernel),
        results(kernel.getBody().front().getTerminator()->getOperands()) {
    int64_t copies = 1;
    if (auto attribute = kernel->getAttrOfType<IntegerAttr>(kCopiesAttrName))
      copies = attribute.getInt();
    threads = getCopyThreads(copies);
  }

  SmallVector<ItemAxis> plan();
  /// Returns the number of items into which a loop of `iterations` iterations
  /// is cut; `work` is the work of all iterations.
  int64_t planParts(int64_t iterations, double work);

private:
  void findCandidates();
  bool canCut(int64_t axis);
  /// Tries all ways to cut the axes from candidate `next` on. `items` is the
  /// number of items so far. Remembers the fastest way.
  void search(size_t next, int64_t items);
  /// Estimates the work of one item if axes are cut into `parts`.
  double getItemWork();
  /// Estimates the time until all threads have completed `items` items with
  /// this much work each.
  double getTime(int64_t items, double work) const;
  double getOpWork(Operation *op) const;
  double getLinalgWork(linalg::LinalgOp op) const;
  double getVectorFactor(linalg::LinalgOp op) const;
  double getReuseFactor(linalg::LinalgOp op) const;
  SmallVector<int64_t> getSizes(linalg::LinalgOp op) const;
  /// Returns the factor by which accesses are slower because an item's memory
  /// exceeds near caches.
  double getDistanceFactor();
  bool isScattered() const;
  /// Returns the share of an op that an item computes if axes are cut into
  /// `parts`.
  double getShare(Operation *op) const;
  double getShare(OpOperand &operand) const;

  func::FuncOp kernel;
  SmallVector<Value> results;
  SmallVector<Candidate> candidates;
  SmallVector<int64_t> parts, best;
  double bestTime = 0;
  int64_t threads; ///< threads that share the work of a copy
  int64_t limit = 1;
  /// Whether the kernel does nothing but pass over its elements, and whether it
  /// does so several times.
  bool isStream = false, hasPasses = false;
  double distanceFactor = 1;
};

} // namespace

bool ItemPlanner::canCut(int64_t axis) {
  auto first = cast<RankedTensorType>(results.front().getType());
  return llvm::all_of(results, [&](Value result) {
    auto type = cast<RankedTensorType>(result.getType());
    if (type.getRank() <= axis ||
        type.getDimSize(axis) != first.getDimSize(axis))
      return false;
    auto op = dyn_cast<OpResult>(result);
    return !op || getPartRanges(op, axis);
  });
}

void ItemPlanner::findCandidates() {
  auto type = cast<RankedTensorType>(results.front().getType());
  // A tensor without elements has no parts.
  if (type.getNumElements() == 0)
    return;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    int64_t extent = type.getDimSize(axis);
    if (extent <= 1 || !canCut(axis))
      continue;
    Candidate candidate;
    candidate.axis = axis;
    candidate.extent = extent;
    for (Value result : results)
      candidate.sliced.add(result, axis);
    candidates.push_back(std::move(candidate));
  }
}

double ItemPlanner::getShare(Operation *op) const {
  double share = 1;
  for (auto [candidate, count] : llvm::zip(candidates, parts))
    if (candidate.sliced.ops.contains(op))
      share /= static_cast<double>(count);
  return share;
}

double ItemPlanner::getShare(OpOperand &operand) const {
  double share = 1;
  for (auto [candidate, count] : llvm::zip(candidates, parts))
    if (candidate.sliced.operands.contains(&operand))
      share /= static_cast<double>(count);
  return share;
}

/// Returns whether, in a tile of sums that is one vector wide, each product
/// needs a scalar load of its own, as vectors differ along `axis` only.
static bool readsNumbers(linalg::LinalgOp op, unsigned axis) {
  if (op.getNumReductionLoops() == 0)
    return false;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    for (unsigned other = 0; other < kinds.size(); ++other)
      if (map.isFunctionOfDim(axis) && map.isFunctionOfDim(other) &&
          other != axis && sizes[other] > 1 &&
          kinds[other] == utils::IteratorType::parallel)
        return false;
  }
  return true;
}

/// Returns the sizes of the op's loops in one item.
SmallVector<int64_t> ItemPlanner::getSizes(linalg::LinalgOp op) const {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  for (auto [candidate, count] : llvm::zip(candidates, parts)) {
    auto cut = candidate.sliced.ops.find(op);
    if (cut != candidate.sliced.ops.end() && cut->second)
      sizes[*cut->second] /= count;
  }
  return sizes;
}

/// Returns the factor by which products of two vectors are slower because
/// elements that are read of one input are reused for few elements of the
/// other.
double ItemPlanner::getReuseFactor(linalg::LinalgOp op) const {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  auto last = llvm::find(llvm::reverse(kinds), utils::IteratorType::parallel);
  if (op.getNumDpsInputs() != 2 || op.getNumReductionLoops() == 0 ||
      last == kinds.rend())
    return 1;
  unsigned vectors = std::distance(last, kinds.rend()) - 1;
  AffineMap maps[] = {op.getMatchingIndexingMap(op.getDpsInputOperand(0)),
                      op.getMatchingIndexingMap(op.getDpsInputOperand(1))};
  if (!maps[0].isFunctionOfDim(vectors) || !maps[1].isFunctionOfDim(vectors))
    return 1;
  double uses[] = {1, 1};
  SmallVector<int64_t> sizes = getSizes(op);
  for (unsigned axis = 0; axis < kinds.size(); ++axis) {
    bool isFirst = maps[0].isFunctionOfDim(axis);
    if (kinds[axis] == utils::IteratorType::parallel &&
        isFirst != maps[1].isFunctionOfDim(axis))
      uses[isFirst ? 1 : 0] *= static_cast<double>(sizes[axis]);
  }
  double reads = 1 / std::min(uses[0], Costs::kTileSide) +
                 1 / std::min(uses[1], Costs::kTileSide);
  return std::max(1.0, Costs::kReadFactor * reads);
}

/// Returns the factor by which an op is slower because its innermost parallel
/// axis isn't a multiple of the vector size.
double ItemPlanner::getVectorFactor(linalg::LinalgOp op) const {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  auto last = llvm::find(llvm::reverse(kinds), utils::IteratorType::parallel);
  if (last == kinds.rend())
    return 1;
  // Reductions along long rows have vectors along the rows instead.
  if (last != kinds.rbegin() &&
      op.getStaticLoopRanges().back() >= ReferenceModel::Sums::kMinReducedRow &&
      !multiplies(op))
    return 1;
  unsigned axis = std::distance(last, kinds.rend()) - 1;
  int64_t size = getSizes(op)[axis];
  int64_t lanes =
      ReferenceModel::kVectorBits /
      getElementTypeOrSelf(op.getDpsInits().front()).getIntOrFloatBitWidth();
  double vectors = static_cast<double>(
      size / lanes + llvm::popcount(static_cast<uint64_t>(size % lanes)));
  double factor =
      vectors * static_cast<double>(lanes) / static_cast<double>(size);
  return size <= lanes && readsNumbers(op, axis) ? Costs::kNarrowFactor * factor
                                                 : factor;
}

/// Returns whether the loops of products are likely to pack an operand: its
/// elements that are neighbours in memory belong to different rows of the
/// result, while vectors run along another axis. Each item then packs all terms
/// of its rows.
static bool isPackedByRows(linalg::LinalgOp op, OpOperand &operand) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!multiplies(op) || op.isDpsInit(&operand) || map.getNumResults() < 2)
    return false;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  auto last = llvm::find(llvm::reverse(kinds), utils::IteratorType::parallel);
  auto row = dyn_cast<AffineDimExpr>(map.getResults().back());
  if (!row || last == kinds.rend())
    return false;
  unsigned vectors = std::distance(last, kinds.rend()) - 1;
  bool hasTerms = llvm::any_of(llvm::enumerate(kinds), [&](auto kind) {
    return kind.value() == utils::IteratorType::reduction &&
           map.isFunctionOfDim(kind.index());
  });
  return hasTerms && !map.isFunctionOfDim(vectors) &&
         kinds[row.getPosition()] == utils::IteratorType::parallel;
}

double ItemPlanner::getLinalgWork(linalg::LinalgOp op) const {
  double iterations = getShare(op), body = 0;
  for (int64_t size : op.getStaticLoopRanges())
    iterations *= static_cast<double>(size);
  for (Operation &inner : op.getBlock()->without_terminator())
    body +=
        isa<math::MathDialect>(inner.getDialect()) && !isa<math::FmaOp>(inner)
            ? Costs::kFunctionWork
            : 1;
  if (isa<linalg::TransposeOp>(op))
    body = Costs::kMoveWork;
  double work = iterations * body * getVectorFactor(op) * getReuseFactor(op);
  for (OpOperand &operand : op->getOpOperands())
    work += (Costs::kAccessWork * distanceFactor +
             (isPackedByRows(op, operand) ? Costs::kMoveWork : 0)) *
            getElements(operand.get().getType()) * getShare(operand);
  return work;
}

double ItemPlanner::getOpWork(Operation *op) const {
  if (auto linalg = dyn_cast<linalg::LinalgOp>(op))
    return getLinalgWork(linalg);
  double work = 0;
  if (isa<tensor::PadOp, tensor::InsertSliceOp>(op) || op->getNumRegions() > 0)
    for (Type type : op->getResultTypes())
      work += 2 * Costs::kAccessWork * getElements(type) * getShare(op);
  return work;
}

/// Returns whether a kernel computes sums of products. Their own loops decide
/// how operands move through the caches.
static bool containsProducts(func::FuncOp kernel) {
  return llvm::any_of(kernel.getBody().front().getOps<linalg::LinalgOp>(),
                      [](linalg::LinalgOp op) { return multiplies(op); });
}

/// Returns whether an op reads the result of another op of the kernel.
static bool readsComputed(func::FuncOp kernel) {
  return llvm::any_of(kernel.getBody().front().getOps<linalg::LinalgOp>(),
                      [](linalg::LinalgOp op) {
                        return llvm::any_of(op.getDpsInputs(), [](Value input) {
                          return isa_and_nonnull<linalg::LinalgOp>(
                              input.getDefiningOp());
                        });
                      });
}

/// Returns whether an item writes parts of the results that aren't contiguous.
bool ItemPlanner::isScattered() const {
  bool sawWhole = false;
  for (auto [candidate, count] : llvm::zip(candidates, parts)) {
    if (sawWhole && count > 1)
      return true;
    sawWhole |= count < candidate.extent;
  }
  return false;
}

double ItemPlanner::getDistanceFactor() {
  if (!hasPasses)
    return 1;
  double bytes = 0;
  for (auto op : kernel.getBody().front().getOps<linalg::LinalgOp>())
    for (OpOperand &operand : op->getOpOperands())
      if (auto type = dyn_cast<RankedTensorType>(operand.get().getType());
          type && !operand.get().getDefiningOp<linalg::LinalgOp>())
        bytes += getElements(type) * getShare(operand) *
                 type.getElementType().getIntOrFloatBitWidth() / 8;
  if (bytes <= Costs::kNearBytes)
    return 1;
  return bytes <= Costs::kFarBytes ? Costs::kNotNearFactor : Costs::kFarFactor;
}

double ItemPlanner::getItemWork() {
  double work = 0;
  distanceFactor = getDistanceFactor();
  for (Operation &op : kernel.getBody().front())
    work += getOpWork(&op);
  return work;
}

/// The total time of all threads is weighted in, as other copies may keep the
/// threads busy.
double ItemPlanner::getTime(int64_t items, double work) const {
  double rounds = static_cast<double>(llvm::divideCeil(items, threads)) +
                  Costs::kTotalWeight * static_cast<double>(items) /
                      static_cast<double>(threads);
  double overhead = hasPasses ? Costs::kPassOverhead : Costs::kOverhead;
  return rounds * (work + overhead);
}

void ItemPlanner::search(size_t next, int64_t items) {
  if (next == candidates.size()) {
    double time = getTime(items, getItemWork());
    if (isStream && isScattered())
      time *= Costs::kScatteredFactor;
    if (best.empty() || time < bestTime) {
      best = parts;
      bestTime = time;
    }
    return;
  }
  const Candidate &candidate = candidates[next];
  int64_t most = next == 0 ? limit : std::min(limit, Costs::kMost) / items;
  for (int64_t count = std::clamp<int64_t>(most, 1, candidate.extent);
       count > 0; --count) {
    if (candidate.extent % count != 0)
      continue;
    parts[next] = count;
    search(next + 1, items * count);
  }
  parts[next] = 1;
}

SmallVector<ItemAxis> ItemPlanner::plan() {
  if (results.empty())
    return {};
  findCandidates();
  parts.assign(candidates.size(), 1);
  isStream = !containsProducts(kernel);
  hasPasses = isStream && readsComputed(kernel);
  int64_t most = hasPasses ? Costs::kMostOfPasses : Costs::kMost;
  double items = getItemWork() / (hasPasses ? Costs::kPassWork : Costs::kWork);
  limit =
      items < most ? std::max<int64_t>(1, static_cast<int64_t>(items)) : most;
  search(0, 1);
  SmallVector<ItemAxis> axes;
  for (auto [candidate, count] : llvm::zip(candidates, best))
    if (count > 1)
      axes.push_back({candidate.axis, count, candidate.extent / count});
  return axes;
}

int64_t ItemPlanner::planParts(int64_t iterations, double work) {
  // Each item repeats everything else that the kernel computes.
  double others = getItemWork();
  auto most = static_cast<int64_t>(
      std::min(static_cast<double>(Costs::kMost), work / Costs::kWork));
  int64_t parts = 1;
  for (int64_t count = std::min(most, iterations); count > 1; --count)
    if (getTime(count, others + work / static_cast<double>(count)) <
        getTime(parts, others + work / static_cast<double>(parts)))
      parts = count;
  return parts;
}

int64_t hfta::planParts(func::FuncOp kernel, scf::ForOp loop) {
  auto work = loop->getAttrOfType<IntegerAttr>(kPartsAttrName);
  std::optional<APInt> iterations = loop.getStaticTripCount();
  if (!work || !iterations)
    return 1;
  return ItemPlanner(kernel).planParts(iterations->getSExtValue(),
                                       static_cast<double>(work.getInt()));
}

SmallVector<ItemAxis> hfta::planItems(func::FuncOp kernel) {
  return ItemPlanner(kernel).plan();
}
