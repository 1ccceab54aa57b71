//===- HftaElementwise.cpp - Elementwise ops: types and computation -------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::hfta;

//===----------------------------------------------------------------------===//
// Result types
//===----------------------------------------------------------------------===//

/// Checks that all operands have one shape, apart from copies, and appends the
/// result's type, which has this shape and `elementType`.
static LogicalResult inferElementwise(std::optional<Location> location,
                                      ValueRange operands, Type elementType,
                                      SmallVectorImpl<Type> &types) {
  auto first = cast<RankedTensorType>(operands.front().getType());
  for (Value operand : operands.drop_front()) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (type.getShape() != first.getShape())
      return emitOptionalError(
          location, "operands have different shapes: ", first, " and ", type);
  }
  types.push_back(
      withCopies(RankedTensorType::get(first.getShape(), elementType),
                 getCopies(TypeRange(operands))));
  return success();
}

/// Checks that operands also have the same element type, then does what
/// inferElementwise does. The result has this type if `elementType` is null.
static LogicalResult inferSame(std::optional<Location> location,
                               ValueRange operands, Type elementType,
                               SmallVectorImpl<Type> &types) {
  Type expected = getElementTypeOrSelf(operands.front().getType());
  for (Value operand : operands.drop_front())
    if (getElementTypeOrSelf(operand.getType()) != expected)
      return emitOptionalError(
          location, "operands have different element types: ", expected,
          " and ", getElementTypeOrSelf(operand.getType()));
  return inferElementwise(location, operands,
                          elementType ? elementType : expected, types);
}

#define HFTA_INFER_SAME(OP)                                                    \
  LogicalResult OP::inferReturnTypes(                                          \
      MLIRContext *, std::optional<Location> location, Adaptor adaptor,        \
      SmallVectorImpl<Type> &types) {                                          \
    return inferSame(location, adaptor.getOperands(), Type(), types);          \
  }
HFTA_INFER_SAME(NegOp)
HFTA_INFER_SAME(AbsOp)
HFTA_INFER_SAME(SignOp)
HFTA_INFER_SAME(ExpOp)
HFTA_INFER_SAME(LogOp)
HFTA_INFER_SAME(Log1pOp)
HFTA_INFER_SAME(SqrtOp)
HFTA_INFER_SAME(RsqrtOp)
HFTA_INFER_SAME(TanhOp)
HFTA_INFER_SAME(SigmoidOp)
HFTA_INFER_SAME(ErfOp)
HFTA_INFER_SAME(ReluOp)
HFTA_INFER_SAME(FloorOp)
HFTA_INFER_SAME(CeilOp)
HFTA_INFER_SAME(SinOp)
HFTA_INFER_SAME(CosOp)
HFTA_INFER_SAME(AsinOp)
HFTA_INFER_SAME(AcosOp)
HFTA_INFER_SAME(AtanOp)
HFTA_INFER_SAME(SoftplusOp)
HFTA_INFER_SAME(AddOp)
HFTA_INFER_SAME(SubOp)
HFTA_INFER_SAME(MulOp)
HFTA_INFER_SAME(DivOp)
HFTA_INFER_SAME(PowOp)
HFTA_INFER_SAME(RemainderOp)
HFTA_INFER_SAME(MaxOp)
HFTA_INFER_SAME(MinOp)
HFTA_INFER_SAME(AndOp)
HFTA_INFER_SAME(OrOp)
HFTA_INFER_SAME(XorOp)
#undef HFTA_INFER_SAME

LogicalResult CompareOp::inferReturnTypes(MLIRContext *context,
                                          std::optional<Location> location,
                                          Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferSame(location, adaptor.getOperands(),
                   IntegerType::get(context, 1), types);
}

LogicalResult SelectOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  Type onTrue = getElementTypeOrSelf(adaptor.getOnTrue().getType());
  Type onFalse = getElementTypeOrSelf(adaptor.getOnFalse().getType());
  if (onTrue != onFalse)
    return emitOptionalError(location,
                             "operands have different element types: ", onTrue,
                             " and ", onFalse);
  return inferElementwise(location, adaptor.getOperands(), onTrue, types);
}

