//===- ScheduleBuilder.h - Commands in the order of a step ------*- C++ -*-===//

#ifndef HFTA_LIB_TRANSFORMS_SCHEDULE_SCHEDULEBUILDER_H
#define HFTA_LIB_TRANSFORMS_SCHEDULE_SCHEDULEBUILDER_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"
#include "Hfta/Dialect/Hfta/Job/Job.h"
#include "Hfta/Planning/Pipelines/Order.h"
#include "Hfta/Support/TaskNames.h"
#include "Schedule/ScheduledSums.h"
#include "llvm/ADT/MapVector.h"

#include <map>
#include <set>

namespace mlir::hfta {

/// The queues of a device. The last four are for messages to and from other
/// stages, and each further chunk of a stage has four more. Messages of
/// forwards and of backwards, and those of different chunks, wait for different
/// workers. So they have queues of their own, in order not to wait for each
/// other.
namespace queues {
constexpr int64_t kTasks = 0, kUploads = 1, kSums = 2, kSends = 3,
                  kReceives = 4, kGradientSends = 5, kGradientReceives = 6,
                  kOfChunk = 4;
} // namespace queues

/// The hyper-parameters that are periods: the numbers of steps after which
/// moments are taken, and after which they are inverted.
constexpr StringLiteral kFactorPeriod = "factor_every";
constexpr StringLiteral kInversePeriod = "inverse_every";

/// Builds a program's schedules. Each command is appended to the innermost open
/// region.
class ScheduleBuilder {
public:
  /// `order` is the order of forwards and backwards in a job with several
  /// stages. `groups` maps symbols of moments that are formed from the samples
  /// of a single group to this group.
  ScheduleBuilder(ModuleOp module, const Job &job, const planning::Order &order,
                  const llvm::StringMap<int64_t> &groups);

  void build();

private:
  using Body = llvm::function_ref<void()>;
  struct Event {
    int64_t number, instances;
  };
  struct Field {
    int64_t number; ///< its index among the fields of the job
    VariableOp variable;
  };

  // The schedules (Schedule.cpp).
  void buildSchedule(StringRef name, Body body);
  void buildTraining();
  void buildInitialize();
  void buildStep();
  void buildStepOfTurns();
  void overTurns(Body body);
  void accumulateTurn();
  void buildAccumulate();
  void buildUpdate();
  void buildEvaluate();
  void buildInfer();

  void forward();
  void forwardBackward();
  void backward();
  void accumulate();
  void finishMicroBatches(bool alsoGradients);
  void update();
  void runUpdate();
  void reportLosses();

  // A step within a budget of memory (ScheduleBlocks.cpp).
  void buildStepByBlocks();
  void stepByBlocks();
  void backwardOfBlock(TaskOp task);
  void runOfBlock(TaskOp task, StringRef part);
  void preconditionByBlocks();
  void overBlockMicroBatches(TaskOp task, Body body);
  void overAllUploads(Body body);
  void sumUpAtOnce(Role role, int64_t block);
  bool needsResults() const;
  void runStatistics();
  void finishBlocks();
  bool updatesAtLast() const;

  // A preconditioner's part of a step (SchedulePreconditioner.cpp).
  TaskOp findVersion(TaskOp task, StringRef part) const;
  TaskOp findSecondVersion(TaskOp task) const {
    return findVersion(task, parts::getMomentsPart(task.getPart()));
  }
  TaskOp findRowsVersion(TaskOp task) const;
  void runVersions(TaskOp task);
  void runSampled(ArrayRef<TaskOp> ofBlocks);
  void addSharedMoments(int64_t block = -1);
  void clearMoments();
  void runDue(StringRef period, StringRef part);
  void precondition();
  void runScale();

  // Moments added up during forward and backward (ScheduleMoments.cpp).
  struct Ready {
    bool isForward;
    int64_t block; ///< the block in which the last micro-batch completes it
  };
  Ready findReady(int64_t segment) const;
  SmallVector<SumBucket> getMoments(const Ready &ready) const;
  void tellMoments(int64_t block);
  void sumUpMoments(const Ready &ready, bool isInStep);
  void sumUpForwardMoments(bool isInStep);
  void awaitMoments();
  void takeGroups();

