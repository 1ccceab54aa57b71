//===- MathFunctions.cpp - Functions as polynomials -----------------------===//

#include "Math/MathFunctions.h"

#include "Math/DoubleFunctions.h"
#include "Math/SingleFunctions.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;
using namespace mlir::hfta;

static bool isOf(Operation *op, bool (Type::*is)() const) {
  return (getElementTypeOrSelf(op->getResult(0).getType()).*is)();
}

namespace {

template <typename OpTy, Value (SingleFunctions::*function)(Value)>
struct ExpandSingle : public OpRewritePattern<OpTy> {
  ExpandSingle(MLIRContext *context, bool canScale)
      : OpRewritePattern<OpTy>(context), canScale(canScale) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!isOf(op, &Type::isF32))
      return rewriter.notifyMatchFailure(op, "not a function of f32");
    SingleFunctions functions(rewriter, op.getLoc(), op.getType(), canScale);
    rewriter.replaceOp(op, (functions.*function)(op.getOperand()));
    return success();
  }

  bool canScale;
};

template <typename OpTy, Value (DoubleFunctions::*function)(Value)>
struct ExpandDouble : public OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!isOf(op, &Type::isF64))
      return rewriter.notifyMatchFailure(op, "not a function of f64");
    DoubleFunctions functions(rewriter, op.getLoc(), op.getType());
    rewriter.replaceOp(op, (functions.*function)(op.getOperand()));
    return success();
  }
};

/// Expands powers. Powers of f32 are computed in f64.
struct ExpandPower : public OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::PowFOp op,
                                PatternRewriter &rewriter) const override {
    bool isSingle = isOf(op, &Type::isF32);
    if (!isSingle && !isOf(op, &Type::isF64))
      return rewriter.notifyMatchFailure(op, "not a power of f32 or f64");
    DoubleFunctions functions(rewriter, op.getLoc(), op.getType());
    Type wide = functions.getType(rewriter.getF64Type());
    auto widen = [&](Value x) -> Value {
      return isSingle ? functions.create<arith::ExtFOp>(wide, x) : x;
    };
    Value power = functions.power(widen(op.getLhs()), widen(op.getRhs()));
    if (isSingle)
      power = functions.create<arith::TruncFOp>(op.getType(), power);
    rewriter.replaceOp(op, power);
    return success();
  }
};

/// Expands remainders. They are computed in f64.
struct ExpandRemainder : public OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::RemFOp op,
                                PatternRewriter &rewriter) const override {
    // The largest quotients have 2098 bits in f64, and 277 bits in f32 and
    // bf16. For f64 there are a few more steps than 2098 / 53, as divisors are
    // scaled.
    constexpr int64_t kDoubleSteps = 42, kSteps = 6;
    Type type = op.getType();
    bool isDouble = isOf(op, &Type::isF64);
    DoubleFunctions functions(rewriter, op.getLoc(), type);
    Type wide = functions.getType(rewriter.getF64Type());
    auto widen = [&](Value x) -> Value {
      return isDouble ? x : functions.create<arith::ExtFOp>(wide, x);
    };
    Value remainder =
        functions.remainder(widen(op.getLhs()), widen(op.getRhs()),
                            isDouble ? kDoubleSteps : kSteps);
    // The conversion is exact: a remainder has no more digits than the
    // operands.
    if (!isDouble)
      remainder = functions.create<arith::TruncFOp>(type, remainder);
    rewriter.replaceOp(op, remainder);
    return success();
  }
};

/// Expands sine or cosine. Arguments that are too large for the short reduction
/// are rare, so the long reduction is behind a branch.
template <typename OpTy, int64_t quarters>
struct ExpandCircular : public OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value x = op.getOperand();
    if (isOf(op, &Type::isF64)) {
      DoubleFunctions functions(rewriter, loc, op.getType());
      rewriter.replaceOp(op, build(functions, rewriter, loc, x));
      return success();
    }
    if (!isOf(op, &Type::isF32))
      return rewriter.notifyMatchFailure(op, "not a function of f32 or f64");
    SingleFunctions functions(rewriter, loc, op.getType(), /*canScale=*/false);
    x = functions.create<arith::ExtFOp>(
        functions.getType(rewriter.getF64Type()), x);
    rewriter.replaceOp(op,
                       functions.create<arith::TruncFOp>(
                           op.getType(), build(functions, rewriter, loc, x)));
    return success();
  }