LogicalResult CastOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  Type elementType = adaptor.getElementType();
  if (!elementType.isIntOrFloat())
    return emitOptionalError(location, "cannot cast to ", elementType);
  return inferElementwise(location, adaptor.getOperands(), elementType, types);
}

LogicalResult RoundToTf32Op::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> location,
                                              Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  Type elementType = getElementTypeOrSelf(adaptor.getInput().getType());
  if (!elementType.isF32())
    return emitOptionalError(location, "expected f32, got ", elementType);
  return inferElementwise(location, adaptor.getOperands(), elementType, types);
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static Value floatConstant(OpBuilder &builder, Location loc, Type type,
                           double value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getFloatAttr(type, value));
}

static Value zero(OpBuilder &builder, Location loc, Type type) {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

/// Defines the scalar computation of an op that is one op of dialect `math` (or
/// `arith`).
#define HFTA_SCALAR_MATH(OP, SCALAR)                                           \
  Value OP::buildScalar(OpBuilder &builder, Location loc,                      \
                        ValueRange scalars) {                                  \
    return SCALAR::create(builder, loc, scalars);                              \
  }
HFTA_SCALAR_MATH(ExpOp, math::ExpOp)
HFTA_SCALAR_MATH(LogOp, math::LogOp)
HFTA_SCALAR_MATH(Log1pOp, math::Log1pOp)
HFTA_SCALAR_MATH(SqrtOp, math::SqrtOp)
HFTA_SCALAR_MATH(TanhOp, math::TanhOp)
HFTA_SCALAR_MATH(ErfOp, math::ErfOp)
HFTA_SCALAR_MATH(FloorOp, math::FloorOp)
HFTA_SCALAR_MATH(CeilOp, math::CeilOp)
HFTA_SCALAR_MATH(SinOp, math::SinOp)
HFTA_SCALAR_MATH(CosOp, math::CosOp)
HFTA_SCALAR_MATH(AsinOp, math::AsinOp)
HFTA_SCALAR_MATH(AcosOp, math::AcosOp)
HFTA_SCALAR_MATH(AtanOp, math::AtanOp)
HFTA_SCALAR_MATH(AndOp, arith::AndIOp)
HFTA_SCALAR_MATH(OrOp, arith::OrIOp)
HFTA_SCALAR_MATH(XorOp, arith::XOrIOp)
#undef HFTA_SCALAR_MATH

/// Defines the scalar computation of an op that is one op for floats and
/// another one for signed integers.
#define HFTA_SCALAR_ARITH(OP, FLOAT, INTEGER)                                  \
  Value OP::buildScalar(OpBuilder &builder, Location loc,                      \
                        ValueRange scalars) {                                  \
    if (isa<FloatType>(scalars.front().getType()))                             \
      return FLOAT::create(builder, loc, scalars);                             \
    return INTEGER::create(builder, loc, scalars);                             \
  }
HFTA_SCALAR_ARITH(AbsOp, math::AbsFOp, math::AbsIOp)
HFTA_SCALAR_ARITH(AddOp, arith::AddFOp, arith::AddIOp)
HFTA_SCALAR_ARITH(SubOp, arith::SubFOp, arith::SubIOp)
HFTA_SCALAR_ARITH(MulOp, arith::MulFOp, arith::MulIOp)
HFTA_SCALAR_ARITH(DivOp, arith::DivFOp, arith::DivSIOp)
HFTA_SCALAR_ARITH(RemainderOp, arith::RemFOp, arith::RemSIOp)
HFTA_SCALAR_ARITH(MaxOp, arith::MaximumFOp, arith::MaxSIOp)
HFTA_SCALAR_ARITH(MinOp, arith::MinimumFOp, arith::MinSIOp)
HFTA_SCALAR_ARITH(PowOp, math::PowFOp, math::IPowIOp)
#undef HFTA_SCALAR_ARITH

Value NegOp::buildScalar(OpBuilder &builder, Location loc, ValueRange scalars) {
  Type type = scalars.front().getType();
  if (isa<FloatType>(type))
    return arith::NegFOp::create(builder, loc, scalars.front());
  return arith::SubIOp::create(builder, loc, zero(builder, loc, type),
                               scalars.front());
}

Value SignOp::buildScalar(OpBuilder &builder, Location loc,
                          ValueRange scalars) {
  Value input = scalars.front();
  Type type = input.getType();
  Value none = zero(builder, loc, type);
  auto choose = [&](Value condition, double value, Value otherwise) -> Value {
    Attribute attribute = isa<FloatType>(type)
                              ? Attribute(builder.getFloatAttr(type, value))
                              : Attribute(builder.getIntegerAttr(type, value));
    Value constant =
        arith::ConstantOp::create(builder, loc, cast<TypedAttr>(attribute));
    return arith::SelectOp::create(builder, loc, condition, constant,
                                   otherwise);
  };
  Value positive, negative;
  if (isa<FloatType>(type)) {
    positive = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OGT,
                                     input, none);
    negative = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT,
                                     input, none);
  } else {
    positive = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt,
                                     input, none);
    negative = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                     input, none);
  }
  // A NaN is neither positive nor negative. Return it, so that it doesn't
  // become zero.
  Value rest = none;
  if (isa<FloatType>(type)) {
    Value nan = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO,
                                      input, input);
    rest = arith::SelectOp::create(builder, loc, nan, input, none);
  }
  return choose(positive, 1, choose(negative, -1, rest));
}

