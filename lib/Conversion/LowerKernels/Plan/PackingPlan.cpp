//===- PackingPlan.cpp - Which inputs of a loop nest are packed -----------===//

#include "Plan/PackingPlan.h"
#include "Hfta/Conversion/SumOrder.h"
#include "Plan/Access.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::hfta;

using Costs = TargetModel::Loops;

namespace {
class PackingPlanner {
public:
  PackingPlanner(linalg::GenericOp op, LoopPlan &plan,
                 const TargetModel &target, std::optional<unsigned> wanted)
      : op(op), plan(plan), target(target), wanted(wanted),
        sizes(op.getStaticLoopRanges()) {}

  void choosePacked();
  void choosePackedRows();

private:
  bool canPack(OpOperand &operand);
  bool isWorthPacking(OpOperand &operand);
  bool missesCache(OpOperand &operand, unsigned terms);

  linalg::GenericOp op;
  LoopPlan &plan;
  const TargetModel &target;
  std::optional<unsigned> wanted;
  SmallVector<int64_t> sizes;
};
} // namespace

/// Returns the number of tiles that read the same terms and vectors.
static int64_t countUses(const LoopPlan &plan, ArrayRef<int64_t> sizes) {
  int64_t uses = 1;
  for (auto [axis, count] : llvm::zip(plan.rowAxes, plan.rows))
    uses *= llvm::divideCeil(sizes[axis], count);
  return uses;
}

/// Returns the number of terms of each sum.
static int64_t countTerms(const LoopPlan &plan, ArrayRef<int64_t> sizes) {
  int64_t terms = 1;
  for (unsigned axis : plan.reductions)
    terms *= sizes[axis];
  return terms;
}

/// Returns whether a block of the vector axis needs a panel of an operand that
/// is the same for all rows: one element for each term and lane.
bool PackingPlanner::canPack(OpOperand &operand) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  bool isWanted = wanted == operand.getOperandNumber();
  // A copy that is made once is better than equal panels that are packed again
  // for each position along an outer axis.
  bool repeats = isWanted && llvm::any_of(plan.outer, [&](unsigned axis) {
                   return sizes[axis] > 1 && !map.isFunctionOfDim(axis);
                 });
  if (repeats)
    return false;
  // Panels of windows hold an element once for each tap, which only many tiles
  // make up for.
  return getAccess(op, operand, plan.vectorAxis, wanted).isContiguous() &&
         (map.isProjectedPermutation() ||
          (isWanted && countUses(plan, sizes) >= Costs::kMinPackedUses)) &&
         map.getNumResults() >= 2 &&
         llvm::none_of(
             plan.rowAxes,
             [&](unsigned axis) { return map.isFunctionOfDim(axis); }) &&
         llvm::all_of(plan.reductions,
                      [&](unsigned axis) { return map.isFunctionOfDim(axis); });
}

/// Returns whether packing an operand pays. Each row of a matrix whose rows are
/// far apart needs a TLB entry of its own, and the rows' cache lines fall into
/// few sets.
bool PackingPlanner::isWorthPacking(OpOperand &operand) {
  auto type = cast<MemRefType>(operand.get().getType());
  int64_t row = getRowBytes(type);
  return countUses(plan, sizes) >= Costs::kMinPackedUses &&
         countTerms(plan, sizes) >= Costs::kMinPackedTerms &&
         row >= Costs::kFarRowBytes &&
         plan.vectors * plan.lanes * getStoredElementBytes(type) < row;
}

void PackingPlanner::choosePacked() {
  if (!plan.vectorAxis)
    return;
  for (OpOperand *operand : op.getDpsInputOperands())
    if (canPack(*operand) && (wanted ? wanted == operand->getOperandNumber()
                                     : isWorthPacking(*operand))) {
      plan.packed = operand->getOperandNumber();
      return;
    }
}

