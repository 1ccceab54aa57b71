//===- ApplyPrecision.cpp - The job's five types on its models ------------===//
//
// An op that adds up many terms is surrounded by casts: its operands are
// widened to the type that the job accumulates in, its results are rounded to
// the compute type. Derivatives and decompositions of such ops follow, for they
// work in the types of their operands.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/Settings.h"
#include "Hfta/Transforms/Passes.h"
#include "Hfta/Transforms/Precision.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAAPPLYPRECISION
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

namespace {
/// Inserts the casts in one function.
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

  /// Widens the returned losses, their weights and the metric: the ops that are
  /// built on the model later add these up in the type that they are returned
  /// in.
  void applyToResults() {
    for (OpOperand &result :
         function.getBody().front().getTerminator()->getOpOperands())
      widen(result);
    function.setFunctionType(builder.getFunctionType(
        function.getArgumentTypes(),
        function.getBody().front().getTerminator()->getOperandTypes()));
  }

private:
  /// Whether the op repeats a constant: that has no gradient, whose terms would
  /// be added up.
  static bool isOfConstants(Operation *op) {
    return isa<BroadcastOp>(op) &&
           op->getOperand(0).getDefiningOp<ConstantOp>();
  }
  /// Whether an addition's result is used as a term of another addition alone:
  /// together they are one sum of several operands.
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

  /// Widens a value once, where it is defined, for all ops that add it up: so a
  /// parameter's gradient is that of one value.
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
      // An op that adds up this result is widened, too.
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

/// Notes on a model's products, including those computed from data in advance,
/// the type that they multiply in.
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
      for (StringRef name : {"forward", "objective"})
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
