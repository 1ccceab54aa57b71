//===- Objectives.cpp - Losses and metrics in hfta ops --------------------===//

#include "Hfta/Language/Objectives.h"
#include "Analysis/Arguments.h"
#include "Building/TensorBuilder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Equal but for axes of length 1 after the first.
static bool areAlike(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  if (a.empty() || b.empty() || a[0] != b[0])
    return a == b;
  auto isNotOne = [](int64_t size) { return size != 1; };
  return llvm::equal(llvm::make_filter_range(a.drop_front(), isNotOne),
                     llvm::make_filter_range(b.drop_front(), isNotOne));
}

static SmallVector<int64_t> without(ArrayRef<int64_t> shape, int64_t axis) {
  SmallVector<int64_t> result(shape);
  result.erase(result.begin() + axis);
  return result;
}

/// The axis counted from the front; nothing if there is none, or it is the
/// batch.
static std::optional<int64_t> getAxis(RankedTensorType type, int64_t axis) {
  int64_t rank = type.getRank();
  int64_t fromFront = axis < 0 ? axis + rank : axis;
  if (fromFront < 1 || fromFront >= rank)
    return std::nullopt;
  return fromFront;
}

static std::string describeTypes(RankedTensorType output,
                                 RankedTensorType label) {
  return "the output is " + printShape(output.getShape()) + ", the label " +
         printShape(label.getShape());
}

static std::string checkClasses(RankedTensorType output, RankedTensorType label,
                                int64_t axis) {
  std::optional<int64_t> classes = getAxis(output, axis);
  if (!classes)
    return "the output of shape " + printShape(output.getShape()) +
           " has no axis " + std::to_string(axis) + " of classes";
  if (!areAlike(without(output.getShape(), *classes), label.getShape()))
    return "the label must have the output's shape without axis " +
           std::to_string(axis) + ", but " + describeTypes(output, label);
  if (!isa<IntegerType>(label.getElementType()))
    return "the label must hold class numbers, but it is a float";
  return "";
}

std::string mlir::hfta::checkLoss(const LossOptions &options,
                                  RankedTensorType output,
                                  RankedTensorType label) {
  if (!isa<FloatType>(output.getElementType()))
    return "the output must be a float";
  if (options.kind == LossKind::crossEntropy || options.kind == LossKind::nll)
    return checkClasses(output, label, options.axis);
  if (!areAlike(output.getShape(), label.getShape()))
    return "output and label must have one shape, but " +
           describeTypes(output, label);
  return "";
}

bool mlir::hfta::hasClassAxis(RankedTensorType output, RankedTensorType label,
                              int64_t axis) {
  std::optional<int64_t> classes = getAxis(output, axis);
  return classes && output.getDimSize(*classes) != 1 &&
         areAlike(without(output.getShape(), *classes), label.getShape());
}

