//===- ScheduleContents.h - What segments hold, by command ------*- C++ -*-===//
//
// What the commands of a schedule leave in memory, where they are followed in
// the host's order: whose fields and intermediate results instances hold, which
// sums of groups may be added to and which are complete, what the host has and
// has not. That no two queues touch the same bytes without an order is for
// others to check; then this order is the only one.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_SCHEDULECONTENTS_H
#define HFTA_LIB_TRANSFORMS_SCHEDULECONTENTS_H

#include "ScheduleTraversal.h"

#include <map>
#include <set>

namespace mlir::hfta {

/// Bytes of an instance of a segment.
class ByteSet {
public:
  void add(int64_t begin, int64_t end);
  void remove(int64_t begin, int64_t end);
  bool hasAll(int64_t begin, int64_t end) const;
  bool hasSome(int64_t begin, int64_t end) const;
  bool isEmpty() const { return ends.empty(); }

private:
  std::map<int64_t, int64_t>
      ends; ///< of ranges, which are apart, by their begin
};

/// The instance that serves the micro-batch so many places after this one. What
/// is numbered as a step's micro-batches are is so on each rank; other
/// instances serve the rank's own in turn, those of inputs over all calls.
int64_t getInstance(SegmentAttr segment, const Moment &moment,
                    int64_t ahead = 0);

/// That each segment has as many instances as the tasks' micro-batches and
/// groups need.
LogicalResult verifyInstances(ModuleOp module, const Job &job);

class ScheduleContents {
public:
  /// On one of the ranks that share a stage's replicas.
  ScheduleContents(ModuleOp module, const Job &job, StageRank rank);

  /// Each gives an error where the command would use, or overwrite, something
  /// else than it should.
  LogicalResult run(RunOp run, TaskOp task, const Moment &moment);
  LogicalResult transfer(TransferOp transfer, const Moment &moment);
  LogicalResult fill(FillOp fill);
  LogicalResult addUp(AllReduceOp reduce);
  /// Of sums that begin anew, those of other copies.
  void fetch(FetchOp fetch);
  /// On a rank that computes the micro-batches `own` of so many.
  LogicalResult gather(AllGatherOp gather, ArrayRef<int64_t> own,
                       int64_t microBatches);
  LogicalResult pass(OnlyOp only);
  /// On a rank that gives the bytes, or receives them.
  LogicalResult broadcast(BroadcastBytesOp broadcast, bool receives);
  LogicalResult takeGroup(TakeGroupOp take);
  LogicalResult send(SendOp send, const Moment &moment);
  LogicalResult receive(ReceiveOp receive, const Moment &moment);
  /// `isRun`: whether a task is run in such a call, by any stage.
  LogicalResult finishCall(ScheduleOp schedule,
                           llvm::function_ref<bool(RunOp)> isRun);

private:
  using Place = std::pair<int64_t, int64_t>; ///< a segment and an instance

  /// What the host gives the program, and where.
  struct Given {
    int64_t segment, begin, end;
    std::string name;
    int64_t stride = 0;
  };
  /// Sums of groups, of all of a segment's instances.
  struct Sums {
    /// Bytes that tasks may add to: of others the sum is complete, or, of
    /// results, nobody has cleared them.
    ByteSet open;
    bool isAddedTo = false;
  };
  /// What a micro-batch has in an instance of role `exchange`.
  struct Exchanged {
    int64_t microBatch = -1;
    ByteSet written, given; ///< in this call; to the other ranks
  };

  /// Bytes of a segment, a copy's own counted as the first copy's are.
  struct Range {
    int64_t begin, end;
  };

  void beginCall();
  void findVariables();
  Range findRange(int64_t segment, int64_t offset) const;
  SmallVector<std::pair<int64_t, Range>> findWritten(RunOp run);
  SmallVector<Range> findFilled(FillOp fill) const;
  FailureOr<Range> findCopiesRange(Operation *op, PlaceAttr at,
                                   int64_t bytes) const;
  bool isHere(int64_t segment) const {
    ReplicasAttr holders = getSegment(segment).getHolders();
    return !holders || rank.has(holders);
  }
  LogicalResult readOthers(RunOp run, TaskOp task);
  LogicalResult readOthers(Operation *op, int64_t segment, Range range) const;
  LogicalResult checkOthers(ScheduleOp schedule) const;
  Given locate(VariableOp variable, StringRef name) const;
  bool reads(TaskOp task, const Given &given);
  /// Segments and offsets.
  struct Left {
    std::set<Place> found, written;
  };
  const Left &getLeft(TaskOp task);
  bool hasGroups(int64_t segment) const {
    return getSegment(segment).isOfGroups() &&
           getSegment(segment).getInstances() > 1;
  }
  SegmentAttr getSegment(int64_t number) const {
    return cast<SegmentAttr>(segments[number]);
  }
  /// Of the segment's stage.
  int64_t getGroups(int64_t segment) const {
    int64_t stage = job.getStage(getSegment(segment).getBlock());
    return job.getGroups(std::max<int64_t>(stage, 0));
  }
  int64_t getBytes(int64_t segment) const {
    return getSegment(segment).getBytes();
  }
  Place getPlace(int64_t segment, const Moment &moment,
                 int64_t ahead = 0) const {
    return {segment, getInstance(getSegment(segment), moment, ahead)};
  }

