//===- ApplyPrecision.cpp - Apply the job's element types to its models ---===//
//
// Surrounds ops that add up terms with casts: their operands are widened to the
// type in which the job accumulates, and their results are rounded to the
// compute type. Derivatives and decompositions of such ops are built in the
// types of their operands, so they accumulate in that type too.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/Turns.h"
#include "Hfta/Dialect/Hfta/Job/Settings.h"
#include "Hfta/Transforms/Passes.h"
#include "Hfta/Transforms/Precision/Precision.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAAPPLYPRECISION
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {
/// Inserts the casts around the sums of one function.
class SumTypes {
public:
  SumTypes(func::FuncOp function, FloatType compute, FloatType accumulate)
      : function(function), builder(function.getContext()), compute(compute),
        accumulate(accumulate) {}

  void apply() {
    SmallVector<Operation *> sums;
    for (Operation &op : function.getBody().front())
      if ((op.hasTrait<SumTrait>() && !isOfConstants(&op)) || addsToSum(&op))
        sums.push_back(&op);
    for (Operation *op : sums)
      convert(op);
  }

  /// Widens the results of @objective: losses, their weights, and the metric.
  /// Later passes add these up in the type in which they are returned.
  void applyToResults() {
    for (OpOperand &result :
         function.getBody().front().getTerminator()->getOpOperands())
      widen(result);
    function.setFunctionType(builder.getFunctionType(
        function.getArgumentTypes(),
        function.getBody().front().getTerminator()->getOperandTypes()));
  }

private:
  /// Whether the op broadcasts a constant. Broadcasts count as sums because
  /// their derivatives are sums, but a constant has no gradient.
  static bool isOfConstants(Operation *op) {
    return isa<BroadcastOp>(op) &&
           op->getOperand(0).getDefiningOp<ConstantOp>();
  }
  /// Whether the op is an addition whose only user is another addition: both
  /// are parts of one sum of several terms.
  static bool isTerm(Operation *op) {
    return isa_and_nonnull<AddOp>(op) && op->hasOneUse() &&
           isa<AddOp>(*op->user_begin());
  }
  static bool addsToSum(Operation *op) {
    return isTerm(op) ||
           (isa<AddOp>(op) && llvm::any_of(op->getOperands(), [](Value value) {
              return isTerm(value.getDefiningOp());
            }));
  }
  bool isComputed(Value value) const {
    return getElementTypeOrSelf(value.getType()) == compute;
  }

  /// Replaces an operand by its widened value. All sums that read a value share
  /// one cast directly after its definition: so their contributions to the
  /// value's gradient are added up before the gradient is rounded.
  void widen(OpOperand &operand) {
    if (!isComputed(operand.get()))
      return;
    Value &wide = widened[operand.get()];
    if (!wide) {
      builder.setInsertionPointAfterValue(operand.get());
      wide = CastOp::create(builder, operand.get().getLoc(), operand.get(),
                            accumulate);
    }
    operand.set(wide);
  }

  void convert(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      widen(operand);
    builder.setInsertionPointAfter(op);
    for (Value result : op->getResults()) {
      if (!isComputed(result))
        continue;
      auto type = cast<RankedTensorType>(result.getType());
      result.setType(RankedTensorType::get(type.getShape(), accumulate,
                                           type.getEncoding()));
      // If the only user is an addition of the same sum, it takes the wide
      // result.
      if (result.use_empty() || isTerm(op))
        continue;
      Value narrow = CastOp::create(builder, op->getLoc(), result, compute);
      result.replaceAllUsesExcept(narrow, narrow.getDefiningOp());
    }
  }

  func::FuncOp function;
  OpBuilder builder;
  FloatType compute, accumulate;
  DenseMap<Value, Value> widened;
};

/// Sets `hfta.multiply`, the type to which operands are rounded, on all f32
/// products of a model, including those that @prepare computes from the data.
void markProducts(ModelOp model, StringRef type) {
  auto multiply = TypeAttr::get(getFactorType(model.getContext(), type));
  model.walk([&](Operation *op) {
    if (op->hasTrait<ProductTrait>() &&
        getElementTypeOrSelf(op->getOperand(0).getType()).isF32())
      op->setAttr(HftaDialect::kMultiplyAttrName, multiply);
  });
}

struct ApplyPrecisionPass
    : hfta::impl::HftaApplyPrecisionBase<ApplyPrecisionPass> {
  using HftaApplyPrecisionBase::HftaApplyPrecisionBase;

  void runOnOperation() override {
    FailureOr<Job> job = Job::read(getOperation());
    if (failed(job))
      return signalPassFailure();
    if (job->keepsTypes)
      return;
    FloatType compute = getFloatType(&getContext(), job->precision.compute);
    FloatType accumulate =
        getFloatType(&getContext(), job->precision.accumulate);
    for (ModelOp model : getOperation().getOps<ModelOp>()) {
      applyElementTypes(model, job->precision);
      if (!job->precision.multiply.empty())
        markProducts(model, job->precision.multiply);
      if (compute == accumulate)
        continue;
      for (StringRef name :
           {StringLiteral("forward"), StringLiteral("objective"), kServedName})
        if (auto function = model.lookupSymbol<func::FuncOp>(name)) {
          SumTypes sums(function, compute, accumulate);
          sums.apply();
          if (name == "objective")
            sums.applyToResults();
        }
    }
  }
};
} // namespace
