//===- FieldLimits.cpp - Ranges of integers that fields may have ----------===//
//
// Class numbers and indices that are out of range would silently train nothing,
// or the wrong thing. So the trainer checks them, with these limits, before it
// begins.
//===----------------------------------------------------------------------===//

#include "Building/ClassLosses.h"
#include "Building/JobBuilder.h"
#include "Building/ObjectiveBuilding.h"
#include "Hfta/Dialect/Hfta/Job/JobDraw.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::language;

/// Returns the whole number that a field's arithmetic adds in total; nothing if
/// it does anything but add and subtract whole numbers. Functions that only
/// move elements change no number.
static std::optional<int64_t> getAddedNumber(ArrayRef<PrepareStep> steps) {
  int64_t sum = 0;
  for (const PrepareStep &step : steps) {
    if (step.kind == PrepareStep::Kind::call && !step.call.givesFloats())
      continue;
    bool adds = step.kind == PrepareStep::Kind::add;
    if ((!adds && step.kind != PrepareStep::Kind::subtract) ||
        step.numbers.size() != 1 || !step.numbers.front().integer)
      return std::nullopt;
    int64_t number = *step.numbers.front().integer;
    if (adds ? llvm::AddOverflow(sum, number, sum)
             : llvm::SubOverflow(sum, number, sum))
      return std::nullopt;
  }
  return sum;
}

/// Limits the field's numbers, after its arithmetic, as limitFieldAfter() does.
void JobBuilder::limitField(unsigned index, int64_t first, int64_t count,
                            int64_t ignored) {
  limitFieldAfter(info.fields[index].steps, index, first, count, ignored);
}

/// Limits the field's numbers, after the first ones of its steps, to [first,
/// first + count) and `ignored`, which lies in this range if no number is
/// ignored. If a field is limited several times, all limits hold.
void JobBuilder::limitFieldAfter(ArrayRef<PrepareStep> steps, unsigned index,
                                 int64_t first, int64_t count,
                                 int64_t ignored) {
  std::optional<int64_t> added = getAddedNumber(steps);
  int64_t end = 0;
  if (!added || llvm::SubOverflow(first, *added, first) ||
      llvm::SubOverflow(ignored, *added, ignored) ||
      llvm::AddOverflow(first, count, end))
    return;
  std::vector<int64_t> &limits = info.job.data[index].classes;
  if (limits.empty()) {
    limits = {count, first, ignored};
    return;
  }
  int64_t other = limits[1], otherEnd = limits[1] + limits[0];
  int64_t least = std::max(first, other), most = std::min(end, otherEnd);
  if (ignored >= first && ignored < end)
    ignored = limits[2] >= other && limits[2] < otherEnd ? least : limits[2];
  limits = {most - least, least, ignored};
}

/// Limits a field that is the label of a loss, or another tensor that it takes,
/// to what the loss says, and class numbers to the classes along the output's
/// axis.
void JobBuilder::limitOperand(unsigned index, const LossInfo &loss,
                              llvm::StringRef name,
                              const ObjectiveArguments &arguments,
                              ObjectiveTypes types) {
  std::optional<FieldRange> range;
  if (loss.limit)
    range = loss.limit(arguments, types, name);
  else if (name == loss.labelName &&
           loss.getLabelKind(arguments, types) == LabelKind::classNumbers)
    range = {
        0,
        types.output.getDimSize(*findAxis(types.output, arguments.getAxis())),
        getIgnoredClass(arguments)};
  if (range)
    limitField(index, range->first, range->count, range->ignored);
}

/// Returns the gathers that use an input's elements as indices, which ops in
/// between only move or convert to other integers.
static SmallVector<GatherOp> findGathers(Value input) {
  SmallVector<GatherOp> gathers;
  SmallVector<Value> values = {input};
  while (!values.empty()) {
    Value value = values.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      auto gather = dyn_cast<GatherOp>(use.getOwner());
      auto layer = dyn_cast<LayerOpInterface>(use.getOwner());
      if (gather && gather.getIndices() == value)
        gathers.push_back(gather);
      else if (layer &&
               layer.getParameterUse(use.getOperandNumber()).role ==
                   ParameterUse::Role::passed &&
               isa<IntegerType>(getElementType(layer->getResult(0))))
        values.push_back(layer->getResult(0));
    }
  }
  return gathers;
}

/// Limits inputs of the model that are used as indices of rows of a table.
void JobBuilder::limitIndices(ModelOp model) {
  auto forward = model.lookupSymbol<func::FuncOp>("forward");
  for (BlockArgument input : forward.getArguments()) {
    auto name = forward.getArgAttrOfType<StringAttr>(
        input.getArgNumber(), HftaDialect::kNameAttrName);
    auto field = llvm::find_if(info.fields, [&](const FieldInfo &field) {
      return name && field.name == name.getValue();
    });
    if (field == info.fields.end())
      continue;
    for (GatherOp gather : findGathers(input)) {
      // Negative indices count from the end.
      int64_t size = cast<RankedTensorType>(gather.getInput().getType())
                         .getDimSize(gather.getAxis());
      limitField(field - info.fields.begin(), -size, 2 * size, -size);
    }
  }
}

/// Limits fields that become probabilities of classes to these classes.
void JobBuilder::limitOneHot() {
  for (const auto &[index, field] : llvm::enumerate(info.fields))
    for (const auto &[before, step] : llvm::enumerate(field.steps))
      if (step.kind == PrepareStep::Kind::call &&
          step.call.function->takesClasses)
        limitFieldAfter(ArrayRef(field.steps).take_front(before), index, 0,
                        static_cast<int64_t>(step.call.getNumber("classes")),
                        0);
}

/// Checks that the job can draw samples by their classes, if it asks for this.
bool JobBuilder::checkDraw() {
  if (!drawsByClasses(info.job))
    return true;
  if (!info.job.shuffle) {
    diagnostics.error(info.drawRange,
                      "samples are drawn at random, but shuffle = false",
                      "leave out one of both");
    return false;
  }
  // A loss takes lengths besides its label, which are no classes.
  auto isTensor = [&](llvm::StringRef name) {
    return llvm::any_of(info.terms, [&](const LossTermInfo &term) {
      return llvm::any_of(term.loss.tensors, [&](const auto &tensor) {
        return tensor.second.named.name == name;
      });
    });
  };
  llvm::SmallVector<llvm::StringRef> found;
  for (const auto &[field, data] : llvm::zip_equal(info.fields, info.job.data))
    if (!data.classes.empty() && !isTensor(field.name) &&
        llvm::all_of(field.shape, [](int64_t size) { return size == 1; }))
      found.push_back(field.name);
  if (found.size() == 1)
    return true;
  if (found.empty())
    diagnostics.error(info.drawRange,
                      "no field has a class number for each sample",
                      "the label of the loss is one, if it has one number a "
                      "sample and no arithmetic but adding whole numbers");
  else
    diagnostics.error(info.drawRange,
                      "the fields '" + found[0] + "' and '" + found[1] +
                          "' both have one class number or index a sample",
                      "samples can be drawn by the classes of one field only");
  return false;
}
