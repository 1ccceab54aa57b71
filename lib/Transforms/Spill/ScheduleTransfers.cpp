//===- ScheduleTransfers.cpp - Plans when segments are in the arena -------===//
//
// The schedules exist already, but segments that aren't resident have no place
// yet. Each schedule's transfers are planned for turns of as many copies as
// there is room for. If turns of several steps move fewer bytes, these are
// planned as well.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Transforms/Passes.h"
#include "Hfta/Transforms/Spill/MemoryNeeds.h"
#include "Schedule/ScheduleBuilder.h"
#include "Spill/TransferBuilder.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTASCHEDULETRANSFERS
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// Returns the first number that isn't used by any event.
static int64_t findFirstEvent(ModuleOp module) {
  int64_t next = 0;
  module.walk([&](ScheduleCommandOpInterface command) {
    if (std::optional<CommandEvent> event = command.findEvent())
      next = std::max(next, event->number + event->instances);
  });
  return next;
}

namespace {
/// The memory that a plan would need, and the task that needs most of it.
struct Shortage {
  int64_t bytes = 0;
  std::string task;
};

/// A schedule, and a plan of the arena for it.
struct Planned {
  TransferBuilder builder;
  RepeatOp turns;
  ArenaPlan plan;
};

} // namespace

/// Returns the first number after those of the queues of tasks and messages. It
/// is the same for all schedules without messages.
static int64_t findFirstQueue(ModuleOp module) {
  int64_t next = queues::kSends;
  module.walk([&](ScheduleCommandOpInterface command) {
    if (command.findMessage())
      next = std::max(next, command.findQueue()->second + 1);
  });
  return next;
}

static std::vector<Planned> listSchedules(ModuleOp module) {
  std::vector<Planned> all;
  int64_t firstEvent = findFirstEvent(module);
  int64_t firstQueue = findFirstQueue(module);
  for (auto schedule : module.getOps<ScheduleOp>()) {
    TransferBuilder builder(schedule, firstEvent, firstQueue);
    if (builder.findPositions()) {
      RepeatOp turns = builder.findLoop(RepeatKind::turns);
      all.push_back({std::move(builder), turns, {}});
    }
  }
  return all;
}

static std::string findNeediest(std::vector<Planned> &all) {
  Planned *most = nullptr;
  for (Planned &planned : all)
    if (!most || planned.plan.bytes > most->plan.bytes)
      most = &planned;
  return most ? most->builder.getTaskName(most->plan.findFullest()) : "";
}

/// The stage of schedules that belong to no stage, as all do in a program with
/// a single stage.
static constexpr int64_t kWhole = -1;

/// Finds the stages of all schedules, including kWhole.
static std::set<int64_t> findStages(ModuleOp module) {
  std::set<int64_t> stages;
  for (auto schedule : module.getOps<ScheduleOp>())
    stages.insert(static_cast<int64_t>(schedule.getStage()));
  return stages;
}

/// Plans the arena for turns of `copies` copies. Returns the bytes of memory of
/// the worker that needs most.
static int64_t plan(ModuleOp module, const Job &job, int64_t copies,
                    std::vector<Planned> &all) {
  module.walk([&](RepeatOp repeat) {
    if (repeat.getOver() == RepeatKind::turns)
      repeat.setCopies(copies);
  });
  int64_t most = 0;
  for (int64_t stage : findStages(module)) {
    int64_t resident = countResidentBytes(module, job, copies, stage);
    int64_t arena = 0;
    for (Planned &planned : all) {
      if (planned.builder.getStage() != stage)
        continue;
      planned.plan = planArena(
          planned.builder.findSegments(planned.turns ? copies : job.copies),
          job.memoryDevice - resident);
      arena = std::max(arena, planned.plan.bytes);
    }
    most = std::max(most, resident + arena);
  }
  return most;
}

namespace {
/// Schedules for turns of several steps, in addition to the other schedules.
struct PlannedTurns {
  TurnsOfSteps turns;
  int64_t copies; ///< number of copies in a turn
  bool overlaps;  ///< whether turns overlap with fetches
  Planned step;
};
} // namespace

/// Plans turns of several steps, if turns of single steps have `copies` copies
/// and move `moved` bytes per step. Returns nothing if a turn's state has no
/// room beside the other needs of its steps, or if single steps don't move more
/// bytes.
static std::optional<PlannedTurns> planTurns(ModuleOp module, const Job &job,
                                             int64_t copies, int64_t moved) {
  std::optional<TurnsOfSteps> turns = TurnsOfSteps::add(module, job);
  if (!turns)
    return std::nullopt;
  TransferBuilder builder(turns->getStep(), findFirstEvent(module),
                          queues::kSends);
  int64_t room =
      job.memoryDevice - countResidentBytes(module, job, copies, kWhole);
  bool pays = turns->countMoved() < moved && builder.findPositions();
  for (; pays && copies > 0; copies /= 2) {
    RepeatOp ofStep = builder.findLoop(RepeatKind::turns);
    ofStep.setCopies(copies);
    ArenaPlan plan = planArena(builder.findSegments(copies), room);
    int64_t left = room - plan.bytes;
    int64_t most = turns->countCopies(left);
    if (most < copies)
      continue;
    int64_t beside = turns->countCopies(left / 2);
    bool overlaps = most < job.copies && beside >= copies;
    return PlannedTurns{*turns,
                        overlaps ? beside : most,
                        overlaps,
                        {std::move(builder), ofStep, std::move(plan)}};
  }
  turns->getStep().erase();
  return std::nullopt;
}

