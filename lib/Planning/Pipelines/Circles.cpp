//===- Circles.cpp - Cycles of actions that wait forever ------------------===//

#include "Hfta/Planning/Common/Simulator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

namespace {
/// Finds the cycle of a deadlock. Goes from an action or message that has never
/// begun to one that it waits for and that has never begun either, and so on,
/// until it meets one for the second time.
class CircleFinder {
public:
  CircleFinder(const Simulation &plan, const SimulationResult &result)
      : plan(plan), result(result), readers(plan.messages.size()) {
    for (auto [number, action] : llvm::enumerate(plan.actions))
      for (unsigned message : action.messages)
        readers[message].push_back(number);
  }

  std::vector<Wait> find() const;

private:
  bool hasBegun(unsigned action) const {
    return result.actions[action].hasBegun();
  }
  bool isSent(unsigned message) const {
    return result.messages[message].hasBegun();
  }
  std::optional<Wait> findPlace(unsigned message) const;
  unsigned findChannelHead(unsigned channel) const;
  Wait follow(Wait &from) const;
  Wait followAction(unsigned action, WaitReason &reason) const;
  Wait followMessage(unsigned message, WaitReason &reason) const;

  const Simulation &plan;
  const SimulationResult &result;
  /// The actions that wait for each message.
  std::vector<llvm::SmallVector<unsigned, 2>> readers;
};
} // namespace

std::vector<Wait> CircleFinder::find() const {
  auto first = llvm::find_if(result.actions, [](const Interval &interval) {
    return !interval.hasBegun();
  });
  if (first == result.actions.end())
    return {};
  Wait at{/*isMessage=*/false,
          static_cast<unsigned>(first - result.actions.begin())};
  std::vector<Wait> path;
  while (true) {
    auto passed = llvm::find_if(path, [&](const Wait &wait) {
      return wait.isMessage == at.isMessage && wait.number == at.number;
    });
    if (passed != path.end())
      return std::vector<Wait>(passed, path.end());
    Wait next = follow(at);
    path.push_back(at);
    at = next;
  }
}

/// Returns what `from` waits for, and stores the reason in `from`.
Wait CircleFinder::follow(Wait &from) const {
  return from.isMessage ? followMessage(from.number, from.reason)
                        : followAction(from.number, from.reason);
}

Wait CircleFinder::followAction(unsigned action, WaitReason &reason) const {
  const std::vector<unsigned> &list =
      plan.queues[plan.actions[action].queue].actions;
  unsigned head =
      *llvm::find_if(list, [&](unsigned other) { return !hasBegun(other); });
  if (head != action) {
    reason = WaitReason::list;
    return {/*isMessage=*/false, head};
  }
  for (unsigned before : plan.actions[action].after)
    if (!hasBegun(before)) {
      reason = WaitReason::result;
      return {/*isMessage=*/false, before};
    }
  reason = WaitReason::arrival;
  for (unsigned message : plan.actions[action].messages)
    if (!isSent(message))
      return {/*isMessage=*/true, message};
  llvm_unreachable("an action that waits for nothing begins");
}

/// Returns what must happen before the message's slot is free; nothing if it is
/// free.
std::optional<Wait> CircleFinder::findPlace(unsigned message) const {
  unsigned slot = plan.messages[message].slot;
  for (unsigned before = message; slot != kNone && before-- > 0;) {
    if (plan.messages[before].slot != slot)
      continue;
    if (!isSent(before))
      return Wait{/*isMessage=*/true, before};
    for (unsigned reader : readers[before])
      if (!hasBegun(reader))
        return Wait{/*isMessage=*/false, reader};
    break;
  }
  return std::nullopt;
}

/// Returns the first message that has been submitted to an ordered channel but
/// not sent.
unsigned CircleFinder::findChannelHead(unsigned channel) const {
  unsigned head = kNone;
  Ticks first = 0;
  for (auto [number, message] : llvm::enumerate(plan.messages)) {
    if (message.channel != channel || isSent(number) ||
        !llvm::all_of(message.after,
                      [&](unsigned action) { return hasBegun(action); }))
      continue;
    Ticks sent = 0;
    for (unsigned action : message.after)
      sent = std::max(sent, result.actions[action].end);
    if (head == kNone || sent < first) {
      head = number;
      first = sent;
    }
  }
  return head;
}

Wait CircleFinder::followMessage(unsigned message, WaitReason &reason) const {
  for (unsigned action : plan.messages[message].after)
    if (!hasBegun(action)) {
      reason = WaitReason::sender;
      return {/*isMessage=*/false, action};
    }
  if (std::optional<Wait> wait = findPlace(message)) {
    reason = WaitReason::place;
    return *wait;
  }
  reason = WaitReason::channel;
  return {/*isMessage=*/true, findChannelHead(plan.messages[message].channel)};
}

std::vector<Wait> planning::findCircle(const Simulation &simulation,
                                       const SimulationResult &result) {
  return CircleFinder(simulation, result).find();
}

static const char *describe(WaitReason reason) {
  switch (reason) {
  case WaitReason::result:
  case WaitReason::arrival:
    return " waits for ";
  case WaitReason::list:
    return " comes in its list after ";
  case WaitReason::sender:
    return " is sent after ";
  case WaitReason::place:
    return " has no place before the end of ";
  case WaitReason::channel:
    return " goes through its channel after ";
  }
  llvm_unreachable("all reasons are listed");
}

std::string planning::describeCircle(
    llvm::ArrayRef<Wait> circle,
    llvm::function_ref<std::string(unsigned)> nameAction,
    llvm::function_ref<std::string(unsigned)> nameMessage) {
  auto name = [&](const Wait &wait) {
    return wait.isMessage ? nameMessage(wait.number) : nameAction(wait.number);
  };
  if (circle.empty())
    return "";
  std::string text = name(circle.front());
  for (auto [index, wait] : llvm::enumerate(circle)) {
    text += index > 0 ? ", which" : "";
    text += describe(wait.reason);
    text += name(circle[(index + 1) % circle.size()]);
  }
  return text;
}
