//===- MemoryNeeds.cpp - Memory that a program has all the time -----------===//

#include "Hfta/Transforms/MemoryNeeds.h"

#include "Hfta/Conversion/LowerKernels.h"
#include "Hfta/Dialect/Hfta/IR/TaskNames.h"
#include "Hfta/Dialect/Hfta/IR/VariableIndex.h"
#include "ScheduleTraversal.h"
#include "hfta/data.h"
#include "hfta/store.h"

#include <map>
#include <set>

using namespace mlir;
using namespace mlir::hfta;

/// How far tasks reach into each workspace, or into its slabs.
static std::map<int64_t, int64_t> findReach(ModuleOp module) {
  ArrayAttr table = SegmentAttr::getTable(module);
  std::map<int64_t, int64_t> reach;
  for (auto task : module.getOps<TaskOp>()) {
    std::optional<ArrayRef<int64_t>> bytes = task.getWorkspace();
    for (auto [index, number] : llvm::enumerate(task.findWorkspaces())) {
      int64_t all = cast<SegmentAttr>(table[number]).getUnitBytes();
      reach[number] = std::max(reach[number], bytes ? (*bytes)[index] : all);
    }
  }
  return reach;
}

/// Segments in which some schedule keeps a slab for each copy.
static std::set<int64_t> findKept(ModuleOp module) {
  std::set<int64_t> kept;
  for (auto schedule : module.getOps<ScheduleOp>())
    kept.insert(schedule.getKeeps().begin(), schedule.getKeeps().end());
  return kept;
}

/// Of the batches that the host holds.
static int64_t countBatches(ModuleOp module, const Job &job) {
  int64_t bytes = 0;
  VariableIndex variables(module);
  for (const DataField &field : job.data)
    if (VariableOp variable = variables.lookup(Purpose::field, field.name))
      bytes += HFTA_BATCHES_OF_DATA * job.microBatches *
               getLogicalBytes(variable.getTensorType());
  return bytes;
}

/// What a thread's kernels are taken to need where they haven't been lowered.
/// Unit: bytes; the seven networks that are measured have 20 to 130 KiB.
static constexpr int64_t kAssumedScratch = 128 << 10;

std::optional<int64_t> hfta::findScratch(ModuleOp module) {
  SymbolTable symbols(module);
  int64_t most = 0;
  WalkResult result = module.walk([&](LaunchOp launch) {
    Operation *kernel = symbols.lookup(launch.getKernel());
    auto bytes = kernel
                     ? kernel->getAttrOfType<IntegerAttr>(kScratchBytesAttrName)
                     : IntegerAttr();
    most = std::max(most, bytes ? bytes.getInt() : 0);
    return bytes ? WalkResult::advance() : WalkResult::interrupt();
  });
  return result.wasInterrupted() ? std::nullopt : std::optional(most);
}

/// Of a thread: what kernels say, or what is noted on the module.
static int64_t countScratch(ModuleOp module) {
  if (std::optional<int64_t> bytes = findScratch(module))
    return *bytes;
  auto noted = module->getAttrOfType<IntegerAttr>(kScratchBytesAttrName);
  return noted ? noted.getInt() : kAssumedScratch;
}

static bool takesTurns(ModuleOp module) {
  WalkResult result = module.walk([](RepeatOp repeat) {
    return repeat.getOver() == RepeatKind::turns ? WalkResult::interrupt()
                                                 : WalkResult::advance();
  });
  return result.wasInterrupted();
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

/// What the store of all spilled segments needs of memory: an extent a slab, or
/// an instance that has none.
static int64_t countStoreBytes(ModuleOp module, const Job &job) {
  int64_t extents = 0, bytes = 0;
  for (auto segment : SegmentAttr::getTable(module).getAsRange<SegmentAttr>()) {
    if (segment.getResidency() != Residency::spilled)
      continue;
    int64_t slabs = segment.getCopyBytes() > 0 ? job.copies : 1;
    extents += slabs * segment.getInstances();
    bytes += segment.getBytes() * segment.getInstances();
  }
  return extents > 0 ? static_cast<int64_t>(hfta_store_overhead(extents, bytes))
                     : 0;
}

/// Bytes that a command adds up at a time, in turns of so many copies.
static int64_t countReduced(AllReduceOp reduce, SegmentAttr segment,
                            int64_t copies) {
  auto bytes = static_cast<int64_t>(reduce.getBytes());
  if (segment.isResident() || !reduce->getParentOfType<RepeatOp>())
    return bytes;
  int64_t place = copies * segment.getCopyBytes();
  return std::clamp<int64_t>(place - reduce.getAt().getOffset(), 0, bytes);
}

/// What a rank receives of others' sums at a time, where there are so many.
static int64_t countReceived(ModuleOp module, const Job &job, int64_t stage,
                             int64_t ranks, int64_t copies) {
  ArrayAttr table = SegmentAttr::getTable(module);
  int64_t most = 0;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    StageRank share(job.getReplicas(stage), rank, ranks);
    int64_t others =
        llvm::count_if(llvm::seq<int64_t>(0, job.getGroups(stage)),
                       [&](int64_t group) { return !share.hasGroup(group); });
    module.walk([&](AllReduceOp reduce) {
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
                                 int64_t copies) {
  std::map<int64_t, int64_t> reach = findReach(module);
  std::set<int64_t> kept = findKept(module);
  int64_t slabs = takesTurns(module) ? copies : job.copies;
  int64_t bytes = countBatches(module, job) + countStoreBytes(module, job) +
                  countScratch(module) * job.memoryThreads;
  int64_t received = 0;
  for (int64_t ranks = 2; ranks <= job.getReplicas(/*stage=*/0); ++ranks)
    received = std::max(received,
                        countReceived(module, job, /*stage=*/0, ranks, copies));
  bytes += received;
  for (auto [index, segment] : llvm::enumerate(
           SegmentAttr::getTable(module).getAsRange<SegmentAttr>())) {
    Role role = segment.getRole();
    if (!segment.isResident() || role == Role::constant ||
        role == Role::scratch || role == Role::received)
      continue;
    auto number = static_cast<int64_t>(index);
    int64_t unit = role == Role::workspace ? reach[number]
                                           : int64_t(segment.getUnitBytes());
    if (int64_t slab = segment.getCopyBytes(); slab != 0 && unit != 0)
      unit += ((kept.count(number) ? job.copies : slabs) - 1) * slab;
    bytes += unit * segment.getInstances();
  }
  return bytes;
}
