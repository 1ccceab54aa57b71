//===- ScheduleCommands.cpp - Single commands, and the host's transfers ---===//

#include "Hfta/Dialect/Hfta/IR/VariableIndex.h"
#include "Schedule/ScheduleBuilder.h"

using namespace mlir;
using namespace mlir::hfta;
using namespace mlir::hfta::queues;

// Events. From kFirstSum on there are two per block, after two for results: the
// sums of the groups are complete, and they have been added up.
static constexpr int64_t kUploaded = 0, kUsed = 1, kGathered = 2, kFirstSum = 3;

int64_t ScheduleBuilder::getUsed() const { return kUsed; }

int64_t ScheduleBuilder::getGathered() const { return kGathered; }

int64_t ScheduleBuilder::getSumEvent(bool isSummed, int64_t block) const {
  return kFirstSum + 2 * (block + 1) + (isSummed ? 1 : 0);
}

/// Returns the number of an event for moments. There are four per block; their
/// numbers follow those of all blocks' sums, and those of stages.
int64_t ScheduleBuilder::getMomentEvent(bool isSummed,
                                        const Ready &ready) const {
  auto last = static_cast<int64_t>(TaskOp(all.back()).getBlock());
  int64_t first = isStage() ? getLinkEvent(job.chunks, /*link=*/0)
                            : getSumEvent(/*isSummed=*/true, last) + 1;
  return first + 4 * ready.block + (ready.isForward ? 2 : 0) +
         (isSummed ? 1 : 0);
}