/// Returns how many of the cache lines at multiples of `stride` bytes the
/// first-level cache holds: if the stride is a large power of two, they fall
/// into few of its sets.
static int64_t countLines(const TargetModel &target, int64_t stride) {
  CacheAttr cache = target.getProcessor().getCaches().front();
  int64_t way = cache.getBytes() / cache.getWays();
  return way / std::gcd(way, stride) * cache.getWays();
}

/// Returns whether the elements that a tile reads along an axis of terms, each
/// on a cache line of its own, don't all stay in the first-level cache until
/// the next tile reads its elements on the same lines, or are on more pages
/// than the TLB has entries.
bool PackingPlanner::missesCache(OpOperand &operand, unsigned terms) {
  int64_t stride = getStrideBytes(op, operand, terms);
  if (stride < target.getLineBytes())
    return false;
  if (stride >= Costs::kPageBytes && sizes[terms] > Costs::kPages)
    return true;
  return sizes[terms] * 2 > countLines(target, stride);
}

/// Packs the rows of the scalar input whose rows are contiguous, such as the
/// output gradient in the gradient of a weight.
void PackingPlanner::choosePackedRows() {
  // Beside an input that is transposed in registers, several terms are added
  // at each position.
  if (!plan.vectorAxis || plan.rowAxes.size() != 1 ||
      plan.reductions.size() != 1 ||
      transposes(op, plan.vectorAxis, plan.packed))
    return;
  unsigned row = plan.rowAxes.front(), terms = plan.reductions.front();
  int64_t blocks =
      llvm::divideCeil(sizes[*plan.vectorAxis], plan.vectors * plan.lanes);
  if (blocks < Costs::kMinPackedRowUses)
    return;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    if (!map.isProjectedPermutation() ||
        map.isFunctionOfDim(*plan.vectorAxis) || !map.isFunctionOfDim(terms) ||
        !getAccess(op, *operand, row, wanted).isContiguous())
      continue;
    if (missesCache(*operand, terms))
      plan.packedRows = operand->getOperandNumber();
  }
}

void hfta::choosePacking(linalg::GenericOp op, LoopPlan &plan,
                         const TargetModel &target,
                         std::optional<unsigned> wanted) {
  PackingPlanner planner(op, plan, target, wanted);
  planner.choosePacked();
  planner.choosePackedRows();
}

/// Returns the largest number of bytes of which all distances between an
/// operand's terms are multiples; 0 if one of them isn't known, or is 0.
static int64_t getTermBytes(linalg::GenericOp op, const LoopPlan &plan,
                            OpOperand &operand) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t common = 0;
  for (unsigned axis : plan.reductions) {
    int64_t stride = getStrideBytes(op, operand, axis);
    if (sizes[axis] > 1 && stride == 0)
      return 0;
    if (sizes[axis] > 1)
      common = std::gcd(common, stride);
  }
  return common;
}

bool hfta::readsWindows(linalg::GenericOp op, OpOperand &operand) {
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  return llvm::any_of(
      op.getMatchingIndexingMap(&operand).getResults(), [&](AffineExpr index) {
        bool hasTerms = false, hasRows = false;
        for (auto [axis, kind] : llvm::enumerate(kinds))
          if (index.isFunctionOfDim(axis))
            (kind == utils::IteratorType::parallel ? hasRows : hasTerms) = true;
        return hasTerms && hasRows;
      });
}

std::optional<unsigned> hfta::findCrowdedWindows(linalg::GenericOp op,
                                                 const LoopPlan &plan,
                                                 const TargetModel &target) {
  int64_t terms = countTerms(plan, op.getStaticLoopRanges());
  if (!plan.vectorAxis || plan.packed || !multiplies(op) ||
      terms < Costs::kMinPackedTerms)
    return std::nullopt;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    if (!readsWindows(op, *operand) ||
        !getAccess(op, *operand, plan.vectorAxis).isContiguous())
      continue;
    int64_t bytes = getTermBytes(op, plan, *operand);
    if (bytes > 0 &&
        bytes % (Costs::kCrowdedLines * target.getLineBytes()) == 0 &&
        terms * 2 > countLines(target, bytes))
      return operand->getOperandNumber();
  }
  return std::nullopt;
}
