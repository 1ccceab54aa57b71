//===- ConstantEvaluator.cpp - Small hfta ops at compile time -------------===//

#include "Building/ConstantEvaluator.h"

#include "Hfta/Dialect/Hfta/Job/ExactNumbers.h"

#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

namespace mlir::hfta::onnx_import {

namespace {

/// The elements of one tensor: either integers and booleans in `integers`, or
/// floats, rounded to the element type, in `floats`.
struct Elements {
  RankedTensorType type;
  SmallVector<int64_t> integers;
  SmallVector<double> floats;

  bool isFloat() const { return isa<FloatType>(type.getElementType()); }
};

/// The most elements that an evaluated op's operand or result may have.
constexpr int64_t kMostElements = 1 << 16;

/// Ops with at most this many elements, in operands and result together, aren't
/// counted in the budget, since shapes may depend on them.
constexpr int64_t kFewElements = 1 << 12;

} // namespace

static bool isEvaluated(RankedTensorType type) {
  Type elementType = type.getElementType();
  return type.getNumElements() <= kMostElements &&
         (isa<FloatType>(elementType) || elementType.isSignlessInteger());
}

/// Wraps an integer to the element type's width.
static int64_t wrap(Type elementType, int64_t value) {
  unsigned width = elementType.getIntOrFloatBitWidth();
  if (width == 1)
    return value != 0;
  return llvm::SignExtend64(static_cast<uint64_t>(value), width);
}

static APFloat convertNumber(APFloat number, const llvm::fltSemantics &to) {
  bool losesInfo = false;
  number.convert(to, APFloat::rmNearestTiesToEven, &losesInfo);
  return number;
}

static double round(Type elementType, double value) {
  if (elementType.isF64())
    return value;
  if (elementType.isF32())
    return static_cast<float>(value);
  auto type = dyn_cast<FloatType>(elementType);
  return type ? convertNumber(
                    convertNumber(APFloat(value), type.getFloatSemantics()),
                    APFloat::IEEEdouble())
                    .convertToDouble()
              : value;
}

static Elements readElements(DenseElementsAttr attribute) {
  Elements elements;
  elements.type = cast<RankedTensorType>(attribute.getType());
  if (elements.isFloat()) {
    for (const APFloat &value : attribute.getValues<APFloat>())
      elements.floats.push_back(
          convertNumber(value, APFloat::IEEEdouble()).convertToDouble());
    return elements;
  }
  bool isBool = elements.type.getElementType().isInteger(1);
  for (const APInt &value : attribute.getValues<APInt>())
    elements.integers.push_back(isBool ? value.getZExtValue()
                                       : value.getSExtValue());
  return elements;
}

static DenseElementsAttr makeAttribute(const Elements &elements) {
  Type elementType = elements.type.getElementType();
  if (elements.isFloat()) {
    SmallVector<APFloat> values;
    for (double number : elements.floats)
      values.push_back(convertNumber(
          APFloat(number), cast<FloatType>(elementType).getFloatSemantics()));
    return DenseElementsAttr::get(elements.type, values);
  }
  SmallVector<APInt> values;
  for (int64_t number : elements.integers)
    values.push_back(APInt(elementType.getIntOrFloatBitWidth(),
                           static_cast<uint64_t>(number), /*isSigned=*/true,
                           /*implicitTrunc=*/true));
  return DenseElementsAttr::get(elements.type, values);
}

//===----------------------------------------------------------------------===//
// Elementwise ops
//===----------------------------------------------------------------------===//

/// Computes an op on integers. Returns nothing if the op isn't defined for
/// these operands.
using IntegerFunction = std::optional<int64_t> (*)(int64_t, int64_t);
using FloatFunction = double (*)(double, double);

namespace {
struct Formula {
  StringRef op;
  IntegerFunction integer;
  FloatFunction real;
};
} // namespace

static int64_t wrapping(uint64_t value) { return static_cast<int64_t>(value); }

static std::optional<int64_t> divide(int64_t x, int64_t y) {
  if (y == 0 || (y == -1 && x == std::numeric_limits<int64_t>::min()))
    return std::nullopt;
  return x / y;
}

static std::optional<int64_t> takeRemainder(int64_t x, int64_t y) {
  std::optional<int64_t> quotient = divide(x, y);
  return quotient ? std::optional<int64_t>(x - *quotient * y) : std::nullopt;
}

static double largerOf(double x, double y) {
  return std::isnan(x) || x > y ? x : y;
}
static double smallerOf(double x, double y) {
  return std::isnan(x) || x < y ? x : y;
}

/// The evaluated elementwise ops. Unary ops get their operand twice.
static const Formula formulas[] = {
    {"hfta.neg",
     [](int64_t x, int64_t) -> std::optional<int64_t> {
       return wrapping(-static_cast<uint64_t>(x));
     },
     [](double x, double) { return -x; }},
    {"hfta.abs",
     [](int64_t x, int64_t) -> std::optional<int64_t> {
       return x < 0 ? wrapping(-static_cast<uint64_t>(x)) : x;
     },
     [](double x, double) { return std::fabs(x); }},
    {"hfta.floor", nullptr, [](double x, double) { return std::floor(x); }},
    {"hfta.ceil", nullptr, [](double x, double) { return std::ceil(x); }},
    {"hfta.sqrt", nullptr, [](double x, double) { return std::sqrt(x); }},
    {"hfta.add",
     [](int64_t x, int64_t y) -> std::optional<int64_t> {
       return wrapping(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
     },
     [](double x, double y) { return x + y; }},
    {"hfta.sub",
     [](int64_t x, int64_t y) -> std::optional<int64_t> {
       return wrapping(static_cast<uint64_t>(x) - static_cast<uint64_t>(y));
     },
     [](double x, double y) { return x - y; }},
    {"hfta.mul",
     [](int64_t x, int64_t y) -> std::optional<int64_t> {
       return wrapping(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
     },
     [](double x, double y) { return x * y; }},
    {"hfta.div", divide, [](double x, double y) { return x / y; }},
    {"hfta.remainder", takeRemainder,
     [](double x, double y) { return std::fmod(x, y); }},
    {"hfta.max",
     [](int64_t x, int64_t y) -> std::optional<int64_t> {
       return std::max(x, y);
     },
     largerOf},
    {"hfta.min",
     [](int64_t x, int64_t y) -> std::optional<int64_t> {
       return std::min(x, y);
     },
     smallerOf},
    {"hfta.and",
     [](int64_t x, int64_t y) -> std::optional<int64_t> { return x & y; },
     nullptr},
    {"hfta.or",
     [](int64_t x, int64_t y) -> std::optional<int64_t> { return x | y; },
     nullptr},
    {"hfta.xor",
     [](int64_t x, int64_t y) -> std::optional<int64_t> { return x ^ y; },
     nullptr},
};

static bool evaluateFormula(Operation *op, ArrayRef<Elements> operands,
                            Elements &result) {
  const Formula *formula = llvm::find_if(formulas, [&](const Formula &entry) {
    return entry.op == op->getName().getStringRef();
  });
  if (formula == std::end(formulas))
    return false;
  const Elements &lhs = operands.front(), &rhs = operands.back();
  Type elementType = result.type.getElementType();
  if (lhs.isFloat()) {
    if (!formula->real)
      return false;
    for (auto [x, y] : llvm::zip(lhs.floats, rhs.floats))
      result.floats.push_back(round(elementType, formula->real(x, y)));
    return true;
  }
  if (!formula->integer)
    return false;
  for (auto [x, y] : llvm::zip(lhs.integers, rhs.integers)) {
    std::optional<int64_t> value = formula->integer(x, y);
    if (!value)
      return false;
    result.integers.push_back(wrap(elementType, *value));
  }
  return true;
}

template <typename Number>
static bool holds(ComparePredicate predicate, Number x, Number y) {
  switch (predicate) {
  case ComparePredicate::equal:
    return x == y;
  case ComparePredicate::not_equal:
    return x != y;
  case ComparePredicate::less:
    return x < y;
  case ComparePredicate::less_equal:
    return x <= y;
  case ComparePredicate::greater:
    return x > y;
  case ComparePredicate::greater_equal:
    return x >= y;
  }
  return false;
}

static void evaluateCompare(CompareOp op, ArrayRef<Elements> operands,
                            Elements &result) {
  const Elements &lhs = operands[0], &rhs = operands[1];
  for (auto [x, y] : llvm::zip(lhs.floats, rhs.floats))
    result.integers.push_back(holds(op.getPredicate(), x, y));
  for (auto [x, y] : llvm::zip(lhs.integers, rhs.integers))
    result.integers.push_back(holds(op.getPredicate(), x, y));
}

static void evaluateSelect(ArrayRef<Elements> operands, Elements &result) {
  for (auto [index, condition] : llvm::enumerate(operands[0].integers)) {
    const Elements &source = condition ? operands[1] : operands[2];
    if (source.isFloat())
      result.floats.push_back(source.floats[index]);
    else
      result.integers.push_back(source.integers[index]);
  }
}

static bool evaluateCast(const Elements &input, Elements &result) {
  Type elementType = result.type.getElementType();
  bool toBool = elementType.isInteger(1);
  for (double value : input.floats) {
    if (result.isFloat())
      result.floats.push_back(round(elementType, value));
    else if (toBool)
      result.integers.push_back(value != 0);
    else if (std::fabs(value) < 9.0e18)
      result.integers.push_back(wrap(elementType, static_cast<int64_t>(value)));
    else
      return false;
  }
  for (int64_t value : input.integers)
    if (result.isFloat())
      result.floats.push_back(
          elementType.isF32() ? static_cast<float>(value)
                              : round(elementType, static_cast<double>(value)));
    else
      result.integers.push_back(wrap(elementType, value));
  return true;
}

//===----------------------------------------------------------------------===//
// Ops that move elements
//===----------------------------------------------------------------------===//

/// Calls `body` with each index of `shape` in row-major order.
static void forEachIndex(ArrayRef<int64_t> shape,
                         llvm::function_ref<void(ArrayRef<int64_t>)> body) {
  SmallVector<int64_t> index(shape.size(), 0);
  int64_t count = ShapedType::getNumElements(shape);
  for (int64_t number = 0; number < count; ++number) {
    body(index);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis])
        break;
      index[axis] = 0;
    }
  }
}

