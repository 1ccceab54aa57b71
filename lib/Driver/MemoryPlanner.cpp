//===- MemoryPlanner.cpp - Plans a step within a budget -------------------===//
//
// The planner of a step knows its tasks and what they leave each other.
// Batches, workspaces, what kernels need themselves and gaps between places in
// the arena are known when a module is lowered. So a copy is, whose blocks all
// come and go: what it has all the time isn't the planner's. Where a plan needs
// more than there is nevertheless, the next one is made with so much less.
//===----------------------------------------------------------------------===//

#include "MemoryPlanner.h"

#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Driver/Pipelines.h"
#include "Hfta/Transforms/MeasuredTasks.h"
#include "Hfta/Transforms/Passes.h"
#include "LowerCopy.h"

using namespace mlir;
using namespace mlir::hfta;

/// How often a plan is made again.
static constexpr int kMostAttempts = 8;

/// Of a module whose kernels aren't lowered, what those of its copy say.
bool MemoryPlanner::measureScratch(ModuleOp planned) {
  OwningOpRef<ModuleOp> copy = lowerCopy(planned, buildScratchPipeline);
  std::optional<int64_t> bytes = copy ? findScratch(*copy) : std::nullopt;
  scratchBytes = std::max(scratchBytes, bytes.value_or(0));
  return bytes.has_value();
}

/// Nothing where the module can't be lowered.
std::optional<MemoryPlanner::Attempt> MemoryPlanner::attempt(bool plansMemory) {
  OwningOpRef<ModuleOp> copy = module.clone();
  (*copy)->setAttr(HftaDialect::kTargetAttrName, target);
  ScopedDiagnosticHandler silent(module.getContext(),
                                 [](Diagnostic &) { return success(); });
  bool isPlanned = succeeded(lowerQuietly(*copy, [&](OpPassManager &passes) {
    TrainPipelineOptions options;
    options.cuts = cuts;
    options.plansMemory = plansMemory;
    buildTrainPipeline(passes, options);
    buildPlannedPipeline(passes, {});
  }));
  costsAreRefused |= MeasuredTasks::wereRefused(*copy);
  if (!isPlanned)
    return std::nullopt;
  // Kernels of other plans are much the same.
  if (scratchBytes == 0 && !measureScratch(*copy))
    return std::nullopt;
  (*copy)->setAttr(
      kScratchBytesAttrName,
      Builder(module.getContext()).getI64IntegerAttr(scratchBytes));
  auto schedule = [](OpPassManager &passes) {
    passes.addPass(createHftaSchedule());
  };
  OwningOpRef<ModuleOp> scheduled = lowerCopy(*copy, schedule);
  if (!scheduled)
    return std::nullopt;
  Attempt made = {measureTransfers(*scheduled, job), MemoryPlanAttr::get(*copy),
                  (*copy)->hasAttr(HftaDialect::kMemoryReserveAttrName)};
  bool fits = made.needs.bytes <= job.memoryDevice;
  int64_t known = scratchBytes;
  if (!plansMemory || !fits)
    return made;
  if (!measureScratch(*copy))
    return std::nullopt;
  made.needs.bytes += (scratchBytes - known) * job.memoryThreads;
  return made;
}

/// Whether a plan fits whose reserve is noted then. What a plan may use grows
/// smaller until it does; in the end it is the one that needs least. Where all
/// comes and goes copies may go through several steps at a time: then a plan
/// whose steps are single ones has to move fewer bytes than that.
bool MemoryPlanner::findReserve(const TransferNeeds &streamed) {
  MLIRContext *context = module.getContext();
  int64_t copies = streamed.copies;
  int64_t each = copies > 1
                     ? (streamed.residentBytes - streamed.residentBytesOfOne) /
                           (copies - 1)
                     : 0;
  int64_t reserved = streamed.residentBytesOfOne - each;
  bool takesTurns = streamed.takesTurns;
  std::optional<Attempt> last;
  int64_t step = 0;
  for (int number = 0; number < kMostAttempts; ++number) {
    module->setAttr(HftaDialect::kMemoryReserveAttrName,
                    MemoryReserveAttr::get(context, reserved, each,
                                           takesTurns ? 1 : job.copies,
                                           takesTurns ? copies : job.copies));
    std::optional<Attempt> made = attempt(/*plansMemory=*/true);
    if (!made)
      return false;
    if (made->needs.bytes <= job.memoryDevice)
      return !streamed.takesSeveralSteps ||
             (!made->needs.takesSeveralSteps &&
              made->needs.movedBytes <= streamed.movedBytes);
    bool isSame = last && last->plan == made->plan;
    last = made;
    if (made->isLeanest)
      break;
    // What keeps its plan had more room than it took.
    step = std::max({made->needs.bytes - job.memoryDevice,
                     job.memoryDevice / 256, isSame ? 2 * step : 0});
    reserved += step;
  }
  return !streamed.takesSeveralSteps &&
         last->needs.leastBytes < streamed.leastBytes;
}

bool MemoryPlanner::plan() {
  std::optional<Attempt> streamed = attempt(/*plansMemory=*/false);
  bool plans = streamed && findReserve(streamed->needs);
  // Who lowers the module itself says what is wrong with them.
  plans |= costsAreRefused;
  if (!plans)
    module->removeAttr(HftaDialect::kMemoryReserveAttrName);
  return plans;
}
