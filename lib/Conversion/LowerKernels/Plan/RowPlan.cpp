//===- RowPlan.cpp - The order of reductions along rows -------------------===//

#include "Plan/RowPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::hfta;

using Order = ReferenceModel::Sums;

/// Returns the op that combines a result's running value with the next element.
/// Returns null if the running value has other uses, or if the op isn't
/// commutative.
static Operation *getCombiner(linalg::GenericOp op, unsigned result) {
  BlockArgument running =
      op.getBody()->getArgument(op.getNumDpsInputs() + result);
  Operation *combiner =
      op.getBody()->getTerminator()->getOperand(result).getDefiningOp();
  if (!combiner || !running.hasOneUse() || *running.user_begin() != combiner)
    return nullptr;
  return isa<arith::AddFOp, arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::AddIOp, arith::MulIOp, arith::MaxSIOp, arith::MinSIOp>(
             combiner)
             ? combiner
             : nullptr;
}

/// Returns the axis of the rows, a long reduction axis along which all inputs
/// are contiguous or constant; nothing if there is none.
static std::optional<unsigned> findRow(linalg::GenericOp op) {
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  for (unsigned axis : llvm::reverse(reductions)) {
    if (op.getStaticLoopRanges()[axis] < Order::kMinReducedRow)
      continue;
    bool isRow = false, fits = true;
    for (OpOperand *input : op.getDpsInputOperands()) {
      Access access = getAccess(op, *input, axis);
      isRow |= access.isContiguous();
      fits &= access.isContiguous() || access.kind == Access::Uniform;
    }
    if (isRow && fits)
      return axis;
  }
  return std::nullopt;
}

std::optional<RowPlan> hfta::planRows(linalg::GenericOp op) {
  std::optional<unsigned> row = findRow(op);
  if (!row || op.getNumDpsInits() == 0 ||
      llvm::is_contained(op.getStaticLoopRanges(), 0))
    return std::nullopt;
  RowPlan plan{
      *row,
      op.getStaticLoopRanges()[*row] >= Order::kLongRow ? Order::kRowSums : 1,
      {}};
  for (unsigned result = 0; result < op.getNumDpsInits(); ++result) {
    OpOperand *output = op.getDpsInitOperand(result);
    plan.combiners.push_back(getCombiner(op, result));
    if (!isa<MemRefType>(output->get().getType()) || !plan.combiners.back())
      return std::nullopt;
    AffineMap map = op.getMatchingIndexingMap(output);
    SmallVector<unsigned> reductions;
    op.getReductionDims(reductions);
    for (unsigned axis : reductions)
      if (map.isFunctionOfDim(axis))
        return std::nullopt;
  }
  return plan;
}
