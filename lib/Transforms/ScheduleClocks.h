//===- ScheduleClocks.h - Which commands come after which others -*- C++
//-*-===//
//
// A clock a queue, which events carry to other queues. Where two commands touch
// the same bytes, and one writes, one must be known to come after the other.
//===----------------------------------------------------------------------===//

#ifndef HFTA_LIB_TRANSFORMS_SCHEDULECLOCKS_H
#define HFTA_LIB_TRANSFORMS_SCHEDULECLOCKS_H

#include "Hfta/Dialect/Hfta/IR/HftaOps.h"

#include <map>
#include <set>

namespace mlir::hfta {

/// A device's queue.
using Queue = std::pair<int64_t, int64_t>;

/// "queue 2", for messages.
std::string describe(Queue queue);

/// Bytes of one instance of a segment, or of the host's image of it; of the
/// arena, or of a segment in the store, with these numbers in its place.
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
  /// When a queue did something, in its count.
  using Time = std::pair<Queue, int64_t>;

  /// A command begins in its queue.
  template <typename OpTy>
  Queue start(OpTy op) {
    return start(Queue(op.getDevice(), op.getQueue()));
  }
  Queue start(Queue queue) {
    ++clocks[queue][queue];
    return queue;
  }
  /// That of the last command that has begun there.
  Time getTime(Queue queue) { return {queue, clocks[queue][queue]}; }
  /// Whether what a queue does next comes after that.
  bool isKnown(Queue queue, const Time &time) const;

  LogicalResult record(RecordOp record, int64_t event);
  void await(AwaitOp await, int64_t event);

  /// The queue's command reads or writes the range: an error if another one may
  /// still be at it.
  LogicalResult touch(Operation *op, Queue queue, const CommandRange &range,
                      bool isWrite);
  /// The same where nothing can be at it.
  void note(Queue queue, const CommandRange &range, bool isWrite);
  /// The host has waited for all queues but these.
  void finishCall(const std::set<Queue> &goingOn);

private:
  /// For each queue, how many of its commands are known to be done.
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
