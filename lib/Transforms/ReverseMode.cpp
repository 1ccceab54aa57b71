//===- ReverseMode.cpp - Reverse-mode differentiation of a block ----------===//

#include "Hfta/Transforms/ReverseMode.h"
#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

using namespace mlir;
using namespace mlir::hfta;

static bool isDifferentiable(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}

namespace {

/// Which values depend on what is wanted and which the target depends on.
class Activity {
public:
  Activity(Value target, ArrayRef<Value> wanted) {
    Block *block = target.getParentBlock();
    varied.insert(wanted.begin(), wanted.end());
    for (Operation &op : *block)
      if (llvm::any_of(op.getOperands(),
                       [&](Value operand) { return varied.contains(operand); }))
        for (Value result : op.getResults())
          if (isDifferentiable(result.getType()))
            varied.insert(result);
    useful.insert(target);
    for (Operation &op : llvm::reverse(*block))
      if (llvm::any_of(op.getResults(),
                       [&](Value result) { return useful.contains(result); }))
        useful.insert(op.operand_begin(), op.operand_end());
  }

  bool isActive(Value value) const {
    return varied.contains(value) && useful.contains(value);
  }
  bool isActive(Operation &op) const {
    return llvm::any_of(op.getResults(),
                        [&](Value result) { return isActive(result); }) &&
           llvm::any_of(op.getOperands(),
                        [&](Value operand) { return isActive(operand); });
  }

private:
  DenseSet<Value> varied, useful;
};

} // namespace

/// Lists every active op without a derivative.
static LogicalResult checkDerivatives(Block &block, const Activity &activity) {
  bool ok = true;
  for (Operation &op : block) {
    if (!activity.isActive(op) || isa<DifferentiableOpInterface>(op))
      continue;
    op.emitError("'") << op.getName() << "' has no derivative";
    ok = false;
  }
  return success(ok);
}

/// Products of a derivative multiply what those of the op do.
static void passFactors(Operation &op, Block::iterator begin,
                        Block::iterator end) {
  Attribute multiply = op.getAttr(HftaDialect::kMultiplyAttrName);
  if (!multiply)
    return;
  for (Operation &made : llvm::make_range(begin, end))
    if (made.hasTrait<ProductTrait>())
      made.setAttr(HftaDialect::kMultiplyAttrName, multiply);
}

/// Builds the backward of `op` and adds the contributions to `gradients`.
static LogicalResult differentiateOp(OpBuilder &builder, Operation &op,
                                     const Activity &activity,
                                     DenseMap<Value, Value> &gradients,
                                     BackwardCallback callback) {
  Block &block = *op.getBlock();
  Operation *before = builder.getInsertionPoint() == block.begin()
                          ? nullptr
                          : &*std::prev(builder.getInsertionPoint());
  SmallVector<Value> resultGradients;
  for (Value result : op.getResults())
    resultGradients.push_back(gradients.lookup(result));
  if (llvm::none_of(resultGradients, [](Value value) { return !!value; }))
    return success();
  SmallVector<bool> needed;
  for (Value operand : op.getOperands())
    needed.push_back(activity.isActive(operand));
  SmallVector<Value> operandGradients;
  if (failed(cast<DifferentiableOpInterface>(op).buildBackward(
          builder, resultGradients, needed, operandGradients)))
    return failure();
  passFactors(op, before ? std::next(before->getIterator()) : block.begin(),
              builder.getInsertionPoint());
  for (auto [operand, isNeeded, gradient] :
       llvm::zip_equal(op.getOperands(), needed, operandGradients)) {
    if (!isNeeded)
      gradient = Value();
    if (!gradient)
      continue;
    Value &sum = gradients[operand];
    sum = sum ? AddOp::create(builder, op.getLoc(), sum, gradient).getResult()
              : gradient;
  }
  callback({&op, before ? std::next(before->getIterator()) : block.begin(),
            resultGradients, operandGradients});
  return success();
}

LogicalResult hfta::buildReverseMode(OpBuilder &builder, Value target,
                                     ArrayRef<Value> wanted,
                                     SmallVectorImpl<Value> &gradients,
                                     BackwardCallback callback, Value seed) {
  Block &block = *target.getParentBlock();
  Activity activity(target, wanted);
  if (failed(checkDerivatives(block, activity)))
    return failure();
  // What is wanted ends the way back, also where it follows from another one.
  DenseSet<Value> ends(wanted.begin(), wanted.end());
  SmallVector<Operation *> forward;
  for (Operation &op : block)
    if (activity.isActive(op) &&
        llvm::none_of(op.getResults(),
                      [&](Value result) { return ends.contains(result); }))
      forward.push_back(&op);

  auto type = getLogicalType(target.getType());
  DenseMap<Value, Value> gradientOf;
  if (!seed)
    seed = ConstantOp::create(
        builder, target.getLoc(),
        DenseElementsAttr::get(
            type, builder.getFloatAttr(type.getElementType(), 1.0)));
  gradientOf[target] = seed;
  for (Operation *op : llvm::reverse(forward))
    if (failed(differentiateOp(builder, *op, activity, gradientOf, callback)))
      return failure();
  for (Value value : wanted)
    gradients.push_back(gradientOf.lookup(value));
  return success();
}
