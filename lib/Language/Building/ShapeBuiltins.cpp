//===- ShapeBuiltins.cpp - Shapes and reductions --------------------------===//

#include "Building/BodyBuilder.h"
#include "Hfta/Dialect/Hfta/IR/ElementCounts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Joins `axis` and all axes after it into one axis.
static Value buildFlatten(BodyBuilder &body, BuiltinCall &call) {
  Value x = call.getTensor("x");
  if (!x)
    return nullptr;
  ArrayRef<int64_t> shape = getShape(x);
  int64_t rank = shape.size();
  if (rank == 1 && !call.has("axis"))
    return body.getTensors().reshape(x, {shape[0], 1});
  int64_t axis = call.getAxis("axis", rank, 1);
  if (call.hasFailed())
    return nullptr;
  SmallVector<int64_t> result(shape.take_front(axis));
  result.push_back(ShapedType::getNumElements(shape.drop_front(axis)));
  return body.getTensors().reshape(x, result);
}

static Value buildReshape(BodyBuilder &body, BuiltinCall &call) {
  Value x = call.getTensor("x");
  SmallVector<int64_t> shape = call.getList("shape", -1, INT32_MAX);
  if (call.hasFailed())
    return nullptr;
  int64_t elements = getTensorType(x).getNumElements();
  int64_t known = 1;
  int64_t *open = nullptr;
  for (int64_t &size : shape) {
    if (size == 0 || (size == -1 && open))
      return body.fail(call.getRange("shape"),
                       size == 0 ? "an axis of length 0"
                                 : "more than one axis of length -1",
                       "one -1 stands for what is left");
    if (size == -1)
      open = &size;
    else if (llvm::MulOverflow(known, size, known))
      return body.fail(call.getRange("shape"), "the shape is too large",
                       "it has " + Twine(elements) + " elements");
  }
  if (open && elements % known == 0)
    *open = elements / known;
  else if (open || known != elements)
    return body.fail(call.getRange("shape"),
                     "a tensor of shape " + printShape(getShape(x)) +
                         " can't be reshaped to " + printShape(shape),
                     "it has " + Twine(elements) + " elements");
  if (shape.empty() || shape.front() != body.getBatch())
    return body.fail(call.getRange("shape"),
                     "reshape must keep the batch on axis 0, got " +
                         printShape(shape),
                     "for example reshape(x, [batch, -1])");
  return body.getTensors().reshape(x, shape);
}

static Value buildTranspose(BodyBuilder &body, BuiltinCall &call) {
  Value x = call.getTensor("x");
  SmallVector<int64_t> order = call.getList("order", 0, 7);
  if (call.hasFailed())
    return nullptr;
  int64_t rank = getTensorType(x).getRank();
  SmallVector<int64_t> sorted(order);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, rank)))
    return body.fail(call.getRange("order"),
                     "'order' names each of the " + Twine(rank) +
                         " axes once, got " + printShape(order),
                     "for example transpose(x, [0, 2, 1])");
  if (order.front() != 0)
    return body.fail(call.getRange("order"),
                     "transpose must keep the batch on axis 0",
                     "for example transpose(x, [0, 2, 1])");
  return body.getTensors().transpose(x, order);
}

/// Returns the tensors that `concat` joins: its arguments, or the elements of a
/// single list. Returns none after an error, which was reported.
static SmallVector<Value> getParts(BodyBuilder &body, BuiltinCall &call) {
  std::vector<const ast::Expression *> parts = call.getArguments().rest;
  if (const ast::Expression *named = call.get("tensors"))
    parts.push_back(named);
  if (parts.size() == 1)
    if (auto *list = dyn_cast<ast::ListExpression>(parts.front())) {
      parts.clear();
      for (const ast::ExpressionPtr &element : list->elements)
        parts.push_back(element.get());
    }
  SmallVector<Value> values;
  bool ok = true;
  for (const ast::Expression *part : parts) {
    values.push_back(body.evaluateTensor(*part, "tensors"));
    ok &= values.back() != nullptr;
  }
  body.setRange(call.getRange());
  if (ok && !values.empty())
    return values;
  if (ok)
    body.fail(call.getRange(), "'concat' joins at least one tensor",
              "for example concat(a, b, axis = 1)");
  return {};
}

