//===- BuiltinCall.cpp - Arguments of calls to builtins -------------------===//

#include "Building/BodyBuilder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

const Builtin *language::findBuiltin(llvm::StringRef name) {
  for (ArrayRef<Builtin> family :
       {getElementwiseBuiltins(), getLayerBuiltins(),
        getNormalizationBuiltins(), getPoolingBuiltins(),
        getReductionBuiltins(), getShapeBuiltins()})
    for (const Builtin &builtin : family)
      if (builtin.name == name)
        return &builtin;
  return nullptr;
}

std::vector<llvm::StringRef> language::getBuiltinNames() {
  std::vector<llvm::StringRef> names;
  for (ArrayRef<Builtin> family :
       {getElementwiseBuiltins(), getLayerBuiltins(),
        getNormalizationBuiltins(), getPoolingBuiltins(),
        getReductionBuiltins(), getShapeBuiltins()})
    for (const Builtin &builtin : family)
      names.push_back(builtin.name);
  llvm::sort(names);
  return names;
}

ConstantReader BuiltinCall::getReader() const {
  return ConstantReader(body.getDiagnostics(), &body.sizes);
}

llvm::SMRange BuiltinCall::getRange(StringRef name) const {
  const ast::Expression *value = arguments.get(name);
  return value ? value->getRange() : call.getRange();
}

Value BuiltinCall::getTensor(StringRef name) {
  Value value = body.evaluateTensor(*arguments.get(name), name);
  body.setRange(call.getRange());
  failed |= !value;
  return value;
}

Value BuiltinCall::getFloats(StringRef name, int64_t leastRank) {
  Value value = getTensor(name);
  if (!value)
    return nullptr;
  RankedTensorType type = getTensorType(value);
  if (!isa<FloatType>(type.getElementType())) {
    failed = true;
    return body.fail(getRange(name),
                     "'" + call.callee.name +
                         "' takes floats, but its input holds "
                         "whole numbers",
                     "declare the model's input as f32");
  }
  if (type.getRank() >= leastRank)
    return value;
  failed = true;
  return body.fail(getRange(name),
                   "'" + call.callee.name + "' takes a tensor of at least " +
                       Twine(leastRank) + " axes, got " +
                       printShape(type.getShape()),
                   "axis 0 is the batch; reshape(x, [batch, ...]) adds axes");
}

int64_t BuiltinCall::getInteger(StringRef name, int64_t otherwise,
                                int64_t least, int64_t most) {
  const ast::Expression *value = arguments.get(name);
  if (!value)
    return otherwise;
  if (isa<ast::ListExpression>(value)) {
    failed = true;
    body.fail(value->getRange(), "'" + name + "' is the same for all copies",
              "give one number");
    return otherwise;
  }
  std::optional<int64_t> integer =
      getReader().readInteger(*value, name, least, most);
  failed |= !integer;
  return integer.value_or(otherwise);
}

bool BuiltinCall::getBool(StringRef name, bool otherwise) {
  const ast::Expression *value = arguments.get(name);
  if (!value)
    return otherwise;
  std::optional<bool> result = getReader().readBool(*value, name);
  failed |= !result;
  return result.value_or(otherwise);
}

double BuiltinCall::getNumber(StringRef name, double otherwise) {
  const ast::Expression *value = arguments.get(name);
  if (!value)
    return otherwise;
  std::optional<Number> number = getReader().readNumber(*value, name);
  failed |= !number;
  return number ? number->value : otherwise;
}

SmallVector<int64_t> BuiltinCall::getIntegers(StringRef name, int64_t count,
                                              int64_t otherwise, int64_t least,
                                              int64_t most) {
  const ast::Expression *value = arguments.get(name);
  if (!value)
    return SmallVector<int64_t>(count, otherwise);
  std::optional<std::vector<int64_t>> integers =
      getReader().readIntegers(*value, name, least, most);
  if (!integers) {
    failed = true;
    return SmallVector<int64_t>(count, otherwise);
  }
  if (!isa<ast::ListExpression>(value))
    return SmallVector<int64_t>(count, integers->front());
  if (static_cast<int64_t>(integers->size()) != count) {
    failed = true;
    body.fail(value->getRange(),
              "'" + name + "' has " + Twine(integers->size()) + " values for " +
                  Twine(count) + " spatial axes",
              "one number stands for all axes");
    return SmallVector<int64_t>(count, otherwise);
  }
  return SmallVector<int64_t>(integers->begin(), integers->end());
}

SmallVector<int64_t> BuiltinCall::getList(StringRef name, int64_t least,
                                          int64_t most) {
  std::optional<std::vector<int64_t>> integers =
      getReader().readIntegers(*arguments.get(name), name, least, most);
  failed |= !integers;
  if (!integers)
    return {};
  return SmallVector<int64_t>(integers->begin(), integers->end());
}

int64_t BuiltinCall::checkAxis(int64_t axis, int64_t rank,
                               llvm::SMRange range) {
  int64_t fromFront = axis < 0 ? axis + rank : axis;
  if (fromFront >= 1 && fromFront < rank)
    return fromFront;
  failed = true;
  if (fromFront == 0 && rank > 0)
    body.fail(range, "axis 0 is the batch, whose samples don't mix",
              "axes of a sample count from 1");
  else
    body.fail(range,
              "no axis " + Twine(axis) + " in a tensor of " + Twine(rank) +
                  " axes",
              "axes count from 0, or from the end with -1");
  return 0;
}

int64_t BuiltinCall::getAxis(StringRef name, int64_t rank, int64_t otherwise) {
  int64_t axis = getInteger(name, otherwise, INT32_MIN, INT32_MAX);
  if (failed)
    return 0;
  return checkAxis(axis, rank, getRange(name));
}

SmallVector<int64_t> BuiltinCall::getAxes(StringRef name, int64_t rank) {
  SmallVector<int64_t> axes = getList(name, INT32_MIN, INT32_MAX);
  for (int64_t &axis : axes)
    axis = checkAxis(axis, rank, getRange(name));
  llvm::sort(axes);
  if (!failed && llvm::adjacent_find(axes) != axes.end()) {
    failed = true;
    body.fail(getRange(name), "an axis is given twice", "name each once");
  }
  return axes;
}