private:
  template <typename Functions>
  static Value build(Functions &functions, OpBuilder &builder, Location loc,
                     Value x) {
    DoubleFunctions::Angle angle = functions.reduce(x);
    Value isLarge =
        functions.compare(arith::CmpFPredicate::OGE, functions.magnitude(x),
                          Functions::kSineLimit);
    SmallVector<Value> small = getValues(angle);
    auto branch = scf::IfOp::create(
        builder, loc, functions.any(isLarge),
        [&](OpBuilder &b, Location loc) {
          DoubleFunctions large(b, loc, x.getType());
          SmallVector<Value> all = getValues(large.reduceLarge(x));
          all.truncate(small.size());
          for (auto [own, other] : llvm::zip(all, small))
            own = arith::SelectOp::create(b, loc, isLarge, own, other);
          scf::YieldOp::create(b, loc, all);
        },
        [&](OpBuilder &b, Location loc) {
          scf::YieldOp::create(b, loc, small);
        });
    angle.r = branch.getResult(0);
    angle.quarters = branch.getResult(1);
    if (angle.rest)
      angle.rest = branch.getResult(2);
    return functions.sine(x, angle, quarters);
  }

  static SmallVector<Value> getValues(const DoubleFunctions::Angle &angle) {
    SmallVector<Value> values = {angle.r, angle.quarters};
    if (angle.rest)
      values.push_back(angle.rest);
    return values;
  }
};

/// Expands a maximum (or minimum) to comparisons. The result is the second
/// operand if it is greater (or less), else the first one, also if both are
/// equal, so that the sign of a zero doesn't depend on the code around. The
/// result is NaN if an operand is NaN. If the second one is, it is a constant
/// NaN, so that LLVM keeps the first select, for which processors have an
/// instruction.
template <typename OpTy, arith::CmpFPredicate predicate>
struct ExpandExtreme : public OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    MathBuilder builder(rewriter, op.getLoc(), op.getType());
    Value first = op.getLhs(), second = op.getRhs();
    Value extreme = builder.select(builder.compare(predicate, second, first),
                                   second, first);
    Value isNan = builder.compare(arith::CmpFPredicate::UNO, second, second);
    Value nan =
        builder.number(std::numeric_limits<double>::quiet_NaN(), second);
    rewriter.replaceOp(op, builder.select(isNan, nan, extreme));
    return success();
  }
};

} // namespace

void hfta::populateMathFunctionPatterns(RewritePatternSet &patterns,
                                        bool canScale) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandSingle<math::ExpOp, &SingleFunctions::exponential>,
               ExpandSingle<math::LogOp, &SingleFunctions::logarithm>,
               ExpandSingle<math::TanhOp, &SingleFunctions::tangent>,
               ExpandSingle<math::ErfOp, &SingleFunctions::errorFunction>,
               ExpandSingle<math::AsinOp, &SingleFunctions::arcSine>,
               ExpandSingle<math::AcosOp, &SingleFunctions::arcCosine>,
               ExpandSingle<math::AtanOp, &SingleFunctions::arcTangent>>(
      context, canScale);
  patterns
      .add<ExpandDouble<math::ExpOp, &DoubleFunctions::exponential>,
           ExpandDouble<math::LogOp, &DoubleFunctions::logarithm>,
           ExpandDouble<math::Log1pOp, &DoubleFunctions::logarithmOfOnePlus>,
           ExpandDouble<math::TanhOp, &DoubleFunctions::tangent>,
           ExpandDouble<math::ErfOp, &DoubleFunctions::errorFunction>,
           ExpandDouble<math::AsinOp, &DoubleFunctions::arcSine>,
           ExpandDouble<math::AcosOp, &DoubleFunctions::arcCosine>,
           ExpandDouble<math::AtanOp, &DoubleFunctions::arcTangent>,
           ExpandPower, ExpandRemainder, ExpandCircular<math::SinOp, 0>,
           ExpandCircular<math::CosOp, 1>,
           ExpandExtreme<arith::MaximumFOp, arith::CmpFPredicate::OGT>,
           ExpandExtreme<arith::MinimumFOp, arith::CmpFPredicate::OLT>>(
          context);
}
