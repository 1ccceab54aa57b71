//===- MeasuredStep.cpp - Measured times in the model of a step -----------===//

#include "Spill/MeasuredStep.h"

#include "Hfta/Support/TaskNames.h"

using namespace mlir;
using namespace mlir::hfta;
using planning::MeasuredTask;
using planning::SpillBlock;
using planning::SpillModel;

namespace {
class StepMeasurer {
public:
  StepMeasurer(const MeasuredTasks &measured, const Job &job, SpillModel &model)
      : costs(measured.costs), job(job), model(model) {}

  llvm::Error measure(ArrayAttr cuts);

private:
  llvm::Error findBlocks(ArrayAttr cuts);
  double getSeconds(StringRef part, int64_t block, bool isOfMicroBatches) const;
  void scale(ArrayRef<double *> seconds, double measured) const;
  void measureBlock(int64_t block, int64_t first, int64_t end);

  const planning::MeasuredCosts &costs;
  const Job &job;
  SpillModel &model;
  /// For each measured block, the first of the model's blocks after it.
  std::vector<int64_t> ends;
};
} // namespace

static std::vector<std::string> getNames(Attribute cut) {
  std::vector<std::string> names;
  for (auto name : cast<ArrayAttr>(cut).getAsRange<StringAttr>())
    names.push_back(name.str());
  return names;
}

/// Finds the consecutive blocks of the model of which each measured block
/// consists.
llvm::Error StepMeasurer::findBlocks(ArrayAttr cuts) {
  size_t next = 0, count = cuts ? cuts.size() : 0;
  for (auto [number, cut] : llvm::enumerate(costs.cuts)) {
    size_t at = next;
    while (at < count && getNames(cuts[at]) != cut)
      ++at;
    if (at == count)
      return llvm::createStringError("cuts[" + llvm::Twine(number) +
                                     "]: expected one between two of the " +
                                     "job's blocks, got '" +
                                     llvm::join(cut, "', '") + "'");
    next = at + 1;
    ends.push_back(static_cast<int64_t>(next));
  }
  ends.push_back(static_cast<int64_t>(model.blocks.size()));
  return llvm::Error::success();
}

/// Returns the seconds that a task takes for one copy in a step of the job, or
/// 0 if it wasn't measured.
double StepMeasurer::getSeconds(StringRef part, int64_t block,
                                bool isOfMicroBatches) const {
  MeasuredTask task = costs.tasks.lookup(TaskAttr::makeName(part, block));
  double times = task.copies > 0 ? task.copies
                                 : task.runs * static_cast<double>(job.copies);
  if (times == 0)
    return 0;
  double seconds = task.seconds / times;
  if (!isOfMicroBatches)
    return seconds;
  return seconds * static_cast<double>(costs.microBatches) *
         static_cast<double>(job.batch) / static_cast<double>(costs.batch);
}

/// Distributes measured seconds in proportion to the estimated ones, or in
/// equal parts if these are zero.
void StepMeasurer::scale(ArrayRef<double *> seconds, double measured) const {
  double whole = 0;
  for (double *each : seconds)
    whole += *each;
  for (double *each : seconds)
    *each = whole > 0 ? *each * (measured / whole)
                      : measured / static_cast<double>(seconds.size());
}

void StepMeasurer::measureBlock(int64_t block, int64_t first, int64_t end) {
  SmallVector<double *> forwards, backwards, updates;
  for (int64_t op = model.getFirstOp(first); op < model.blocks[end - 1].endOp;
       ++op)
    forwards.push_back(&model.ops[op].seconds);
  for (int64_t number = first; number < end; ++number) {
    backwards.push_back(&model.blocks[number].backward);
    updates.push_back(&model.blocks[number].update);
  }
  auto take = [&](ArrayRef<double *> seconds, double measured) {
    if (measured > 0)
      scale(seconds, measured);
  };
  take(forwards, getSeconds(parts::kForward, block, true));
  take(backwards, getSeconds(parts::kBackward, block, true) +
                      getSeconds(parts::kBackwardWeight, block, true));
  take(updates, getSeconds(parts::kUpdate, block, false));
}

llvm::Error StepMeasurer::measure(ArrayAttr cuts) {
  if (llvm::Error error = findBlocks(cuts))
    return error;
  int64_t first = 0;
  for (auto [block, end] : llvm::enumerate(ends)) {
    measureBlock(static_cast<int64_t>(block), first, end);
    first = end;
  }
  if (costs.store)
    model.store = *costs.store;
  return llvm::Error::success();
}

llvm::Error hfta::measureStep(const MeasuredTasks &measured, ArrayAttr cuts,
                              const Job &job, SpillModel &model) {
  return StepMeasurer(measured, job, model).measure(cuts);
}

/// Returns whether the model has times for the tasks of this part.
static bool isModelled(StringRef part) {
  return part == parts::kForward || part == parts::kRecompute ||
         part == parts::kBackward || part == parts::kBackwardWeight ||
         part == parts::kUpdate;
}

StepCosts hfta::getStepCosts(const MeasuredTasks &measured, const Job &job,
                             const SpillModel &model,
                             const planning::SpillPlan &plan) {
  StepCosts costs;
  costs.store = model.store;
  auto copies = static_cast<double>(job.copies);
  double each = copies / static_cast<double>(job.microBatches);
  for (auto [number, group] :
       llvm::enumerate(planning::getGroupSeconds(model, plan))) {
    auto note = [&, number = number](StringRef part, double seconds) {
      costs.tasks[TaskAttr::makeName(part, static_cast<int64_t>(number))] =
          seconds;
    };
    note(parts::kForward, group.forward * each);
    note(parts::kRecompute, group.recompute * each);
    note(parts::kBackward, group.backward * each);
    note(parts::kUpdate, group.update * copies);
  }
  for (const auto &entry : measured.costs.tasks) {
    StringRef part = entry.getKey().split('.').first;
    const MeasuredTask &task = entry.getValue();
    double times = task.copies > 0 ? task.copies / copies : task.runs;
    if (times > 0 && !isModelled(part))
      costs.parts[part] += task.seconds / times;
  }
  return costs;
}
