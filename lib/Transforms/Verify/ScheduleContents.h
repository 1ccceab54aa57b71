//===- ScheduleContents.h - The contents of segments ------------*- C++ -*-===//
//
// Follows the contents of memory while the commands of a schedule are visited
// in the host's order: which micro-batch's fields and intermediate results an
// instance holds, which sums of groups may still be added to and which are
// complete, and which results the host has received. Since ScheduleClocks
// ensures that no two queues access the same bytes in an unknown order, all
// other possible orders have the same effect.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_VERIFY_SCHEDULECONTENTS_H
#define HFTA_LIB_TRANSFORMS_VERIFY_SCHEDULECONTENTS_H

#include "Schedule/ScheduleTraversal.h"

#include <map>
#include <set>

namespace mlir::hfta {

/// A set of bytes in an instance of a segment.
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

/// Returns the number of the instance for the micro-batch that is `ahead`
/// places after the current one. If a segment has an instance for each
/// micro-batch or group of a step, the instances are numbered in the same way
/// on all ranks. Instances of other segments serve the rank's own micro-batches
/// in turn; those of inputs continue over all calls.
int64_t getInstance(SegmentAttr segment, const Moment &moment,
                    int64_t ahead = 0);

/// Checks that each segment has as many instances as its role, and the job's
/// micro-batches and groups, require.
LogicalResult verifyInstances(ModuleOp module, const Job &job);

/// When and where a command runs.
struct CommandVisit {
  const Moment &now;
  ArrayRef<int64_t> own; ///< the numbers of the worker's micro-batches
  int64_t microBatches;  ///< how many micro-batches the call has
};

/// The contents of memory on one rank. The functions for commands note a
/// command's effects, and report an error if it would use, or overwrite,
/// something other than it should.
class ScheduleContents {
public:
  /// `rank` is one of the ranks that share a stage's replicas.
  ScheduleContents(ModuleOp module, const SymbolTable &symbols, const Job &job,
                   StageRank rank);

  /// Notes the effects of a command that the rank runs (ScheduleEffects.cpp).
  LogicalResult follow(ScheduleCommandOpInterface command,
                       const CommandVisit &visit);
  /// Notes that other replicas run these commands.
  LogicalResult pass(OnlyOp only);
  /// Checks the state at the end of a call, and begins the next one. `isRun`
  /// returns whether a stage runs the task in such a call.
  LogicalResult finishCall(ScheduleOp schedule,
                           llvm::function_ref<bool(RunOp)> isRun);

private:
  using Place = std::pair<int64_t, int64_t>; ///< segment and instance

  /// A value that the host provides to the program, and its place.
  struct Given {
    int64_t segment, begin, end;
    std::string name;
    int64_t stride = 0;
  };
  /// The sums of groups in all instances of a segment.
  struct Sums {
    /// Bytes to which tasks may add. In other bytes, the sum is complete or,
    /// for results, hasn't been cleared.
    ByteSet open;
    bool isAddedTo = false;
  };
  /// The values of a micro-batch in an instance of a segment of role
  /// `exchange`.
  struct Exchanged {
    int64_t microBatch = -1;
    ByteSet written, given; ///< in this call; those sent to other ranks
  };

  /// A range of bytes of a segment. If it belongs to a copy, it is counted as
  /// the first copy's.
  struct Range {
    int64_t begin, end;
  };

  LogicalResult followAccesses(ScheduleCommandOpInterface command);
  LogicalResult run(RunOp run, const Moment &moment);
  LogicalResult transfer(TransferOp transfer, const Moment &moment);
  LogicalResult fill(FillOp fill);
  LogicalResult addUp(AllReduceOp reduce);
  LogicalResult fetch(FetchOp fetch);
  LogicalResult gather(AllGatherOp gather, const CommandVisit &visit);
  LogicalResult broadcast(BroadcastBytesOp broadcast);
  LogicalResult takeGroup(TakeGroupOp take);
  LogicalResult send(SendOp send, const Moment &moment);
  LogicalResult receive(ReceiveOp receive, const Moment &moment);

  void beginCall();
  void findVariables();
  Range findRange(int64_t segment, int64_t offset) const;
  SmallVector<std::pair<int64_t, Range>> findWritten(TaskOp task);
  SmallVector<Range> findCovered(PlaceAttr place, int64_t bytes) const;
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
  /// The places, as segments and offsets, that a task reads before writing
  /// them, and that it writes.
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
  /// Returns the number of groups in the segment's stage.
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
  const SymbolTable &symbols;
  const Job &job;
  StageRank rank;
  ArrayAttr segments;
  std::vector<Given> fields;        ///< the fields of the job's data
  std::vector<Given> ports;         ///< the ports of an inference
  std::vector<Given> ofEvaluations; ///< scalars that differ from call to call
  std::map<Operation *, std::set<Place>> operands; ///< places that tasks read
  std::map<Operation *, Left> leftFor;             ///< by task

  /// The micro-batch, counted over all calls, whose fields or intermediate
  /// results an instance holds. Fields are distinguished by their offset.
  std::map<std::pair<Place, int64_t>, int64_t> fieldsOf;
  std::map<Place, int64_t> savedOf;
  /// The micro-batch whose values tasks have written, by offset.
  std::map<std::pair<Place, int64_t>, int64_t> savedAt;
  /// Variables by segment and offset. Their ranges are those of one copy.
  std::map<int64_t, std::map<int64_t, VariableOp>> variables;
  /// Bytes that only other replicas have changed, and moments that only they
  /// have taken.
  std::map<int64_t, ByteSet> old, taken;
  std::map<int64_t, Sums> sums;
  /// The last micro-batch that was added to a group's sums, by command, turn
  /// and group.
  std::map<std::tuple<Operation *, int64_t, int64_t>, int64_t> lastAdded;
  std::map<Place, Exchanged> exchanged;
  std::map<Place, ByteSet> brought;       ///< scalars, in this call
  std::set<int64_t> broughtPorts;         ///< in this call
  std::map<int64_t, ByteSet> undelivered; ///< results not yet on the host
  /// Segments sent and received in this call, except for those of
  /// micro-batches.
  std::set<int64_t> given, received;
  /// Segments of other stages' state that tasks have read before they were
  /// received.
  std::set<int64_t> readAsItWas;
  /// Segments of moments to which tasks have added and which nothing has taken,
  /// and of those that were taken but not cleared.
  std::set<int64_t> addedMoments, takenMoments;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_VERIFY_SCHEDULECONTENTS_H
