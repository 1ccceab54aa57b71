//===- Schedule.cpp - The order of a step and what goes to the host -------===//
//
// Commands of queue 0 run tasks; queue 1 brings the fields of one micro-batch
// while those of the one before are used, also where that is the next step's.
// Two events order the queues: `uploaded`, that a micro-batch is in its place,
// and `used`, that tasks need their place no longer. Where a step has several
// groups, queue 2 adds their sums up, block by block, as soon as the last
// backward of a block is done, and tasks go on with a block as soon as its sums
// are there.
//===----------------------------------------------------------------------===//

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/IR/Job.h"
#include "Hfta/Dialect/Hfta/IR/TaskNames.h"
#include "Hfta/Dialect/Hfta/IR/VariableIndex.h"
#include "Hfta/Transforms/Passes.h"
#include "ScheduledSums.h"
#include "ScheduledTasks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

namespace mlir::hfta {
#define GEN_PASS_DEF_HFTASCHEDULE
#include "Hfta/Transforms/Passes.h.inc"
} // namespace mlir::hfta

using namespace mlir;
using namespace mlir::hfta;

static constexpr int64_t kTasks = 0, kUploads = 1, kSums = 2;     // queues
static constexpr int64_t kUploaded = 0, kUsed = 1, kGathered = 2; // events
/// Of the results, and from these on two a block: the groups' sums are
/// complete, and they are added up.
static constexpr int64_t kComplete = 3, kSummed = 4;

namespace {

/// Builds schedules, each command at the end of the innermost open region.
class ScheduleBuilder {
public:
  ScheduleBuilder(ModuleOp module, const Job &job)
      : module(module), job(job), builder(module.getContext()),
        sums(module, job) {
    for (auto task : module.getOps<TaskOp>())
      tasks[task.getPart().str()].push_back(task);
    for (auto &entry : tasks)
      llvm::stable_sort(entry.second, [](TaskOp a, TaskOp b) {
        return a.getBlock() < b.getBlock();
      });
  }

  void build();

private:
  using Body = llvm::function_ref<void()>;

  void buildSchedule(StringRef name, Body body);
  void buildInitialize();
  void buildStep();
  void buildAccumulate();
  void buildUpdate();
  void buildEvaluate();
  void buildInfer();

  void forwardBackward();
  void backward();
  void accumulate();
  void finishMicroBatches(bool alsoGradients);
  void update();
  void runUpdate();
  void reportLosses();

  void repeat(RepeatKind over, Body body);
  void overMicroBatches(Body body);
  void overUploads(Body body);
  void inTurnsIf(bool byCopies, Body body);
  void run(TaskOp task);
  void runAll(StringRef part);
  void uploadFields(int64_t ahead);
  void uploadPorts();
  void uploadScalars(bool ofMicroBatches);
  void sumUp(Role role, int64_t block, bool isInStep = true);
  void sumUpGradients(bool isInStep);
  void awaitSums(Role role, int64_t block);
  void gatherStatistics();
  void clearResults();
  void downloadResults();
  void record(int64_t event, int64_t queue);
  void await(int64_t event, int64_t queue);
  void transfer(int64_t bytes, PlaceAttr from, PlaceAttr to, int64_t queue,
                int64_t ahead = 0);

  ArrayRef<TaskOp> getTasks(StringRef part) const {
    auto known = tasks.find(part.str());
    return known == tasks.end() ? ArrayRef<TaskOp>() : ArrayRef(known->second);
  }
  /// Whether all of these tasks may run for some copies, then for others.
  bool runByCopies(ArrayRef<StringRef> someParts) const {
    return llvm::all_of(someParts, [&](StringRef part) {
      return llvm::all_of(getTasks(part),
                          [](TaskOp task) { return task.getByCopies(); });
    });
  }
  /// Whether workers that compute other micro-batches must give each other what
  /// running statistics take from them.
  bool gathers() const {
    return job.getReplicas() > 1 && !getTasks(parts::kStatistics).empty();
  }
  /// Whether a copy goes through the whole step before the next one begins.
  bool stepsByCopies() const {
    return job.microBatches == 1 &&
           runByCopies({parts::kForward, parts::kBackward, parts::kStatistics,
                        parts::kNorm, parts::kClip, parts::kUpdate});
  }
  /// Gives each segment of a role, by number.
  void forSegments(Role role,
                   llvm::function_ref<void(int64_t, SegmentAttr)> visit) {
    for (auto [number, attribute] :
         llvm::enumerate(SegmentAttr::getTable(module)))
      if (auto segment = cast<SegmentAttr>(attribute);
          segment.getRole() == role && segment.getBytes() > 0)
        visit(static_cast<int64_t>(number), segment);
  }
  PlaceAttr getPlace(Space space, int64_t number, int64_t offset = 0,
                     int64_t stride = 0) {
    return PlaceAttr::get(module.getContext(), space, number, offset, stride);
  }
  Location getLoc() { return module.getLoc(); }

