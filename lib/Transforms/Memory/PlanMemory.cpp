//===- PlanMemory.cpp - Place variables and values in segments ------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Support/TaskNames.h"
#include "Hfta/Target/Target.h"
#include "Hfta/Transforms/Passes.h"
#include "Memory/AllocateIntervals.h"
#include "Memory/SegmentWriters.h"
#include "Tasks/CopyUses.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTAPLANMEMORY
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

/// The size of a cache line; also that of the widest vector.
static constexpr int64_t kAlignment = 64;

static int64_t alignTo(int64_t bytes) {
  return llvm::alignTo(bytes, kAlignment);
}

namespace {

/// The place of a value in a segment. Shared values have stride 0. `copy` is
/// the copy to which the value belongs, or -1 if it has a value for each copy
/// or is shared.
struct Place {
  int64_t segment = -1;
  int64_t offset = 0;
  int64_t stride = 0;
  int64_t copy = -1;
  bool operator==(const Place &other) const {
    return segment == other.segment && offset == other.offset &&
           stride == other.stride && copy == other.copy;
  }
  BindingAttr get(MLIRContext *context) const {
    return BindingAttr::get(context, segment, offset, stride, copy);
  }
};

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

/// The table of segments, and the places of variables in it. Values that live
/// within a step are in segments that are divided into slabs, one per copy,
/// with equal layouts. So copies may be at different places of a task, and
/// copies that run in turns use the same slabs. Shared values of these roles
/// have segments of their own.
///
/// A slab is the same for all copies. Values that some copies alone have lie
/// there where other copies have others of their own. Outside of slabs, such
/// values have segments without room for the other copies.
class SegmentTable {
public:
  /// With `putsStateInSlabs`, values that copies keep from step to step are in
  /// slabs, too.
  explicit SegmentTable(bool putsStateInSlabs)
      : putsStateInSlabs(putsStateInSlabs) {}

  /// Returns the distance of two copies' values in bytes. Scalars of all copies
  /// are packed, so that a copy axis is an array of them; a tensor of each copy
  /// begins on a cache line of its own.
  static int64_t getStride(RankedTensorType type) {
    int64_t bytes = getLogicalBytes(type);
    return type.getRank() == 0 ? bytes : alignTo(bytes);
  }
  static int64_t getBytes(VariableOp variable) {
    RankedTensorType type = variable.getTensorType();
    return isArrayed(type) ? countStoredCopies(variable) * getStride(type)
                           : getLogicalBytes(type);
  }

  /// Places a variable. The strides of slabs are known only after all variables
  /// have been placed. `writer` is the part of the tasks that write the
  /// variable first, if other stages read it (each part sends its own
  /// segments), if it is recomputed, or if evaluations read it, which may come
  /// between a step's gradients and its update.
  Place place(VariableOp variable, StringRef writer) {
    RankedTensorType type = variable.getTensorType();
    std::optional<int64_t> copies = getCopies(type);
    int64_t number =
        find(variable.getRole(), variable.getBlock(), variable.getInstances(),
             copies.has_value(), variable.getReaders().value_or(kNobody),
             writer, variable.getHoldersAttr(), variable.getResidency(),
             variable.getOnly().value_or(kNobody));
    Segment &segment = segments[number];
    if (segment.hasSlabs)
      return {number, placeInSlabs(segment, variable, *copies), 0};
    Place place{number, segment.bytes, copies ? getStride(type) : 0};
    segment.bytes += alignTo(getBytes(variable));
    return place;
  }

  Place withSlabStride(Place place) const {
    const Segment &segment = segments[place.segment];
    if (segment.hasSlabs)
      place.stride = segment.copyBytes;
    return place;
  }

  /// Returns the number of the workspace segment with slabs of at least
  /// `bytes`.
  int64_t findWorkspaceSlabs(int64_t bytes, int64_t copies) {
    int64_t number = find(Role::workspace, -1, 1, true);
    growSlabs(segments[number], bytes, copies);
    return number;
  }

  /// Returns the number of the workspace segment for `bytes` of shared values.
  int64_t findSharedWorkspace(int64_t bytes) {
    int64_t number = find(Role::workspace, -1, 1, false);
    segments[number].bytes = std::max(segments[number].bytes, bytes);
    return number;
  }