static int64_t flatten(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  int64_t flat = 0;
  for (auto [position, size] : llvm::zip(index, shape))
    flat = flat * size + position;
  return flat;
}

static void copyElement(const Elements &from, int64_t flat, Elements &to) {
  if (from.isFloat())
    to.floats.push_back(from.floats[flat]);
  else
    to.integers.push_back(from.integers[flat]);
}

/// Maps an index of the result to an index of the input, for ops that only
/// rearrange one input's elements.
using IndexMap = llvm::function_ref<void(ArrayRef<int64_t> result,
                                         MutableArrayRef<int64_t> input)>;

static bool rearrange(const Elements &input, Elements &result, IndexMap map) {
  SmallVector<int64_t> source(input.type.getRank(), 0);
  forEachIndex(result.type.getShape(), [&](ArrayRef<int64_t> index) {
    map(index, source);
    copyElement(input, flatten(source, input.type.getShape()), result);
  });
  return true;
}

static bool evaluateTranspose(TransposeOp op, const Elements &input,
                              Elements &result) {
  return rearrange(
      input, result,
      [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> source) {
        for (auto [axis, from] : llvm::enumerate(op.getPermutation()))
          source[from] = index[axis];
      });
}

static bool evaluateBroadcast(BroadcastOp op, const Elements &input,
                              Elements &result) {
  return rearrange(
      input, result,
      [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> source) {
        for (auto [axis, to] : llvm::enumerate(op.getDimensions()))
          source[axis] = input.type.getDimSize(axis) == 1 ? 0 : index[to];
      });
}

