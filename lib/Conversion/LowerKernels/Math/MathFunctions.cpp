//===- MathFunctions.cpp - Functions of f32 as polynomials ----------------===//
//
// Arguments are reduced to a short interval, where the polynomials are those
// whose largest relative error is least (Remez' exchange; the coefficients come
// from scripts/fit-polynomials.py). All bits follow from the operations here:
// scalars, vectors of any width and their tails agree.
//===----------------------------------------------------------------------===//

#include "Math/MathFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::hfta;

namespace {

/// Builds ops on scalars or vectors of one shape.
class MathBuilder {
public:
  MathBuilder(OpBuilder &builder, Location loc, Type shape,
              bool canScale = false)
      : builder(builder), loc(loc), shape(shape), canScale(canScale) {}

  Type getType(Type element) const {
    if (auto vector = dyn_cast<VectorType>(shape))
      return vector.clone(element);
    return element;
  }
  Value constant(Type element, TypedAttr value) {
    if (auto vector = dyn_cast<VectorType>(shape))
      value = DenseElementsAttr::get(vector.clone(element), Attribute(value));
    return arith::ConstantOp::create(builder, loc, value);
  }
  /// A float in the type of `like`.
  Value number(double value, Value like) {
    Type element = getElementTypeOrSelf(like.getType());
    return constant(element, builder.getFloatAttr(element, value));
  }
  Value integer(int64_t value, Value like) {
    Type element = getElementTypeOrSelf(like.getType());
    return constant(element, builder.getIntegerAttr(element, value));
  }

  template <typename OpTy, typename... Args>
  Value create(Args &&...args) {
    return OpTy::create(builder, loc, std::forward<Args>(args)...);
  }
  Value add(Value a, Value b) { return create<arith::AddFOp>(a, b); }
  Value subtract(Value a, Value b) { return create<arith::SubFOp>(a, b); }
  Value multiply(Value a, Value b) { return create<arith::MulFOp>(a, b); }
  Value divide(Value a, Value b) { return create<arith::DivFOp>(a, b); }
  Value multiplyAdd(Value a, Value b, Value c) {
    return create<math::FmaOp>(a, b, c);
  }
  Value select(Value condition, Value a, Value b) {
    return create<arith::SelectOp>(condition, a, b);
  }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return create<arith::CmpFOp>(predicate, a, b);
  }
  Value magnitude(Value a) { return create<math::AbsFOp>(a); }
  Value copySign(Value a, Value sign) {
    return create<math::CopySignOp>(a, sign);
  }

  /// The polynomial of x with these coefficients, the highest first.
  Value evaluate(Value x, ArrayRef<double> coefficients) {
    Value sum = number(coefficients.front(), x);
    for (double coefficient : coefficients.drop_front())
      sum = multiplyAdd(sum, x, number(coefficient, x));
    return sum;
  }
  /// The integer nearest to x * factor: as a float, and in the low bits of an
  /// integer. Adding 1.5 * 2^m, with m the mantissa's bits, moves it there.
  std::pair<Value, Value> round(Value x, double factor) {
    auto type = cast<FloatType>(getElementTypeOrSelf(x.getType()));
    Value magic = number(std::ldexp(1.5, type.getFPMantissaWidth() - 1), x);
    Value moved = multiplyAdd(x, number(factor, x), magic);
    Type bits = builder.getIntegerType(type.getWidth());
    Value low = create<arith::BitcastOp>(getType(bits), moved);
    Value base = create<arith::BitcastOp>(getType(bits), magic);
    return {subtract(moved, magic), create<arith::SubIOp>(low, base)};
  }

  Value exponential(Value x);
  Value logarithm(Value x);
  Value tangent(Value x);
  Value errorFunction(Value x);
  /// sin(x + quarters * pi / 2), for |x| < 2^48.
  Value sine(Value argument, int64_t quarters);

private:
  Value selectLogarithm(Value x, Value regular);
  /// x * 2^n for f32, rounded once if x isn't far from 1. 2^n has two factors,
  /// so that results may be denormal or overflow by themselves.
  Value scale(Value x, Value n) {
    if (canScale)
      return LLVM::CallIntrinsicOp::create(builder, loc, x.getType(),
                                           builder.getStringAttr("llvm.ldexp"),
                                           ValueRange{x, n})
          ->getResult(0);
    Value half = create<arith::ShRSIOp>(n, integer(1, n));
    Value rest = create<arith::SubIOp>(n, half);
    return multiply(multiply(x, powerOfTwo(half)), powerOfTwo(rest));
  }
  /// 2^n for f32.
  Value powerOfTwo(Value n) {
    Value biased = create<arith::AddIOp>(n, integer(127, n));
    Value bits = create<arith::ShLIOp>(biased, integer(23, n));
    return create<arith::BitcastOp>(getType(builder.getF32Type()), bits);
  }

  OpBuilder &builder;
  Location loc;
  Type shape;
  bool canScale;
};

} // namespace

