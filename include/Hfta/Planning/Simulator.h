//===- Simulator.h - When a plan's parts begin and end ----------*- C++ -*-===//
//
// An event simulator of queues that execute actions one after the other, of
// messages that occupy channels, and of memory. It knows neither pipelines nor
// models: stages on workers, shards that are fetched into a device's memory and
// several models on several devices are all written in its terms.
//
// Times are whole picoseconds inside, so that times which are equal on paper
// are equal here. What happens at one time is ordered by numbers: of queues,
// then of messages. The same simulation always has the same result.
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

/// Picoseconds.
using Ticks = int64_t;
/// The nearest number of ticks; times beyond 50 days count as 50 days.
Ticks toTicks(double seconds);
double toSeconds(Ticks ticks);

/// A number that stands for "none" of what is counted from 0.
constexpr unsigned kNone = ~0u;

/// Bytes, or whatever else is counted, that something takes of a memory when it
/// begins and when it ends; negative: gives back.
struct MemoryChange {
  unsigned memory = 0;
  int64_t atBegin = 0;
  int64_t atEnd = 0;
};

/// Something that a queue does. It begins when the queue is free, the actions
/// that it comes after have ended, and its messages have arrived.
struct SimulatedAction {
  /// kNone: any, as who chooses actions decides.
  unsigned queue = 0;
  /// With a processor for itself.
  double seconds = 0;
  llvm::SmallVector<unsigned, 2> after;
  llvm::SmallVector<unsigned, 2> messages;
  llvm::SmallVector<MemoryChange, 1> memory;
};

/// Bytes that an action sends, or several together: they go when the last of
/// these has ended, the channel is free, and the place that they are received
/// in is.
struct SimulatedMessage {
  llvm::SmallVector<unsigned, 1> after;
  unsigned channel = 0;
  int64_t bytes = 0;
  /// The place that it is received in. It is taken by messages in the order of
  /// their numbers, and free again when all actions that wait for the last one
  /// have ended. kNone: a place of its own.
  unsigned slot = kNone;
  llvm::SmallVector<MemoryChange, 1> memory;
};

/// Messages go through a channel one at a time, each for
/// latency + bytes / bytesPerSecond seconds.
struct SimulatedChannel {
  double latency = 0;
  double bytesPerSecond = 0; ///< 0: no time
  /// Messages go in the order in which they are sent, so that one whose place
  /// isn't free holds up those behind it. Else they go as soon as they can.
  bool isOrdered = false;
};

/// Runs actions in the order of its list.
struct SimulatedQueue {
  unsigned machine = 0;
  std::vector<unsigned> actions;
};

/// The actions that run on a machine at the same time share its processors
/// equally where they are more than these, and have one each elsewhere.
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

/// From when to when something went on. What never began has begin = -1.
struct Interval {
  Ticks begin = -1;
  Ticks end = -1;
  bool hasBegun() const { return begin >= 0; }
};

/// Why something waits for the next member of a circle.
enum class WaitReason {
  result,  ///< an action for one that it comes after
  arrival, ///< an action for a message
  list,    ///< an action for the first one in its queue's list that can't begin
  sender,  ///< a message for an action that sends it
  place,   ///< a message for the reader of what lies in its place
  channel, ///< a message for the one before it in an ordered channel
};

/// A member of a circle of which each waits for the next one, and the last one
/// for the first.
struct Wait {
  bool isMessage = false;
  unsigned number = 0; ///< of the action, or message
  WaitReason reason = WaitReason::result;
};

struct SimulationResult {
  std::vector<Interval> actions;
  /// Of each action: the queue that it has begun on, or kNone.
  std::vector<unsigned> queues;
  std::vector<Interval> messages;
  /// When the last action or message ends.
  Ticks makespan = 0;
  /// Of each queue: the time in which it does something.
  std::vector<Ticks> busy;
  /// Of each memory.
  std::vector<int64_t> peaks;
  /// Of what never ends; empty: all ended.
  std::vector<Wait> circle;

  bool hasEnded() const { return circle.empty(); }
  /// Time that a queue waits between its first action and its last one.
  Ticks getIdle(unsigned queue) const;
};

/// What someone who chooses actions while the simulation runs can see of it.
class SimulationState {
public:
  virtual ~SimulationState() = default;
  virtual Ticks getTime() const = 0;
  virtual bool hasEnded(unsigned action) const = 0;
  /// Whether all that the action needs is there.
  virtual bool canBegin(unsigned action) const = 0;
  /// When all that the action needs will be there, as far as that is known:
  /// what it waits for runs, or is on its way. Processors are taken to be free.
  virtual std::optional<Ticks> getArrival(unsigned action) const = 0;
};

/// Called when a queue has nothing to do: an action of this queue, or of any,
/// that can begin, or kNone. It is asked again at the next time anything ends.
using ActionChooser =
    llvm::function_ref<unsigned(const SimulationState &, unsigned queue)>;

/// Runs every queue's list.
SimulationResult simulate(const Simulation &simulation);
/// Lets `choose` order the actions, whatever the lists say. What it doesn't
/// choose doesn't begin; the result then has no circle.
SimulationResult simulate(const Simulation &simulation, ActionChooser choose);

/// Of what hasn't begun when nothing more happens. Empty if all has.
std::vector<Wait> findCircle(const Simulation &simulation,
                             const SimulationResult &result);

/// A circle in words: "A waits for the result of B, which …". The functions
/// give names to actions and messages.
std::string
describeCircle(llvm::ArrayRef<Wait> circle,
               llvm::function_ref<std::string(unsigned)> nameAction,
               llvm::function_ref<std::string(unsigned)> nameMessage);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_SIMULATOR_H
