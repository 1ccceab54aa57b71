//===- Elementwise.cpp - Arithmetic, comparison, logic --------------------===//

#include "Building/Node.h"

namespace mlir::hfta::onnx_import {

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

template <typename OpTy>
static void importFloatUnary(Node &node) {
  Value input = node.getInput(0);
  if (node.requireFloat(input))
    node.setOutput(0, node.create<OpTy>(input));
}

template <typename OpTy>
static void importUnary(Node &node) {
  Value input = node.getInput(0);
  if (node.requireArithmetic(input))
    node.setOutput(0, node.create<OpTy>(input));
}

static void importReciprocal(Node &node) {
  Value input = node.getInput(0);
  if (node.requireFloat(input))
    node.setOutput(0, node.div(node.splatLike(input, 1), input));
}

static void importNot(Node &node) {
  Value input = node.getInput(0);
  node.setOutput(0, node.create<XorOp>(input, node.splatLike(input, 1)));
}

//===----------------------------------------------------------------------===//
// Two or more operands
//===----------------------------------------------------------------------===//

/// Returns the two operands, broadcast to their common shape; empty after an
/// error.
static SmallVector<Value> getTwoInputs(Node &node) {
  return node.broadcastTogether({node.getInput(0), node.getInput(1)});
}

template <typename OpTy>
static void importBinary(Node &node) {
  SmallVector<Value> inputs = getTwoInputs(node);
  if (!inputs.empty() && node.requireArithmetic(inputs[0]))
    node.setOutput(0, node.create<OpTy>(inputs[0], inputs[1]));
}

template <typename OpTy>
static void importLogic(Node &node) {
  SmallVector<Value> inputs = getTwoInputs(node);
  if (!inputs.empty())
    node.setOutput(0, node.create<OpTy>(inputs[0], inputs[1]));
}

template <ComparePredicate predicate>
static void importCompare(Node &node) {
  SmallVector<Value> inputs = getTwoInputs(node);
  if (inputs.empty())
    return;
  if (predicate == ComparePredicate::equal &&
      getElementType(inputs[0]).isInteger(1)) {
    Value differ = node.create<XorOp>(inputs[0], inputs[1]);
    node.setOutput(0, node.create<XorOp>(differ, node.splatLike(differ, 1)));
    return;
  }
  if (node.requireArithmetic(inputs[0]))
    node.setOutput(0, node.compare(predicate, inputs[0], inputs[1]));
}

/// Combines all operands from left to right; returns null after an error.
template <typename OpTy>
static Value combineAll(Node &node) {
  SmallVector<Value> inputs = node.broadcastTogether(node.getInputs());
  if (inputs.empty() || !node.requireArithmetic(inputs[0]))
    return Value();
  Value result = inputs[0];
  for (Value input : ArrayRef<Value>(inputs).drop_front())
    result = node.create<OpTy>(result, input);
  return result;
}

template <typename OpTy>
static void importVariadic(Node &node) {
  node.setOutput(0, combineAll<OpTy>(node));
}

static void importMean(Node &node) {
  Value sum = combineAll<AddOp>(node);
  if (node.requireFloat(sum))
    node.setOutput(0, node.div(sum, node.splatLike(sum, node.getNumInputs())));
}

static void importWhere(Node &node) {
  SmallVector<Value> inputs = node.broadcastTogether(
      {node.getInput(0), node.getInput(1), node.getInput(2)});
  if (!inputs.empty())
    node.setOutput(0, node.create<SelectOp>(inputs[0], inputs[1], inputs[2]));
}

//===----------------------------------------------------------------------===//
// Powers and remainders
//===----------------------------------------------------------------------===//

/// Returns the exponent if it is a float constant whose elements are all equal.
static std::optional<double> getSplatExponent(Value exponent) {
  std::optional<DenseElementsAttr> constant = getConstantValue(exponent);
  if (!constant || !constant->isSplat() ||
      !isa<FloatType>(constant->getElementType()))
    return std::nullopt;
  return constant->getSplatValue<APFloat>().convertToDouble();
}

static bool isIntegerType(Type type) { return isa<IntegerType>(type); }

static void importPow(Node &node) {
  SmallVector<Value> inputs = getTwoInputs(node);
  if (inputs.empty() || !node.requireArithmetic(inputs[0]))
    return;
  Value base = inputs[0], exponent = inputs[1];
  Type type = getElementType(base), exponentType = getElementType(exponent);
  std::optional<double> known = getSplatExponent(exponent);
  if (isa<FloatType>(type) && known && (*known == 2 || *known == 3)) {
    Value square = node.mul(base, base);
    node.setOutput(0, *known == 2 ? square : node.mul(square, base));
    return;
  }
  if (isa<FloatType>(type) || (type == exponentType && isIntegerType(type))) {
    node.setOutput(0, node.create<PowOp>(base, node.cast(exponent, type)));
    return;
  }
  if (exponentType.isSignlessInteger()) {
    // An exponent that doesn't fit in the base's type would be truncated: use
    // i64.
    Type wide = node.getBuilder().getI64Type();
    Value power =
        node.create<PowOp>(node.cast(base, wide), node.cast(exponent, wide));
    node.setOutput(0, node.cast(power, type));
    return;
  }
  // An integer to a real power is a real number, which is then truncated.
  Type wide = node.getBuilder().getF64Type();
  Value power =
      node.create<PowOp>(node.cast(base, wide), node.cast(exponent, wide));
  node.setOutput(0, node.cast(power, type));
}

/// Turns the remainder of x / y that has the sign of x into the one that has
/// the sign of y.
static Value floorRemainder(Node &node, Value remainder, Value y) {
  Value zero = node.splatLike(y, 0);
  Value isNegative = node.compare(ComparePredicate::less, y, zero);
  Value differ = node.create<XorOp>(
      node.compare(ComparePredicate::less, remainder, zero), isNegative);
  Value wrong = node.create<AndOp>(
      differ, node.compare(ComparePredicate::not_equal, remainder, zero));
  remainder = node.create<SelectOp>(wrong, node.add(remainder, y), remainder);
  if (!remainder || !isa<FloatType>(getElementType(remainder)))
    return remainder;
  // Adding 0 makes negative zeros positive, and changes neither other numbers
  // nor the gradient.
  Value negated = node.add(node.create<NegOp>(remainder), zero);
  return node.create<SelectOp>(isNegative, node.create<NegOp>(negated),
                               node.add(remainder, zero));
}

template <bool floorsFloats>
static void importMod(Node &node) {
  SmallVector<Value> inputs = getTwoInputs(node);
  if (inputs.empty() || !node.requireArithmetic(inputs[0]))
    return;
  Value x = inputs[0], y = inputs[1];
  bool truncates = node.getInt("fmod", 0) != 0;
  if (isa<FloatType>(getElementType(x)) && !truncates && !floorsFloats) {
    node.invalid("remainders of floats need fmod = 1 before operator set 28");
    return;
  }
  Value remainder = node.create<RemainderOp>(x, y);
  node.setOutput(0, truncates ? remainder : floorRemainder(node, remainder, y));
}

//===----------------------------------------------------------------------===//
// Clip
//===----------------------------------------------------------------------===//

static void importClipAttributes(Node &node) {
  Value value = node.getInput(0);
  if (!node.requireArithmetic(value))
    return;
  if (node.hasAttribute("min"))
    value = node.max(value, node.splatLike(value, node.getFloat("min", 0)));
  if (node.hasAttribute("max"))
    value = node.min(value, node.splatLike(value, node.getFloat("max", 0)));
  node.setOutput(0, value);
}

static void importClip(Node &node) {
  Value value = node.getInput(0);
  if (!node.requireArithmetic(value))
    return;
  ArrayRef<int64_t> shape = getShape(value);
  for (unsigned index : {1u, 2u}) {
    Value bound = node.getOptionalInput(index);
    if (!bound)
      continue;
    if (getType(bound).getNumElements() != 1) {
      node.invalid("a bound must be a scalar");
      return;
    }
    bound = node.broadcast(node.reshape(bound, {}), shape);
    value = index == 1 ? node.max(value, bound) : node.min(value, bound);
  }
  node.setOutput(0, value);
}

//===----------------------------------------------------------------------===//
// The table of handlers
//===----------------------------------------------------------------------===//

llvm::ArrayRef<OpHandler> getElementwiseHandlers() {
  static const OpHandler handlers[] = {
      {"Abs", 1, importUnary<AbsOp>},
      {"Acos", 7, importFloatUnary<AcosOp>},
      {"Add", 7, importBinary<AddOp>, 0, 2},
      {"And", 7, importLogic<AndOp>, 0, 2},
      {"Asin", 7, importFloatUnary<AsinOp>},
      {"Atan", 7, importFloatUnary<AtanOp>},
      {"Ceil", 1, importFloatUnary<CeilOp>},
      {"Clip", 6, importClipAttributes},
      {"Clip", 11, importClip, 0b110, 3},
      {"Cos", 7, importFloatUnary<CosOp>},
      {"Div", 7, importBinary<DivOp>, 0, 2},
      {"Equal", 7, importCompare<ComparePredicate::equal>, 0, 2},
      {"Erf", 9, importFloatUnary<ErfOp>},
      {"Exp", 1, importFloatUnary<ExpOp>},
      {"Floor", 1, importFloatUnary<FloorOp>},
      {"Greater", 7, importCompare<ComparePredicate::greater>, 0, 2},
      {"GreaterOrEqual", 12, importCompare<ComparePredicate::greater_equal>, 0,
       2},
      {"Less", 7, importCompare<ComparePredicate::less>, 0, 2},
      {"LessOrEqual", 12, importCompare<ComparePredicate::less_equal>, 0, 2},
      {"Log", 1, importFloatUnary<LogOp>},
      {"Max", 1, importVariadic<MaxOp>, 0, kAnyNumber},
      {"Mean", 1, importMean, 0, kAnyNumber},
      {"Min", 1, importVariadic<MinOp>, 0, kAnyNumber},
      {"Mod", 10, importMod</*floorsFloats=*/false>, 0, 2},
      {"Mod", 28, importMod</*floorsFloats=*/true>, 0, 2},
      {"Mul", 7, importBinary<MulOp>, 0, 2},
      {"Neg", 1, importUnary<NegOp>},
      {"Not", 1, importNot},
      {"Or", 7, importLogic<OrOp>, 0, 2},
      {"Pow", 7, importPow, 0, 2},
      {"Reciprocal", 1, importReciprocal},
      {"Sign", 9, importFloatUnary<SignOp>},
      {"Sin", 7, importFloatUnary<SinOp>},
      {"Sqrt", 1, importFloatUnary<SqrtOp>},
      {"Sub", 7, importBinary<SubOp>, 0, 2},
      {"Sum", 1, importVariadic<AddOp>, 0, kAnyNumber},
      {"Where", 9, importWhere, 0, 3},
      {"Xor", 7, importLogic<XorOp>, 0, 2},
  };
  return handlers;
}

} // namespace mlir::hfta::onnx_import