/// e^x = 2^n e^r with |r| <= ln 2 / 2, and e^r = 1 + r + r^2 P(r).
Value MathBuilder::exponential(Value x) {
  // Comparisons fail for NaNs, which stay.
  auto limit = [&](Value value, arith::CmpFPredicate predicate, double bound) {
    Value number = this->number(bound, value);
    return select(compare(predicate, number, value), number, value);
  };
  Value bounded = limit(x, arith::CmpFPredicate::OLT, 89.0);
  bounded = limit(bounded, arith::CmpFPredicate::OGT, -105.0);
  auto [n, integer] = round(bounded, 1.4426950408889634);
  Value r = multiplyAdd(n, number(-0.693359375, x), bounded);
  r = multiplyAdd(n, number(2.12194440054690583e-4, x), r);
  Value p = evaluate(
      r, {0.00139418803, 0.00836868398, 0.0416663885, 0.166665211, 0.5});
  Value square = multiply(r, r);
  Value power = add(multiplyAdd(p, square, r), number(1, x));
  return scale(power, integer);
}

/// log x = n ln 2 + log(1 + f) with 1 + f from sqrt(1/2) up to sqrt(2), and
/// log(1 + f) = f - f^2 / 2 + f^3 P(f).
Value MathBuilder::logarithm(Value x) {
  // Denormals become normal.
  Value isTiny =
      compare(arith::CmpFPredicate::OLT, x, number(std::ldexp(1.0, -126), x));
  Value larger = multiply(x, number(std::ldexp(1.0, 24), x));
  Value normal = select(isTiny, larger, x);
  Type bits = getType(builder.getI32Type());
  Value whole = create<arith::BitcastOp>(bits, normal);
  Value above = create<arith::SubIOp>(whole, integer(0x3f3504f3, whole));
  Value exponent = create<arith::ShRSIOp>(above, integer(23, whole));
  Value shift = create<arith::ShLIOp>(exponent, integer(23, whole));
  Value mantissa = create<arith::SubIOp>(whole, shift);
  Value f =
      subtract(create<arith::BitcastOp>(x.getType(), mantissa), number(1, x));
  Value n = create<arith::SIToFPOp>(x.getType(), exponent);
  n = subtract(n, select(isTiny, number(24, x), number(0, x)));
  Value p = evaluate(f, {0.0691563413, -0.1178938, 0.118726179, -0.123844013,
                         0.142187163, -0.166692495, 0.200022236, -0.249999866,
                         0.333333105});
  Value square = multiply(f, f);
  Value sum = multiply(multiply(p, f), square);
  sum = multiplyAdd(n, number(-2.12194440054690583e-4, x), sum);
  sum = add(multiplyAdd(square, number(-0.5, x), sum), f);
  sum = multiplyAdd(n, number(0.693359375, x), sum);
  return selectLogarithm(x, sum);
}

/// `regular` for finite arguments above 0. Infinity and NaN stay, 0 gives minus
/// infinity, all below NaN.
Value MathBuilder::selectLogarithm(Value x, Value regular) {
  double infinity = std::numeric_limits<double>::infinity();
  Value zero = number(0, x);
  Value isFinite = compare(arith::CmpFPredicate::OLT, x, number(infinity, x));
  Value isPositive = compare(arith::CmpFPredicate::UGT, x, zero);
  Value isZero = compare(arith::CmpFPredicate::OEQ, x, zero);
  double nan = std::numeric_limits<double>::quiet_NaN();
  Value special = select(isPositive, x, number(nan, x));
  special = select(isZero, number(-infinity, x), special);
  Value isRegular = create<arith::AndIOp>(isFinite, isPositive);
  return select(isRegular, regular, special);
}

/// Near 0, x + x^3 P(x^2); else (1 - t) / (1 + t) with t = e^(-2 |x|).
Value MathBuilder::tangent(Value x) {
  Value size = magnitude(x);
  Value z = multiply(x, x);
  Value p = evaluate(z, {-0.00565572875, 0.0205974001, -0.0537278056,
                         0.133313119, -0.333332777});
  Value near = multiplyAdd(multiply(p, z), x, x);
  Value t = exponential(multiply(size, number(-2, x)));
  Value one = number(1, x);
  Value far = divide(subtract(one, t), add(one, t));
  Value isNear = compare(arith::CmpFPredicate::OLT, size, number(0.625, x));
  return select(isNear, near, copySign(far, x));
}

/// Below 1, x + x P(x^2); else 1 - e^P(|x|).
Value MathBuilder::errorFunction(Value x) {
  Value size = magnitude(x);
  Value p = evaluate(multiply(x, x),
                     {7.91918792e-05, -0.000803050934, 0.00519071659,
                      -0.0268551223, 0.112836182, -0.376126289, 0.128379166});
  Value near = multiplyAdd(p, x, x);
  // From 4 on, all digits of 1 - e^P(4) are those of 1.
  Value four = number(4, x);
  Value bounded =
      select(compare(arith::CmpFPredicate::OGT, size, four), four, size);
  Value q = evaluate(bounded, {-2.16842836e-05, 0.000441308192, -0.00420443807,
                               0.025207974, -0.108418219, -0.633220136,
                               -1.12957835, 0.000188037069});
  Value one = number(1, x);
  Value far = subtract(one, exponential(q));
  Value isNear = compare(arith::CmpFPredicate::OLT, size, one);
  return select(isNear, near, copySign(far, x));
}

