//===- StageMemory.cpp - Memory that a stage's worker needs ---------------===//

#include "Plan/StageMemory.h"
#include "hfta/prefetch.h"

#include <map>
#include <set>

using namespace mlir;
using namespace mlir::hfta;

bool hfta::isResident(Role role) {
  return role != Role::constant && role != Role::scratch;
}

/// Returns the number of a segment's instances on the first worker of a stage.
static int64_t countInstances(SegmentAttr segment, const Job &job,
                              int64_t stage) {
  int64_t replicas = job.getReplicas(stage), own = 0;
  switch (segment.getRole()) {
  case Role::gradient:
  case Role::moment:
  case Role::result:
    own = llvm::divideCeil(job.getGroups(stage), replicas);
    break;
  case Role::received:
    own = job.getGroups(stage) - job.getGroups(stage) / replicas;
    break;
  case Role::scalar:
  case Role::exchange:
    own = job.microBatches; // also those of other replicas
    break;
  case Role::input: // one more for the next micro-batch
    own = llvm::divideCeil(job.microBatches, replicas) + 1;
    break;
  case Role::constant:
  case Role::parameter:
  case Role::optimizer_state:
  case Role::curvature:
  case Role::statistics:
  case Role::saved:
  case Role::cut:
  case Role::workspace:
  case Role::scratch:
  case Role::output:
    own = llvm::divideCeil(job.microBatches, replicas);
    break;
  }
  return std::min<int64_t>(segment.getInstances(), own);
}

namespace {
/// Numbers of a worker's segments.
struct WorkerSegments {
  std::set<int64_t> all;
  /// For segments that receive other workers' partial sums: the most bytes that
  /// are in use at a time. This is the worker's share of a reduction.
  std::map<int64_t, int64_t> received;
};
} // namespace

static void addReduce(AllReduceOp reduce, int64_t replicas,
                      WorkerSegments &segments) {
  auto block = std::max<int64_t>(1, reduce.getAt().getStride());
  int64_t blocks = static_cast<int64_t>(reduce.getBytes()) / block;
  int64_t &bytes = segments.received[reduce.getThrough().getNumber()];
  bytes = std::max<int64_t>(bytes, llvm::divideCeil(blocks, replicas) * block);
}

/// Returns the segments that a stage's schedules, and the tasks that these run,
/// access on a replica. Commands for some replicas count only for these. If
/// there is one stage, the schedules are those of the whole program.
static WorkerSegments findSegments(ModuleOp module, const Job &job,
                                   int64_t stage, int64_t replica) {
  WorkerSegments segments;
  SymbolTable symbols(module);
  int64_t wanted = job.getStageCount() == 1 ? -1 : stage;
  for (auto schedule : module.getOps<ScheduleOp>()) {
    if (static_cast<int64_t>(schedule.getStage()) != wanted)
      continue;
    schedule.walk([&](Operation *op) {
      auto only = op->getParentOfType<OnlyOp>();
      if (only && !only.getReplicas().contains(replica))
        return;
      op->getAttrDictionary().walk([&](PlaceAttr place) {
        if (place.getSpace() == Space::segment)
          segments.all.insert(place.getNumber());
      });
      if (auto reduce = dyn_cast<AllReduceOp>(op))
        addReduce(reduce, job.getReplicas(stage), segments);
      auto run = dyn_cast<RunOp>(op);
      auto task = run ? symbols.lookup<TaskOp>(run.getTask()) : TaskOp();
      if (!task)
        return;
      for (auto launch : task.getBody().getOps<LaunchOp>())
        for (auto binding : launch.getBindings().getAsRange<BindingAttr>())
          segments.all.insert(binding.getSegment());
    });
  }
  return segments;
}

/// Returns the bytes of a worker, assuming that it has as many micro-batches as
/// the stage's first worker, which has the most.
static int64_t countBytes(ModuleOp module, const Job &job, int64_t stage,
                          int64_t replica) {
  ArrayAttr table = SegmentAttr::getTable(module);
  int64_t bytes = 0;
  int64_t own = llvm::divideCeil(job.microBatches, job.getReplicas(stage));
  WorkerSegments segments = findSegments(module, job, stage, replica);
  for (int64_t number : segments.all) {
    auto segment = cast<SegmentAttr>(table[number]);
    int64_t size = segment.getBytes();
    if (ReplicasAttr holders = segment.getHolders();
        holders && !holders.contains(replica))
      continue;
    if (segment.getRole() == Role::received)
      size = job.getReplicas(stage) == 1 ? 0 : segments.received[number];
    if (isResident(segment.getRole()))
      bytes += size * countInstances(segment, job, stage);
    if (segment.getRole() == Role::input)
      bytes += HFTA_BATCHES_OF_DATA * own * size;
  }
  return bytes;
}

SmallVector<int64_t> hfta::getWorkerBytes(ModuleOp module, const Job &job) {
  SmallVector<int64_t> all;
  bool areAlike = llvm::none_of(
      SegmentAttr::getTable(module).getAsRange<SegmentAttr>(),
      [](SegmentAttr segment) { return bool(segment.getHolders()); });
  for (int64_t stage = 0; stage < job.getStageCount(); ++stage) {
    int64_t most = 0, count = areAlike ? 1 : job.getReplicas(stage);
    for (int64_t replica = 0; replica < count; ++replica)
      most = std::max(most, countBytes(module, job, stage, replica));
    all.push_back(most);
  }
  return all;
}
