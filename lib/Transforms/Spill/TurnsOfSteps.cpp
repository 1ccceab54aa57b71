//===- TurnsOfSteps.cpp - Turns of copies over several steps --------------===//

#include "Spill/TurnsOfSteps.h"

#include "Hfta/Support/TaskNames.h"
#include "hfta/trainer.h"

using namespace mlir;
using namespace mlir::hfta;

/// Returns whether the segment is in the store while no schedule runs.
static bool isSpilledState(SegmentAttr segment) {
  return segment.getResidency() == Residency::spilled &&
         !SegmentAttr::livesWithinStep(segment.getRole());
}

bool hfta::liesThroughout(ScheduleOp schedule, SegmentAttr segment) {
  return schedule.getKind() == schedules::kTurnStep && isSpilledState(segment);
}

/// Returns the range of bytes in the arena that a fetch gives a segment.
static std::pair<int64_t, int64_t> getRange(FetchOp fetch) {
  auto begin = static_cast<int64_t>(fetch.getAddress());
  int64_t bytes = fetch.findInstanceBytes().value_or(0) *
                  static_cast<int64_t>(fetch.getInstances());
  return {begin, begin + bytes};
}

/// Checks that the state of two turns' copies can be in the arena together.
static LogicalResult verifyPlaces(ScheduleOp begin, ScheduleOp beside) {
  for (auto next : beside.getOps<RepeatOp>())
    for (auto fetch : next.getOps<FetchOp>())
      for (auto last : begin.getOps<RepeatOp>())
        for (auto other : last.getOps<FetchOp>()) {
          auto [from, to] = getRange(fetch);
          auto [otherFrom, otherTo] = getRange(other);
          if (from < otherTo && otherFrom < to)
            return fetch.emitOpError("takes bytes ")
                   << from << " to " << to << " of the arena, in which segment "
                   << other.getSegment() << " of the turn before lies";
        }
  return success();
}

FailureOr<SmallVector<ScheduleOp>> hfta::findTurns(ScheduleOp schedule) {
  StringRef kind = schedule.getKind();
  if (!llvm::is_contained(schedules::kOfTurn, kind))
    return SmallVector<ScheduleOp>{schedule};
  SmallVector<ScheduleOp> turns;
  SymbolTable symbols(schedule->getParentOfType<ModuleOp>());
  for (StringRef name :
       {schedules::kBeginTurn, schedules::kTurnStep, schedules::kEndTurn}) {
    auto part = symbols.lookup<ScheduleOp>(name);
    if (!part)
      return schedule.emitOpError("needs a schedule '") << name << "'";
    turns.push_back(part);
  }
  if (kind != schedules::kTurnStep)
    return SmallVector<ScheduleOp>();
  auto beside = symbols.lookup<ScheduleOp>(schedules::kBeginTurnBeside);
  if (beside && failed(verifyPlaces(turns.front(), beside)))
    return failure();
  turns.append({beside ? beside : turns[0], turns[1], turns[2]});
  if (beside)
    turns.append({turns[0], turns[1], turns[2]});
  return turns;
}

