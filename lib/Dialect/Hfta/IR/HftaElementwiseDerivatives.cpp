//===- HftaElementwiseDerivatives.cpp - Backward of elementwise ops -------===//
//
// In the formulas, x and y are the operands, r is the result, and g its
// gradient. At points where a function has no derivative, the convention is
// PyTorch's.
//===----------------------------------------------------------------------===//

#include "Backward.h"
#include "Hfta/Dialect/Hfta/IR/Norms.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

/// Returns 1 / sqrt(1 - x^2), which is infinite at 1 and -1. As (1 - x)(1 + x),
/// the difference loses no digits near these points.
static Expression arcSineSlope(const Expression &x) {
  return ((1.0 - x) * (x + 1.0)).apply<RsqrtOp>();
}

#define HFTA_UNARY_DERIVATIVE(OpTy, formula)                                   \
  HFTA_DEFINE_BACKWARD(OpTy) {                                                 \
    if (!backward.wants(0))                                                    \
      return;                                                                  \
    [[maybe_unused]] Expression x = backward.operand(0);                       \
    [[maybe_unused]] Expression r = backward.result();                         \
    [[maybe_unused]] Expression g = backward.gradient();                       \
    backward.set(0, formula);                                                  \
  }

HFTA_UNARY_DERIVATIVE(NegOp, -g)
HFTA_UNARY_DERIVATIVE(AbsOp, x.apply<SignOp>() * g)
HFTA_UNARY_DERIVATIVE(SignOp, Value())
HFTA_UNARY_DERIVATIVE(ExpOp, (g * r))
HFTA_UNARY_DERIVATIVE(LogOp, g / x)
HFTA_UNARY_DERIVATIVE(Log1pOp, g / (x + 1.0))
HFTA_UNARY_DERIVATIVE(RsqrtOp, g * -0.5 * (r * r * r))
HFTA_UNARY_DERIVATIVE(TanhOp, g * (1.0 - r * r))
HFTA_UNARY_DERIVATIVE(SigmoidOp, g * ((1.0 - r) * r))
HFTA_UNARY_DERIVATIVE(ErfOp, g * ((-(x * x)).apply<ExpOp>() *
                                  (2.0 * llvm::numbers::inv_sqrtpi)))
HFTA_UNARY_DERIVATIVE(
    ReluOp, r.compare(ComparePredicate::less_equal, 0.0).select(0.0, g))
HFTA_UNARY_DERIVATIVE(FloorOp, Value())
HFTA_UNARY_DERIVATIVE(CeilOp, Value())
HFTA_UNARY_DERIVATIVE(SinOp, x.apply<CosOp>() * g)
HFTA_UNARY_DERIVATIVE(CosOp, -(x.apply<SinOp>() * g))
HFTA_UNARY_DERIVATIVE(AsinOp, (g * arcSineSlope(x)))
HFTA_UNARY_DERIVATIVE(AcosOp, -(g *arcSineSlope(x)))
HFTA_UNARY_DERIVATIVE(AtanOp, g / (x * x + 1.0))
HFTA_UNARY_DERIVATIVE(SoftplusOp, x.apply<SigmoidOp>() * g)
HFTA_UNARY_DERIVATIVE(CastOp, isa<FloatType>(g.getElementType())
                                  ? Value(g.to(x.getElementType()))
                                  : Value())

HFTA_DEFINE_BACKWARD(SqrtOp) {
  if (!backward.wants(0))
    return;
  Expression root = backward.result();
  Expression slope = backward.gradient() / (root * 2.0);
  if (op->hasAttr(kNormAttrName))
    slope = root.compare(ComparePredicate::equal, 0.0).select(0.0, slope);
  backward.set(0, slope);
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

/// Returns an operand's share of the gradient of maximum or minimum, as in
/// PyTorch: all of it for the chosen operand, half of it for each of two equal
/// ones, and all of it for both if one is a NaN.
static Expression shareOfChosen(const Expression &operand,
                                const Expression &other,
                                ComparePredicate notChosen,
                                const Expression &gradient) {
  Expression shared = operand.compare(ComparePredicate::equal, other)
                          .select(gradient * 0.5, gradient);
  return operand.compare(notChosen, other).select(0.0, shared);
}

/// Returns the gradient of a power with respect to its base. It is zero if the
/// exponent is zero, whatever the base is.
static Expression powerBaseGradient(const Expression &base,
                                    const Expression &exponent,
                                    const Expression &gradient) {
  Expression slope = exponent * base.apply<PowOp>(exponent - 1.0);
  return exponent.compare(ComparePredicate::equal, 0.0)
      .select(0.0, gradient * slope);
}

/// Returns the gradient of a power with respect to its exponent. It is zero if
/// the base is zero and the exponent isn't negative.
static Expression powerExponentGradient(const Expression &base,
                                        const Expression &exponent,
                                        const Expression &result,
                                        const Expression &gradient) {
  Expression isZero = base.compare(ComparePredicate::equal, 0.0);
  Expression flat = isZero.apply<AndOp>(
      exponent.compare(ComparePredicate::greater_equal, 0.0));
  return flat.select(0.0, gradient * (result * base.apply<LogOp>()));
}

#define HFTA_BINARY_DERIVATIVE(OpTy, formulaX, formulaY)                       \
  HFTA_DEFINE_BACKWARD(OpTy) {                                                 \
    [[maybe_unused]] Expression x = backward.operand(0);                       \
    [[maybe_unused]] Expression y = backward.operand(1);                       \
    [[maybe_unused]] Expression r = backward.result();                         \
    [[maybe_unused]] Expression g = backward.gradient();                       \
    if (backward.wants(0))                                                     \
      backward.set(0, formulaX);                                               \
    if (backward.wants(1))                                                     \
      backward.set(1, formulaY);                                               \
  }

HFTA_BINARY_DERIVATIVE(AddOp, g, g)
HFTA_BINARY_DERIVATIVE(SubOp, g, -g)
HFTA_BINARY_DERIVATIVE(MulOp, (g * y), (g * x))
HFTA_BINARY_DERIVATIVE(DivOp, g / y, -(g *(r / y)))
HFTA_BINARY_DERIVATIVE(PowOp, powerBaseGradient(x, y, g),
                       powerExponentGradient(x, y, r, g))
HFTA_BINARY_DERIVATIVE(RemainderOp, g, -(g *((x - r) / y)))
HFTA_BINARY_DERIVATIVE(MaxOp, shareOfChosen(x, y, ComparePredicate::less, g),
                       shareOfChosen(y, x, ComparePredicate::less, g))
HFTA_BINARY_DERIVATIVE(MinOp, shareOfChosen(x, y, ComparePredicate::greater, g),
                       shareOfChosen(y, x, ComparePredicate::greater, g))

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

HFTA_DEFINE_BACKWARD(SelectOp) {
  Expression condition = backward.operand(0);
  Expression gradient = backward.gradient();
  if (backward.wants(1))
    backward.set(1, condition.select(gradient, 0.0));
  if (backward.wants(2))
    backward.set(2, condition.select(0.0, gradient));
}
