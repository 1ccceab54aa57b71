//===- SumByParts.cpp - Adds up columns from sums of parts ----------------===//
//
// A tensor that is added up over a batch and its positions, column by column,
// is mostly computed right before: it is the result of a convolution whose mean
// and variance a batch normalization needs, or the gradient that the
// normalization adds up for scale and shift. The kernel that computes the
// tensor still has its values at hand, and can add up parts of some adjacent
// rows; adding up the parts is cheap. A variance, which needs the mean first,
// is combined from those of the parts. Source: Chan, Golub and LeVeque,
// "Algorithms for Computing the Sample Variance", 1983.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/Expression.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Target/GpuReferenceModel.h"
#include "Hfta/Transforms/Passes.h"
#include "Kernels/KernelRows.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTASUMBYPARTS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {
/// The axis of a tensor's columns, and the number of rows in each part.
struct Parts {
  int64_t column, length;
};

/// The ops that compute the sum of squared deviations of a tensor from its
/// mean.
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

/// Returns the number of rows per part: one that divides the tiles of products,
/// else the smallest divisor of `rows` in a range. Returns nothing if there is
/// none.
static std::optional<int64_t> chooseLength(int64_t rows) {
  using Costs = GpuReferenceModel::Parts;
  for (int64_t length : Costs::kLengths)
    if (rows % length == 0)
      return length;
  for (int64_t length = Costs::kLeastOther; length <= Costs::kMostOther;
       ++length)
    if (rows % length == 0)
      return length;
  return std::nullopt;
}

/// Chooses the parts by the shape of the sum alone, so that its bits don't
/// depend on the op that computes the tensor.
static std::optional<Parts> chooseParts(ReduceOp sum) {
  using Costs = GpuReferenceModel::Parts;
  RankedTensorType type = sum.getInput().getType();
  int64_t rank = type.getRank();
  // Only floats: means of integers are truncated, so that deviations don't add
  // up to 0.
  if (!isPlainSum(sum) || !isa<FloatType>(type.getElementType()) ||
      type.getElementTypeBitWidth() < 32 ||
      static_cast<int64_t>(sum.getAxes().size()) != rank - 1 ||
      type.getNumElements() < Costs::kFewElements)
    return std::nullopt;
  SmallVector<int64_t> kept = getOtherAxes(rank, sum.getAxes());
  int64_t column = kept.front(), columns = type.getDimSize(column);
  if (column == 0 || (column != 1 && column != rank - 1) || columns < 2)
    return std::nullopt;
  int64_t rows = type.getNumElements() / columns;
  std::optional<int64_t> length = chooseLength(rows);
  if (!length || rows < Costs::kFewParts * *length)
    return std::nullopt;
  return Parts{column, *length};
}

/// Adds up the parts directly after the tensor is computed, before its other
/// users.
static Value addParts(Value input, Location loc, const Parts &parts,
                      bool isCentered) {
  OpBuilder builder(input.getContext());
  builder.setInsertionPointAfterValue(input);
  return PartSumsOp::create(builder, loc, input, parts.length, parts.column,
                            isCentered);
}

static void split(ReduceOp sum, const Parts &parts) {
  Value ofParts =
      addParts(sum.getInput(), sum.getLoc(), parts, /*isCentered=*/false);
  OpBuilder builder(sum);
  sum.replaceAllUsesWith(
      Value(Expression(builder, sum.getLoc(), ofParts).sum({0})));
}

static void split(const Variance &variance, const Parts &parts) {
  ReduceOp sum = variance.sum, squares = variance.squares;
  Value ofParts =
      addParts(variance.input, sum.getLoc(), parts, /*isCentered=*/false);
  Value squaresOfParts =
      addParts(variance.input, squares.getLoc(), parts, /*isCentered=*/true);
  OpBuilder before(sum);
  Expression sums(before, sum.getLoc(), ofParts);
  sum.replaceAllUsesWith(Value(sums.sum({0})));

  OpBuilder after(squares);
  auto count = static_cast<double>(parts.length);
  Expression mean(after, squares.getLoc(), variance.mean);
  Expression difference = mean.at(sums) / count -
                          mean.repeat(sums.getShape(), ArrayRef<int64_t>{0});
  Expression total = mean.at(squaresOfParts) + difference * difference * count;
  squares.replaceAllUsesWith(Value(total.sum({0})));
}

namespace {
struct SumByPartsPass : hfta::impl::HftaSumByPartsBase<SumByPartsPass> {
  using HftaSumByPartsBase::HftaSumByPartsBase;

  void runOnOperation() override {
    if (getOperation().isDeclaration())
      return;
    Block &block = getOperation().front();
    SmallVector<ReduceOp> sums(block.getOps<ReduceOp>());
    for (ReduceOp squares : sums)
      if (std::optional<Variance> variance = findVariance(squares))
        if (std::optional<Parts> parts = chooseParts(variance->sum))
          split(*variance, *parts);
    for (ReduceOp sum : sums)
      if (!sum.use_empty())
        if (std::optional<Parts> parts = chooseParts(sum))
          split(sum, *parts);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }
};
} // namespace
