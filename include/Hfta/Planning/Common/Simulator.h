//===- Simulator.h - When a plan's parts begin and end ----------*- C++ -*-===//
//
// A discrete-event simulator of queues that execute actions one after the
// other, of messages that occupy channels, and of memory. It knows neither
// pipelines nor models: both stages on workers and shards that are fetched to
// devices are described in its terms.
//
// Times are whole picoseconds, so that equal inputs give equal results.
// Simultaneous events are ordered by number, those of queues before those of
// messages.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_COMMON_SIMULATOR_H
#define HFTA_PLANNING_COMMON_SIMULATOR_H

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
/// Returns the nearest number of ticks. Times of more than 50 days become 50
/// days.
Ticks toTicks(double seconds);
double toSeconds(Ticks ticks);

/// The value for "none" in numbers that count from 0.
constexpr unsigned kNone = ~0u;

/// How much the use of a memory grows when an action or message begins and when
/// it ends, in bytes or any other unit. A negative amount frees memory.
struct MemoryChange {
  unsigned memory = 0;
  int64_t atBegin = 0;
  int64_t atEnd = 0;
};

/// An action of a queue. It begins when the queue is idle, the actions in
/// `after` have ended, and its `messages` have arrived.
struct SimulatedAction {
  /// The queue that runs it, or kNone if the chooser of actions may choose any
  /// queue.
  unsigned queue = 0;
  /// The duration if the queue has a processor to itself.
  double seconds = 0;
  llvm::SmallVector<unsigned, 2> after;
  llvm::SmallVector<unsigned, 2> messages;
  llvm::SmallVector<MemoryChange, 1> memory;
};

/// A message of one action, or of several together. It is sent when the last of
/// these actions has ended, the channel is idle, and the slot of the receiver
/// is free.
struct SimulatedMessage {
  llvm::SmallVector<unsigned, 1> after;
  unsigned channel = 0;
  int64_t bytes = 0;
  /// The receiver's slot, or kNone if the message has its own. Messages occupy
  /// a slot in the order of their numbers. The slot becomes free when all
  /// actions that wait for the message in it have ended.
  unsigned slot = kNone;
  llvm::SmallVector<MemoryChange, 1> memory;
};

/// A channel. It sends one message at a time, which takes latency + bytes /
/// bytesPerSecond seconds.
struct SimulatedChannel {
  double latency = 0;
  double bytesPerSecond = 0; ///< 0 means that bytes take no time
  /// Whether messages are transferred in the order in which they are sent, so
  /// that a message whose slot isn't free delays those after it (head-of-line
  /// blocking). Otherwise each message is transferred as soon as possible.
  bool isOrdered = false;
};

/// A queue, which runs the actions of its list in order.
struct SimulatedQueue {
  unsigned machine = 0;
  std::vector<unsigned> actions;
};

/// A machine with processors. If more actions are running than there are
/// processors, they share the processors equally; otherwise each has one to
/// itself.
struct SimulatedMachine {
  int64_t processors = 0; ///< 0 means enough for all actions
};

/// The input of a simulation. Queues, actions and so on refer to each other by
/// their indices in these lists.
struct Simulation {
  std::vector<SimulatedMachine> machines;
  std::vector<SimulatedQueue> queues;
  std::vector<SimulatedAction> actions;
  std::vector<SimulatedChannel> channels;
  std::vector<SimulatedMessage> messages;
  unsigned slotCount = 0;
  unsigned memoryCount = 0;

  /// Appends an action, also to the list of its queue if it has one. Returns
  /// its number.
  unsigned add(SimulatedAction action);
  unsigned add(SimulatedMessage message);
  unsigned add(SimulatedChannel channel);
};

/// The time in which something runs; begin is -1 if it never began.
struct Interval {
  Ticks begin = -1;
  Ticks end = -1;
  bool hasBegun() const { return begin >= 0; }
};

/// The reason why a member of a circle waits for the next one.
enum class WaitReason {
  result,  ///< an action waits for an action in its `after`
  arrival, ///< an action waits for a message
  /// An action waits for the first action in its queue's list that can't begin.
  list,
  sender,  ///< a message waits for an action that sends it
  place,   ///< a message waits for a reader of the message in its slot
  channel, ///< a message waits for an earlier message in an ordered channel
};

/// A member of a circle (deadlock), in which each member waits for the next
/// one, and the last one for the first.
struct Wait {
  bool isMessage = false;
  unsigned number = 0; ///< number of the action or message
  WaitReason reason = WaitReason::result;
};

/// The result of a simulation. Lists have an entry for each action, message,
/// queue or memory.
struct SimulationResult {
  std::vector<Interval> actions;
  /// The queue that ran each action, or kNone if it never began.
  std::vector<unsigned> queues;
  std::vector<Interval> messages;
  /// The time at which the last action or message ends.
  Ticks makespan = 0;
  /// The total time in which each queue runs actions.
  std::vector<Ticks> busy;
  /// The peak use of each memory.
  std::vector<int64_t> peaks;
  /// Actions and messages that wait for each other forever; empty if all have
  /// ended.
  std::vector<Wait> circle;

  bool hasEnded() const { return circle.empty(); }
  /// Returns how long a queue is idle between its first and its last action.
  Ticks getIdle(unsigned queue) const;
};

/// The state of a running simulation, as an ActionChooser sees it.
class SimulationState {
public:
  virtual ~SimulationState() = default;
  virtual Ticks getTime() const = 0;
  virtual bool hasEnded(unsigned action) const = 0;
  /// Returns whether everything that the action waits for has ended or arrived.
  virtual bool canBegin(unsigned action) const = 0;
  /// Returns when everything that the action waits for will have ended or
  /// arrived. Returns nothing if that isn't known yet, because something hasn't
  /// begun. Assumes that processors are free.
  virtual std::optional<Ticks> getArrival(unsigned action) const = 0;
};

/// Called when a queue is idle. Returns an action of this queue, or of any
/// queue (kNone), that can begin; or kNone if the queue is to wait, and then is
/// called again when the next action or message ends.
using ActionChooser =
    llvm::function_ref<unsigned(const SimulationState &, unsigned queue)>;

/// Simulates queues that run the actions of their lists in order.
SimulationResult simulate(const Simulation &simulation);
/// Simulates queues whose actions `choose` chooses; lists are ignored. Actions
/// that it never chooses don't begin. The result has no circle.
SimulationResult simulate(const Simulation &simulation, ActionChooser choose);

/// Finds a circle of waiting actions and messages in a result in which not all
/// have begun. Returns an empty list if all have begun.
std::vector<Wait> findCircle(const Simulation &simulation,
                             const SimulationResult &result);

/// Returns a description of a circle: "A waits for the result of B, which …".
/// The functions return names of actions and messages.
std::string
describeCircle(llvm::ArrayRef<Wait> circle,
               llvm::function_ref<std::string(unsigned)> nameAction,
               llvm::function_ref<std::string(unsigned)> nameMessage);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_COMMON_SIMULATOR_H