  ArrayAttr get(MLIRContext *context) const {
    SmallVector<Attribute> attributes;
    for (const Segment &segment : segments)
      attributes.push_back(SegmentAttr::get(
          context, segment.role, segment.block, segment.alignEnd(segment.bytes),
          segment.instances, segment.copyBytes, segment.only, segment.readers,
          segment.holders, segment.residency));
    return ArrayAttr::get(context, attributes);
  }

private:
  struct Segment {
    Role role;
    int64_t block, instances;
    bool hasSlabs;
    int64_t bytes = 0, copyBytes = 0;
    /// For each copy, the end of its variables in a slab.
    SmallVector<int64_t> ends = {};
    StringRef writer = {}; ///< the part of the tasks that write the segment
    SmallVector<int64_t> readers =
        {};                    ///< other stages that are sent the whole segment
    ReplicasAttr holders = {}; ///< replicas that have the segment; null: all
    Residency residency = Residency::resident;
    SmallVector<int64_t> only = {}; ///< the copies that have values in it, if
                                    ///< it has no slabs; empty: all
    /// Aligns the end of the segment, or of one of its slabs: sums of groups
    /// are added up in blocks, and segments that aren't resident are moved in
    /// pages.
    int64_t alignEnd(int64_t bytes) const {
      if (SegmentAttr::isSummed(role) && instances > 1)
        bytes = llvm::alignTo(bytes, SegmentAttr::kBlockBytes);
      return residency == Residency::resident
                 ? bytes
                 : llvm::alignTo(bytes, SegmentAttr::kPageBytes);
    }
  };

  static constexpr ArrayRef<int64_t> kNobody = {};

  int64_t find(Role role, int64_t block, int64_t instances, bool arrayed,
               ArrayRef<int64_t> readers = kNobody, StringRef writer = "",
               ReplicasAttr holders = {},
               Residency residency = Residency::resident,
               ArrayRef<int64_t> only = kNobody) {
    // A segment that isn't resident is moved for a turn's copies at a time.
    bool hasSlabs =
        arrayed && (SegmentAttr::livesWithinStep(role) ||
                    residency != Residency::resident ||
                    (putsStateInSlabs && SegmentAttr::isState(role)));
    if (hasSlabs)
      only = {};
    const auto *known = llvm::find_if(segments, [&](const Segment &segment) {
      return segment.role == role && segment.block == block &&
             segment.instances == instances && segment.hasSlabs == hasSlabs &&
             segment.readers == readers && segment.writer == writer &&
             segment.holders == holders && segment.residency == residency &&
             segment.only == only;
    });
    if (known != segments.end())
      return known - segments.begin();
    segments.push_back({role, block, instances, hasSlabs});
    segments.back().readers.assign(readers.begin(), readers.end());
    segments.back().writer = writer;
    segments.back().holders = holders;
    segments.back().residency = residency;
    segments.back().only.assign(only.begin(), only.end());
    return static_cast<int64_t>(segments.size()) - 1;
  }

  /// Places a variable in the slabs of a segment, behind the variables that its
  /// copies already have there, and returns its offset.
  static int64_t placeInSlabs(Segment &segment, VariableOp variable,
                              int64_t copies) {
    segment.ends.resize(copies);
    SmallVector<int64_t> members =
        variable.getOnly() ? llvm::to_vector(*variable.getOnly())
                           : llvm::to_vector(llvm::seq<int64_t>(0, copies));
    int64_t offset = 0;
    for (int64_t copy : members)
      offset = std::max(offset, segment.ends[copy]);
    int64_t end = offset + alignTo(getLogicalBytes(variable.getTensorType()));
    for (int64_t copy : members)
      segment.ends[copy] = end;
    growSlabs(segment, segment.alignEnd(end), copies);
    return offset;
  }

  static void growSlabs(Segment &segment, int64_t copyBytes, int64_t copies) {
    segment.copyBytes = std::max(segment.copyBytes, copyBytes);
    segment.bytes = segment.copyBytes * copies;
  }

  bool putsStateInSlabs;
  SmallVector<Segment, 0> segments;
};

//===----------------------------------------------------------------------===//
// One task
//===----------------------------------------------------------------------===//

} // namespace

/// Returns the place of the accessed variable, or of the accessed copy of it.
template <typename AccessOp>
static Place getAccessedPlace(const llvm::StringMap<Place> &variables,
                              AccessOp access) {
  Place place = variables.lookup(access.getVariable());
  if (std::optional<int64_t> copy = access.getCopy(); copy && place.stride)
    place.copy = *copy;
  return place;
}

