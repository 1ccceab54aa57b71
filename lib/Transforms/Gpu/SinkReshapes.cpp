//===- SinkReshapes.cpp - Moves reshapes after later ops ------------------===//
//
// A reshape or transpose between two ops keeps them in different kernels. If it
// is moved behind elementwise ops, it often meets another one that cancels it,
// or an op that accepts elements in any order.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/TensorTypes.h"
#include "Hfta/Transforms/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTASINKRESHAPES
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// Returns the axes of `shape` that remain in `less`, which is `shape` without
/// some axes of size 1. Returns nothing if `less` isn't such a shape.
static std::optional<SmallVector<int64_t>> findKept(ArrayRef<int64_t> shape,
                                                    ArrayRef<int64_t> less) {
  SmallVector<int64_t> kept;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    if (kept.size() < less.size() && less[kept.size()] == size)
      kept.push_back(static_cast<int64_t>(axis));
    else if (size != 1)
      return std::nullopt;
  }
  if (kept.size() != less.size() || kept.size() == shape.size())
    return std::nullopt;
  return kept;
}

/// Returns the reshape that defines a value if it only adds axes of size 1,
/// else null.
static ReshapeOp getAddedAxes(Value value) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  bool adds =
      reshape && findKept(getShape(value), getShape(reshape.getInput()));
  return adds ? reshape : ReshapeOp();
}

/// Returns an elementwise op's operand in another shape, or null if that would
/// cost something.
static Value getIn(ArrayRef<int64_t> shape, Value operand, OpBuilder &builder) {
  auto type = cast<RankedTensorType>(operand.getType()).clone(shape);
  if (auto reshape = operand.getDefiningOp<ReshapeOp>();
      reshape && reshape.getInput().getType() == type)
    return reshape.getInput();
  if (auto constant = operand.getDefiningOp<ConstantOp>())
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValue()))
      return ConstantOp::create(builder, constant.getLoc(),
                                splat.resizeSplat(cast<ShapedType>(type)));
  if (operand.getDefiningOp<ReadOp>())
    return ReshapeOp::create(builder, operand.getLoc(), operand, shape);
  return Value();
}

/// Removes added axes from an elementwise op's operands, and adds them to its
/// result instead.
static void sinkBehind(Operation *op) {
  ReshapeOp reshape;
  for (Value operand : op->getOperands())
    if (!reshape)
      reshape = getAddedAxes(operand);
  if (!reshape || op->getNumResults() != 1 || op->getNumRegions() > 0)
    return;
  ArrayRef<int64_t> shape = getShape(reshape.getInput());
  OpBuilder builder(op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Value own = getShape(operand) == getShape(op->getResult(0))
                    ? getIn(shape, operand, builder)
                    : Value();
    if (!own)
      return;
    operands.push_back(own);
  }
  Operation *made = builder.clone(*op);
  made->setOperands(operands);
  Value result = op->getResult(0);
  made->getResult(0).setType(
      cast<RankedTensorType>(result.getType()).clone(shape));
  result.replaceAllUsesWith(ReshapeOp::create(
      builder, op->getLoc(), made->getResult(0), getShape(result)));
}

/// Lets a broadcast of a value with added axes broadcast the value without
/// them.
static void sinkBehind(BroadcastOp op) {
  ReshapeOp reshape = getAddedAxes(op.getInput());
  if (!reshape)
    return;
  SmallVector<int64_t> dimensions;
  SmallVector<int64_t> kept =
      *findKept(getShape(op.getInput()), getShape(reshape.getInput()));
  for (int64_t axis : kept)
    dimensions.push_back(op.getDimensions()[axis]);
  OpBuilder builder(op);
  op.replaceAllUsesWith(BroadcastOp::create(builder, op.getLoc(),
                                            reshape.getInput(), op.getShape(),
                                            dimensions)
                            .getResult());
}

static void sinkBehind(ReshapeOp op) {
  auto inner = op.getInput().getDefiningOp<ReshapeOp>();
  if (inner)
    op.getInputMutable().assign(inner.getInput());
  if (op.getInput().getType() == op.getType())
    op.replaceAllUsesWith(op.getInput());
}

/// Lets a product compute its elements in the order in which a transpose puts
/// them.
static void joinProduct(TransposeOp op) {
  auto product = op.getInput().getDefiningOp<ContractOp>();
  if (!product || !product->hasOneUse())
    return;
  // The new product is built in place of the old one, so that it reads the same
  // values.
  OpBuilder builder(product);
  auto maps = llvm::to_vector(
      product.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  SmallVector<AffineExpr> results;
  for (int64_t axis : op.getPermutation())
    results.push_back(maps[2].getResult(axis));
  maps[2] = AffineMap::get(maps[2].getNumDims(), 0, results, op.getContext());
  auto made = ContractOp::create(
      builder, product.getLoc(), product.getLhs(), product.getRhs(),
      builder.getAffineMapArrayAttr(maps), product.getAccumulateAttr());
  made->setDiscardableAttrs(product->getDiscardableAttrDictionary());
  op.replaceAllUsesWith(made.getResult());
}

namespace {
struct SinkReshapesPass : hfta::impl::HftaSinkReshapesBase<SinkReshapesPass> {
  using HftaSinkReshapesBase::HftaSinkReshapesBase;

  /// Visits ops in a task's order, so that a reshape that was moved behind one
  /// op meets the next one.
  void runOnOperation() override {
    for (Block &block : getOperation().getBody()) {
      for (Operation &op : llvm::make_early_inc_range(block)) {
        if (isa<ElementwiseOpInterface>(op))
          sinkBehind(&op);
        else if (auto broadcast = dyn_cast<BroadcastOp>(op))
          sinkBehind(broadcast);
        else if (auto reshape = dyn_cast<ReshapeOp>(op))
          sinkBehind(reshape);
        else if (auto transpose = dyn_cast<TransposeOp>(op))
          joinProduct(transpose);
      }
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
        if (isOpTriviallyDead(&op))
          op.erase();
    }
  }
};
} // namespace