/// Returns the bytes that a step reads from the store and writes to it.
static int64_t countMoved(const Job &job, int64_t copies,
                          ArrayRef<Planned> all) {
  int64_t bytes = 0;
  for (const Planned &planned : all) {
    if (!planned.builder.isStep())
      continue;
    for (const ArenaWindow &window : planned.plan.windows)
      bytes += window.interval.bytes *
               (int(window.evicts) + int(window.contents == Contents::stored));
    bytes *= planned.turns ? llvm::divideCeil(job.copies, copies) : 1;
  }
  return bytes;
}

/// Returns the largest number of copies in a turn that the memory plan and the
/// program's threads allow.
static int64_t getMostCopies(ModuleOp module, const Job &job) {
  MemoryPlanAttr memory = MemoryPlanAttr::get(module);
  return std::min({job.copies, job.memoryThreads,
                   memory ? memory.getCopies() : job.copies});
}

TransferNeeds hfta::measureTransfers(ModuleOp module, const Job &job) {
  std::vector<Planned> all = listSchedules(module);
  TransferNeeds needs;
  needs.copies = getMostCopies(module, job);
  needs.bytes = needs.leastBytes = plan(module, job, needs.copies, all);
  int64_t copies = needs.copies;
  while (copies > 1 && needs.leastBytes > job.memoryDevice) {
    copies /= 2;
    needs.leastBytes =
        std::min(needs.leastBytes, plan(module, job, copies, all));
  }
  needs.movedBytes = countMoved(job, copies, all);
  std::optional<PlannedTurns> planned;
  if (needs.leastBytes <= job.memoryDevice)
    planned = planTurns(module, job, copies, needs.movedBytes);
  if (planned) {
    needs.movedBytes = planned->turns.countMoved();
    needs.takesSeveralSteps = true;
    planned->turns.getStep().erase();
  }
  needs.residentBytes = countResidentBytes(module, job, needs.copies, kWhole);
  needs.residentBytesOfOne =
      countResidentBytes(module, job, /*copies=*/1, kWhole);
  needs.takesTurns = llvm::any_of(
      all, [](const Planned &planned) { return bool(planned.turns); });
  return needs;
}

namespace {
struct ScheduleTransfersPass
    : hfta::impl::HftaScheduleTransfersBase<ScheduleTransfersPass> {
  using HftaScheduleTransfersBase::HftaScheduleTransfersBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Job> job = Job::readPlanned(module);
    if (failed(job))
      return signalPassFailure();
    if (!job->hasBudget())
      return;
    if (module->hasAttr(HftaDialect::kArenaAttrName)) {
      if (failed(check(module, *job)))
        signalPassFailure();
      return;
    }
    if (failed(schedule(module, *job)))
      signalPassFailure();
  }

  /// Checks the memory again. Kernels may need more if they were lowered for
  /// another processor than the one for which transfers were planned.
  static LogicalResult check(ModuleOp module, const Job &job) {
    int64_t needed = 0;
    for (int64_t stage : findStages(module))
      needed = std::max(
          needed,
          countResidentBytes(module, job, getTurnCopies(module, job), stage) +
              countArenaBytes(module, job, stage));
    if (needed <= job.memoryDevice)
      return success();
    return module.emitError("the program needs ")
           << needed << " bytes of memory, but the budget is "
           << job.memoryDevice << ": compile the job again";
  }

  LogicalResult schedule(ModuleOp module, const Job &job) {
    int64_t bytes = 0;
    std::vector<Planned> all = listSchedules(module);
    int64_t copies = getMostCopies(module, job);
    Shortage least;
    for (; copies > 0; copies /= 2) {
      int64_t needed = plan(module, job, copies, all);
      if (needed <= job.memoryDevice)
        break;
      if (least.bytes == 0 || needed < least.bytes)
        least = {needed, findNeediest(all)};
    }
    if (copies == 0) {
      InFlightDiagnostic error = module.emitError("no plan fits into ")
                                 << job.memoryDevice
                                 << " bytes of memory: expected at least "
                                 << least.bytes;
      if (!least.task.empty())
        error << ", which task '" << least.task << "' needs";
      return failure();
    }
    std::optional<PlannedTurns> turns =
        planTurns(module, job, copies, countMoved(job, copies, all));
    for (Planned &planned : all) {
      planned.builder.build(planned.plan);
      bytes = std::max(bytes, planned.plan.bytes);
    }
    if (turns) {
      ArenaPlan &ofStep = turns->step.plan;
      turns->step.builder.build(ofStep);
      turns->turns.build(turns->copies, ofStep.bytes, turns->overlaps,
                         queues::kSends, findFirstEvent(module));
      int64_t places = turns->overlaps ? 2 : 1;
      bytes = std::max(bytes, ofStep.bytes + places * turns->turns.countBytes(
                                                          turns->copies));
    }
    module->setAttr(HftaDialect::kArenaAttrName,
                    Builder(module.getContext()).getI64IntegerAttr(bytes));
    return success();
  }
};
} // namespace