Value RsqrtOp::buildScalar(OpBuilder &builder, Location loc,
                           ValueRange scalars) {
  // Don't use math.rsqrt, as its lowering may be an approximation.
  Value one = floatConstant(builder, loc, scalars.front().getType(), 1.0);
  Value root = math::SqrtOp::create(builder, loc, scalars.front());
  return arith::DivFOp::create(builder, loc, one, root);
}

Value SigmoidOp::buildScalar(OpBuilder &builder, Location loc,
                             ValueRange scalars) {
  // Compute (x < 0 ? e^x : 1) / (1 + e^-|x|), in which nothing overflows.
  Value input = scalars.front();
  Value one = floatConstant(builder, loc, input.getType(), 1.0);
  Value none = zero(builder, loc, input.getType());
  Value magnitude = math::AbsFOp::create(builder, loc, input);
  Value negated = arith::NegFOp::create(builder, loc, magnitude);
  Value exponential = math::ExpOp::create(builder, loc, negated);
  Value sum = arith::AddFOp::create(builder, loc, one, exponential);
  Value isNegative = arith::CmpFOp::create(
      builder, loc, arith::CmpFPredicate::OLT, input, none);
  Value part =
      arith::SelectOp::create(builder, loc, isNegative, exponential, one);
  return arith::DivFOp::create(builder, loc, part, sum);
}

Value ReluOp::buildScalar(OpBuilder &builder, Location loc,
                          ValueRange scalars) {
  Value none = zero(builder, loc, scalars.front().getType());
  if (isa<FloatType>(scalars.front().getType()))
    return arith::MaximumFOp::create(builder, loc, scalars.front(), none);
  return arith::MaxSIOp::create(builder, loc, scalars.front(), none);
}

Value SoftplusOp::buildScalar(OpBuilder &builder, Location loc,
                              ValueRange scalars) {
  // Compute max(x, 0) + log1p(e^-|x|), which neither overflows nor cancels
  // digits.
  Value input = scalars.front();
  Value none = zero(builder, loc, input.getType());
  Value positive = arith::MaximumFOp::create(builder, loc, input, none);
  Value magnitude = math::AbsFOp::create(builder, loc, input);
  Value negated = arith::NegFOp::create(builder, loc, magnitude);
  Value exponential = math::ExpOp::create(builder, loc, negated);
  Value logarithm = math::Log1pOp::create(builder, loc, exponential);
  return arith::AddFOp::create(builder, loc, positive, logarithm);
}

Value CompareOp::buildScalar(OpBuilder &builder, Location loc,
                             ValueRange scalars) {
  // Both tables are in the order of ComparePredicate.
  static constexpr arith::CmpFPredicate floats[] = {
      arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE,
      arith::CmpFPredicate::OLT, arith::CmpFPredicate::OLE,
      arith::CmpFPredicate::OGT, arith::CmpFPredicate::OGE};
  static constexpr arith::CmpIPredicate integers[] = {
      arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,
      arith::CmpIPredicate::slt, arith::CmpIPredicate::sle,
      arith::CmpIPredicate::sgt, arith::CmpIPredicate::sge};
  unsigned index = static_cast<unsigned>(getPredicate());
  if (isa<FloatType>(scalars.front().getType()))
    return arith::CmpFOp::create(builder, loc, floats[index], scalars[0],
                                 scalars[1]);
  return arith::CmpIOp::create(builder, loc, integers[index], scalars[0],
                               scalars[1]);
}

