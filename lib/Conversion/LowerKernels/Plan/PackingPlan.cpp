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
  // A copy that is made once is better than equal panels that are packed again
  // for each position along an outer axis.
  bool isWanted = wanted == operand.getOperandNumber();
  bool repeats = isWanted && llvm::any_of(plan.outer, [&](unsigned axis) {
                   return sizes[axis] > 1 && !map.isFunctionOfDim(axis);
                 });
  if (repeats)
    return false;
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

/// Returns whether the elements that a tile reads along an axis of terms, each
/// on a cache line of its own, don't all stay in the first-level cache until
/// the next tile reads its elements on the same lines, or are on more pages
/// than the TLB has entries. If their distance is a large power of two, they
/// fall into few of the cache's sets.
bool PackingPlanner::missesCache(OpOperand &operand, unsigned terms) {
  CacheAttr cache = target.getProcessor().getCaches().front();
  int64_t stride = getStrideBytes(op, operand, terms);
  int64_t way = cache.getBytes() / cache.getWays();
  if (stride < cache.getLineBytes())
    return false;
  if (stride >= Costs::kPageBytes && sizes[terms] > Costs::kPages)
    return true;
  int64_t lines = way / std::gcd(way, stride) * cache.getWays();
  return sizes[terms] * 2 > lines;
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

std::optional<unsigned> hfta::findCrowdedWindows(linalg::GenericOp op,
                                                 const LoopPlan &plan,
                                                 const TargetModel &target) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t terms = countTerms(plan, sizes);
  if (!plan.vectorAxis || plan.packed || !multiplies(op) ||
      terms < Costs::kMinPackedTerms)
    return std::nullopt;
  CacheAttr cache = target.getProcessor().getCaches().front();
  int64_t way = cache.getBytes() / cache.getWays();
  for (OpOperand *operand : op.getDpsInputOperands()) {
    if (op.getMatchingIndexingMap(operand).isProjectedPermutation() ||
        !getAccess(op, *operand, plan.vectorAxis).isContiguous())
      continue;
    int64_t common = way;
    for (unsigned axis : plan.reductions)
      if (sizes[axis] > 1)
        common = std::gcd(common, getStrideBytes(op, *operand, axis));
    int64_t lines = way / common * cache.getWays();
    if (common >= Costs::kCrowdedLines * cache.getLineBytes() &&
        terms * 2 > lines)
      return operand->getOperandNumber();
  }
  return std::nullopt;
}