static bool evaluateSlice(SliceOp op, const Elements &input, Elements &result) {
  return rearrange(
      input, result,
      [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> source) {
        for (size_t axis = 0; axis < index.size(); ++axis)
          source[axis] =
              op.getOffsets()[axis] + index[axis] * op.getStrides()[axis];
      });
}

static bool evaluateConcat(ConcatOp op, ArrayRef<Elements> operands,
                           Elements &result) {
  int64_t axis = op.getAxis();
  forEachIndex(result.type.getShape(), [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> source(index);
    size_t operand = 0;
    while (source[axis] >= operands[operand].type.getDimSize(axis))
      source[axis] -= operands[operand++].type.getDimSize(axis);
    copyElement(operands[operand],
                flatten(source, operands[operand].type.getShape()), result);
  });
  return true;
}

static bool evaluateGather(GatherOp op, const Elements &input,
                           const Elements &indices, Elements &result) {
  int64_t axis = op.getAxis(), size = input.type.getDimSize(axis);
  for (int64_t index : indices.integers)
    if (index < -size || index >= size)
      return false;
  int64_t indexRank = indices.type.getRank();
  return rearrange(
      input, result,
      [&](ArrayRef<int64_t> index, MutableArrayRef<int64_t> source) {
        int64_t chosen = indices.integers[flatten(index.slice(axis, indexRank),
                                                  indices.type.getShape())];
        llvm::copy(index.take_front(axis), source.begin());
        source[axis] = chosen < 0 ? chosen + size : chosen;
        llvm::copy(index.drop_front(axis + indexRank),
                   source.begin() + axis + 1);
      });
}

static bool evaluateIota(IotaOp op, Elements &result) {
  forEachIndex(result.type.getShape(), [&](ArrayRef<int64_t> index) {
    if (result.isFloat())
      result.floats.push_back(round(result.type.getElementType(),
                                    static_cast<double>(index[op.getAxis()])));
    else
      result.integers.push_back(
          wrap(result.type.getElementType(), index[op.getAxis()]));
  });
  return true;
}

//===----------------------------------------------------------------------===//
// Reductions of integers
//===----------------------------------------------------------------------===//