namespace {

/// The live range of a value between kernels of one task, from its first op to
/// its last.
struct Interval : LiveInterval {
  Interval(Value value, int64_t bytes, int64_t first, int64_t last)
      : LiveInterval{bytes, first, last}, value(value) {}
  Value value;
};

class TaskPlanner {
public:
  TaskPlanner(func::FuncOp task, const llvm::StringMap<Place> &variables,
              SegmentTable &segments)
      : task(task), variables(variables), segments(segments) {}

  LogicalResult plan();

private:
  LogicalResult checkReads();
  void placeViews();
  void placeResults(KernelOp kernel);
  bool placeInVariable(KernelOp kernel, unsigned result, WriteOp write);
  std::optional<int64_t> findTie(KernelOp kernel, unsigned result,
                                 const Place &place);
  bool isReadLater(KernelOp kernel, WriteOp write);
  int64_t getLastUse(Value value);
  void addInterval(Value value, int64_t first);
  void allocateWorkspace();
  void annotate(KernelOp kernel);
  template <typename AccessOp>
  Place getVariablePlace(AccessOp access) {
    return getAccessedPlace(variables, access);
  }

  func::FuncOp task;
  const llvm::StringMap<Place> &variables;
  SegmentTable &segments;
  DenseMap<Operation *, int64_t> position;
  /// The reads of each variable, in program order.
  llvm::StringMap<SmallVector<ReadOp, 1>> reads;
  llvm::StringMap<SmallVector<WriteOp, 1>> writes;
  DenseMap<Value, Place> places;
  DenseMap<Value, int64_t> ties;
  /// Values that need memory in the workspace, for each copy or for all copies
  /// together.
  SmallVector<Interval> arrayed, shared;
};

} // namespace

/// Checks that no value that was read is used after its variable was written,
/// except by the kernel that computes the written value.
LogicalResult TaskPlanner::checkReads() {
  for (auto read : task.getOps<ReadOp>())
    for (WriteOp write : writes.lookup(read.getVariable())) {
      if (!mayAccessSameCopy(read, write) || position[write] < position[read])
        continue;
      if (getLastUse(read) > position[write])
        return read.emitError("value of '")
               << read.getVariable()
               << "' is used after the variable was written";
    }
  return success();
}

int64_t TaskPlanner::getLastUse(Value value) {
  int64_t last = position.lookup(value.getDefiningOp());
  for (Operation *user : value.getUsers()) {
    last = std::max(last, position.lookup(user));
    if (isa<ReshapeOp, UnstackOp, StackOp>(user))
      last = std::max(last, getLastUse(user->getResult(0)));
  }
  return last;
}

//===----------------------------------------------------------------------===//
// Results in variables
//===----------------------------------------------------------------------===//

/// Returns whether all ops that depend on `argument` work element by element.
static bool isElementwiseIn(Value argument) {
  auto type = cast<RankedTensorType>(argument.getType());
  return llvm::all_of(argument.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<YieldOp>(user))
      return true;
    auto updating = dyn_cast<UpdatingOpInterface>(user);
    bool isUpdated = updating && updating.updates(use.getOperandNumber());
    return (isUpdated || isa<ElementwiseOpInterface>(user)) &&
           cast<RankedTensorType>(user->getResult(0).getType()).getShape() ==
               type.getShape() &&
           llvm::all_of(user->getResults(), isElementwiseIn);
  });
}

std::optional<int64_t> TaskPlanner::findTie(KernelOp kernel, unsigned result,
                                            const Place &place) {
  Value yielded = kernel.getBody().front().getTerminator()->getOperand(result);
  int64_t tie = -1;
  for (auto [index, input] : llvm::enumerate(kernel.getInputs())) {
    auto known = places.find(input);
    if (known == places.end() || !(known->second == place))
      continue;
    Value argument = kernel.getBody().getArgument(index);
    // Several inputs may be at this place, as the variable may have been read
    // more than once.
    if (argument.getType() != yielded.getType() || !isElementwiseIn(argument))
      return std::nullopt;
    if (tie < 0)
      tie = index;
  }
  return tie;
}

/// Returns whether the variable's old value is used between the kernel and the
/// write.
bool TaskPlanner::isReadLater(KernelOp kernel, WriteOp write) {
  for (ReadOp read : reads.lookup(write.getVariable())) {
    if (!mayAccessSameCopy(read, write))
      continue;
    if (getLastUse(read) > position[kernel] && position[read] < position[write])
      return true;
    // The kernel may read the variable through a view, in which findTie()
    // doesn't recognize the variable.
    for (Operation *user : read->getUsers())
      if (isa<ReshapeOp, UnstackOp>(user) &&
          getLastUse(user->getResult(0)) == position[kernel])
        return true;
  }
  return false;
}