/// In f64, where two parts of pi / 2 leave no digit of an f32 result wrong.
Value MathBuilder::sine(Value argument, int64_t quarters) {
  Value x = create<arith::ExtFOp>(getType(builder.getF64Type()), argument);
  auto [n, quadrant] = round(x, 0.63661977236758138);
  Value r = multiplyAdd(n, number(-1.5707963267948966, x), x);
  r = multiplyAdd(n, number(-6.123233995736766e-17, x), r);
  Value z = multiply(r, r);
  Value p = evaluate(z, {2.7183084403154817e-06, -0.00019839334520745328,
                         0.0083333293849283552, -0.16666666641618466});
  Value sine = multiplyAdd(multiply(p, z), r, r);
  Value q =
      evaluate(z, {-2.7210209891737103e-07, 2.4799519678628043e-05,
                   -0.0013888883752192418, 0.04166666662281443, -0.5, 1.0});
  Value turned = create<arith::AddIOp>(quadrant, integer(quarters, quadrant));
  auto hasBit = [&](int64_t bit) {
    Value masked = create<arith::AndIOp>(turned, integer(bit, turned));
    return create<arith::CmpIOp>(arith::CmpIPredicate::ne, masked,
                                 integer(0, turned));
  };
  Value result = select(hasBit(1), q, sine);
  result = select(hasBit(2), create<arith::NegFOp>(result), result);
  return create<arith::TruncFOp>(argument.getType(), result);
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

static bool isLowered(Operation *op) {
  return getElementTypeOrSelf(op->getResult(0).getType()).isF32() &&
         !op->hasAttr(kLibraryAttrName);
}

namespace {

template <typename OpTy, Value (MathBuilder::*function)(Value)>
struct ExpandFunction : public OpRewritePattern<OpTy> {
  ExpandFunction(MLIRContext *context, bool canScale)
      : OpRewritePattern<OpTy>(context), canScale(canScale) {}

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!isLowered(op))
      return rewriter.notifyMatchFailure(op, "not a function of f32");
    MathBuilder builder(rewriter, op.getLoc(), op.getType(), canScale);
    rewriter.replaceOp(op, (builder.*function)(op.getOperand()));
    return success();
  }

  bool canScale;
};

/// Arguments that are too large for the reduction go to the C library.
template <typename OpTy, int64_t quarters>
struct ExpandCircular : public OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!isLowered(op))
      return rewriter.notifyMatchFailure(op, "not a function of f32");
    Location loc = op.getLoc();
    MathBuilder builder(rewriter, loc, op.getType());
    Value x = op.getOperand();
    Value small = builder.sine(x, quarters);
    Value isLarge =
        builder.compare(arith::CmpFPredicate::OGE, builder.magnitude(x),
                        builder.number(std::ldexp(1.0, 48), x));
    Value isAnyLarge = isLarge;
    if (isa<VectorType>(isLarge.getType()))
      isAnyLarge = vector::ReductionOp::create(
          rewriter, loc, vector::CombiningKind::OR, isLarge);
    auto branch = scf::IfOp::create(
        rewriter, loc, isAnyLarge,
        [&](OpBuilder &b, Location loc) {
          OpTy call = OpTy::create(b, loc, x);
          call->setAttr(kLibraryAttrName, b.getUnitAttr());
          Value all = arith::SelectOp::create(b, loc, isLarge, call, small);
          scf::YieldOp::create(b, loc, all);
        },
        [&](OpBuilder &b, Location loc) {
          scf::YieldOp::create(b, loc, small);
        });
    rewriter.replaceOp(op, branch.getResults());
    return success();
  }
};

/// The second operand where it is greater (or less), else the first: of equal
/// ones the first, so that the sign of zero doesn't depend on the code around.
/// NaN where one is NaN: a constant, so that LLVM keeps the first choice, for
/// which processors have an instruction.
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
  patterns.add<ExpandFunction<math::ExpOp, &MathBuilder::exponential>,
               ExpandFunction<math::LogOp, &MathBuilder::logarithm>,
               ExpandFunction<math::TanhOp, &MathBuilder::tangent>,
               ExpandFunction<math::ErfOp, &MathBuilder::errorFunction>>(
      context, canScale);
  patterns.add<ExpandCircular<math::SinOp, 0>, ExpandCircular<math::CosOp, 1>,
               ExpandExtreme<arith::MaximumFOp, arith::CmpFPredicate::OGT>,
               ExpandExtreme<arith::MinimumFOp, arith::CmpFPredicate::OLT>>(
      context);
}