  // Work that some replicas do for all (ScheduleDealt.cpp).
  struct Range {
    int64_t segment, begin, end, stride; ///< stride: between slabs
  };
  /// Returns whether replicas share the work of a preconditioner.
  bool isDealt() const;
  /// Returns whether replicas share updates.
  bool dealsUpdates() const;
  /// Returns whether tasks that follow the backward go through the copies one
  /// task after the other, because ranks exchange results of all copies in
  /// between.
  bool exchangesResults() const { return isStage() || dealsUpdates(); }
  SmallVector<Range> findWritten(TaskOp task);
  struct Gift {
    Range range;
    ReplicasAttr from, to;
  };
  SmallVector<Gift> findGifts(TaskOp task);
  /// Data that are being sent to other replicas.
  struct Underway {
    int64_t event;         ///< recorded when they have arrived
    bool isForOtherStages; ///< whether some of them are sent on to other stages
  };
  void give(ArrayRef<Gift> gifts, StringRef period,
            SmallVectorImpl<Underway> &all);
  void give(ArrayRef<TaskOp> given, StringRef period,
            SmallVectorImpl<Underway> &all);
  void awaitAll(ArrayRef<Underway> all);
  void awaitForOtherStages(ArrayRef<Underway> all);
  void giveMoments();
  void runDealt(TaskOp task, StringRef period);
  void preconditionTogether();
  using Inverses = llvm::MapVector<Operation *, SmallVector<Underway>>;
  void invertTogether(Inverses &inverses);
  void preconditionBlocks(const Inverses &inverses,
                          SmallVectorImpl<Underway> &directions);

  // Commands (ScheduleCommands.cpp).
  void repeat(RepeatKind over, Body body);
  void every(StringRef period, DueKind which, Body body);
  template <typename OpTy>
  void fillBody(OpTy op, Body body);
  void overMicroBatches(Body body);
  void overUploads(Body body);
  void inTurnsIf(bool byCopies, Body body);
  void run(TaskOp task);
  void runAll(StringRef part);
  void uploadFields(ArrayRef<Field> fields, int64_t ahead);
  void uploadPorts();
  void uploadScalars(bool ofMicroBatches);
  void sumUp(Role role, int64_t block, bool isInStep = true);
  void reduceAll(ArrayRef<SumBucket> buckets);
  void sumUpGradients(bool isInStep);
  void awaitSums(Role role, int64_t block);
  void gatherStatistics();
  void forResults(llvm::function_ref<void(int64_t, SegmentAttr)> visit);
  void clearResults();
  void downloadResults();
  void record(int64_t event, int64_t queue);
  void await(int64_t event, int64_t queue);
  void record(Event event, int64_t queue, int64_t ahead = 0);
  void await(Event event, int64_t queue);
  void transfer(int64_t bytes, PlaceAttr from, PlaceAttr to, int64_t queue,
                int64_t ahead = 0);

  // Messages between stages, and their order (ScheduleStages.cpp).
  struct Outlet;
  struct Link;
  int64_t getStageEvent(int64_t which) const;
  int64_t getMostPlaces() const;
  int64_t countReceived() const;
  bool isOfLink(int64_t block, int64_t ofLink) const;
  void beginMessages();
  void overMessages(TaskOp task, Body body);
  int64_t getLinkEvent(int64_t chunk, int64_t link) const;
  Link getLink(StringRef part, int64_t chunk) const;
  void chooseSampledQueues(Link &link, int64_t chunk) const;
  llvm::MapVector<int64_t, int64_t> getReaders(StringRef part,
                                               int64_t block) const;
  int64_t getNextQueue(StringRef part, int64_t chunk) const;
  SmallVector<int64_t> getChunks() const;
  bool isWrittenBy(int64_t segment, StringRef part) const;
  int64_t getFirstReader(int64_t segment, StringRef part, int64_t stage) const;
  int64_t getReader(int64_t segment, StringRef part, int64_t stage) const;
  SmallVector<Field> getFields(int64_t chunk) const;
  void runChunk(StringRef part, int64_t chunk);
  void forMessages(bool sends,
                   llvm::function_ref<bool(int64_t, SegmentAttr)> isMeant,
                   llvm::function_ref<void(int64_t, SegmentAttr, int64_t)> say);
  void forMessages(const Link &link, bool sends,
                   llvm::function_ref<void(int64_t, SegmentAttr, int64_t)> say);
  bool hasMessages(const Link &link);
  void receive(const Link &link, int64_t ahead);
  void send(const Link &link);
  void awaitSent(const Link &link);
  void runActions();
  void runStart();
  void awaitMessages(const Link &link);
  void runForward(int64_t chunk);
  void inStepsOf(StringRef part, Body body);
  bool hasSampled() const;
  void runSampled(int64_t chunk);
  void runBackward(int64_t chunk);
  void runWeight(int64_t chunk);
  int64_t countCasesOfChunk() const;
  void tellSums(int64_t block);
  SmallVector<int64_t> getStageOrder() const;
  void evaluateStage();
  void giveOnce(Role role, ArrayRef<StringRef> parts = {});
  void awaitSentOnce();