std::string mlir::hfta::checkAccuracy(RankedTensorType output,
                                      RankedTensorType label, int64_t axis) {
  if (!isa<FloatType>(output.getElementType()))
    return "the output must be a float";
  if (!hasClassAxis(output, label, axis) &&
      areAlike(output.getShape(), label.getShape()))
    return "";
  return checkClasses(output, label, axis);
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

namespace {
/// Builds losses of class scores.
class ClassLoss {
public:
  ClassLoss(TensorBuilder &tensors, const LossOptions &options, Value output,
            Value label)
      : tensors(tensors), options(options), output(output),
        type(getTensorType(output)), axis(*getAxis(type, options.axis)),
        classes(type.getDimSize(axis)), shape(without(type.getShape(), axis)),
        label(tensors.reshape(label, shape)) {}

  Loss build() {
    Value scores = output;
    if (options.kind == LossKind::crossEntropy)
      scores = tensors.create<LogSoftmaxOp>(scores, axis);
    Value isLabel = tensors.compare(
        ComparePredicate::equal,
        tensors.create<IotaOp>(type.getShape(), axis, getElementType(label)),
        tensors.repeat(label, axis, classes));
    Value chosen =
        tensors.select(isLabel, scores, tensors.splatLike(scores, 0));
    Value losses =
        tensors.unary<NegOp>(tensors.reduce(ReduceKind::sum, chosen, {axis}));
    if (options.labelSmoothing)
      losses = smooth(losses, scores);
    Value counts = tensors.compare(ComparePredicate::not_equal, label,
                                   options.ignoreIndex);
    return {losses, tensors.cast(counts, type.getElementType())};
  }

private:
  /// (1 - e) * loss + e / classes * sum of -score
  Value smooth(Value losses, Value scores) {
    Value smoothing =
        tensors.cast(options.labelSmoothing, type.getElementType());
    Value kept =
        tensors.binary<SubOp>(tensors.splatLike(smoothing, 1), smoothing);
    Value share =
        tensors.binary<DivOp>(smoothing, static_cast<double>(classes));
    Value all =
        tensors.unary<NegOp>(tensors.reduce(ReduceKind::sum, scores, {axis}));
    return tensors.binary<AddOp>(
        tensors.binary<MulOp>(losses, tensors.broadcast(kept, shape, {})),
        tensors.binary<MulOp>(all, tensors.broadcast(share, shape, {})));
  }

  TensorBuilder &tensors;
  const LossOptions &options;
  Value output;
  RankedTensorType type;
  int64_t axis;
  int64_t classes;
  SmallVector<int64_t> shape;
  Value label;
};
} // namespace

Loss mlir::hfta::buildLoss(OpBuilder &builder, Location loc,
                           const LossOptions &options, Value output,
                           Value label) {
  TensorBuilder tensors(builder, loc);
  if (options.kind == LossKind::crossEntropy || options.kind == LossKind::nll)
    return ClassLoss(tensors, options, output, label).build();
  Value target = tensors.reshape(tensors.cast(label, getElementType(output)),
                                 getShape(output));
  Value weights = tensors.splatLike(output, 1);
  if (options.kind == LossKind::mse) {
    Value difference = tensors.binary<SubOp>(output, target);
    return {tensors.binary<MulOp>(difference, difference), weights};
  }
  // (1 - t) x + log(1 + e^-x): exact for large x of either sign.
  Value other = tensors.binary<SubOp>(tensors.splatLike(target, 1), target);
  Value tail = tensors.unary<SoftplusOp>(tensors.unary<NegOp>(output));
  return {tensors.binary<AddOp>(tensors.binary<MulOp>(other, output), tail),
          weights};
}

//===----------------------------------------------------------------------===//
// Accuracy
//===----------------------------------------------------------------------===//

Value mlir::hfta::buildAccuracy(OpBuilder &builder, Location loc, Value output,
                                Value label, int64_t axis) {
  TensorBuilder tensors(builder, loc);
  RankedTensorType type = getTensorType(output);
  if (!hasClassAxis(type, getTensorType(label), axis)) {
    Value target = tensors.reshape(tensors.cast(label, type.getElementType()),
                                   type.getShape());
    Value wanted = tensors.compare(ComparePredicate::greater, target, 0.5);
    Value given = tensors.compare(ComparePredicate::greater, output, 0.0);
    Value wrong = tensors.binary<XorOp>(wanted, given);
    return tensors.binary<SubOp>(tensors.splatLike(output, 1),
                                 tensors.cast(wrong, type.getElementType()));
  }
  int64_t classAxis = *getAxis(type, axis);
  int64_t classes = type.getDimSize(classAxis);
  SmallVector<int64_t> shape = without(type.getShape(), classAxis);
  Value target = tensors.reshape(label, shape);
  // The first index at which the maximum stands.
  Value largest = tensors.reduce(ReduceKind::max, output, {classAxis});
  Value isLargest =
      tensors.compare(ComparePredicate::equal, output,
                      tensors.repeat(largest, classAxis, classes));
  Value indices =
      tensors.create<IotaOp>(type.getShape(), classAxis, getElementType(label));
  Value candidates =
      tensors.select(isLargest, indices, tensors.splatLike(indices, classes));
  Value first = tensors.reduce(ReduceKind::min, candidates, {classAxis});
  return tensors.cast(tensors.compare(ComparePredicate::equal, first, target),
                      type.getElementType());
}
