//===- PackWeights.cpp - Weights in the order of their products -----------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Transforms/Passes.h"
#include "Kernels/Kernels.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAPACKWEIGHTS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// The number of channels below which no order lets many elements be read at
/// once.
static constexpr int64_t kFewChannels = 8;

/// Returns the permutation from [outputs, channels, taps…] to [outputs, taps…,
/// channels], or its inverse.
static SmallVector<int64_t> getOrder(int64_t rank, bool isBack) {
  SmallVector<int64_t> order = {0};
  for (int64_t axis = 2; axis < rank; ++axis)
    order.push_back(axis);
  order.push_back(1);
  if (!isBack)
    return order;
  SmallVector<int64_t> inverse(rank);
  for (auto [to, from] : llvm::enumerate(order))
    inverse[from] = static_cast<int64_t>(to);
  return inverse;
}

/// Returns a view of a weight that is stored with channels last. If a rounded
/// weight is in memory, it is the rounded one that is stored in this order.
static Value pack(OpBuilder &builder, Value weight) {
  Location loc = weight.getLoc();
  auto wide = weight.getDefiningOp<CastOp>();
  bool isWidened = wide && isRepeated(wide);
  Value stored = isWidened ? wide.getInput() : weight;
  int64_t rank = mlir::cast<RankedTensorType>(stored.getType()).getRank();
  auto turn = [&](Value value, bool isBack) -> Value {
    return TransposeOp::create(builder, loc, value, getOrder(rank, isBack));
  };
  auto repeat = [&](Value value) {
    value.getDefiningOp()->setAttr(HftaDialect::kRepeatedAttrName,
                                   builder.getUnitAttr());
    return value;
  };
  Value view = repeat(turn(turn(stored, /*isBack=*/false), /*isBack=*/true));
  if (!isWidened)
    return view;
  return repeat(CastOp::create(builder, loc, view, wide.getElementType()));
}

namespace {
struct PackWeightsPass : hfta::impl::HftaPackWeightsBase<PackWeightsPass> {
  using HftaPackWeightsBase::HftaPackWeightsBase;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<ConvOp, ConvInputGradientOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      OpOperand &weight = op->getOpOperand(1);
      ArrayRef<int64_t> shape =
          cast<RankedTensorType>(weight.get().getType()).getShape();
      if (shape[1] < kFewChannels || llvm::product_of(shape.drop_front(2)) == 1)
        continue;
      OpBuilder builder(op);
      weight.set(pack(builder, weight.get()));
    }
  }
};
} // namespace