  ModuleOp module;
  const Job &job;
  OpBuilder builder;
  ScheduledSums sums;
  std::map<std::string, SmallVector<TaskOp>> tasks;
  int64_t stage = -1; ///< of the schedule; -1: the whole program
};

} // namespace

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

void ScheduleBuilder::run(TaskOp task) {
  RunOp::create(builder, task.getLoc(), task.getSymName());
}

void ScheduleBuilder::runAll(StringRef part) {
  for (TaskOp task : getTasks(part))
    run(task);
}

void ScheduleBuilder::repeat(RepeatKind over, Body body) {
  auto op = RepeatOp::create(builder, getLoc(), over);
  OpBuilder::InsertionGuard guard(builder);
  Block &block = op.getBody().emplaceBlock();
  builder.setInsertionPointToEnd(&block);
  body();
  if (!block.empty())
    return;
  builder.setInsertionPoint(op);
  op.erase();
}

void ScheduleBuilder::overMicroBatches(Body body) {
  repeat(RepeatKind::micro_batches, body);
}

void ScheduleBuilder::inTurnsIf(bool byCopies, Body body) {
  if (byCopies)
    repeat(RepeatKind::turns, body);
  else
    body();
}

void ScheduleBuilder::record(int64_t event, int64_t queue) {
  RecordOp::create(builder, getLoc(), event, /*instances=*/1, /*ahead=*/0,
                   /*device=*/0, queue);
}

void ScheduleBuilder::await(int64_t event, int64_t queue) {
  AwaitOp::create(builder, getLoc(), event, /*instances=*/1, /*ahead=*/0,
                  /*device=*/0, queue);
}

void ScheduleBuilder::transfer(int64_t bytes, PlaceAttr from, PlaceAttr to,
                               int64_t queue, int64_t ahead) {
  TransferOp::create(builder, getLoc(), bytes, from, to, ahead, /*device=*/0,
                     queue);
}

//===----------------------------------------------------------------------===//
// What the host gives and gets
//===----------------------------------------------------------------------===//

/// A loop over micro-batches whose tasks use the fields. The first one's come
/// before it, unless they came in the step before; each next one's come while
/// tasks use the current one's, to the place of the last one's or, where all of
/// a step's stay until its end, to one more.
void ScheduleBuilder::overUploads(Body body) {
  bool hasNext = job.microBatches > 1;
  bool isReused = hasNext && !job.allForwardsFirst;
  uploadFields(/*ahead=*/0);
  record(kUploaded, kUploads);
  overMicroBatches([&] {
    await(kUploaded, kTasks);
    if (isReused)
      await(kUsed, kUploads);
    uploadFields(/*ahead=*/1);
    if (hasNext)
      record(kUploaded, kUploads);
    body();
    if (isReused)
      record(kUsed, kTasks);
  });
}

void ScheduleBuilder::uploadFields(int64_t ahead) {
  VariableIndex variables(module);
  for (auto [index, field] : llvm::enumerate(job.data)) {
    VariableOp variable = variables.lookup(Purpose::field, field.name);
    if (!variable || getLogicalBytes(variable.getTensorType()) == 0)
      continue;
    BindingAttr place = *variable.getLocation();
    transfer(getLogicalBytes(variable.getTensorType()),
             getPlace(Space::field, static_cast<int64_t>(index)),
             getPlace(Space::segment, place.getSegment(), place.getOffset()),
             kUploads, ahead);
  }
}

/// A port that is one a copy gets the same for each. The caller's tensors are
/// often mapped files, whose faults the calling thread handles.
void ScheduleBuilder::uploadPorts() {
  int64_t port = 0;
  for (auto variable : module.getOps<VariableOp>()) {
    if (!variable.isFor(Purpose::input))
      continue;
    int64_t bytes = getLogicalBytes(variable.getTensorType());
    int64_t number = port++;
    if (bytes == 0)
      continue;
    BindingAttr place = *variable.getLocation();
    transfer(bytes, getPlace(Space::port, number),
             getPlace(Space::segment, place.getSegment(), place.getOffset(),
                      place.getStride()),
             kTasks);
  }
}

/// Those that are the same for all micro-batches, or those of one.
void ScheduleBuilder::uploadScalars(bool ofMicroBatches) {
  forSegments(Role::scalar, [&](int64_t number, SegmentAttr segment) {
    if ((segment.getInstances() > 1) == ofMicroBatches)
      transfer(segment.getBytes(), getPlace(Space::host, number),
               getPlace(Space::segment, number), kTasks);
  });
}

