//===- ScheduleClocks.h - The order between commands ------------*- C++ -*-===//
//
// Each queue has a vector clock, which events carry to other queues. If two
// commands access the same bytes, and one of them writes, one must be known to
// come after the other. Source: Mattern, "Virtual time and global states of
// distributed systems", 1989.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_VERIFY_SCHEDULECLOCKS_H
#define HFTA_LIB_TRANSFORMS_VERIFY_SCHEDULECLOCKS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

#include <map>
#include <set>

namespace mlir::hfta {

using Queue = CommandQueue;

/// Describes a queue for messages: "queue 2".
std::string describe(Queue queue);

/// Bytes of one instance of a segment, or of the host's image of it. The arena,
/// and each segment in the store, have `number`s of their own.
struct CommandRange {
  static constexpr int64_t kArena = -1, kStore = -2;
  Space space;
  int64_t number, instance, begin, end;
  bool isSamePlace(const CommandRange &other) const {
    return space == other.space && number == other.number &&
           instance == other.instance;
  }
  bool overlaps(const CommandRange &other) const {
    return isSamePlace(other) && begin < other.end && other.begin < end;
  }
  bool operator==(const CommandRange &other) const {
    return isSamePlace(other) && begin == other.begin && end == other.end;
  }
};

/// Checks that events order all commands that access the same bytes.
class ScheduleClocks {
public:
  /// A point in a queue's time: the queue and the number of a command in it.
  using Time = std::pair<Queue, int64_t>;

  /// Begins a command in its queue, and returns the queue.
  Queue start(ScheduleCommandOpInterface command) {
    return start(*command.findQueue());
  }
  Queue start(Queue queue) {
    ++clocks[queue][queue];
    return queue;
  }
  /// Returns the time of the last command that was begun in the queue.
  Time getTime(Queue queue) { return {queue, clocks[queue][queue]}; }
  /// Returns whether the queue's next command is known to come after that time.
  bool isKnown(Queue queue, const Time &time) const;

  /// Records an event. Reports an error if another queue has recorded it.
  LogicalResult record(ScheduleCommandOpInterface command, int64_t event);
  /// Lets the queue wait for an event, if the event has been recorded.
  void await(ScheduleCommandOpInterface command, int64_t event);

  /// Notes that the queue's command reads or writes the range. Reports an error
  /// if another command may still be accessing it.
  LogicalResult touch(Operation *op, Queue queue, const CommandRange &range,
                      bool isWrite);
  /// Notes an access with which no other command can conflict.
  void note(Queue queue, const CommandRange &range, bool isWrite);
  /// Ends a call: the host has waited for all queues except those in `goingOn`.
  void finishCall(const std::set<Queue> &goingOn);

private:
  /// For each queue, the number of its commands that are known to be done.
  using Clock = std::map<Queue, int64_t>;

  /// The last access of a kind to a range by a queue.
  struct Access {
    CommandRange range;
    Queue queue;
    bool isWrite;
    int64_t time; ///< the number of the queue's command
  };

  std::map<Queue, Clock> clocks;
  std::map<int64_t, std::pair<Queue, Clock>> events;
  SmallVector<Access> accesses;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_VERIFY_SCHEDULECLOCKS_H