static bool isOfEachCopy(const Place &place) {
  return place.stride != 0 && place.copy < 0;
}

bool TaskPlanner::placeInVariable(KernelOp kernel, unsigned result,
                                  WriteOp write) {
  Place place = getVariablePlace(write);
  Value value = kernel.getResult(result);
  // A kernel may write a shared value to every copy only if it has no other
  // results and the value no other uses, which would expect a single place.
  auto goesToCopies = [&](Value result) {
    auto only = result.hasOneUse() ? dyn_cast<WriteOp>(*result.user_begin())
                                   : WriteOp();
    return !isArrayed(result) && only && isOfEachCopy(getVariablePlace(only));
  };
  if (isOfEachCopy(place) && !isArrayed(value) &&
      !llvm::all_of(kernel.getResults(), goesToCopies))
    return false;
  if (isReadLater(kernel, write))
    return false;
  std::optional<int64_t> tie = findTie(kernel, result, place);
  if (!tie)
    return false;
  places[value] = place;
  ties[value] = *tie;
  return true;
}

void TaskPlanner::placeResults(KernelOp kernel) {
  for (OpResult result : kernel->getResults()) {
    if (places.contains(result))
      continue;
    ties[result] = -1;
    bool placed = false;
    for (Operation *user : result.getUsers())
      if (auto write = dyn_cast<WriteOp>(user))
        placed = placeInVariable(kernel, result.getResultNumber(), write);
    if (placed)
      continue;
    addInterval(result, position[kernel]);
  }
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// Places the values that are views of other values, in program order.
void TaskPlanner::placeViews() {
  for (Operation &op : task.getBody().front()) {
    if (auto read = dyn_cast<ReadOp>(op))
      places[read] = getVariablePlace(read);
    else if (auto reshape = dyn_cast<ReshapeOp>(op)) {
      // The place is copied first, as the map may move when it grows.
      if (auto known = places.find(reshape.getInput()); known != places.end()) {
        Place place = known->second;
        places[reshape] = place;
      }
    } else if (auto unstack = dyn_cast<UnstackOp>(op)) {
      auto known = places.find(unstack.getInput());
      if (known == places.end())
        continue;
      Place place = known->second;
      place.copy = unstack.getCopy();
      places[unstack] = place;
    } else if (auto stack = dyn_cast<StackOp>(op)) {
      auto known = places.find(stack.getResult());
      if (known == places.end())
        continue;
      for (auto [copy, input] : llvm::enumerate(stack.getInputs())) {
        Place place = known->second;
        place.copy = static_cast<int64_t>(copy);
        places[input] = place;
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Workspace
//===----------------------------------------------------------------------===//

static int64_t allocate(MutableArrayRef<Interval> intervals) {
  SmallVector<LiveInterval *> all;
  for (Interval &interval : intervals)
    all.push_back(&interval);
  return allocateIntervals(all);
}

void TaskPlanner::allocateWorkspace() {
  if (!arrayed.empty()) {
    int64_t slab = allocate(arrayed);
    int64_t segment = segments.findWorkspaceSlabs(
        slab, *getCopies(arrayed.front().value.getType()));
    for (const Interval &interval : arrayed)
      places[interval.value] = {segment, interval.offset, slab};
  }
  if (!shared.empty()) {
    int64_t segment = segments.findSharedWorkspace(allocate(shared));
    for (const Interval &interval : shared)
      places[interval.value] = {segment, interval.offset, 0};
  }
}

/// Adds a value that needs memory in the workspace from op `first` on.
void TaskPlanner::addInterval(Value value, int64_t first) {
  auto type = cast<RankedTensorType>(value.getType());
  Interval interval(value, alignTo(getLogicalBytes(type)), first,
                    getLastUse(value));
  (isArrayed(type) ? arrayed : shared).push_back(interval);
}

void TaskPlanner::annotate(KernelOp kernel) {
  MLIRContext *context = kernel.getContext();
  SmallVector<Attribute> bindings;
  SmallVector<int64_t> tied;
  for (Value input : kernel.getInputs())
    bindings.push_back(places.lookup(input).get(context));
  for (Value result : kernel.getResults()) {
    auto tie = ties.find(result);
    tied.push_back(tie == ties.end() ? -1 : tie->second);
    if (tied.back() < 0)
      bindings.push_back(places.lookup(result).get(context));
  }
  kernel.setBindingsAttr(ArrayAttr::get(context, bindings));
  kernel.setTies(tied);
}

LogicalResult TaskPlanner::plan() {
  int64_t next = 0;
  for (Operation &op : task.getBody().front()) {
    position[&op] = next++;
    if (auto read = dyn_cast<ReadOp>(op))
      reads[read.getVariable()].push_back(read);
    else if (auto write = dyn_cast<WriteOp>(op))
      writes[write.getVariable()].push_back(write);
  }
  if (failed(checkReads()))
    return failure();
  // Stacks come first, because their inputs are computed in the stack's memory.
  for (auto stack : task.getOps<StackOp>()) {
    int64_t first = position[stack];
    for (Value input : stack.getInputs()) {
      first = std::min(first, position[input.getDefiningOp()]);
      places[input] = {};
    }
    addInterval(stack.getResult(), first);
  }
  placeViews();
  for (auto kernel : task.getOps<KernelOp>())
    placeResults(kernel);
  allocateWorkspace();
  placeViews();
  for (auto kernel : task.getOps<KernelOp>())
    annotate(kernel);
  return success();
}

//===----------------------------------------------------------------------===//
// Writes that could not be computed in place
//===----------------------------------------------------------------------===//

/// Inserts a kernel that copies the value that `write` stores.
static void copyForWrite(WriteOp write) {
  OpBuilder builder(write);
  auto copy = KernelOp::create(
      builder, write.getLoc(), write.getValue().getType(), "copy",
      write.getValue(), ArrayAttr(), DenseI64ArrayAttr());
  Block &body = copy.getBody().emplaceBlock();
  Value argument = body.addArgument(getLogicalType(write.getValue().getType()),
                                    write.getLoc());
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  YieldOp::create(inner, write.getLoc(), argument);
  write.getValueMutable().assign(copy.getResult(0));
}

namespace {
struct PlanMemoryPass : hfta::impl::HftaPlanMemoryBase<PlanMemoryPass> {
  using HftaPlanMemoryBase::HftaPlanMemoryBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const Target *target = Target::read(module);
    if (!target)
      return signalPassFailure();
    SegmentTable segments(target->getForming().putsStateInSlabs);
    llvm::StringMap<Place> variables;
    FailureOr<llvm::StringMap<StringRef>> writers = findSegmentWriters(module);
    if (failed(writers))
      return signalPassFailure();
    for (auto variable : module.getOps<VariableOp>())
      variables[variable.getSymName()] =
          segments.place(variable, writers->lookup(variable.getSymName()));
    for (auto variable : module.getOps<VariableOp>()) {
      Place &place = variables[variable.getSymName()];
      place = segments.withSlabStride(place);
      place.copy = variable.getCopy().value_or(-1);
      variable.setLocationAttr(place.get(&getContext()));
    }
    for (auto function : module.getOps<func::FuncOp>()) {
      if (!function->hasAttr(HftaDialect::kTaskAttrName))
        continue;
      if (failed(planTask(function, variables, segments)))
        return signalPassFailure();
    }
    module->setAttr(HftaDialect::kSegmentsAttrName,
                    segments.get(&getContext()));
  }

  /// Plans a task. If a written value could not be placed in its variable,
  /// inserts a copy and plans again.
  LogicalResult planTask(func::FuncOp task,
                         const llvm::StringMap<Place> &variables,
                         SegmentTable &segments) {
    while (true) {
      SegmentTable trial = segments;
      if (failed(TaskPlanner(task, variables, trial).plan()))
        return failure();
      bool changed = false;
      for (auto write : llvm::to_vector(task.getOps<WriteOp>())) {
        if (liesInVariable(write, variables))
          continue;
        copyForWrite(write);
        changed = true;
      }
      if (!changed) {
        segments = trial;
        return success();
      }
    }
  }

  static bool liesInVariable(WriteOp write,
                             const llvm::StringMap<Place> &variables) {
    auto result = cast<OpResult>(write.getValue());
    auto kernel = dyn_cast<KernelOp>(result.getOwner());
    if (!kernel)
      return false;
    Place place = getAccessedPlace(variables, write);
    ArrayRef<int64_t> ties = *kernel.getTies();
    unsigned number = kernel.getInputs().size();
    int64_t tie = ties[result.getResultNumber()];
    if (tie < 0) {
      for (unsigned i = 0; i < result.getResultNumber(); ++i)
        number += ties[i] < 0;
    } else {
      number = tie;
    }
    return kernel.getBindingsAttr()[number] == place.get(write.getContext());
  }
};
} // namespace