//===----------------------------------------------------------------------===//
// Sums of groups
//===----------------------------------------------------------------------===//

/// The first of an event's kind is the results', block −1 their block.
static int64_t getEvent(int64_t kind, int64_t block) {
  return kind + 2 * (block + 1);
}

/// After what the tasks have recorded in the step, if they have.
void ScheduleBuilder::sumUp(Role role, int64_t block, bool isInStep) {
  SmallVector<SumBucket> buckets = sums.getBuckets(role, block);
  if (buckets.empty())
    return;
  if (isInStep)
    await(getEvent(kComplete, block), kSums);
  for (SumBucket bucket : buckets)
    AllReduceOp::create(builder, getLoc(), bucket.task.getSymName(),
                        bucket.bytes, bucket.at, bucket.through, /*device=*/0,
                        kSums);
  record(getEvent(kSummed, block), kSums);
}

/// In the order in which backward completes them.
void ScheduleBuilder::sumUpGradients(bool isInStep) {
  for (TaskOp task : llvm::reverse(getTasks(parts::kBackward)))
    sumUp(Role::gradient, task.getBlock(), isInStep);
}

void ScheduleBuilder::gatherStatistics() {
  if (!gathers())
    return;
  await(getEvent(kComplete, -1), kSums);
  forSegments(Role::exchange, [&](int64_t number, SegmentAttr segment) {
    AllGatherOp::create(builder, getLoc(), segment.getBytes(),
                        getPlace(Space::segment, number), /*device=*/0, kSums);
  });
  record(kGathered, kSums);
}

void ScheduleBuilder::awaitSums(Role role, int64_t block) {
  if (!sums.getBuckets(role, block).empty())
    await(getEvent(kSummed, block), kTasks);
}

void ScheduleBuilder::clearResults() {
  forSegments(Role::result, [&](int64_t number, SegmentAttr segment) {
    FillOp::create(builder, getLoc(), segment.getBytes(),
                   getPlace(Space::segment, number), /*device=*/0, kTasks);
  });
}

void ScheduleBuilder::downloadResults() {
  forSegments(Role::result, [&](int64_t number, SegmentAttr segment) {
    transfer(segment.getBytes(), getPlace(Space::segment, number),
             getPlace(Space::host, number), kTasks);
  });
}

