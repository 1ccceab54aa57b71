//===- ScheduleClocks.h - The order between commands ------------*- C++ -*-===//
//
// A vector clock for each queue, which events carry to other queues. Where two
// commands touch the same bytes, and one writes, one must be known to come
// after the other.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_SCHEDULECLOCKS_H
#define HFTA_LIB_TRANSFORMS_SCHEDULECLOCKS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

#include <map>
#include <set>

namespace mlir::hfta {

/// A device's queue.
using Queue = std::pair<int64_t, int64_t>;

/// Describes a queue for messages: "queue 2".
std::string describe(Queue queue);

/// Bytes of one instance of a segment, or of the host's image of it; or bytes
/// of the arena, or of a segment in the store, which have numbers of their own.
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

class ScheduleClocks {
public:
  /// A point in a queue's time: the queue, and the number of its command.
  using Time = std::pair<Queue, int64_t>;

  /// Starts a command in its queue, and returns the queue.
  template <typename OpTy>
  Queue start(OpTy op) {
    return start(Queue(op.getDevice(), op.getQueue()));
  }
  Queue start(Queue queue) {
    ++clocks[queue][queue];
    return queue;
  }
  /// Returns the time of the last command that has begun in the queue.
  Time getTime(Queue queue) { return {queue, clocks[queue][queue]}; }
  /// Whether the queue's next command is known to come after that time.
  bool isKnown(Queue queue, const Time &time) const;

  LogicalResult record(RecordOp record, int64_t event);
  void await(AwaitOp await, int64_t event);

  /// Notes that the queue's command reads or writes the range. Gives an error
  /// if another command may still be using it.
  LogicalResult touch(Operation *op, Queue queue, const CommandRange &range,
                      bool isWrite);
  /// Notes an access that no other command can conflict with.
  void note(Queue queue, const CommandRange &range, bool isWrite);
  /// Ends a call: the host has waited for all queues except these.
  void finishCall(const std::set<Queue> &goingOn);

private:
  /// The number of commands of each queue that are known to be done.
  using Clock = std::map<Queue, int64_t>;

  /// The last time that a queue touched a range.
  struct Access {
    CommandRange range;
    Queue queue;
    bool isWrite;
    int64_t time; ///< in the queue's count
  };

  std::map<Queue, Clock> clocks;
  std::map<int64_t, std::pair<Queue, Clock>> events;
  SmallVector<Access> accesses;
};

} // namespace mlir::hfta

#endif // HFTA_LIB_TRANSFORMS_SCHEDULECLOCKS_H