  void chooseStage(int64_t which);
  void chooseTurn(int64_t which);
  bool readsFields() const { return !getFields().empty(); }
  SmallVector<Field> getFields() const;
  Event getUploaded(int64_t chunk) const;
  int64_t getUsed() const;
  int64_t getGathered() const;
  int64_t getSumEvent(bool isSummed, int64_t block) const;
  int64_t getMomentEvent(bool isSummed, const Ready &ready) const;
  int64_t getDealtEvent(int64_t which) const;
  SmallVector<SumBucket> getBuckets(Role role, int64_t block) const;
  bool hasSums(Role role, int64_t block) const;
  ArrayRef<TaskOp> getTasks(StringRef part) const {
    auto known = tasks.find(part.str());
    return known == tasks.end() ? ArrayRef<TaskOp>() : ArrayRef(known->second);
  }
  /// Returns whether all tasks of these parts, and the versions that a step
  /// runs in their place, may run for some copies before others.
  bool runByCopies(ArrayRef<StringRef> someParts) const {
    auto isByCopies = [](TaskOp task) { return task.getByCopies(); };
    return llvm::all_of(someParts, [&](StringRef part) {
      return llvm::all_of(getTasks(part), isByCopies) &&
             llvm::all_of(getTasks(parts::getRowsPart(part)), isByCopies);
    });
  }
  /// Returns whether the schedules are for one of several stages.
  bool isStage() const { return stage >= 0; }
  int64_t getReplicas() const {
    return job.getReplicas(std::max<int64_t>(stage, 0));
  }
  int64_t getGroups() const {
    return job.getGroups(std::max<int64_t>(stage, 0));
  }
  /// Returns whether workers that compute different micro-batches must exchange
  /// the values with which running statistics are updated.
  bool gathers() const {
    return getReplicas() > 1 && !getTasks(parts::kStatistics).empty();
  }
  /// Returns whether a copy runs the whole step before the next copy begins.
  bool stepsByCopies() const {
    return !isStage() && job.microBatches == 1 &&
           runByCopies({parts::kForward, parts::kForwardMoments,
                        parts::kRecompute, parts::kBackward,
                        parts::kBackwardMoments, parts::kSampledMoments,
                        parts::kStatistics, parts::kCurvature, parts::kInvert,
                        parts::kPrecondition, parts::kScale, parts::kNorm,
                        parts::kClip, parts::kUpdate});
  }
  /// Returns whether any stage preconditions gradients.
  bool preconditions() const {
    return llvm::any_of(all, [](TaskOp task) {
      return TaskOp(task).getPart() == parts::kScale;
    });
  }
  bool isOwn(SegmentAttr segment) const {
    return !isStage() || segment.getBlock() < 0 ||
           job.getStage(segment.getBlock()) == stage;
  }
  /// Calls `visit` with the number of each segment of a role, and with the
  /// segment, if it belongs to the whole program or to the stage.
  void forSegments(Role role,
                   llvm::function_ref<void(int64_t, SegmentAttr)> visit) {
    for (auto [number, attribute] :
         llvm::enumerate(SegmentAttr::getTable(module)))
      if (auto segment = cast<SegmentAttr>(attribute);
          segment.getRole() == role && segment.getBytes() > 0 && isOwn(segment))
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
  /// The group of each segment of moments that are formed from the samples of a
  /// single group.
  std::map<int64_t, int64_t> groupOf;
  ScheduledSums sums;
  const planning::Order &order;
  SmallVector<TaskOp> all; ///< tasks, in the order of their blocks
  std::map<std::string, SmallVector<TaskOp>> tasks; ///< stage tasks by part
  int64_t stage = -1;       ///< the schedule's stage; -1: the whole program
  int64_t resultBlock = -1; ///< the block of the segments of losses
  bool evaluates = false;   ///< whether the schedule is an evaluation
  bool hasAllRows = false;  ///< whether it updates with one batch
  int64_t nextDealt = 0;    ///< the next event for data sent to other replicas
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SCHEDULE_SCHEDULEBUILDER_H