void ScheduleBuilder::reportLosses() {
  awaitSums(Role::result, -1);
  inTurnsIf(runByCopies({parts::kReport}), [&] { runAll(parts::kReport); });
  downloadResults();
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

void ScheduleBuilder::forwardBackward() {
  runAll(parts::kForward);
  backward();
}

/// Backward of one micro-batch, telling how far it is.
void ScheduleBuilder::backward() {
  bool hasGroups = job.getGroups() > 1;
  if (hasGroups && job.overlap)
    record(getEvent(kComplete, -1), kTasks);
  for (TaskOp task : llvm::reverse(getTasks(parts::kBackward))) {
    run(task);
    if (hasGroups && job.overlap)
      record(getEvent(kComplete, task.getBlock()), kTasks);
  }
}

/// Where sums are added up, the last block first, as they are.
void ScheduleBuilder::runUpdate() {
  awaitSums(Role::result, -1);
  for (StringRef part : {parts::kNorm, parts::kClip, parts::kUpdate}) {
    SmallVector<TaskOp> ofPart(getTasks(part));
    if (job.getGroups() > 1)
      std::reverse(ofPart.begin(), ofPart.end());
    for (TaskOp task : ofPart) {
      awaitSums(Role::gradient, task.getBlock());
      run(task);
    }
  }
}

/// Forward and backward of all micro-batches. Where all forwards come first,
/// the fields of each micro-batch stay where they are for its backward. Running
/// statistics take up the micro-batches' own in order, when all are there.
void ScheduleBuilder::accumulate() {
  if (job.microBatches == 1) {
    bool byCopies =
        runByCopies({parts::kForward, parts::kBackward, parts::kStatistics});
    overUploads([&] {
      inTurnsIf(byCopies, [&] {
        forwardBackward();
        runAll(parts::kStatistics);
      });
    });
    return;
  }
  bool byCopies = runByCopies({parts::kForward, parts::kBackward});
  overUploads([&] {
    if (job.allForwardsFirst)
      runAll(parts::kForward);
    else
      inTurnsIf(byCopies, [&] { forwardBackward(); });
  });
  if (job.allForwardsFirst)
    overMicroBatches([&] { backward(); });
}

/// Between the micro-batches and the update: adds up the groups' sums, those of
/// gradients in a step alone, whose update they are for; and running statistics
/// take up the micro-batches' own, of all ranks in order.
void ScheduleBuilder::finishMicroBatches(bool alsoGradients) {
  if (job.microBatches == 1)
    return;
  // Then nothing is added up under the backward.
  if (job.getGroups() > 1 && !job.overlap) {
    for (TaskOp task : getTasks(parts::kBackward))
      record(getEvent(kComplete, task.getBlock()), kTasks);
    record(getEvent(kComplete, -1), kTasks);
  }
  gatherStatistics();
  sumUp(Role::result, -1);
  if (alsoGradients)
    sumUpGradients(/*isInStep=*/true);
  if (gathers())
    await(kGathered, kTasks);
  repeat(RepeatKind::all_micro_batches, [&] {
    inTurnsIf(runByCopies({parts::kStatistics}),
              [&] { runAll(parts::kStatistics); });
  });
}

void ScheduleBuilder::update() {
  bool byCopies = runByCopies({parts::kNorm, parts::kClip, parts::kUpdate});
  inTurnsIf(byCopies, [&] { runUpdate(); });
}

void ScheduleBuilder::buildInitialize() {
  uploadScalars(/*ofMicroBatches=*/false);
  repeat(RepeatKind::all_micro_batches,
         [&] { uploadScalars(/*ofMicroBatches=*/true); });
  inTurnsIf(runByCopies({parts::kInit}), [&] { runAll(parts::kInit); });
}

/// With one micro-batch, some copies go through the whole step, then the next
/// ones: their gradients, which the update has left zero, are the next ones'
/// memory.
void ScheduleBuilder::buildStep() {
  uploadScalars(/*ofMicroBatches=*/false);
  clearResults();
  if (stepsByCopies()) {
    overUploads([&] {
      repeat(RepeatKind::turns, [&] {
        forwardBackward();
        runAll(parts::kStatistics);
        runUpdate();
      });
    });
  } else {
    accumulate();
    finishMicroBatches(/*alsoGradients=*/true);
    update();
  }
  reportLosses();
}

void ScheduleBuilder::buildAccumulate() {
  uploadScalars(/*ofMicroBatches=*/false);
  clearResults();
  accumulate();
  finishMicroBatches(/*alsoGradients=*/false);
  reportLosses();
}

void ScheduleBuilder::buildUpdate() {
  uploadScalars(/*ofMicroBatches=*/false);
  sumUpGradients(/*isInStep=*/false);
  update();
}

void ScheduleBuilder::buildEvaluate() {
  uploadScalars(/*ofMicroBatches=*/false);
  clearResults();
  overUploads([&] {
    uploadScalars(/*ofMicroBatches=*/true);
    inTurnsIf(runByCopies({parts::kEvaluate}),
              [&] { runAll(parts::kEvaluate); });
  });
  if (job.getGroups() > 1) {
    record(getEvent(kComplete, -1), kTasks);
    sumUp(Role::result, -1);
    awaitSums(Role::result, -1);
  }
  downloadResults();
}

void ScheduleBuilder::buildInfer() {
  uploadScalars(/*ofMicroBatches=*/false);
  uploadPorts();
  inTurnsIf(runByCopies({parts::kInfer}), [&] { runAll(parts::kInfer); });
}

void ScheduleBuilder::buildSchedule(StringRef name, Body body) {
  builder.setInsertionPointToEnd(module.getBody());
  auto schedule =
      ScheduleOp::create(builder, getLoc(), ScheduleOp::makeName(name, stage),
                         stage, ArrayRef<int64_t>());
  builder.setInsertionPointToEnd(&schedule.getBody().emplaceBlock());
  body();
  SymbolTableCollection symbols;
  schedule.setKeeps(schedule.findKept(symbols));
}

void ScheduleBuilder::build() {
  buildSchedule(schedules::kInitialize, [&] { buildInitialize(); });
  if (!getTasks(parts::kForward).empty()) {
    buildSchedule(schedules::kStep, [&] { buildStep(); });
    buildSchedule(schedules::kAccumulate, [&] { buildAccumulate(); });
    buildSchedule(schedules::kUpdate, [&] { buildUpdate(); });
  }
  if (!getTasks(parts::kEvaluate).empty())
    buildSchedule(schedules::kEvaluate, [&] { buildEvaluate(); });
  if (!getTasks(parts::kInfer).empty())
    buildSchedule(schedules::kInfer, [&] { buildInfer(); });
}

namespace {
struct SchedulePass : hfta::impl::HftaScheduleBase<SchedulePass> {
  using HftaScheduleBase::HftaScheduleBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Job> job = Job::readPlanned(module);
    if (failed(job))
      return signalPassFailure();
    convertTasks(module);
    ScheduleBuilder(module, *job).build();
  }
};
} // namespace
