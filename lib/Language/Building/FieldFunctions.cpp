//===- FieldFunctions.cpp - Functions of fields in data blocks ------------===//

#include "Building/SampleBuilder.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

static constexpr int64_t kMostClasses = 1 << 24;
static constexpr size_t kMostAxes = 7;

/// Appends the axis of classes, in place of axes of length 1.
static std::string reshapeOneHot(const FieldCall &call,
                                 std::vector<int64_t> &shape) {
  while (!shape.empty() && shape.back() == 1)
    shape.pop_back();
  shape.push_back(static_cast<int64_t>(call.getNumber("classes")));
  return shape.size() <= kMostAxes
             ? ""
             : "samples have at most " + std::to_string(kMostAxes) + " axes";
}

/// Builds 1 for the class of each element, and 0 for all others.
static Value buildOneHot(SampleBuilder &samples, const FieldCall &call,
                         Value value) {
  TensorBuilder &tensors = samples.getTensors();
  std::vector<int64_t> shape = getShape(value).drop_front().vec();
  reshapeOneHot(call, shape);
  shape.insert(shape.begin(), getShape(value).front());
  int64_t axis = static_cast<int64_t>(shape.size()) - 1;
  Value classes = tensors.repeat(
      tensors.reshape(value, ArrayRef(shape).drop_back()), axis, shape.back());
  Type type = getElementType(value);
  Value isClass = tensors.compare(ComparePredicate::equal, classes,
                                  tensors.create<IotaOp>(shape, axis, type));
  return tensors.select(isClass, tensors.splatLike(classes, 1),
                        tensors.splatLike(classes, 0));
}

llvm::ArrayRef<FieldFunction> language::getClassFunctions() {
  static const FieldFunction functions[] = {
      {"one_hot",
       {{"classes", NumberRange::whole(1, kMostClasses), {}, true}},
       /*isRandom=*/false,
       /*givesFloats=*/true,
       reshapeOneHot,
       buildOneHot,
       /*buildPlain=*/nullptr,
       FieldFunction::Mixing::none,
       /*buildShares=*/nullptr,
       /*takesClasses=*/true},
  };
  return functions;
}

//===----------------------------------------------------------------------===//
// All tables
//===----------------------------------------------------------------------===//

static std::vector<const FieldFunction *> getAll() {
  std::vector<const FieldFunction *> all;
  for (llvm::ArrayRef<FieldFunction> table :
       {getAugmentations(), getMixtures(), getClassFunctions()})
    for (const FieldFunction &function : table)
      all.push_back(&function);
  return all;
}

const FieldFunction *language::findFieldFunction(llvm::StringRef name) {
  for (const FieldFunction *function : getAll())
    if (function->name == name)
      return function;
  return nullptr;
}

std::vector<llvm::StringRef> language::getFieldFunctionNames() {
  std::vector<llvm::StringRef> names;
  for (const FieldFunction *function : getAll())
    names.push_back(function->name);
  return names;
}
