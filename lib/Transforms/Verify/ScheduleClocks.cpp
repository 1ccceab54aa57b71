//===- ScheduleClocks.cpp - The order between commands --------------------===//

#include "Verify/ScheduleClocks.h"

using namespace mlir;
using namespace mlir::hfta;

std::string hfta::describe(Queue queue) {
  std::string text = "queue " + std::to_string(queue.second);
  if (queue.first != 0)
    text += " of device " + std::to_string(queue.first);
  return text;
}

bool ScheduleClocks::isKnown(Queue queue, const Time &time) const {
  if (time.first == queue)
    return true;
  auto clock = clocks.find(queue);
  if (clock == clocks.end())
    return false;
  auto known = clock->second.find(time.first);
  return known != clock->second.end() && known->second >= time.second;
}

LogicalResult ScheduleClocks::touch(Operation *op, Queue queue,
                                    const CommandRange &range, bool isWrite) {
  for (const Access &access : accesses) {
    if (!(access.isWrite || isWrite) || !access.range.overlaps(range) ||
        isKnown(queue, {access.queue, access.time}))
      continue;
    InFlightDiagnostic error = op->emitOpError(isWrite ? "writes" : "reads")
                               << " bytes of ";
    if (range.number == CommandRange::kArena)
      error << "the arena";
    else if (range.number <= CommandRange::kStore)
      error << "segment " << CommandRange::kStore - range.number
            << " in the store";
    else
      error << "segment " << range.number;
    return error << " that " << describe(access.queue) << " may still be "
                 << (access.isWrite ? "writing" : "reading");
  }
  note(queue, range, isWrite);
  return success();
}

/// Notes an access. A command that comes after a queue's last access of a kind
/// comes after all of the queue's earlier ones, so that only the last one is
/// kept.
void ScheduleClocks::note(Queue queue, const CommandRange &range,
                          bool isWrite) {
  auto *last = llvm::find_if(accesses, [&](const Access &access) {
    return access.queue == queue && access.isWrite == isWrite &&
           access.range == range;
  });
  int64_t time = clocks[queue][queue];
  if (last != accesses.end())
    last->time = time;
  else
    accesses.push_back({range, queue, isWrite, time});
}

LogicalResult ScheduleClocks::record(ScheduleCommandOpInterface command,
                                     int64_t event) {
  Queue queue = start(command);
  auto known = events.find(event);
  if (known != events.end() && known->second.first != queue)
    return command->emitError("records event ")
           << event << " of " << describe(known->second.first) << " in "
           << describe(queue);
  events[event] = {queue, clocks[queue]};
  return success();
}

void ScheduleClocks::await(ScheduleCommandOpInterface command, int64_t event) {
  Clock &clock = clocks[start(command)];
  auto known = events.find(event);
  if (known == events.end())
    return;
  for (auto [queue, time] : known->second.second)
    clock[queue] = std::max(clock[queue], time);
}

/// Forgets the accesses that are known to be done when the queues that aren't
/// in `goingOn` have finished.
void ScheduleClocks::finishCall(const std::set<Queue> &goingOn) {
  llvm::erase_if(accesses, [&](const Access &access) {
    return llvm::any_of(clocks, [&](const auto &own) {
      return goingOn.count(own.first) == 0 &&
             isKnown(own.first, {access.queue, access.time});
    });
  });
}