/// Returns the number of an event that follows those of all moments.
int64_t ScheduleBuilder::getDealtEvent(int64_t which) const {
  auto last = static_cast<int64_t>(TaskOp(all.back()).getBlock());
  return getMomentEvent(/*isSummed=*/false, {/*isForward=*/false, last + 1}) +
         which;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// Runs a task. A task of some replicas is put into an hfta.only for them: that
/// of the task before it, if this has the same replicas.
void ScheduleBuilder::run(TaskOp task) {
  OpBuilder::InsertionGuard guard(builder);
  task = findRowsVersion(task);
  if (ReplicasAttr replicas = task.getReplicasAttr()) {
    Block *block = builder.getInsertionBlock();
    bool isAtEnd = builder.getInsertionPoint() == block->end();
    auto only =
        isAtEnd && !block->empty() ? dyn_cast<OnlyOp>(block->back()) : OnlyOp();
    if (!only || only.getReplicas() != replicas) {
      only = OnlyOp::create(builder, task.getLoc(), replicas);
      only.getBody().emplaceBlock();
    }
    builder.setInsertionPointToEnd(&only.getBody().front());
  }
  RunOp::create(builder, task.getLoc(), task.getSymName());
}

void ScheduleBuilder::runAll(StringRef part) {
  for (TaskOp task : getTasks(part))
    run(task);
}

/// Builds the body of an op, and erases the op if its body is empty.
template <typename OpTy>
void ScheduleBuilder::fillBody(OpTy op, Body body) {
  OpBuilder::InsertionGuard guard(builder);
  Block &block = op.getBody().emplaceBlock();
  builder.setInsertionPointToEnd(&block);
  body();
  if (!block.empty())
    return;
  builder.setInsertionPoint(op);
  op.erase();
}

/// Builds a loop. With a memory budget, the schedule gives the number of copies
/// in a turn, since places in the arena depend on it. Here it is at most one
/// per thread.
void ScheduleBuilder::repeat(RepeatKind over, Body body) {
  auto op = RepeatOp::create(builder, getLoc(), over);
  if (over == RepeatKind::turns && job.hasBudget())
    op.setCopies(std::min(job.copies, job.memoryThreads));
  fillBody(op, body);
}

void ScheduleBuilder::every(StringRef period, DueKind which, Body body) {
  fillBody(EveryOp::create(builder, getLoc(), period, which), body);
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

void ScheduleBuilder::record(Event event, int64_t queue, int64_t ahead) {
  RecordOp::create(builder, getLoc(), event.number, event.instances, ahead,
                   /*device=*/0, queue);
}

void ScheduleBuilder::await(Event event, int64_t queue) {
  AwaitOp::create(builder, getLoc(), event.number, event.instances, /*ahead=*/0,
                  /*device=*/0, queue);
}

void ScheduleBuilder::transfer(int64_t bytes, PlaceAttr from, PlaceAttr to,
                               int64_t queue, int64_t ahead) {
  TransferOp::create(builder, getLoc(), bytes, from, to, ahead, /*device=*/0,
                     queue);
}

//===----------------------------------------------------------------------===//
// Transfers from and to the host
//===----------------------------------------------------------------------===//

/// Builds a loop over micro-batches whose tasks use the fields. The first one's
/// fields are uploaded before the loop, unless the previous step has done so.
/// While tasks use the current one's fields, those of the next one are
/// uploaded: to the place of the previous one's or, if the fields of all
/// micro-batches stay until the end of the step, to an additional place.
void ScheduleBuilder::overUploads(Body body) {
  if (!readsFields())
    return overMicroBatches(body);
  bool hasNext = job.microBatches > 1;
  bool isReused = hasNext && (isStage() || !job.allForwardsFirst);
  uploadFields(getFields(), /*ahead=*/0);
  record(kUploaded, kUploads);
  overMicroBatches([&] {
    await(kUploaded, kTasks);
    if (isReused)
      await(kUsed, kUploads);
    uploadFields(getFields(), /*ahead=*/1);
    if (hasNext)
      record(kUploaded, kUploads);
    body();
    if (isReused)
      record(kUsed, kTasks);
  });
}

/// Uploads the fields of all micro-batches before the first task, since each
/// block visits all of them. With several stages, this is done even for a
/// single micro-batch, because messages that are sent once per step mustn't be
/// sent inside of a loop over micro-batches.
void ScheduleBuilder::overAllUploads(Body body) {
  if (job.microBatches == 1 && !isStage())
    return overUploads(body);
  if (readsFields()) {
    overMicroBatches([&] { uploadFields(getFields(), /*ahead=*/0); });
    record(kUploaded, kUploads);
    await(kUploaded, kTasks);
  }
  body();
}

/// Returns the fields that the tasks of the stage read.
SmallVector<ScheduleBuilder::Field> ScheduleBuilder::getFields() const {
  VariableIndex variables(module);
  SmallVector<Field> fields;
  for (auto [index, field] : llvm::enumerate(job.data)) {
    VariableOp variable = variables.lookup(Purpose::field, field.name);
    if (!variable || getLogicalBytes(variable.getTensorType()) == 0)
      continue;
    int64_t segment = variable.getLocation()->getSegment();
    bool isRead = llvm::any_of(all, [&](TaskOp task) {
      return job.getStage(static_cast<int64_t>(task.getBlock())) == stage &&
             llvm::is_contained(task.getReads(), segment);
    });
    if (!isStage() || isRead)
      fields.push_back({static_cast<int64_t>(index), variable});
  }
  return fields;
}

void ScheduleBuilder::uploadFields(ArrayRef<Field> fields, int64_t ahead) {
  for (Field field : fields) {
    BindingAttr place = *field.variable.getLocation();
    transfer(getLogicalBytes(field.variable.getTensorType()),
             getPlace(Space::field, field.number),
             getPlace(Space::segment, place.getSegment(), place.getOffset()),
             kUploads, ahead);
  }
}

/// Uploads the ports of an inference. If a port has a value per copy, all
/// copies get the same one. The transfers are in the queue of tasks, which the
/// calling thread executes, since the caller's tensors are often memory-mapped
/// files, and their page faults are handled there.
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

/// Uploads the scalars of one micro-batch or, otherwise, those that are common
/// to all micro-batches.
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

/// Returns the parts of segments that are added up together. Results are those
/// of the whole program, or of its last block.
SmallVector<SumBucket> ScheduleBuilder::getBuckets(Role role,
                                                   int64_t block) const {
  if (role != Role::result)
    return sums.getBuckets(role, block);
  if (isStage() && job.getStage(resultBlock) != stage)
    return {};
  SmallVector<SumBucket> buckets = sums.getBuckets(role, resultBlock);
  llvm::erase_if(buckets, [&](const SumBucket &bucket) {
    return isWrittenBy(bucket.at.getNumber(), parts::kEvaluate) != evaluates;
  });
  return buckets;
}

bool ScheduleBuilder::hasSums(Role role, int64_t block) const {
  return !getBuckets(role, block).empty();
}

void ScheduleBuilder::reduceAll(ArrayRef<SumBucket> buckets) {
  for (const SumBucket &bucket : buckets)
    AllReduceOp::create(builder, getLoc(), TaskOp(bucket.task).getSymName(),
                        bucket.bytes, bucket.at, bucket.through, /*device=*/0,
                        kSums);
}

/// Adds up the sums of groups. In a step, this waits for the event that says
/// that the sums are complete.
void ScheduleBuilder::sumUp(Role role, int64_t block, bool isInStep) {
  if (!hasSums(role, block))
    return;
  if (isInStep)
    await(getSumEvent(/*isSummed=*/false, block), kSums);
  reduceAll(getBuckets(role, block));
  record(getSumEvent(/*isSummed=*/true, block), kSums);
}

/// Adds up gradients and moments in the order in which backwards complete them.
/// Moments that forwards complete are added up before.
void ScheduleBuilder::sumUpGradients(bool isInStep) {
  for (TaskOp task : llvm::reverse(getTasks(parts::kBackward))) {
    auto block = static_cast<int64_t>(task.getBlock());
    sumUp(Role::gradient, block, isInStep);
    sumUpMoments({/*isForward=*/false, block}, isInStep);
  }
  takeGroups();
}

void ScheduleBuilder::gatherStatistics() {
  if (!gathers())
    return;
  await(getSumEvent(/*isSummed=*/false, -1), kSums);
  forSegments(Role::exchange, [&](int64_t number, SegmentAttr segment) {
    AllGatherOp::create(builder, getLoc(), segment.getBytes(),
                        getPlace(Space::segment, number), /*device=*/0, kSums);
  });
  record(kGathered, kSums);
}

void ScheduleBuilder::awaitSums(Role role, int64_t block) {
  if (hasSums(role, block))
    await(getSumEvent(/*isSummed=*/true, block), kTasks);
}

/// Visits the results of evaluations in an evaluation, else those of steps.
/// They are separate because an evaluation between a step's gradients and its
/// update must not change what the update reads.
void ScheduleBuilder::forResults(
    llvm::function_ref<void(int64_t, SegmentAttr)> visit) {
  forSegments(Role::result, [&](int64_t number, SegmentAttr segment) {
    if (isWrittenBy(number, parts::kEvaluate) == evaluates)
      visit(number, segment);
  });
}

void ScheduleBuilder::clearResults() {
  forResults([&](int64_t number, SegmentAttr segment) {
    FillOp::create(builder, getLoc(), segment.getBytes(),
                   getPlace(Space::segment, number), /*device=*/0, kTasks);
  });
}

void ScheduleBuilder::downloadResults() {
  forResults([&](int64_t number, SegmentAttr segment) {
    transfer(segment.getBytes(), getPlace(Space::segment, number),
             getPlace(Space::host, number), kTasks);
  });
}

void ScheduleBuilder::reportLosses() {
  awaitSums(Role::result, -1);
  inTurnsIf(runByCopies({parts::kReport}), [&] { runAll(parts::kReport); });
  downloadResults();
}
