//===- QueueSimulation.cpp - Simulates queues that compute and transfer ---===//

#include "Hfta/Planning/Spill/QueueSimulation.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

namespace {
/// The progress of a queue.
struct QueueState {
  size_t next = 0;
  bool isRunning = false; ///< whether its next work has begun
  /// The remaining seconds of this work if it shares its channel with nothing.
  double left = 0;
  double begin = 0;
};

class QueueSimulator {
public:
  QueueSimulator(llvm::ArrayRef<std::vector<QueuedWork>> queues,
                 const StoreRates &store)
      : queues(queues), store(store), states(queues.size()) {
    for (const std::vector<QueuedWork> &queue : queues)
      for (const QueuedWork &work : queue)
        if (work.kind == QueuedWork::record)
          happened[work.event] = false;
  }

  SpillRun run() {
    while (beginWhatCan())
      advance();
    result.seconds = now;
    llvm::sort(result.events,
               [](const SpillEvent &left, const SpillEvent &right) {
                 return left.getRank() < right.getRank();
               });
    return std::move(result);
  }

private:
  bool step(size_t number);
  bool beginWhatCan();
  double countSeconds(const QueuedWork &work);
  double getPace(size_t number) const;
  void advance();
  void finish(size_t number);

  const QueuedWork &getWork(size_t number) const {
    return queues[number][states[number].next];
  }

  llvm::ArrayRef<std::vector<QueuedWork>> queues;
  const StoreRates &store;
  std::vector<QueueState> states;
  /// Whether each event was recorded, for events that some queue records.
  llvm::DenseMap<int64_t, bool> happened;
  double now = 0;
  SpillRun result;
};
} // namespace

/// Returns the seconds of the work if it shares its channel with nothing, and
/// adds them to the result's sums.
double QueueSimulator::countSeconds(const QueuedWork &work) {
  auto bytes = static_cast<double>(work.what.bytes);
  switch (work.kind) {
  case QueuedWork::compute:
    result.computeSeconds += work.seconds;
    return work.seconds;
  case QueuedWork::read: {
    double seconds =
        store.secondsPerTransfer + bytes / store.readBytesPerSecond;
    result.readSeconds += seconds;
    result.readBytes += work.what.bytes;
    return seconds;
  }
  case QueuedWork::write: {
    double seconds =
        store.secondsPerTransfer + bytes / store.writeBytesPerSecond;
    result.writeSeconds += seconds;
    result.writtenBytes += work.what.bytes;
    return seconds;
  }
  case QueuedWork::record:
  case QueuedWork::await:
    return 0;
  }
  llvm_unreachable("all kinds are listed");
}

/// Executes the queue's next record or await, which takes no time, or begins
/// its next work. Returns whether anything was done.
bool QueueSimulator::step(size_t number) {
  QueueState &state = states[number];
  if (state.isRunning || state.next == queues[number].size())
    return false;
  const QueuedWork &work = getWork(number);
  if (work.kind == QueuedWork::record) {
    happened[work.event] = true;
    ++state.next;
    return true;
  }
  if (work.kind == QueuedWork::await) {
    auto event = happened.find(work.event);
    if (event != happened.end() && !event->second)
      return false;
    ++state.next;
    return true;
  }
  state.isRunning = true;
  state.begin = now;
  state.left = countSeconds(work);
  return true;
}

/// Begins all work that can begin. Returns whether any work is in progress
/// then.
bool QueueSimulator::beginWhatCan() {
  bool changes = true;
  while (changes) {
    changes = false;
    for (size_t number = 0; number < queues.size(); ++number)
      while (step(number))
        changes = true;
  }
  return llvm::any_of(states,
                      [](const QueueState &state) { return state.isRunning; });
}

/// Returns the share of a queue's work that is done per second, which is less
/// than 1 if several transfers use a channel at the same time.
double QueueSimulator::getPace(size_t number) const {
  QueuedWork::Kind kind = getWork(number).kind;
  if (kind == QueuedWork::compute)
    return 1;
  auto sharesChannel = [&](size_t other) {
    if (!states[other].isRunning)
      return false;
    QueuedWork::Kind with = getWork(other).kind;
    return with == kind || (store.isShared && with != QueuedWork::compute);
  };
  double users = 0;
  for (size_t other = 0; other < queues.size(); ++other)
    users += sharesChannel(other);
  return 1 / users;
}

/// Advances to the time at which the next work ends.
void QueueSimulator::advance() {
  std::vector<double> paces(queues.size(), 0);
  double seconds = -1;
  for (auto [number, state] : llvm::enumerate(states)) {
    if (!state.isRunning)
      continue;
    paces[number] = getPace(number);
    double needs = state.left / paces[number];
    if (seconds < 0 || needs < seconds)
      seconds = needs;
  }
  now += seconds;
  for (auto [number, state] : llvm::enumerate(states)) {
    if (!state.isRunning)
      continue;
    bool ends = state.left / paces[number] <= seconds;
    state.left -= seconds * paces[number];
    if (ends)
      finish(number);
  }
}

void QueueSimulator::finish(size_t number) {
  QueueState &state = states[number];
  SpillEvent event = getWork(number).what;
  event.begin = state.begin;
  event.end = now;
  result.events.push_back(event);
  state.isRunning = false;
  ++state.next;
}

SpillRun
planning::simulateQueues(llvm::ArrayRef<std::vector<QueuedWork>> queues,
                         const StoreRates &store) {
  return QueueSimulator(queues, store).run();
}
