//===- Functions.cpp - Elementwise functions composed of other ops --------===//
//
// The formulas are accurate near zero, where the functions' definitions suffer
// from cancellation, and have the right derivative there.
//===----------------------------------------------------------------------===//

#include "Building/Node.h"

#include <cmath>
#include <limits>

namespace mlir::hfta::onnx_import {

/// The argument from which on 1 + x^2 is rounded to x^2 in all float types.
static constexpr double kLargeArgument = 1e10;

template <Value (*function)(Node &, Value)>
static void importFunction(Node &node) {
  Value input = node.getInput(0);
  if (node.requireFloat(input))
    node.setOutput(0, function(node, input));
}

static Value scale(Node &node, Value x, double factor) {
  return node.mul(x, node.splatLike(x, factor));
}

static Value isBelow(Node &node, Value x, double bound) {
  return node.compare(ComparePredicate::less, x, node.splatLike(x, bound));
}

/// Applies `function` to |x|, and restores the sign of x.
template <Value (*function)(Node &, Value)>
static Value makeOdd(Node &node, Value x) {
  Value isNegative = isBelow(node, x, 0);
  Value size = node.create<SelectOp>(isNegative, node.create<NegOp>(x), x);
  Value result = function(node, size);
  return node.create<SelectOp>(isNegative, node.create<NegOp>(result), result);
}

/// Returns function(x) for x up to kLargeArgument, and log 2x for larger x.
template <Value (*function)(Node &, Value)>
static Value continueByLogarithm(Node &node, Value x) {
  Value bound = node.splatLike(x, kLargeArgument);
  Value near = function(node, node.min(x, bound));
  Value far = node.add(node.create<LogOp>(node.max(x, bound)),
                       node.splatLike(x, std::log(2.0)));
  return node.create<SelectOp>(isBelow(node, x, kLargeArgument), near, far);
}

static Value makeTan(Node &node, Value x) {
  return node.div(node.create<SinOp>(x), node.create<CosOp>(x));
}

static Value makeCosh(Node &node, Value x) {
  return scale(node,
               node.add(node.create<ExpOp>(x),
                        node.create<ExpOp>(node.create<NegOp>(x))),
               0.5);
}

static Value makeSinh(Node &node, Value x) {
  return node.mul(node.create<TanhOp>(x), makeCosh(node, x));
}

/// Computes log(x + sqrt(x^2 + 1)) = log1p(x + x^2 / (1 + sqrt(x^2 + 1))), x >=
/// 0.
static Value makeNearAsinh(Node &node, Value x) {
  Value square = node.mul(x, x), one = node.splatLike(x, 1);
  Value root = node.create<SqrtOp>(node.add(square, one));
  return node.create<Log1pOp>(
      node.add(x, node.div(square, node.add(one, root))));
}

/// Computes log(x + sqrt(x^2 - 1)) = log1p(t + sqrt t sqrt(t + 2)) with t = x -
/// 1; NaN below 1.
static Value makeNearAcosh(Node &node, Value x) {
  Value t = node.sub(x, node.splatLike(x, 1));
  Value root = node.mul(node.create<SqrtOp>(t),
                        node.create<SqrtOp>(node.add(t, node.splatLike(t, 2))));
  return node.create<Log1pOp>(node.add(t, root));
}

/// Computes log((1 + x) / (1 - x)) / 2 = log1p(2 x / (1 - x)) / 2, x >= 0.
static Value makePositiveAtanh(Node &node, Value x) {
  Value ratio = node.div(scale(node, x, 2), node.sub(node.splatLike(x, 1), x));
  return scale(node, node.create<Log1pOp>(ratio), 0.5);
}

/// Rounds to the nearest integer, and halves to the nearest even integer.
static Value makeRound(Node &node, Value x) {
  Value below = node.create<FloorOp>(x);
  Value part = node.sub(x, below), half = node.splatLike(x, 0.5);
  Value pairs = node.create<FloorOp>(scale(node, below, 0.5));
  Value isOdd =
      node.compare(ComparePredicate::not_equal, scale(node, pairs, 2), below);
  Value isHalf = node.compare(ComparePredicate::equal, part, half);
  Value isMore = node.compare(ComparePredicate::greater, part, half);
  Value goesUp = node.create<OrOp>(isMore, node.create<AndOp>(isHalf, isOdd));
  return node.create<SelectOp>(
      goesUp, node.add(below, node.splatLike(below, 1)), below);
}

static Value makeIsNan(Node &node, Value x) {
  return node.compare(ComparePredicate::not_equal, x, x);
}

static void importIsInf(Node &node) {
  Value x = node.getInput(0);
  if (!node.requireFloat(x))
    return;
  double infinity = std::numeric_limits<double>::infinity();
  auto isEqual = [&](double bound, StringRef attribute) {
    bool wanted = node.getInt(attribute, 1) != 0;
    return wanted ? node.compare(ComparePredicate::equal, x,
                                 node.splatLike(x, bound))
                  : node.splat(getShape(x), node.getBuilder().getI1Type(), 0);
  };
  node.setOutput(0, node.create<OrOp>(isEqual(infinity, "detect_positive"),
                                      isEqual(-infinity, "detect_negative")));
}

static void importShrink(Node &node) {
  Value x = node.getInput(0);
  if (!node.requireFloat(x))
    return;
  double edge = node.getFloat("lambd", 0.5);
  Value bias = node.splatLike(x, node.getFloat("bias", 0));
  Value isAbove =
      node.compare(ComparePredicate::greater, x, node.splatLike(x, edge));
  Value rest =
      node.create<SelectOp>(isAbove, node.sub(x, bias), node.splatLike(x, 0));
  node.setOutput(0, node.create<SelectOp>(isBelow(node, x, -edge),
                                          node.add(x, bias), rest));
}

llvm::ArrayRef<OpHandler> getFunctionHandlers() {
  static const OpHandler handlers[] = {
      {"Acosh", 9, importFunction<continueByLogarithm<makeNearAcosh>>},
      {"Asinh", 9, importFunction<makeOdd<continueByLogarithm<makeNearAsinh>>>},
      {"Atanh", 9, importFunction<makeOdd<makePositiveAtanh>>},
      {"Cosh", 9, importFunction<makeCosh>},
      {"IsInf", 10, importIsInf},
      {"IsNaN", 9, importFunction<makeIsNan>},
      {"Round", 11, importFunction<makeRound>},
      {"Shrink", 9, importShrink},
      {"Sinh", 9, importFunction<makeSinh>},
      {"Tan", 7, importFunction<makeTan>},
  };
  return handlers;
}

} // namespace mlir::hfta::onnx_import
