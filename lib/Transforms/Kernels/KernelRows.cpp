//===- KernelRows.cpp - Kernels that compute row by row -------------------===//

#include "Kernels/KernelRows.h"
#include "Hfta/Target/ReferenceModel.h"
#include "Kernels/Kernels.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::hfta;

int64_t hfta::countRowAxes(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce)
    return 0;
  int64_t rank = reduce.getInput().getType().getRank();
  int64_t rows = rank - static_cast<int64_t>(reduce.getAxes().size());
  bool isTrailing = llvm::all_of(reduce.getAxes(),
                                 [&](int64_t axis) { return axis >= rows; });
  return isTrailing ? rows : 0;
}

bool hfta::isOfRows(Operation *op, ArrayRef<int64_t> elements) {
  ArrayRef<int64_t> kept = getResultShape(op);
  if (!isElementwise(op) &&
      countRowAxes(op) != static_cast<int64_t>(kept.size()))
    return false;
  return !kept.empty() && elements.size() >= kept.size() &&
         kept == elements.take_front(kept.size()) &&
         ShapedType::getNumElements(kept) >= ReferenceModel::Sums::kFewestRows;
}

Operation *hfta::getRowSource(Value operand) {
  Operation *op = operand.getDefiningOp();
  auto broadcast = dyn_cast_or_null<BroadcastOp>(op);
  if (!broadcast)
    return op;
  Operation *source = broadcast.getInput().getDefiningOp();
  bool spreadsRows =
      source && (isa<ReduceOp>(source) || isElementwise(source)) &&
      llvm::equal(broadcast.getDimensions(),
                  llvm::seq<int64_t>(0, broadcast.getDimensions().size()));
  return spreadsRows ? source : op;
}

Operation *hfta::getSumSource(Value term, ReduceOp sum) {
  auto broadcast = term.getDefiningOp<BroadcastOp>();
  Operation *source =
      broadcast ? broadcast.getInput().getDefiningOp() : nullptr;
  if (!source ||
      getResultShape(broadcast) != sum.getInput().getType().getShape() ||
      getResultShape(source) != getResultShape(sum))
    return nullptr;
  SmallVector<int64_t> kept;
  for (int64_t axis = 0; axis < sum.getInput().getType().getRank(); ++axis)
    if (!llvm::is_contained(sum.getAxes(), axis))
      kept.push_back(axis);
  auto other = dyn_cast<ReduceOp>(source);
  bool isAlike = other ? other.getAxes() == sum.getAxes() &&
                             getResultShape(broadcast) ==
                                 other.getInput().getType().getShape()
                       : isElementwise(source);
  return isAlike && broadcast.getDimensions() == ArrayRef(kept) ? source
                                                                : nullptr;
}

bool hfta::haveRowsThreads(ReduceOp reduce) {
  // A thread block handles a row of at most kLongRow elements in little time;
  // longer rows are fine if there are many.
  constexpr int64_t kLongRow = 1 << 14, kManyRows = 128;
  int64_t rows = reduce.getType().getNumElements();
  return rows >= kManyRows ||
         reduce.getInput().getType().getNumElements() <= kLongRow * rows;
}

bool hfta::areRowsStorable(Operation *op) {
  // If rows are shorter, the threads that share one store too few neighbouring
  // elements at a time.
  constexpr int64_t kShortRow = 32;
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce || !haveRowsThreads(reduce))
    return false;
  RankedTensorType type = reduce.getInput().getType();
  return isOfRows(op, type.getShape()) &&
         type.getNumElements() >= kShortRow * reduce.getType().getNumElements();
}

bool hfta::areOfSameRows(ArrayRef<Operation *> members, Operation *op,
                         ArrayRef<int64_t> elements) {
  SmallVector<Operation *> all(members);
  all.push_back(op);
  std::optional<ArrayRef<int64_t>> rows;
  for (Operation *member : all)
    if (isa<ReduceOp>(member) &&
        getResultShape(member).size() < elements.size())
      rows = getResultShape(member);
  return !rows || llvm::all_of(all, [&](Operation *member) {
    // Each thread that shares a row would add up all terms of the scattered sum
    // again.
    if (isScatteredSum(member))
      return false;
    return isa<ReduceOp>(member)
               ? getResultShape(member) == *rows && isOfRows(member, elements)
               : llvm::is_contained({*rows, elements}, getResultShape(member));
  });
}

/// Folds sums of single samples, which are exact if all terms but one are zero,
/// and removes what computed the terms.
static void foldSums(func::FuncOp task, ArrayRef<Operation *> sums) {
  MLIRContext *context = task.getContext();
  RewritePatternSet patterns(context);
  ReduceOp::getCanonicalizationPatterns(patterns, context);
  GreedyRewriteConfig config;
  config.setStrictness(GreedyRewriteStrictness::ExistingOps);
  bool changed = false;
  (void)applyOpPatternsGreedily(sums, std::move(patterns), config, &changed);
  if (!changed)
    return;
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(task.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

void hfta::splitReductions(func::FuncOp task) {
  SmallVector<Operation *> sums;
  for (auto reduce : llvm::make_early_inc_range(task.getOps<ReduceOp>())) {
    RankedTensorType type = reduce.getInput().getType();
    ArrayRef<int64_t> axes = reduce.getAxes();
    bool isWide = reduce.getAccumulate().value_or(type.getElementType()) !=
                  type.getElementType();
    if (isWide || axes.size() < 2 || axes.front() != 0 ||
        static_cast<int64_t>(axes.size()) == type.getRank() ||
        type.getNumElements() < ReferenceModel::Sums::kWorthSplitting)
      continue;
    OpBuilder builder(reduce);
    Value samples = ReduceOp::create(builder, reduce.getLoc(), reduce.getKind(),
                                     reduce.getInput(), axes.drop_front(),
                                     reduce.getAccumulateAttr());
    Value result =
        ReduceOp::create(builder, reduce.getLoc(), reduce.getKind(), samples,
                         ArrayRef<int64_t>{0}, reduce.getAccumulateAttr());
    reduce.replaceAllUsesWith(result);
    reduce.erase();
    sums.push_back(samples.getDefiningOp());
  }
  foldSums(task, sums);
}
