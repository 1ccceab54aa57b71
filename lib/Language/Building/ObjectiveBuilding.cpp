//===- ObjectiveBuilding.cpp - What losses and metrics share --------------===//

#include "Building/ObjectiveBuilding.h"
#include "Analysis/Arguments.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

std::optional<int64_t>
ObjectiveArguments::findInteger(llvm::StringRef name) const {
  auto found = integers.find(name);
  return found == integers.end() ? std::nullopt : std::optional(found->second);
}

ArrayRef<double> ObjectiveArguments::getWeights(llvm::StringRef name) const {
  auto found = weights.find(name);
  return found == weights.end() ? ArrayRef<double>()
                                : ArrayRef<double>(found->second);
}

ObjectiveTypes ObjectiveOperands::getTypes() const {
  return {getTensorType(output), getTensorType(label)};
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

bool language::areAlike(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  if (a.empty() || b.empty() || a[0] != b[0])
    return a == b;
  auto isNotOne = [](int64_t size) { return size != 1; };
  return llvm::equal(llvm::make_filter_range(a.drop_front(), isNotOne),
                     llvm::make_filter_range(b.drop_front(), isNotOne));
}

SmallVector<int64_t> language::without(ArrayRef<int64_t> shape, int64_t axis) {
  SmallVector<int64_t> result(shape);
  result.erase(result.begin() + axis);
  return result;
}

std::optional<int64_t> language::findAxis(RankedTensorType type, int64_t axis) {
  int64_t rank = type.getRank();
  int64_t fromFront = axis < 0 ? axis + rank : axis;
  if (fromFront < 1 || fromFront >= rank)
    return std::nullopt;
  return fromFront;
}

static std::string describeTypes(ObjectiveTypes types) {
  return "the output is " + printShape(types.output.getShape()) +
         ", the label " + printShape(types.label.getShape());
}

ObjectiveError language::checkClasses(ObjectiveTypes types, int64_t axis) {
  ArrayRef<int64_t> output = types.output.getShape();
  std::optional<int64_t> classes = findAxis(types.output, axis);
  if (!classes)
    return {"the output of shape " + printShape(output) + " has no axis " +
            std::to_string(axis) + " of classes"};
  if (!areAlike(without(output, *classes), types.label.getShape()))
    return {"the label must have the output's shape without axis " +
            std::to_string(axis) + ", but " + describeTypes(types)};
  if (!isa<IntegerType>(types.label.getElementType()))
    return {"the label must hold class numbers, but it is a float"};
  return {};
}

ObjectiveError language::checkValues(ObjectiveTypes types) {
  if (areAlike(types.output.getShape(), types.label.getShape()))
    return {};
  return {"output and label must have one shape, but " + describeTypes(types)};
}

ObjectiveError language::checkCount(ArrayRef<double> weights, int64_t count,
                                    const Twine &what, ObjectiveTypes types) {
  if (weights.empty() || static_cast<int64_t>(weights.size()) == count)
    return {};
  return {(what + ": the output of shape " +
           printShape(types.output.getShape()) + " has " + Twine(count) +
           ", got " + Twine(weights.size()))
              .str(),
          "give " + std::to_string(count)};
}

ObjectiveError language::checkTensor(const ObjectiveArguments &arguments,
                                     llvm::StringRef name,
                                     ArrayRef<int64_t> shape) {
  Value tensor = arguments.getTensor(name);
  if (!tensor || areAlike(getShape(tensor), shape))
    return {};
  return {("'" + name + "' must have the shape " + printShape(shape) +
           ", but it has " + printShape(getShape(tensor)))
              .str()};
}

bool language::hasClassAxis(ObjectiveTypes types, int64_t axis) {
  std::optional<int64_t> classes = findAxis(types.output, axis);
  return classes && types.output.getDimSize(*classes) != 1 &&
         areAlike(without(types.output.getShape(), *classes),
                  types.label.getShape());
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value language::buildTarget(const ObjectiveOperands &operands) {
  TensorBuilder &tensors = operands.tensors;
  return tensors.reshape(
      tensors.cast(operands.label, getElementType(operands.output)),
      getShape(operands.output));
}

Loss language::countAll(TensorBuilder &tensors, Value losses) {
  return {losses, tensors.splatLike(losses, 1), {}, {}};
}

Value language::getNumberLike(const ObjectiveOperands &operands,
                              llvm::StringRef name, double byDefault,
                              Value like) {
  Value number = operands.arguments.getNumber(name);
  return number ? fillLike(operands.tensors, number, like)
                : operands.tensors.splatLike(like, byDefault);
}

Value language::getTensorLike(const ObjectiveOperands &operands,
                              llvm::StringRef name, Value like) {
  TensorBuilder &tensors = operands.tensors;
  return tensors.reshape(
      tensors.cast(operands.arguments.getTensor(name), getElementType(like)),
      getShape(like));
}

Value language::fillLike(TensorBuilder &tensors, Value number, Value like) {
  return tensors.broadcast(tensors.cast(number, getElementType(like)),
                           getShape(like), {});
}

Value language::findLargest(TensorBuilder &tensors, Value values, int64_t axis,
                            Type indexType) {
  int64_t size = getShape(values)[axis];
  Value largest = tensors.reduce(ReduceKind::max, values, {axis});
  Value isLargest = tensors.compare(ComparePredicate::equal, values,
                                    tensors.repeat(largest, axis, size));
  Value indices = tensors.create<IotaOp>(getShape(values), axis, indexType);
  Value candidates =
      tensors.select(isLargest, indices, tensors.splatLike(indices, size));
  return tensors.reduce(ReduceKind::min, candidates, {axis});
}

Value language::pick(TensorBuilder &tensors, Value values, Value chosen,
                     int64_t axis) {
  ArrayRef<int64_t> shape = getShape(values);
  Type i32 = tensors.getBuilder().getI32Type();
  bool isWide = getElementType(chosen).getIntOrFloatBitWidth() > 32;
  if (!isWide) {
    chosen = tensors.cast(chosen, i32);
  } else if (shape[axis] <= INT32_MAX) {
    // Comparisons of 32 bits take half of the time. Indices that aren't on the
    // axis must not become others that are.
    Value isInside = tensors.binary<AndOp>(
        tensors.compare(ComparePredicate::less_equal,
                        tensors.splatLike(chosen, 0), chosen),
        tensors.compare(ComparePredicate::less, chosen,
                        static_cast<double>(shape[axis])));
    chosen = tensors.cast(
        tensors.select(isInside, chosen, tensors.splatLike(chosen, -1)), i32);
  }
  Value isChosen = tensors.compare(
      ComparePredicate::equal,
      tensors.create<IotaOp>(shape, axis, getElementType(chosen)),
      tensors.repeat(chosen, axis, shape[axis]));
  Value picked = tensors.select(isChosen, values, tensors.splatLike(values, 0));
  return tensors.reduce(ReduceKind::sum, picked, {axis});
}

Value language::drawUniform(TensorBuilder &tensors, const RandomKeys &keys,
                            Value like, StringRef suffix) {
  std::string stream = names::getCompilerSymbol("drawn_target" + suffix.str());
  return tensors.create<RandomUniformOp>(
      keys.seed, keys.step, keys.firstSample, getShape(like),
      names::hash(stream), /*per_sample=*/true, getElementType(like));
}