Value SelectOp::buildScalar(OpBuilder &builder, Location loc,
                            ValueRange scalars) {
  return arith::SelectOp::create(builder, loc, scalars[0], scalars[1],
                                 scalars[2]);
}

/// Rounds f32 to TF32 by adding half of the last kept bit's value; the carry
/// rounds that bit. This also works for infinities, whose lost bits are zero. A
/// carry could turn a NaN into another value, so a NaN keeps its upper bits and
/// becomes quiet.
Value RoundToTf32Op::buildScalar(OpBuilder &builder, Location loc,
                                 ValueRange scalars) {
  constexpr int64_t kLost = (int64_t(1) << 13) - 1;
  Type type = builder.getI32Type();
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(value));
  };
  Value input = scalars.front();
  Value bits = arith::BitcastOp::create(builder, loc, type, input);
  Value carried =
      arith::AddIOp::create(builder, loc, bits, number((kLost + 1) / 2));
  Value quiet = arith::OrIOp::create(builder, loc, bits, number(0x400000));
  Value isNan = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO,
                                      input, input);
  Value kept = arith::AndIOp::create(
      builder, loc,
      arith::SelectOp::create(builder, loc, isNan, quiet, carried),
      number(~kLost));
  return arith::BitcastOp::create(builder, loc, input.getType(), kept);
}

/// Casts from an integer, which is unsigned if its storage type is, or if it is
/// a boolean.
static Value castFromInteger(OpBuilder &builder, Location loc, Value input,
                             bool isUnsigned, Type to) {
  if (isa<FloatType>(to)) {
    if (isUnsigned)
      return arith::UIToFPOp::create(builder, loc, to, input);
    return arith::SIToFPOp::create(builder, loc, to, input);
  }
  unsigned from = input.getType().getIntOrFloatBitWidth();
  unsigned width = to.getIntOrFloatBitWidth();
  if (from == width)
    return input;
  if (from > width)
    return arith::TruncIOp::create(builder, loc, to, input);
  if (isUnsigned)
    return arith::ExtUIOp::create(builder, loc, to, input);
  return arith::ExtSIOp::create(builder, loc, to, input);
}

Value CastOp::buildScalar(OpBuilder &builder, Location loc,
                          ValueRange scalars) {
  Value input = scalars.front();
  Type storage = getElementTypeOrSelf(getInput().getType());
  Type target = getElementType();
  Type to = target;
  bool toUnsigned = false;
  if (auto integer = dyn_cast<IntegerType>(target)) {
    toUnsigned = integer.isUnsigned();
    to = builder.getIntegerType(integer.getWidth());
  }
  if (to.isInteger(1) && !input.getType().isInteger(1)) {
    Value none = zero(builder, loc, input.getType());
    if (isa<FloatType>(input.getType()))
      return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE,
                                   input, none);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, input,
                                 none);
  }
  if (!isa<FloatType>(input.getType()))
    return castFromInteger(builder, loc, input,
                           storage.isUnsignedInteger() || storage.isInteger(1),
                           to);
  if (isa<FloatType>(to)) {
    unsigned from = input.getType().getIntOrFloatBitWidth();
    unsigned width = to.getIntOrFloatBitWidth();
    if (input.getType() == to)
      return input;
    // f16 and bf16 are converted to each other through f32, which holds both
    // exactly.
    if (from == width)
      return arith::TruncFOp::create(
          builder, loc, to,
          arith::ExtFOp::create(builder, loc, builder.getF32Type(), input));
    if (from > width)
      return arith::TruncFOp::create(builder, loc, to, input);
    return arith::ExtFOp::create(builder, loc, to, input);
  }
  if (toUnsigned)
    return arith::FPToUIOp::create(builder, loc, to, input);
  return arith::FPToSIOp::create(builder, loc, to, input);
}