  LogicalResult readSaved(RunOp run, TaskOp task, int64_t segment,
                          const Moment &moment);
  LogicalResult read(RunOp run, TaskOp task, int64_t segment,
                     const Moment &moment);
  LogicalResult readFields(RunOp run, TaskOp task, int64_t segment,
                           const Moment &moment);
  LogicalResult readScalars(RunOp run, TaskOp task, int64_t segment,
                            const Moment &moment);
  LogicalResult readExchanged(RunOp run, int64_t segment, const Moment &moment);
  LogicalResult readReceived(RunOp run, int64_t number);
  LogicalResult readSums(Operation *op, int64_t segment, int64_t begin,
                         int64_t end);
  LogicalResult write(RunOp run, TaskOp task, int64_t segment,
                      const Moment &moment);
  LogicalResult addToSums(RunOp run, int64_t segment, const Moment &moment);
  void noteMoments(TaskOp task);
  void takeMoments(int64_t segment);
  LogicalResult clearMoments(FillOp fill);
  LogicalResult checkPlace(TransferOp transfer, StringRef what,
                           ArrayRef<Given> all);
  LogicalResult bringField(TransferOp transfer, const Moment &moment);
  LogicalResult bringPort(TransferOp transfer);
  LogicalResult upload(TransferOp transfer, const Moment &moment);
  LogicalResult download(TransferOp transfer, const Moment &moment);
  LogicalResult checkBlocks(AllReduceOp reduce);
  LogicalResult checkWhole(Operation *op, PlaceAttr at, uint64_t bytes) const;
  LogicalResult checkReceived(ScheduleOp schedule,
                              llvm::function_ref<bool(RunOp)> isRun);

  ModuleOp module;
  const Job &job;
  StageRank rank;
  ArrayAttr segments;
  std::vector<Given> fields;        ///< those that the job's data have
  std::vector<Given> ports;         ///< those of an inference
  std::vector<Given> ofEvaluations; ///< scalars that differ by call
  std::map<Operation *, std::set<Place>> operands; ///< offsets that tasks read
  std::map<Operation *, Left> leftFor;             ///< by task

  /// Whose fields or intermediate results, counted over all calls, an instance
  /// holds; of fields, by their offset.
  std::map<std::pair<Place, int64_t>, int64_t> fieldsOf;
  std::map<Place, int64_t> savedOf;
  /// The same of what tasks have written there, by offset.
  std::map<std::pair<Place, int64_t>, int64_t> savedAt;
  /// Variables' bytes by segment and offset, those of one copy.
  std::map<int64_t, std::map<int64_t, VariableOp>> variables;
  /// What other replicas alone have changed; moments that they alone have.
  std::map<int64_t, ByteSet> old, taken;
  std::map<int64_t, Sums> sums;
  /// Of a command that adds to a group's sums in a turn, the last micro-batch.
  std::map<std::tuple<Operation *, int64_t, int64_t>, int64_t> lastAdded;
  std::map<Place, Exchanged> exchanged;
  std::map<Place, ByteSet> brought;       ///< scalars, in this call
  std::set<int64_t> broughtPorts;         ///< in this call
  std::map<int64_t, ByteSet> undelivered; ///< results that the host hasn't got
  /// What was sent and received in this call, micro-batches' own left out.
  std::set<int64_t> given, received;
  /// State of other stages that tasks have read as an earlier call left it.
  std::set<int64_t> readAsItWas;
  /// Moments that tasks have added to and nothing has taken; those that were
  /// taken and nothing has cleared.
  std::set<int64_t> addedMoments, takenMoments;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SCHEDULECONTENTS_H
