//===- SplitVariances.cpp - Variances from those of samples ---------------===//
//
// A variance over the batch and other axes needs the mean first: two passes
// over a large tensor. Each sample's mean and sum of squares take one, as a
// sample's elements are still near by when its mean is known, and small tensors
// of them give those of the batch (Chan, Golub and LeVeque, "Algorithms for
// Computing the Sample Variance", 1983).
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Target/ReferenceModel.h"
#include "Hfta/Transforms/Passes.h"
#include "KernelRows.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTASPLITVARIANCES
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {
/// Sums of squares of what a tensor differs from its mean.
struct Variance {
  ReduceOp squares, sum;
  Value input, mean;
};
} // namespace

static bool isPlainSum(ReduceOp op) {
  return op && op.getKind() == ReduceKind::sum && !op.getAccumulate();
}

static std::optional<Variance> findVariance(ReduceOp squares) {
  auto square = squares.getInput().getDefiningOp<MulOp>();
  if (!isPlainSum(squares) || !square || square.getLhs() != square.getRhs())
    return std::nullopt;
  auto centered = square.getLhs().getDefiningOp<SubOp>();
  auto spread =
      centered ? centered.getRhs().getDefiningOp<BroadcastOp>() : BroadcastOp();
  auto mean = spread ? spread.getInput().getDefiningOp<DivOp>() : DivOp();
  auto sum = mean ? mean.getLhs().getDefiningOp<ReduceOp>() : ReduceOp();
  if (!isPlainSum(sum) || !mean.getRhs().getDefiningOp<ConstantOp>() ||
      sum.getInput() != centered.getLhs() ||
      sum.getAxes() != squares.getAxes() ||
      getSumSource(centered.getRhs(), sum) != mean)
    return std::nullopt;
  return Variance{squares, sum, centered.getLhs(), mean.getResult()};
}

/// Whether samples are long enough for threads to share one.
static bool isWorthSplitting(ReduceOp sum) {
  using Sums = ReferenceModel::Sums;
  RankedTensorType type = sum.getInput().getType();
  ArrayRef<int64_t> axes = sum.getAxes();
  // Integers' means are cut off, so that what is left adds up to more than 0.
  if (!isa<FloatType>(type.getElementType()) || axes.size() < 2 ||
      axes.front() != 0 ||
      static_cast<int64_t>(axes.size()) == type.getRank() ||
      type.getNumElements() < Sums::kWorthSplitting)
    return false;
  int64_t sums = type.getDimSize(0) * sum.getType().getNumElements();
  return type.getNumElements() >= Sums::kMinReducedRow * sums;
}

static void split(const Variance &variance) {
  ReduceOp sum = variance.sum, squares = variance.squares;
  OpBuilder builder(sum);
  Expression input(builder, sum.getLoc(), variance.input);
  ArrayRef<int64_t> inner = sum.getAxes().drop_front();
  Expression sums = input.sum(inner);
  int64_t samples = sums.getType().getNumElements();
  auto count = static_cast<double>(input.getType().getNumElements() / samples);
  Expression means = sums / count;
  Expression rest = input - means.repeat(input.getShape(), inner);
  Expression ofSamples = (rest * rest).sum(inner);
  sum.replaceAllUsesWith(Value(sums.sum({0})));

  OpBuilder after(squares);
  Expression mean(after, squares.getLoc(), variance.mean);
  Expression difference =
      mean.at(means) - mean.repeat(sums.getShape(), ArrayRef<int64_t>{0});
  Expression total = mean.at(ofSamples) + difference * difference * count;
  squares.replaceAllUsesWith(Value(total.sum({0})));
}

namespace {
struct SplitVariancesPass
    : hfta::impl::HftaSplitVariancesBase<SplitVariancesPass> {
  using HftaSplitVariancesBase::HftaSplitVariancesBase;

  void runOnOperation() override {
    if (getOperation().isDeclaration())
      return;
    Block &block = getOperation().front();
    // What one is split into is none any more.
    for (ReduceOp reduce : llvm::to_vector(block.getOps<ReduceOp>()))
      if (std::optional<Variance> variance = findVariance(reduce);
          variance && isWorthSplitting(variance->sum))
        split(*variance);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }
};
} // namespace
