//===- Simulator.h - When a plan's parts begin and end ----------*- C++ -*-===//
//
// An event simulator of queues that execute actions one after the other, of
// messages that occupy channels, and of memory. It knows neither pipelines nor
// models: stages on workers, and shards of several models that are fetched into
// devices' memories, are all described in its terms.
//
// Times are whole picoseconds inside, so that times which are equal on paper
// are equal here. Events at one time are ordered by number: first of queues,
// then of messages. So a simulation always has the same result.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_SIMULATOR_H
#define HFTA_PLANNING_SIMULATOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::hfta::planning {

/// A time in picoseconds.
using Ticks = int64_t;
/// Returns the nearest number of ticks; times beyond 50 days count as 50 days.
Ticks toTicks(double seconds);
double toSeconds(Ticks ticks);

/// Stands for "none" in numbers that count from 0.
constexpr unsigned kNone = ~0u;

/// The amount of a memory, in bytes or any other unit, that something takes
/// when it begins and when it ends; a negative amount is given back.
struct MemoryChange {
  unsigned memory = 0;
  int64_t atBegin = 0;
  int64_t atEnd = 0;
};

/// An action of a queue. It begins when the queue is free, the actions in
/// `after` have ended, and its messages have arrived.
struct SimulatedAction {
  /// kNone: any queue, as the chooser of actions decides.
  unsigned queue = 0;
  /// The duration with a processor of its own.
  double seconds = 0;
  llvm::SmallVector<unsigned, 2> after;
  llvm::SmallVector<unsigned, 2> messages;
  llvm::SmallVector<MemoryChange, 1> memory;
};

/// Bytes that one action sends, or several together. They are sent when the
/// last of these actions has ended, the channel is free, and the slot that
/// receives them is free.
struct SimulatedMessage {
  llvm::SmallVector<unsigned, 1> after;
  unsigned channel = 0;
  int64_t bytes = 0;
  /// The place that receives it. Messages take a slot in the order of their
  /// numbers; it is free again when all actions that wait for the last message
  /// have ended. kNone: a place of its own.
  unsigned slot = kNone;
  llvm::SmallVector<MemoryChange, 1> memory;
};

/// A channel sends one message at a time, each for latency + bytes /
/// bytesPerSecond seconds.
struct SimulatedChannel {
  double latency = 0;
  double bytesPerSecond = 0; ///< 0: sending takes no time
  /// Whether messages go in the order in which they are sent, so that one whose
  /// slot isn't free holds up those after it. Otherwise they go as soon as they
  /// can.
  bool isOrdered = false;
};

/// A queue that runs actions in the order of its list.
struct SimulatedQueue {
  unsigned machine = 0;
  std::vector<unsigned> actions;
};

/// A machine with processors. If more actions run at the same time than it has
/// processors, they share them equally; otherwise each has a processor of its
/// own.
struct SimulatedMachine {
  int64_t processors = 0; ///< 0: enough for all
};

struct Simulation {
  std::vector<SimulatedMachine> machines;
  std::vector<SimulatedQueue> queues;
  std::vector<SimulatedAction> actions;
  std::vector<SimulatedChannel> channels;
  std::vector<SimulatedMessage> messages;
  unsigned slotCount = 0;
  unsigned memoryCount = 0;

  /// Appends an action to its queue's list. Returns its number.
  unsigned add(SimulatedAction action);
  unsigned add(SimulatedMessage message);
  unsigned add(SimulatedChannel channel);
};

/// The time from a beginning to an end. For what never began, begin = -1.
struct Interval {
  Ticks begin = -1;
  Ticks end = -1;
  bool hasBegun() const { return begin >= 0; }
};

/// The reason why something waits for the next member of a circle.
enum class WaitReason {
  result,  ///< an action waits for one in its `after`
  arrival, ///< an action waits for a message
  /// An action waits for the first one in its queue's list that can't begin.
  list,
  sender,  ///< a message waits for an action that sends it
  place,   ///< a message waits for a reader of what lies in its slot
  channel, ///< a message waits for an earlier one in an ordered channel
};

/// A member of a circle in which each waits for the next one, and the last one
/// for the first.
struct Wait {
  bool isMessage = false;
  unsigned number = 0; ///< number of the action, or message
  WaitReason reason = WaitReason::result;
};

struct SimulationResult {
  std::vector<Interval> actions;
  /// The queue on which each action has begun, or kNone.
  std::vector<unsigned> queues;
  std::vector<Interval> messages;
  /// When the last action or message ends.
  Ticks makespan = 0;
  /// The time in which each queue does something.
  std::vector<Ticks> busy;
  /// The peak of each memory.
  std::vector<int64_t> peaks;
  /// A circle of what never ends; empty: everything ended.
  std::vector<Wait> circle;

  bool hasEnded() const { return circle.empty(); }
  /// Returns how long a queue waits between its first action and its last one.
  Ticks getIdle(unsigned queue) const;
};

/// The view of the running simulation that a chooser of actions has.
class SimulationState {
public:
  virtual ~SimulationState() = default;
  virtual Ticks getTime() const = 0;
  virtual bool hasEnded(unsigned action) const = 0;
  /// Returns whether everything that the action needs is there.
  virtual bool canBegin(unsigned action) const = 0;
  /// Returns when everything that the action needs will be there, as far as
  /// that is known, because what it waits for is running or under way. Assumes
  /// that processors are free.
  virtual std::optional<Ticks> getArrival(unsigned action) const = 0;
};

/// Called when a queue has nothing to do. Returns an action of this queue, or
/// of any queue, that can begin, or kNone. It is called again at the next time
/// at which anything ends.
using ActionChooser =
    llvm::function_ref<unsigned(const SimulationState &, unsigned queue)>;

/// Runs every queue's list.
SimulationResult simulate(const Simulation &simulation);
/// Lets `choose` order the actions, whatever the lists say. An action that it
/// doesn't choose doesn't begin; the result then has no circle.
SimulationResult simulate(const Simulation &simulation, ActionChooser choose);

/// Finds a circle in what hasn't begun when nothing more happens; returns an
/// empty one if everything has begun.
std::vector<Wait> findCircle(const Simulation &simulation,
                             const SimulationResult &result);

/// Describes a circle in words: "A waits for the result of B, which …". The
/// functions name actions and messages.
std::string
describeCircle(llvm::ArrayRef<Wait> circle,
               llvm::function_ref<std::string(unsigned)> nameAction,
               llvm::function_ref<std::string(unsigned)> nameMessage);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_SIMULATOR_H