/// Returns whether a step treats all copies alike, is the same in each step,
/// and runs on a single rank.
static bool isForAnyCopies(ScheduleOp step) {
  bool takesTurns = false;
  WalkResult result = step.walk([&](ScheduleCommandOpInterface command) {
    if (auto repeat = dyn_cast<RepeatOp>(*command))
      takesTurns |= repeat.getOver() == RepeatKind::turns;
    return command.isForAll() || command.isConditional()
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return takesTurns && !result.wasInterrupted();
}

std::optional<TurnsOfSteps> TurnsOfSteps::add(ModuleOp module, const Job &job) {
  SymbolTable symbols(module);
  auto every = symbols.lookup<ScheduleOp>(schedules::kStep);
  if (job.copies < 2 || !every || !isForAnyCopies(every))
    return std::nullopt;
  OpBuilder builder(every);
  builder.setInsertionPointAfter(every);
  auto step = cast<ScheduleOp>(builder.clone(*every));
  step.setSymName(schedules::kTurnStep);
  TurnsOfSteps turns(step, SegmentAttr::getTable(module), job);
  turns.findSegments();
  auto isKept = [&](int64_t number) {
    return llvm::is_contained(step.getKeeps(), number);
  };
  if (turns.copyBytes > 0 && llvm::none_of(turns.segments, isKept))
    return turns;
  step.erase();
  return std::nullopt;
}

void TurnsOfSteps::findSegments() {
  SymbolTable symbols(step->getParentOfType<ModuleOp>());
  step.walk([&](RunOp run) {
    auto task = symbols.lookup<TaskOp>(run.getTask());
    for (int64_t number : task.getReads())
      if (isSpilledState(getSegment(number)))
        segments.insert(number);
    for (int64_t number : task.getWrites())
      if (isSpilledState(getSegment(number))) {
        segments.insert(number);
        written.insert(number);
      }
  });
  for (int64_t number : segments) {
    int64_t one = countBytes(number, 1), two = countBytes(number, 2);
    copyBytes += two - one;
    sharedBytes += 2 * one - two;
  }
}

/// Returns the bytes of a segment in the arena, for all instances and `copies`
/// copies.
int64_t TurnsOfSteps::countBytes(int64_t number, int64_t copies) const {
  SegmentAttr segment = getSegment(number);
  int64_t slabs = segment.getCopyBytes() > 0 ? copies : 1;
  return segment.getUnitBytes() * slabs * segment.getInstances();
}

int64_t TurnsOfSteps::countCopies(int64_t bytes) const {
  int64_t most = std::min((bytes - sharedBytes) / copyBytes, allCopies);
  if (most < 1)
    return 0;
  // A thread computes whole copies. A copy that remains is divided among
  // threads kernel by kernel, which takes longer than a turn of fewer copies.
  int64_t unit = threads;
  while (unit > most)
    unit /= 2;
  int64_t turns = llvm::divideCeil(allCopies, most / unit * unit);
  int64_t copies = llvm::divideCeil(allCopies, turns);
  return std::min<int64_t>(llvm::divideCeil(copies, unit) * unit, allCopies);
}

int64_t TurnsOfSteps::countMoved() const {
  int64_t bytes = countBytes(allCopies);
  for (int64_t number : written)
    bytes += countBytes(number, allCopies);
  return bytes / HFTA_DEFAULT_LOG_EVERY;
}

void TurnsOfSteps::build(int64_t copies, int64_t address, bool overlaps,
                         int64_t queue, int64_t event) {
  OpBuilder builder(step);
  Location loc = step.getLoc();
  auto begin = [&](StringRef name) {
    builder.setInsertionPoint(step);
    auto schedule = ScheduleOp::create(builder, loc, name, /*stage=*/-1,
                                       ArrayRef<int64_t>());
    builder.setInsertionPointToEnd(&schedule.getBody().emplaceBlock());
    auto turns = RepeatOp::create(builder, loc, RepeatKind::turns);
    turns.setCopies(copies);
    builder.setInsertionPointToEnd(&turns.getBody().emplaceBlock());
  };
  auto fetch = [&](StringRef name) {
    begin(name);
    AwaitOp::create(builder, loc, event, /*instances=*/1, /*ahead=*/0,
                    /*device=*/0, queue);
    for (int64_t number : segments) {
      FetchOp::create(builder, loc, number, address, Contents::stored,
                      getSegment(number).getInstances(), /*ahead=*/0,
                      /*device=*/0, queue);
      address += countBytes(number, copies);
    }
  };
  fetch(schedules::kBeginTurn);
  if (overlaps)
    fetch(schedules::kBeginTurnBeside);
  begin(schedules::kEndTurn);
  for (int64_t number : written)
    EvictOp::create(builder, loc, number, /*ahead=*/0, /*device=*/0, queue + 1);
  RecordOp::create(builder, loc, event, /*instances=*/1, /*ahead=*/0,
                   /*device=*/0, queue + 1);
  for (int64_t number : segments)
    DropOp::create(builder, loc, number, /*ahead=*/0, /*device=*/0,
                   /*queue=*/0);
}
