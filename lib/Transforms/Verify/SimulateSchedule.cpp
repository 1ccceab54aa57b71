//===- SimulateSchedule.cpp - Simulates a step within a budget ------------===//
//
// Visits the commands as the host does, and notes the commands that each queue
// gets. This also determines, as in the runtime (runtime/src/instance/spill.c),
// whether a fetch finds its data still in place, so that nothing is read: that
// depends only on the order of commands. Then the queues are simulated.
//===----------------------------------------------------------------------===//

#include "Hfta/Transforms/Verify/SimulateSchedule.h"

#include "Hfta/Planning/Common/ReferenceRates.h"
#include "Hfta/Planning/Spill/QueueSimulation.h"
#include "Hfta/Support/TaskNames.h"
#include "Schedule/ScheduleTraversal.h"
#include "Verify/ScheduleContents.h"
#include "hfta/trainer.h"

#include "llvm/ADT/TypeSwitch.h"

#include <map>

using namespace mlir;
using namespace mlir::hfta;
using planning::QueuedWork;
using planning::SpillActivity;
using planning::SpillRun;

/// The most steps that are simulated if periods make steps differ.
static constexpr int64_t kMostSteps = 64;

namespace {

/// Data that are in the arena, or were there when they were dropped.
struct Held {
  bool lies = false;
  int64_t begin = 0, end = 0;        ///< bytes of the arena
  int64_t firstCopy = 0, copies = 0; ///< the turn's copies
  bool isClean = false;
  std::optional<int64_t> queue; ///< the queue that fetched it in this call

  bool isSamePlace(const Held &other) const {
    return begin == other.begin && end == other.end &&
           firstCopy == other.firstCopy && copies == other.copies;
  }
};

class StepWalk : public ScheduleTraversal {
public:
  StepWalk(ModuleOp module, const Job &job, const StepCosts &costs,
           int64_t stage = -1)
      : ScheduleTraversal(
            StageRank(job.getReplicas(std::max<int64_t>(stage, 0)), 0, 1),
            llvm::to_vector(llvm::seq(job.microBatches)), job.microBatches),
        job(job), costs(costs), symbols(module),
        segments(SegmentAttr::getTable(module)) {}

  /// Simulates one call of the schedule, which `steps` steps precede.
  SpillRun follow(ScheduleOp schedule, int64_t steps);
  /// Returns the number of steps to simulate: the longest period by which the
  /// schedule's commands choose steps, but at most kMostSteps.
  int64_t countSteps(ScheduleOp schedule) const;

private:
  using Place = std::pair<int64_t, int64_t>; ///< segment and instance

  LogicalResult visit(ScheduleCommandOpInterface command) override;
  void signal(ScheduleCommandOpInterface command);
  void run(RunOp run);
  void fetch(FetchOp fetch);
  void evict(EvictOp evict);
  template <typename OpTy>
  SmallVector<int64_t> findInstances(OpTy move) const;
  ArrayRef<double> findPeriods(StringRef name) const;
  double findDueShare(StringRef period) const;
  int64_t getFirstCopy(Operation *op) const;
  double countCopies(Operation *op) const;
  void move(Operation *op, QueuedWork::Kind kind, int64_t queue,
            int64_t segment, int64_t bytes);
  void push(int64_t queue, QueuedWork work) {
    if (queue >= static_cast<int64_t>(queues.size()))
      queues.resize(queue + 1);
    queues[queue].push_back(work);
  }
  SegmentAttr getSegment(int64_t number) const {
    return cast<SegmentAttr>(segments[number]);
  }

