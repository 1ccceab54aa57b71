//===- MemoryNeeds.cpp - Memory that a program needs all the time ---------===//

#include "Hfta/Transforms/Spill/MemoryNeeds.h"

#include "Hfta/Dialect/Hfta/IR/VariableIndex.h"
#include "Hfta/Support/TaskNames.h"
#include "Schedule/ScheduleTraversal.h"
#include "hfta/prefetch.h"
#include "hfta/store.h"

#include <map>
#include <set>

using namespace mlir;
using namespace mlir::hfta;

namespace {
/// The segments that a worker needs for its schedules.
struct Worker {
  ModuleOp module;
  const Job &job;
  int64_t stage; ///< -1: runs schedules that belong to no stage
  std::set<int64_t> used = {};
  /// Segments in which some schedule keeps a slab for each copy.
  std::set<int64_t> kept = {};
  /// The most bytes that a task uses of each workspace segment, or of its
  /// slabs.
  std::map<int64_t, int64_t> reach = {};
  bool takesTurns = false;

  /// Returns whether the worker has the segment.
  bool has(int64_t number) const;
};
} // namespace

/// With several stages, each has the segments that it uses. The process that
/// runs what belongs to no stage also has the segments of the whole model that
/// live longer than a step.
bool Worker::has(int64_t number) const {
  auto segment = cast<SegmentAttr>(SegmentAttr::getTable(module)[number]);
  Role role = segment.getRole();
  if (job.getStageCount() == 1 || used.count(number))
    return true;
  return stage < 0 &&
         (role == Role::parameter || role == Role::statistics ||
          !SegmentAttr::livesWithinStep(role)) &&
         role != Role::optimizer_state && role != Role::curvature;
}

static void addTask(TaskOp task, ArrayAttr table, Worker &worker) {
  worker.used.insert(task.getReads().begin(), task.getReads().end());
  worker.used.insert(task.getWrites().begin(), task.getWrites().end());
  std::optional<ArrayRef<int64_t>> bytes = task.getWorkspace();
  for (auto [index, number] : llvm::enumerate(task.findWorkspaces())) {
    int64_t all = cast<SegmentAttr>(table[number]).getUnitBytes();
    int64_t &reach = worker.reach[number];
    reach = std::max(reach, bytes ? (*bytes)[index] : all);
    worker.used.insert(number);
  }
}

static Worker findWorker(ModuleOp module, const Job &job, int64_t stage) {
  Worker worker = {module, job, stage};
  ArrayAttr table = SegmentAttr::getTable(module);
  SymbolTable symbols(module);
  for (auto schedule : module.getOps<ScheduleOp>()) {
    if (static_cast<int64_t>(schedule.getStage()) != stage)
      continue;
    worker.kept.insert(schedule.getKeeps().begin(), schedule.getKeeps().end());
    schedule.walk([&](Operation *op) {
      auto repeat = dyn_cast<RepeatOp>(op);
      worker.takesTurns |= repeat && repeat.getOver() == RepeatKind::turns;
      if (auto run = dyn_cast<RunOp>(op))
        addTask(symbols.lookup<TaskOp>(run.getTask()), table, worker);
      op->getAttrDictionary().walk([&](PlaceAttr place) {
        if (place.getSpace() == Space::segment)
          worker.used.insert(place.getNumber());
      });
    });
  }
  return worker;
}

/// Returns the bytes of the batches of data that the host holds.
static int64_t countBatches(const Worker &worker) {
  int64_t bytes = 0;
  VariableIndex variables(worker.module);
  for (const DataField &field : worker.job.data)
    if (VariableOp variable = variables.lookup(Purpose::field, field.name);
        variable && worker.has(variable.getLocation()->getSegment()))
      bytes += HFTA_BATCHES_OF_DATA * worker.job.microBatches *
               getLogicalBytes(variable.getTensorType());
  return bytes;
}

/// The scratch memory, in bytes, that is assumed for a thread whose kernels
/// haven't been lowered. Seven networks that were measured need 20 to 130 KiB.
static constexpr int64_t kAssumedScratch = 128 << 10;

std::optional<int64_t> hfta::findScratch(ModuleOp module) {
  SymbolTable symbols(module);
  int64_t most = 0;
  WalkResult result = module.walk([&](LaunchOp launch) {
    Operation *kernel = symbols.lookup(launch.getKernel());
    auto bytes = kernel ? kernel->getAttrOfType<IntegerAttr>(
                              HftaDialect::kScratchBytesAttrName)
                        : IntegerAttr();
    most = std::max(most, bytes ? bytes.getInt() : 0);
    return bytes ? WalkResult::advance() : WalkResult::interrupt();
  });
  return result.wasInterrupted() ? std::nullopt : std::optional(most);
}

/// Returns the scratch memory of a thread in bytes, from the kernels or as
/// noted on the module.
static int64_t countScratch(ModuleOp module) {
  if (std::optional<int64_t> bytes = findScratch(module))
    return *bytes;
  auto noted =
      module->getAttrOfType<IntegerAttr>(HftaDialect::kScratchBytesAttrName);
  return noted ? noted.getInt() : kAssumedScratch;
}

int64_t hfta::getTurnCopies(ModuleOp module, const Job &job) {
  int64_t copies = job.copies;
  for (auto schedule : module.getOps<ScheduleOp>())
    if (schedule.getKind() == schedules::kStep)
      schedule.walk([&](RepeatOp repeat) {
        copies = repeat.getCopies().value_or(copies);
      });
  return copies;
}