static int64_t combine(ReduceKind kind, int64_t x, int64_t y) {
  switch (kind) {
  case ReduceKind::sum:
    return wrapping(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
  case ReduceKind::product:
    return wrapping(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
  case ReduceKind::max:
    return std::max(x, y);
  case ReduceKind::min:
    return std::min(x, y);
  }
  return x;
}

static bool evaluateReduce(ReduceOp op, const Elements &input,
                           Elements &result) {
  if (input.isFloat() || input.integers.empty())
    return false;
  SmallVector<std::optional<int64_t>> sums(result.type.getNumElements());
  size_t position = 0;
  forEachIndex(input.type.getShape(), [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> kept;
    for (auto [axis, at] : llvm::enumerate(index))
      if (!llvm::is_contained(op.getAxes(), static_cast<int64_t>(axis)))
        kept.push_back(at);
    std::optional<int64_t> &sum = sums[flatten(kept, result.type.getShape())];
    int64_t value = input.integers[position++];
    sum = sum ? combine(op.getKind(), *sum, value) : value;
  });
  for (std::optional<int64_t> sum : sums)
    result.integers.push_back(wrap(result.type.getElementType(), *sum));
  return true;
}

//===----------------------------------------------------------------------===//
// All ops
//===----------------------------------------------------------------------===//

std::optional<DenseElementsAttr> getConstantValue(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return std::nullopt;
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  return elements ? std::optional<DenseElementsAttr>(elements) : std::nullopt;
}

static bool evaluate(Operation *op, ArrayRef<Elements> operands,
                     Elements &result) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](ReshapeOp) {
        result.integers = operands[0].integers;
        result.floats = operands[0].floats;
        return true;
      })
      .Case([&](TransposeOp op) {
        return evaluateTranspose(op, operands[0], result);
      })
      .Case([&](BroadcastOp op) {
        return evaluateBroadcast(op, operands[0], result);
      })
      .Case([&](SliceOp op) { return evaluateSlice(op, operands[0], result); })
      .Case([&](ConcatOp op) { return evaluateConcat(op, operands, result); })
      .Case([&](GatherOp op) {
        return evaluateGather(op, operands[0], operands[1], result);
      })
      .Case([&](IotaOp op) { return evaluateIota(op, result); })
      .Case(
          [&](ReduceOp op) { return evaluateReduce(op, operands[0], result); })
      .Case([&](CompareOp op) {
        evaluateCompare(op, operands, result);
        return true;
      })
      .Case([&](SelectOp) {
        evaluateSelect(operands, result);
        return true;
      })
      .Case([&](CastOp) { return evaluateCast(operands[0], result); })
      .Default([&](Operation *op) {
        return !operands.empty() && evaluateFormula(op, operands, result);
      });
}

/// Returns a float result computed in f64 from operands that weren't rounded to
/// their types, nor is the result. Returns null for other types.
static DenseElementsAttr evaluateExactly(Operation *op,
                                         MutableArrayRef<Elements> operands,
                                         RankedTensorType type) {
  if (!isa<FloatType>(type.getElementType()))
    return {};
  for (auto [operand, value] : llvm::zip(operands, op->getOperands()))
    if (auto exact = dyn_cast_or_null<DenseElementsAttr>(
            getExactElements(value.getDefiningOp())))
      operand = readElements(exact);
  Elements result;
  result.type = RankedTensorType::get(type.getShape(),
                                      Float64Type::get(type.getContext()));
  return evaluate(op, operands, result) ? makeAttribute(result)
                                        : DenseElementsAttr();
}

std::optional<EvaluatedConstant> evaluateOp(Operation *op, int64_t &budget) {
  if (op->getNumResults() != 1 || isa<ConstantOp>(op))
    return std::nullopt;
  Elements result;
  result.type = cast<RankedTensorType>(op->getResult(0).getType());
  if (!isEvaluated(result.type))
    return std::nullopt;
  SmallVector<DenseElementsAttr> constants;
  int64_t count = result.type.getNumElements();
  for (Value operand : op->getOperands()) {
    std::optional<DenseElementsAttr> constant = getConstantValue(operand);
    if (!constant || !isEvaluated(cast<RankedTensorType>(constant->getType())))
      return std::nullopt;
    constants.push_back(*constant);
    count += constant->getNumElements();
  }
  if (count > kFewElements) {
    if (count > budget)
      return std::nullopt;
    budget -= count;
  }
  SmallVector<Elements> operands = llvm::map_to_vector(constants, readElements);
  if (!evaluate(op, operands, result))
    return std::nullopt;
  return EvaluatedConstant{makeAttribute(result),
                           evaluateExactly(op, operands, result.type)};
}

} // namespace mlir::hfta::onnx_import
