//===- FoldCasts.cpp - Fold casts into the ops between them ---------------===//

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

/// If `value` is a cast of a value with elements of `type`, returns that value;
/// otherwise null.
static Value getWidened(Value value, FloatType type) {
  auto cast = value.getDefiningOp<CastOp>();
  if (!cast || getFloatElement(cast.getInput()) != type)
    return Value();
  return cast.getInput();
}

/// Whether the op only moves elements, so that a cast may as well come before
/// it as after it.
static bool isMove(Operation *op) {
  auto cost = dyn_cast<CostOpInterface>(op);
  return cost && op->hasTrait<SumTrait>() && op->getNumResults() == 1 &&
         cost.getFlops() == 0;
}

/// Whether the op can widen its operands itself: it has an attribute
/// `accumulate`, which isn't set. Its result must have a single use.
static bool hasAccumulator(Operation *op) {
  return llvm::any_of(
             op->getName().getAttributeNames(),
             [](StringAttr name) { return name.getValue() == kAccumulate; }) &&
         !op->hasAttr(kAccumulate) && op->hasOneUse();
}

/// If `narrow` rounds an op's result to a type from which all of the op's float
/// operands were widened, replaces `narrow` by the op on the narrow operands. A
/// sum still accumulates in the wide type.
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