static Value buildConcat(BodyBuilder &body, BuiltinCall &call) {
  SmallVector<Value> parts = getParts(body, call);
  if (parts.empty())
    return nullptr;
  RankedTensorType first = getTensorType(parts.front());
  int64_t axis = call.getAxis("axis", first.getRank(), 1);
  if (call.hasFailed())
    return nullptr;
  int64_t total = 0;
  for (Value part : parts) {
    SmallVector<int64_t> shape(getShape(part));
    if (static_cast<int64_t>(shape.size()) == first.getRank()) {
      total += shape[axis];
      shape[axis] = first.getDimSize(axis);
    }
    if (ArrayRef<int64_t>(shape) != first.getShape() ||
        getElementType(part) != first.getElementType())
      return body.fail(call.getRange(),
                       "tensors of shapes " + printShape(first.getShape()) +
                           " and " + printShape(getShape(part)) +
                           " can't be joined along axis " + Twine(axis),
                       "all other axes are equal, and the element types");
  }
  SmallVector<int64_t> shape(first.getShape());
  shape[axis] = total;
  if (!body.checkSize(shape, call.getRange()))
    return nullptr;
  return body.getTensors().create<ConcatOp>(parts, axis);
}

llvm::ArrayRef<Builtin> language::getShapeBuiltins() {
  static constexpr ParameterSpec flatten[] = {{"x", true}, {"axis"}};
  static constexpr ParameterSpec reshape[] = {{"x", true}, {"shape", true}};
  static constexpr ParameterSpec transpose[] = {{"x", true}, {"order", true}};
  static constexpr ParameterSpec concat[] = {{"tensors", true}, {"axis"}};
  static const Builtin builtins[] = {{"concat", concat, buildConcat,
                                      /*isLayer=*/false, /*isRandom=*/false,
                                      /*variadic=*/true},
                                     {"flatten", flatten, buildFlatten},
                                     {"reshape", reshape, buildReshape},
                                     {"transpose", transpose, buildTranspose}};
  return builtins;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

template <ReduceKind kind, bool isMean>
static Value buildReduction(BodyBuilder &body, BuiltinCall &call) {
  Value x = call.getFloats("x", 2);
  if (!x)
    return nullptr;
  ArrayRef<int64_t> shape = getShape(x);
  SmallVector<int64_t> axes = call.getAxes("axis", shape.size());
  bool keep = call.getBool("keep", false);
  if (call.hasFailed())
    return nullptr;
  if (axes.empty())
    return body.fail(call.getRange("axis"), "no axis to reduce",
                     "for example axis = [1, 2]");
  TensorBuilder &tensors = body.getTensors();
  Value result = tensors.reduce(kind, x, axes);
  if (isMean)
    result = tensors.binary<DivOp>(
        result, static_cast<double>(countAlong(shape, axes)));
  if (!keep)
    return result;
  SmallVector<int64_t> kept(shape);
  for (int64_t axis : axes)
    kept[axis] = 1;
  return tensors.reshape(result, kept);
}

llvm::ArrayRef<Builtin> language::getReductionBuiltins() {
  static constexpr ParameterSpec reduction[] = {
      {"x", true}, {"axis", true}, {"keep"}};
  static const Builtin builtins[] = {
      {"max", reduction, buildReduction<ReduceKind::max, false>},
      {"mean", reduction, buildReduction<ReduceKind::sum, true>},
      {"sum", reduction, buildReduction<ReduceKind::sum, false>}};
  return builtins;
}
