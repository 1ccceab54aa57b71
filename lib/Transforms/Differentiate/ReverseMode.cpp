//===- ReverseMode.cpp - Reverse-mode differentiation of a block ----------===//

#include "Hfta/Transforms/Differentiate/ReverseMode.h"
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"

using namespace mlir;
using namespace mlir::hfta;

static bool isDifferentiable(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}

namespace {

/// Activity analysis: finds the values that depend on wanted ones (varied) and
/// those on which the target depends (useful). Active values are both.
class Activity {
public:
  Activity(Value target, ArrayRef<Value> wanted) {
    Block *block = target.getParentBlock();
    varied.insert(wanted.begin(), wanted.end());
    for (Operation &op : *block)
      if (!op.hasTrait<DetachedTrait>() &&
          llvm::any_of(op.getOperands(),
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

/// Reports every active op that has no derivative.
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

/// Copies the type to which an op's factors are rounded to the products of its
/// derivative.
static void passFactors(Operation &op, Block::iterator begin,
                        Block::iterator end) {
  Attribute multiply = op.getAttr(HftaDialect::kMultiplyAttrName);
  if (!multiply)
    return;
  for (Operation &made : llvm::make_range(begin, end))
    if (made.hasTrait<ProductTrait>())
      made.setAttr(HftaDialect::kMultiplyAttrName, multiply);
}

static void addGradient(OpBuilder &builder, Location loc, Value of,
                        Value gradient, DenseMap<Value, Value> &gradients) {
  Value &sum = gradients[of];
  sum = sum ? AddOp::create(builder, loc, sum, gradient).getResult() : gradient;
}

/// Returns the op before the insertion point, or null at the block's beginning.
static Operation *getLast(OpBuilder &builder) {
  Block::iterator place = builder.getInsertionPoint();
  return place == builder.getInsertionBlock()->begin() ? nullptr
                                                       : &*std::prev(place);
}

static Block::iterator getBehind(OpBuilder &builder, Operation *op) {
  return op ? std::next(op->getIterator())
            : builder.getInsertionBlock()->begin();
}

/// Adds one copy's contribution to an array's gradient directly, without first
/// adding up the copy's contributions. So a copy has the same additions in the
/// same order as in a program of its own.
static LogicalResult addToArray(OpBuilder &builder, UnstackOp unstack,
                                Value gradient,
                                DenseMap<Value, Value> &gradients,
                                BackwardCallback callback) {
  Operation *before = getLast(builder);
  SmallVector<Value> ofArray;
  if (failed(
          unstack.buildBackward(builder, gradient, /*needed=*/true, ofArray)))
    return failure();
  addGradient(builder, unstack.getLoc(), unstack.getInput(), ofArray.front(),
              gradients);
  callback({unstack, getBehind(builder, before), gradient, ofArray});
  return success();
}

/// Builds the backward of `op`, and adds its contributions to `gradients`.
/// `ends` are the values at which differentiation ends.
static LogicalResult differentiateOp(OpBuilder &builder, Operation &op,
                                     const Activity &activity,
                                     const DenseSet<Value> &ends,
                                     DenseMap<Value, Value> &gradients,
                                     BackwardCallback callback) {
  Operation *before = getLast(builder);
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
  passFactors(op, getBehind(builder, before), builder.getInsertionPoint());
  SmallVector<std::pair<UnstackOp, Value>> ofCopies;
  for (auto [operand, isNeeded, gradient] :
       llvm::zip_equal(op.getOperands(), needed, operandGradients)) {
    if (!isNeeded)
      gradient = Value();
    auto unstack = operand.getDefiningOp<UnstackOp>();
    if (gradient && unstack && !ends.contains(operand))
      ofCopies.emplace_back(unstack, gradient);
    else if (gradient)
      addGradient(builder, op.getLoc(), operand, gradient, gradients);
  }
  callback(
      {&op, getBehind(builder, before), resultGradients, operandGradients});
  for (auto [unstack, gradient] : ofCopies)
    if (failed(addToArray(builder, unstack, gradient, gradients, callback)))
      return failure();
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
  // Differentiation ends at each wanted value, even if the value is computed
  // from another wanted one.
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
    if (failed(differentiateOp(builder, *op, activity, ends, gradientOf,
                               callback)))
      return failure();
  for (Value value : wanted)
    gradients.push_back(gradientOf.lookup(value));
  return success();
}