/// Returns the memory, in bytes, that the store needs to manage all spilled
/// segments. It has an extent for each slab, or for each instance without
/// slabs.
static int64_t countStoreBytes(const Worker &worker) {
  int64_t extents = 0, bytes = 0;
  for (auto [index, segment] : llvm::enumerate(
           SegmentAttr::getTable(worker.module).getAsRange<SegmentAttr>())) {
    if (segment.getResidency() != Residency::spilled ||
        !worker.has(static_cast<int64_t>(index)))
      continue;
    int64_t slabs = segment.getCopyBytes() > 0 ? worker.job.copies : 1;
    extents += slabs * segment.getInstances();
    bytes += segment.getBytes() * segment.getInstances();
  }
  return extents > 0 ? static_cast<int64_t>(hfta_store_overhead(extents, bytes))
                     : 0;
}

/// Returns the bytes that a command adds up at a time if a turn has `copies`
/// copies.
static int64_t countReduced(AllReduceOp reduce, SegmentAttr segment,
                            int64_t copies) {
  auto bytes = static_cast<int64_t>(reduce.getBytes());
  if (segment.isResident() || !reduce->getParentOfType<RepeatOp>())
    return bytes;
  int64_t place = copies * segment.getCopyBytes();
  return std::clamp<int64_t>(place - reduce.getAt().getOffset(), 0, bytes);
}

/// Returns the most bytes of other ranks' sums that a rank receives at a time,
/// if there are `ranks` ranks.
static int64_t countReceived(const Worker &worker, int64_t ranks,
                             int64_t copies) {
  ArrayAttr table = SegmentAttr::getTable(worker.module);
  const Job &job = worker.job;
  int64_t stage = std::max<int64_t>(worker.stage, 0), most = 0;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    StageRank share(job.getReplicas(stage), rank, ranks);
    int64_t others =
        llvm::count_if(llvm::seq<int64_t>(0, job.getGroups(stage)),
                       [&](int64_t group) { return !share.hasGroup(group); });
    ModuleOp(worker.module).walk([&](AllReduceOp reduce) {
      auto schedule = reduce->getParentOfType<ScheduleOp>();
      if (static_cast<int64_t>(schedule.getStage()) != worker.stage)
        return;
      PlaceAttr at = reduce.getAt();
      int64_t bytes = countReduced(
          reduce, cast<SegmentAttr>(table[at.getNumber()]), copies);
      int64_t blocks = llvm::divideCeil(bytes / at.getStride(), ranks);
      most = std::max(most, others * blocks * at.getStride());
    });
  }
  return most;
}

int64_t hfta::countResidentBytes(ModuleOp module, const Job &job,
                                 int64_t copies, int64_t stage) {
  Worker worker = findWorker(module, job, stage);
  int64_t slabs = worker.takesTurns ? copies : job.copies;
  int64_t bytes = countBatches(worker) + countStoreBytes(worker) +
                  countScratch(module) * job.memoryThreads;
  int64_t replicas = job.getReplicas(std::max<int64_t>(stage, 0)), received = 0;
  for (int64_t ranks = 2; ranks <= replicas; ++ranks)
    received = std::max(received, countReceived(worker, ranks, copies));
  bytes += received;
  for (auto [index, segment] : llvm::enumerate(
           SegmentAttr::getTable(module).getAsRange<SegmentAttr>())) {
    Role role = segment.getRole();
    auto number = static_cast<int64_t>(index);
    if (!segment.isResident() || role == Role::constant ||
        role == Role::scratch || role == Role::received || !worker.has(number))
      continue;
    int64_t unit = role == Role::workspace ? worker.reach[number]
                                           : int64_t(segment.getUnitBytes());
    if (int64_t slab = segment.getCopyBytes(); slab != 0 && unit != 0)
      unit += ((worker.kept.count(number) ? job.copies : slabs) - 1) * slab;
    bytes += unit * segment.getInstances();
  }
  return bytes;
}

int64_t hfta::countCopiesAtOnce(Operation *command, const Job &job) {
  for (auto repeat = command->getParentOfType<RepeatOp>(); repeat;
       repeat = repeat->getParentOfType<RepeatOp>())
    if (repeat.getOver() == RepeatKind::turns)
      return repeat.getCopies().value_or(job.copies);
  return job.copies;
}

int64_t hfta::countArenaBytes(ModuleOp module, const Job &job, int64_t stage) {
  if (job.getStageCount() == 1)
    return module->getAttrOfType<IntegerAttr>(HftaDialect::kArenaAttrName)
        .getInt();
  ArrayAttr table = SegmentAttr::getTable(module);
  int64_t most = 0;
  module.walk([&](FetchOp fetch) {
    auto schedule = fetch->getParentOfType<ScheduleOp>();
    if (static_cast<int64_t>(schedule.getStage()) != stage)
      return;
    auto segment = cast<SegmentAttr>(table[fetch.getSegment()]);
    int64_t slabs =
        segment.getCopyBytes() > 0 ? countCopiesAtOnce(fetch, job) : 1;
    int64_t bytes = segment.getUnitBytes() * slabs *
                    static_cast<int64_t>(fetch.getInstances());
    most = std::max(most, static_cast<int64_t>(fetch.getAddress()) + bytes);
  });
  return most;
}

std::set<int64_t> hfta::findWorkerSegments(ModuleOp module, const Job &job,
                                           int64_t stage) {
  Worker worker = findWorker(module, job, stage);
  std::set<int64_t> segments;
  auto count = static_cast<int64_t>(SegmentAttr::getTable(module).size());
  for (int64_t number = 0; number < count; ++number)
    if (worker.has(number))
      segments.insert(number);
  return segments;
}
