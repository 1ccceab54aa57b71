//===- FoldCasts.cpp - Sums that widen what they read ---------------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAFOLDCASTS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

static constexpr llvm::StringLiteral kAccumulate = "accumulate";

static FloatType getFloatElement(Value value) {
  return dyn_cast<FloatType>(getElementTypeOrSelf(value.getType()));
}

/// Returns the value of `type` that was widened to `value`; null: there is
/// none.
static Value getWidened(Value value, FloatType type) {
  auto cast = value.getDefiningOp<CastOp>();
  if (!cast || getFloatElement(cast.getInput()) != type)
    return Value();
  return cast.getInput();
}

/// Whether the op only moves elements: in a narrower type they are the same.
static bool isMove(Operation *op) {
  auto cost = dyn_cast<CostOpInterface>(op);
  return cost && op->hasTrait<SumTrait>() && op->getNumResults() == 1 &&
         cost.getFlops() == 0;
}

/// Whether the op widens its operands itself.
static bool hasAccumulator(Operation *op) {
  return llvm::any_of(
             op->getName().getAttributeNames(),
             [](StringAttr name) { return name.getValue() == kAccumulate; }) &&
         !op->hasAttr(kAccumulate) && op->hasOneUse();
}

/// Builds the op in the type that `narrow` rounds its result to, if all its
/// operands were widened from that type.
static void foldInto(CastOp narrow) {
  Operation *op = narrow.getInput().getDefiningOp();
  FloatType type = dyn_cast<FloatType>(narrow.getElementType());
  FloatType wide = getFloatElement(narrow.getInput());
  if (!op || !type || !wide || type.getWidth() >= wide.getWidth())
    return;
  bool isSum = hasAccumulator(op);
  if (!isSum && !isMove(op))
    return;
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    if (!getFloatElement(operand))
      continue;
    Value given = getWidened(operand, type);
    if (!given)
      return;
    mapping.map(operand, given);
  }
  OpBuilder builder(narrow);
  Operation *folded = builder.clone(*op, mapping);
  if (isSum)
    folded->setAttr(kAccumulate, TypeAttr::get(wide));
  folded->getResult(0).setType(narrow.getType());
  narrow.replaceAllUsesWith(folded->getResult(0));
}

namespace {
struct FoldCastsPass : hfta::impl::HftaFoldCastsBase<FoldCastsPass> {
  using HftaFoldCastsBase::HftaFoldCastsBase;

  void runOnOperation() override {
    SmallVector<CastOp> casts;
    getOperation()->walk([&](CastOp cast) { casts.push_back(cast); });
    for (CastOp cast : casts)
      foldInto(cast);
  }
};
} // namespace
