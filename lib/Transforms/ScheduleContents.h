//===- ScheduleContents.h - The contents of segments ------------*- C++ -*-===//
//
// Follows the contents of memory while the commands of a schedule are visited
// in the host's order: whose fields and intermediate results instances hold,
// which sums of groups may be added to and which are complete, and which
// results the host has received. Other checks ensure that no two queues touch
// the same bytes in unknown order; given that, this order is the only one.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_SCHEDULECONTENTS_H
#define HFTA_LIB_TRANSFORMS_SCHEDULECONTENTS_H

#include "ScheduleTraversal.h"

#include <map>
#include <set>

namespace mlir::hfta {

/// A set of bytes of an instance of a segment.
class ByteSet {
public:
  void add(int64_t begin, int64_t end);
  void remove(int64_t begin, int64_t end);
  bool hasAll(int64_t begin, int64_t end) const;
  bool hasSome(int64_t begin, int64_t end) const;
  bool isEmpty() const { return ends.empty(); }

private:
  std::map<int64_t, int64_t>
      ends; ///< the ends of disjoint ranges, by their begin
};

/// Returns the instance of the micro-batch that is `ahead` places after this
/// one. Segments whose instances are numbered as a step's micro-batches are
/// numbered alike on each rank; instances of other segments serve the rank's
/// own micro-batches in turn, those of inputs over all calls.
int64_t getInstance(SegmentAttr segment, const Moment &moment,
                    int64_t ahead = 0);

/// Checks that each segment has as many instances as the tasks' micro-batches
/// and groups need.
LogicalResult verifyInstances(ModuleOp module, const Job &job);

class ScheduleContents {
public:
  /// Follows the contents of memory on `rank`, one of the ranks that share a
  /// stage's replicas.
  ScheduleContents(ModuleOp module, const Job &job, StageRank rank);

  /// Each of these gives an error where the command would use, or overwrite,
  /// something other than it should.
  LogicalResult run(RunOp run, TaskOp task, const Moment &moment);
  LogicalResult transfer(TransferOp transfer, const Moment &moment);
  LogicalResult fill(FillOp fill);
  LogicalResult addUp(AllReduceOp reduce);
  /// Opens a segment's sums again unless it is read from the store: they are
  /// those of other copies, from the beginning.
  void fetch(FetchOp fetch);
  /// Checks the command on a rank that computes the micro-batches `own` of
  /// `microBatches`.
  LogicalResult gather(AllGatherOp gather, ArrayRef<int64_t> own,
                       int64_t microBatches);
  LogicalResult pass(OnlyOp only);
  /// Checks the command on a rank that sends the bytes, or receives them.
  LogicalResult broadcast(BroadcastBytesOp broadcast, bool receives);
  LogicalResult takeGroup(TakeGroupOp take);
  LogicalResult send(SendOp send, const Moment &moment);
  LogicalResult receive(ReceiveOp receive, const Moment &moment);
  /// `isRun`: whether a stage runs the task in such a call.
  LogicalResult finishCall(ScheduleOp schedule,
                           llvm::function_ref<bool(RunOp)> isRun);

private:
  using Place = std::pair<int64_t, int64_t>; ///< a segment and an instance

  /// A value that the host gives the program, and its place.
  struct Given {
    int64_t segment, begin, end;
    std::string name;
    int64_t stride = 0;
  };
  /// Sums of groups, in all of a segment's instances.
  struct Sums {
    /// Bytes that tasks may add to: in other bytes the sum is complete or, for
    /// results, nothing has cleared them.
    ByteSet open;
    bool isAddedTo = false;
  };
  /// A micro-batch's values in an instance of role `exchange`.
  struct Exchanged {
    int64_t microBatch = -1;
    ByteSet written, given; ///< in this call; sent to the other ranks
  };

  /// A range of bytes of a segment; those of a copy are counted as the first
  /// copy's.
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
  /// The places, as segments and offsets, that a task finds and writes.
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
  /// Returns the number of groups of the segment's stage.
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
  std::vector<Given> fields;        ///< the fields of the job's data
  std::vector<Given> ports;         ///< the ports of an inference
  std::vector<Given> ofEvaluations; ///< scalars that differ by call
  std::map<Operation *, std::set<Place>> operands; ///< offsets that tasks read
  std::map<Operation *, Left> leftFor;             ///< by task

  /// The micro-batch, counted over all calls, whose fields or intermediate
  /// results an instance holds; for fields, by their offset.
  std::map<std::pair<Place, int64_t>, int64_t> fieldsOf;
  std::map<Place, int64_t> savedOf;
  /// The micro-batch that tasks have written values of, by offset.
  std::map<std::pair<Place, int64_t>, int64_t> savedAt;
  /// Variables by segment and offset; their bytes are those of one copy.
  std::map<int64_t, std::map<int64_t, VariableOp>> variables;
  /// Bytes that other replicas alone have changed, and moments that they alone
  /// have taken.
  std::map<int64_t, ByteSet> old, taken;
  std::map<int64_t, Sums> sums;
  /// The last micro-batch for which a command has added to a group's sums in a
  /// turn.
  std::map<std::tuple<Operation *, int64_t, int64_t>, int64_t> lastAdded;
  std::map<Place, Exchanged> exchanged;
  std::map<Place, ByteSet> brought;       ///< scalars, in this call
  std::set<int64_t> broughtPorts;         ///< in this call
  std::map<int64_t, ByteSet> undelivered; ///< results that the host lacks
  /// Segments sent and received in this call, except for micro-batches' own.
  std::set<int64_t> given, received;
  /// State of other stages that tasks have read before it was received.
  std::set<int64_t> readAsItWas;
  /// Moments that tasks have added to and nothing has taken; those that were
  /// taken and not cleared.
  std::set<int64_t> addedMoments, takenMoments;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SCHEDULECONTENTS_H