  const Job &job;
  const StepCosts &costs;
  SymbolTable symbols;
  ArrayAttr segments;
  int64_t steps = 0;
  std::map<Place, Held> held;
  std::vector<std::vector<QueuedWork>> queues;
  /// The number of the last record of each event so far.
  std::map<int64_t, int64_t> records;
  int64_t recordCount = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Copies and steps
//===----------------------------------------------------------------------===//

ArrayRef<double> StepWalk::findPeriods(StringRef name) const {
  for (const HyperParameter &parameter : job.hyperParameters)
    if (parameter.name == name)
      return parameter.values;
  return {};
}

/// Returns the fraction of copies that are due in this step.
double StepWalk::findDueShare(StringRef period) const {
  ArrayRef<double> values = findPeriods(period);
  if (values.empty())
    return 1;
  auto due = llvm::count_if(values, [&](double value) {
    auto whole = std::max<int64_t>(1, static_cast<int64_t>(value));
    return steps % whole == 0;
  });
  return static_cast<double>(due) / static_cast<double>(values.size());
}

int64_t StepWalk::countSteps(ScheduleOp schedule) const {
  double most = 1;
  for (StringRef period : hfta::findPeriods(schedule))
    for (double value : findPeriods(period))
      most = std::max(most, value);
  return std::min(kMostSteps, static_cast<int64_t>(most));
}

static RepeatOp findTurns(Operation *op) {
  for (auto repeat = op->getParentOfType<RepeatOp>(); repeat;
       repeat = repeat->getParentOfType<RepeatOp>())
    if (repeat.getOver() == RepeatKind::turns)
      return repeat;
  return {};
}

int64_t StepWalk::getFirstCopy(Operation *op) const {
  RepeatOp repeat = findTurns(op);
  auto copies = repeat ? repeat.getCopies() : std::nullopt;
  return copies ? now.turn * static_cast<int64_t>(*copies) : 0;
}

/// Returns the number of copies for which a command runs, according to the ops
/// around it.
double StepWalk::countCopies(Operation *op) const {
  auto copies = static_cast<double>(job.copies);
  if (RepeatOp repeat = findTurns(op)) {
    if (auto given = repeat.getCopies())
      copies = static_cast<double>(std::min<int64_t>(
          *given, job.copies - now.turn * static_cast<int64_t>(*given)));
    else
      copies /= static_cast<double>(turns);
  }
  for (auto every = op->getParentOfType<EveryOp>(); every;
       every = every->getParentOfType<EveryOp>()) {
    if (!every.choosesCopies())
      continue;
    double due = findDueShare(every.getPeriod());
    copies *= every.getWhich() == DueKind::due ? due : 1 - due;
  }
  return copies;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

static SpillActivity getActivity(StringRef task) {
  StringRef part = task.split('.').first;
  if (part == parts::kForward || part == parts::kForwardMoments)
    return SpillActivity::forward;
  if (part == parts::kRecompute)
    return SpillActivity::recompute;
  if (part == parts::kBackward || part == parts::kBackwardMoments)
    return SpillActivity::backward;
  return part == parts::kUpdate ? SpillActivity::update : SpillActivity::other;
}

/// Returns the instances that a command moves, as the runtime does: that of the
/// current micro-batch, or all if there is none.
template <typename OpTy>
SmallVector<int64_t> StepWalk::findInstances(OpTy move) const {
  SegmentAttr segment = getSegment(move.getSegment());
  if (!now.isInMicroBatches)
    return llvm::to_vector(llvm::seq<int64_t>(segment.getInstances()));
  auto ahead = static_cast<int64_t>(move.getAhead());
  if (isPastLast(ahead))
    return {};
  return {getInstance(segment, now, ahead)};
}

void StepWalk::run(RunOp run) {
  auto task = symbols.lookup<TaskOp>(run.getTask());
  for (int64_t number : task.getWrites()) {
    auto known = held.find({number, getInstance(getSegment(number), now)});
    if (known != held.end())
      known->second.isClean = false;
  }
  QueuedWork work;
  std::string name = task.getTaskName();
  work.what.activity = getActivity(name);
  work.what.turn = now.turn;
  work.what.group = static_cast<int64_t>(task.getBlock());
  work.what.microBatch = now.isInMicroBatches ? now.number : 0;
  work.seconds = costs.tasks.lookup(name) * countCopies(run) /
                 static_cast<double>(job.copies);
  push(run.getQueue(), work);
}

void StepWalk::move(Operation *op, QueuedWork::Kind kind, int64_t queue,
                    int64_t segment, int64_t bytes) {
  QueuedWork work;
  work.kind = kind;
  bool isRead = kind == QueuedWork::read;
  work.what.activity = isRead                      ? SpillActivity::read
                       : kind == QueuedWork::write ? SpillActivity::write
                                                   : SpillActivity::other;
  work.what.turn = now.turn;
  work.what.group = getSegment(segment).getBlock();
  work.what.microBatch = now.isInMicroBatches ? now.number : 0;
  if (kind == QueuedWork::compute)
    work.seconds = static_cast<double>(bytes) / planning::kBytesPerSecond;
  else
    work.what.bytes = bytes;
  push(queue, work);
}

void StepWalk::fetch(FetchOp fetch) {
  auto number = static_cast<int64_t>(fetch.getSegment());
  SegmentAttr segment = getSegment(number);
  int64_t bytes = fetch.findInstanceBytes().value_or(segment.getBytes());
  auto copies = static_cast<int64_t>(countCopies(fetch));
  bool isStored = fetch.getContents() == Contents::stored;
  for (int64_t instance : findInstances(fetch)) {
    int64_t place = instance % static_cast<int64_t>(fetch.getInstances());
    Held wanted;
    wanted.lies = true;
    wanted.begin = static_cast<int64_t>(fetch.getAddress()) + place * bytes;
    wanted.end = wanted.begin + bytes;
    wanted.firstCopy = getFirstCopy(fetch);
    wanted.copies = copies;
    wanted.isClean = isStored;
    wanted.queue = fetch.getQueue();
    Held &own = held[{number, instance}];
    bool lies = isStored && own.lies && own.isClean &&
                own.isSamePlace(wanted) &&
                (!own.queue || own.queue == wanted.queue);
    if (!lies)
      own = wanted;
    for (auto &[other, what] : held)
      if (other != Place(number, instance) && what.begin < own.end &&
          own.begin < what.end)
        what.lies = false;
    if (lies || fetch.getContents() == Contents::undefined)
      continue;
    int64_t moved =
        segment.getCopyBytes() > 0 ? copies * segment.getCopyBytes() : bytes;
    move(fetch, isStored ? QueuedWork::read : QueuedWork::compute,
         fetch.getQueue(), number, isStored ? moved : bytes);
  }
}

void StepWalk::evict(EvictOp evict) {
  auto number = static_cast<int64_t>(evict.getSegment());
  SegmentAttr segment = getSegment(number);
  auto copies = static_cast<int64_t>(countCopies(evict));
  for (int64_t instance : findInstances(evict)) {
    Held &own = held[{number, instance}];
    own.isClean = true;
    own.queue = std::nullopt;
    move(evict, QueuedWork::write, evict.getQueue(), number,
         segment.getCopyBytes() > 0 ? copies * segment.getCopyBytes()
                                    : int64_t(segment.getBytes()));
  }
}

/// Adds the record of an event to the command's queue, or a wait for the last
/// one.
void StepWalk::signal(ScheduleCommandOpInterface command) {
  std::optional<int64_t> event = findEvent(command);
  if (!event)
    return;
  bool isRecord = command.findEvent()->isRecord;
  QueuedWork work;
  work.kind = isRecord ? QueuedWork::record : QueuedWork::await;
  if (isRecord)
    records[*event] = recordCount++;
  auto last = records.find(*event);
  work.event = last == records.end() ? -1 : last->second;
  push(command.findQueue()->second, work);
}

/// Only tasks and the store take time.
LogicalResult StepWalk::visit(ScheduleCommandOpInterface command) {
  signal(command);
  llvm::TypeSwitch<Operation *>(command)
      .Case([&](RunOp op) { run(op); })
      .Case([&](FetchOp op) { fetch(op); })
      .Case([&](EvictOp op) { evict(op); });
  return success();
}

SpillRun StepWalk::follow(ScheduleOp schedule, int64_t done) {
  steps = done;
  queues.clear();
  records.clear();
  recordCount = 0;
  idle.clear();
  for (StringRef period : hfta::findPeriods(schedule))
    if (findDueShare(period) == 0)
      idle.insert(period);
  turns = 1;
  schedule.walk([&](RepeatOp repeat) {
    if (repeat.getOver() == RepeatKind::turns && repeat.getCopies())
      turns = llvm::divideCeil(job.copies, *repeat.getCopies());
  });
  // All work of a call ends before the next call begins.
  for (auto &[place, what] : held)
    what.queue = std::nullopt;
  now = Moment();
  (void)traverse(schedule.getBody().front());
  return planning::simulateQueues(queues, costs.store);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Divides sums over steps by the number of steps, to get the means.
static void divide(SpillRun &sum, int64_t count) {
  auto steps = static_cast<double>(count);
  for (double *seconds :
       {&sum.seconds, &sum.computeSeconds, &sum.readSeconds, &sum.writeSeconds})
    *seconds /= steps;
  sum.readBytes /= count;
  sum.writtenBytes /= count;
}

static void add(SpillRun &sum, const SpillRun &run) {
  sum.seconds += run.seconds;
  sum.computeSeconds += run.computeSeconds;
  sum.readSeconds += run.readSeconds;
  sum.writeSeconds += run.writeSeconds;
  sum.readBytes += run.readBytes;
  sum.writtenBytes += run.writtenBytes;
}

/// Returns the mean of steps that copies run turn by turn. The commands that
/// begin and end a turn run once for all of its steps, possibly while other
/// copies compute.
static SpillRun simulateTurns(ModuleOp module, const Job &job,
                              const StepCosts &costs, ScheduleOp step) {
  SymbolTable symbols(module);
  SpillRun sum = StepWalk(module, job, costs).follow(step, 0);
  double moving = -sum.seconds;
  for (StringRef name : {schedules::kBeginTurn, schedules::kEndTurn}) {
    auto schedule = symbols.lookup<ScheduleOp>(name);
    SpillRun run = StepWalk(module, job, costs).follow(schedule, 0);
    divide(run, HFTA_DEFAULT_LOG_EVERY);
    add(sum, run);
  }
  moving += sum.seconds;
  auto begin = symbols.lookup<ScheduleOp>(schedules::kBeginTurn);
  auto repeat = cast<RepeatOp>(begin.getBody().front().front());
  int64_t turns =
      llvm::divideCeil(job.copies, repeat.getCopies().value_or(job.copies));
  // Only the first turn's fetches and the last turn's evictions overlap with
  // nothing.
  if (symbols.lookup(schedules::kBeginTurnBeside))
    sum.seconds -=
        std::min(sum.seconds - moving, moving * static_cast<double>(turns - 1) /
                                           static_cast<double>(turns));
  return sum;
}

FailureOr<SpillRun> hfta::simulateSchedule(ModuleOp module, const Job &job,
                                           const StepCosts &costs,
                                           int64_t stage) {
  auto schedules = module.getOps<ScheduleOp>();
  auto step = llvm::find_if(schedules, [&](ScheduleOp schedule) {
    return schedule.getKind() == schedules::kStep &&
           static_cast<int64_t>(schedule.getStage()) == stage;
  });
  if (step == schedules.end())
    return module.emitError("expected a schedule of steps");
  if (auto ofTurn =
          SymbolTable(module).lookup<ScheduleOp>(schedules::kTurnStep))
    return simulateTurns(module, job, costs, ofTurn);
  StepWalk walk(module, job, costs, stage);
  int64_t count = walk.countSteps(*step);
  // The first step leaves data in place that the following ones needn't read.
  walk.follow(*step, count - 1);
  SpillRun sum = walk.follow(*step, 0);
  for (int64_t done = 1; done < count; ++done)
    add(sum, walk.follow(*step, done));
  divide(sum, count);
  return sum;
}
