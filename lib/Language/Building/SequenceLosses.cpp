//===- SequenceLosses.cpp - Losses of sequences ---------------------------===//

#include "Building/SequenceLosses.h"
#include "Analysis/Arguments.h"
#include "Building/ClassLosses.h"
#include "Building/ObjectiveBuilding.h"
#include "Hfta/Dialect/Hfta/IR/HftaGradientOps.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

namespace {
/// The sizes of an output [samples, steps, classes], or with the classes before
/// the steps, and of its label.
struct CtcShape {
  CtcShape(const ObjectiveArguments &arguments, ObjectiveTypes types)
      : axis(*findAxis(types.output, arguments.getAxis())),
        samples(types.output.getDimSize(0)),
        steps(types.output.getDimSize(3 - axis)),
        classes(types.output.getDimSize(axis)),
        elements(types.label.getRank() == 1 ? 1 : types.label.getDimSize(1)),
        blank(arguments.getInteger(kBlankArgument, 0)) {}

  int64_t axis, samples, steps, classes, elements, blank;
};
} // namespace

static bool isOfIntegers(Type type) {
  return isa<IntegerType>(getElementTypeOrSelf(type));
}

ObjectiveError language::checkCtc(const ObjectiveArguments &arguments,
                                  ObjectiveTypes types) {
  ArrayRef<int64_t> output = types.output.getShape();
  ArrayRef<int64_t> label = types.label.getShape();
  if (output.size() != 3)
    return {"the output has the shape " + printShape(output) +
                ", which isn't that of sequences",
            "ctc takes an output of shape [batch, steps, classes]"};
  if (!findAxis(types.output, arguments.getAxis()))
    return {"the output of shape " + printShape(output) + " has no axis " +
            std::to_string(arguments.getAxis()) + " of classes"};
  if (!isOfIntegers(types.label))
    return {"the label must hold class numbers, but it is a float"};
  if (label.empty() || label.size() > 2 || label[0] != output[0])
    return {"the label must have the shape [batch, elements], but it is " +
            printShape(label)};
  CtcShape shape(arguments, types);
  if (shape.classes < 2)
    return {"the output of shape " + printShape(output) +
            " has no class besides the blank"};
  if (shape.blank != 0 && shape.blank != shape.classes - 1)
    return {"'blank' is " + std::to_string(shape.blank) + ", of " +
                std::to_string(shape.classes) + " classes",
            "it is the first class, 0, or the last one, " +
                std::to_string(shape.classes - 1)};
  for (llvm::StringRef name : {kInputLengthArgument, kLabelLengthArgument}) {
    Value lengths = arguments.getTensor(name);
    if (lengths && !isOfIntegers(lengths.getType()))
      return {
          ("'" + name + "' must hold whole numbers, but it is a float").str(),
          "it is a field with one number for each sample"};
    if (ObjectiveError wrong = checkTensor(arguments, name, shape.samples))
      return wrong;
  }
  return {};
}

std::optional<FieldRange>
language::limitCtc(const ObjectiveArguments &arguments, ObjectiveTypes types,
                   llvm::StringRef name) {
  CtcShape shape(arguments, types);
  if (name == kInputLengthArgument)
    return FieldRange{1, shape.steps, 1};
  if (name == kLabelLengthArgument)
    return FieldRange{0, shape.elements + 1, 0};
  return FieldRange{shape.blank == 0 ? 1 : 0, shape.classes - 1,
                    getIgnoredClass(arguments)};
}

/// Builds the numbers of the labels' elements: those before the first element
/// that is ignored, and at most the length that is given.
static Value buildLabelLengths(const ObjectiveOperands &operands, Value label) {
  TensorBuilder &tensors = operands.tensors;
  Type type = getElementType(label);
  ArrayRef<int64_t> shape = getShape(label);
  Value places = tensors.create<IotaOp>(shape, 1, type);
  Value isBehind =
      tensors.compare(ComparePredicate::equal, label,
                      static_cast<double>(getIgnoredClass(operands.arguments)));
  Value ends =
      tensors.select(isBehind, places,
                     tensors.splatLike(places, static_cast<double>(shape[1])));
  Value lengths = tensors.reduce(ReduceKind::min, ends, {1});
  Value given = operands.arguments.getTensor(kLabelLengthArgument);
  return given ? tensors.binary<MinOp>(
                     lengths, tensors.reshape(tensors.cast(given, type),
                                              getShape(lengths)))
               : lengths;
}

Loss language::buildCtc(const ObjectiveOperands &operands,
                        const std::optional<RandomKeys> &) {
  TensorBuilder &tensors = operands.tensors;
  const ObjectiveArguments &arguments = operands.arguments;
  CtcShape shape(arguments, operands.getTypes());
  Type index = tensors.getBuilder().getI64Type();
  Value scores = tensors.logSoftmax(operands.output, shape.axis);
  if (shape.axis == 1)
    scores = tensors.transpose(scores, {0, 2, 1});
  Value label = tensors.reshape(tensors.cast(operands.label, index),
                                {shape.samples, shape.elements});
  Value lengths = buildLabelLengths(operands, label);
  Value steps = arguments.getTensor(kInputLengthArgument);
  if (steps)
    steps = tensors.reshape(tensors.cast(steps, index), shape.samples);
  Value losses = tensors
                     .create<CtcLossOp>(
                         scores, label, lengths, steps, shape.blank,
                         arguments.getInteger(kZeroInfinityArgument, 0) != 0)
                     .getLosses();
  Value counted = tensors.cast(lengths, getElementType(losses));
  return countAll(tensors,
                  tensors.binary<DivOp>(
                      losses, tensors.binary<MaxOp>(
                                  counted, tensors.splatLike(counted, 1))));
}
