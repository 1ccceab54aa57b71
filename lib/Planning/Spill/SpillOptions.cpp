//===- SpillOptions.cpp - Options for keeping a group's values ------------===//
//
// Dynamic programming over a group's ops, from the last one to the first. A
// state is the set of values that are demanded of ops that are still to come.
// Each state has all labels (costs) that no other one dominates. An op with
// demanded results either keeps these, or is recomputed and then demands its
// operands. It never keeps some of its results and recomputes others, as that
// would cost both.
//===----------------------------------------------------------------------===//

#include "Spill/SpillOptions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

/// Groups of at most this many ops are solved exactly, unless there are too
/// many labels: then only the best ones for each of several sizes are kept.
static constexpr int64_t kExactOps = 60;
static constexpr size_t kExactLabels = 512;
static constexpr size_t kMostLabels = 48;
static constexpr size_t kMostStates = 256;
/// The most options of a group for each set of values that the group needs from
/// earlier groups.
static constexpr size_t kMostOptions = 20;

namespace {
struct Choice {
  int32_t before; ///< index of the previous choice; -1 if none
  int32_t op;
  Keep keep;
};

struct Label {
  int64_t saved = 0, spilled = 0, extra = 0;
  double seconds = 0;
  int32_t choice = -1;

  auto getRank() const {
    return std::make_tuple(seconds, saved, spilled, extra, choice);
  }
  bool isAsGoodAs(const Label &other) const {
    return saved <= other.saved && spilled <= other.spilled &&
           extra <= other.extra && seconds <= other.seconds;
  }
};

/// The demanded values of a state: a '1' for each of them, otherwise a '0'. The
/// values are those of the group, followed by those that cross the cut before
/// it.
using Demand = std::string;

class GroupSolver {
public:
  GroupSolver(const SpillModel &model, const SpillIndex &index,
              const SpillRequest &request, int64_t first, int64_t end,
              uint32_t keptForOthers);

  std::vector<SpillOption> solve();

private:
  using Labels = std::vector<Label>;

  void visit(int64_t op);
  void add(Demand demand, const Labels &labels, int64_t op, Keep keep,
           const Label &change);
  void demandValue(Demand &demand, int64_t value) const;
  void thin(Labels &labels, size_t most) const;
  void limitStates();
  SpillOption makeOption(const Demand &demand, const Label &label) const;

  const SpillModel &model;
  const SpillIndex &index;
  const SpillRequest &request;
  int64_t first, firstOp, endOp, firstValue, endValue;
  std::vector<bool> isKeptForOthers, isForBackward;
  double secondsPerByte;
  size_t mostLabels;
  std::map<Demand, Labels> states, next;
  std::vector<Choice> choices;
};
} // namespace

GroupSolver::GroupSolver(const SpillModel &model, const SpillIndex &index,
                         const SpillRequest &request, int64_t first,
                         int64_t end, uint32_t keptForOthers)
    : model(model), index(index), request(request), first(first),
      firstOp(model.getFirstOp(first)), endOp(model.blocks[end - 1].endOp),
      firstValue(index.firstValues[firstOp]),
      endValue(index.firstValues[endOp]),
      isKeptForOthers(endValue - firstValue, false),
      isForBackward(endValue - firstValue, false),
      secondsPerByte(1 / model.store.readBytesPerSecond +
                     1 / model.store.writeBytesPerSecond),
      mostLabels(endOp - firstOp <= kExactOps ? kExactLabels : kMostLabels) {
  for (auto [number, value] : llvm::enumerate(index.crossing[end]))
    if (value >= firstValue && (keptForOthers >> number & 1))
      isKeptForOthers[value - firstValue] = true;
  Demand demand(endValue - firstValue + index.crossing[first].size(), '0');
  for (int64_t block = first; block < end; ++block)
    for (int64_t value : model.blocks[block].backwardReads) {
      demandValue(demand, value);
      if (value >= firstValue)
        isForBackward[value - firstValue] = true;
    }
  states[demand] = {Label()};
}

void GroupSolver::demandValue(Demand &demand, int64_t value) const {
  if (value >= firstValue) {
    if (!isKeptForOthers[value - firstValue])
      demand[value - firstValue] = '1';
    return;
  }
  const auto *found = llvm::find(index.crossing[first], value);
  demand[endValue - firstValue + (found - index.crossing[first].begin())] = '1';
}

/// Sorts labels by seconds and removes dominated ones. If more than `most`
/// remain, keeps only the best ones for each of several ranges of saved bytes.
void GroupSolver::thin(Labels &labels, size_t most) const {
  llvm::sort(labels, [](const Label &left, const Label &right) {
    return left.getRank() < right.getRank();
  });
  Labels best;
  for (const Label &label : labels)
    if (llvm::none_of(
            best, [&](const Label &other) { return other.isAsGoodAs(label); }))
      best.push_back(label);
  labels = std::move(best);
  if (labels.size() <= most)
    return;
  int64_t least = labels.front().saved, greatest = least;
  for (const Label &label : labels) {
    least = std::min(least, label.saved);
    greatest = std::max(greatest, label.saved);
  }
  size_t sizes = most / 4;
  // For each range, keep the labels with the least seconds, spilled bytes, sum
  // of both in seconds, and saved bytes.
  std::vector<std::array<const Label *, 4>> picked(sizes + 1);
  auto cost = [&](const Label &label, size_t number) {
    auto spilled = static_cast<double>(label.spilled) * secondsPerByte;
    const double costs[] = {label.seconds, spilled, label.seconds + spilled,
                            static_cast<double>(label.saved)};
    return costs[number];
  };
  for (const Label &label : labels) {
    size_t size = static_cast<size_t>(
        static_cast<double>(label.saved - least) /
        static_cast<double>(std::max<int64_t>(1, greatest - least)) *
        static_cast<double>(sizes));
    for (size_t number = 0; number < 4; ++number) {
      const Label *&known = picked[size][number];
      if (!known || cost(label, number) < cost(*known, number))
        known = &label;
    }
  }
  Labels remaining;
  for (const Label &label : labels)
    if (llvm::any_of(picked, [&](const auto &ofSize) {
          return llvm::is_contained(ofSize, &label);
        }))
      remaining.push_back(label);
  labels = std::move(remaining);
}

void GroupSolver::add(Demand demand, const Labels &labels, int64_t op,
                      Keep keep, const Label &change) {
  Labels &to = next[std::move(demand)];
  for (Label label : labels) {
    choices.push_back({label.choice, static_cast<int32_t>(op), keep});
    label.choice = static_cast<int32_t>(choices.size()) - 1;
    label.saved += change.saved;
    label.spilled += change.spilled;
    label.extra += change.extra;
    label.seconds += change.seconds;
    to.push_back(label);
  }
}

/// Extends all states by an op: its demanded results are saved, spilled or
/// recomputed.
void GroupSolver::visit(int64_t op) {
  next.clear();
  const SpillOp &made = model.ops[op];
  for (auto &[demand, labels] : states) {
    Demand left = demand;
    int64_t bytes = 0, extra = 0;
    bool isDemanded = false;
    for (int64_t value = index.firstValues[op];
         value < index.firstValues[op + 1]; ++value) {
      char &bit = left[value - firstValue];
      if (bit == '0')
        continue;
      bit = '0';
      isDemanded = true;
      bytes += model.values[value].bytes;
      if (!isForBackward[value - firstValue])
        extra += model.values[value].bytes;
    }
    if (!isDemanded) {
      Labels &to = next[demand];
      to.insert(to.end(), labels.begin(), labels.end());
      continue;
    }
    bool repeats =
        made.isRepeatable && request.recompute != RecomputePolicy::none;
    if (!repeats || request.recompute != RecomputePolicy::all) {
      add(left, labels, op, Keep::save, {bytes, 0, extra, 0});
      if (request.spills)
        add(left, labels, op, Keep::spill, {0, bytes, extra, 0});
    }
    if (!repeats)
      continue;
    for (int64_t operand : made.operands)
      demandValue(left, operand);
    add(left, labels, op, Keep::recompute, {0, 0, 0, made.seconds});
  }
  states.swap(next);
  for (auto &[demand, labels] : states)
    thin(labels, mostLabels);
  limitStates();
}

/// Keeps half of the states by the least total cost of their labels, and half
/// by the least seconds.
void GroupSolver::limitStates() {
  if (states.size() <= kMostStates)
    return;
  std::vector<std::pair<double, Demand>> order, byTime;
  for (const auto &[demand, labels] : states) {
    double least = 1e300;
    for (const Label &label : labels)
      least = std::min(least, label.seconds + static_cast<double>(
                                                  label.saved + label.spilled) *
                                                  secondsPerByte);
    order.push_back({least, demand});
    byTime.push_back({labels.front().seconds, demand});
  }
  llvm::sort(order);
  llvm::sort(byTime);
  std::map<Demand, Labels> remaining;
  for (const auto *list : {&order, &byTime})
    for (size_t number = 0; number < kMostStates / 2; ++number) {
      const Demand &demand = (*list)[number].second;
      remaining[demand] = states[demand];
    }
  states.swap(remaining);
}

SpillOption GroupSolver::makeOption(const Demand &demand,
                                    const Label &label) const {
  SpillOption option;
  option.saved = label.saved;
  option.spilled = label.spilled;
  option.extra = label.extra;
  option.seconds = label.seconds;
  for (size_t number = 0; number < index.crossing[first].size(); ++number)
    if (demand[endValue - firstValue + number] == '1')
      option.outside |= 1u << number;
  option.values.assign(endValue - firstValue, Keep::recompute);
  // Only demanded values are kept. To find these, the choices are replayed.
  std::vector<bool> isDemanded = isForBackward;
  std::map<int64_t, Keep> chosen;
  for (int32_t at = label.choice; at >= 0; at = choices[at].before)
    chosen[choices[at].op] = choices[at].keep;
  for (int64_t op = endOp - 1; op >= firstOp; --op) {
    auto found = chosen.find(op);
    if (found == chosen.end())
      continue;
    for (int64_t value = index.firstValues[op];
         value < index.firstValues[op + 1]; ++value)
      if (isDemanded[value - firstValue] &&
          !isKeptForOthers[value - firstValue])
        option.values[value - firstValue] = found->second;
    if (found->second != Keep::recompute)
      continue;
    for (int64_t operand : model.ops[op].operands)
      if (operand >= firstValue)
        isDemanded[operand - firstValue] = true;
  }
  return option;
}

std::vector<SpillOption> GroupSolver::solve() {
  for (int64_t op = endOp - 1; op >= firstOp; --op)
    visit(op);
  std::vector<SpillOption> options;
  for (auto &[demand, labels] : states) {
    thin(labels, kMostOptions);
    for (const Label &label : labels)
      options.push_back(makeOption(demand, label));
  }
  return options;
}

//===----------------------------------------------------------------------===//
// Equal groups
//===----------------------------------------------------------------------===//

/// Returns a signature. Groups with equal signatures have equal options.
SpillOptions::Signature SpillOptions::describe(int64_t first, int64_t end,
                                               uint32_t keptForOthers) const {
  int64_t firstOp = model.getFirstOp(first);
  int64_t endOp = model.blocks[end - 1].endOp;
  int64_t firstValue = index.firstValues[firstOp];
  Signature signature = {endOp - firstOp,
                         static_cast<int64_t>(index.crossing[first].size())};
  auto describeValue = [&](int64_t value) {
    const auto *found = llvm::find(index.crossing[first], value);
    signature.push_back(value >= firstValue
                            ? value - firstValue
                            : -1 - (found - index.crossing[first].begin()));
  };
  for (int64_t op = firstOp; op < endOp; ++op) {
    const SpillOp &one = model.ops[op];
    signature.push_back(llvm::bit_cast<int64_t>(one.seconds));
    signature.push_back(one.isRepeatable);
    signature.push_back(static_cast<int64_t>(one.operands.size()));
    for (int64_t operand : one.operands)
      describeValue(operand);
    signature.push_back(index.firstValues[op + 1] - index.firstValues[op]);
    for (int64_t value = index.firstValues[op];
         value < index.firstValues[op + 1]; ++value)
      signature.push_back(model.values[value].bytes);
  }
  // These follow after the ops, whose number is known, so that different groups
  // have different signatures.
  for (int64_t block = first; block < end; ++block)
    for (int64_t value : model.blocks[block].backwardReads)
      describeValue(value);
  signature.push_back(std::numeric_limits<int64_t>::max());
  for (auto [number, value] : llvm::enumerate(index.crossing[end]))
    if (value >= firstValue && (keptForOthers >> number & 1))
      describeValue(value);
  return signature;
}

const std::vector<SpillOption> &SpillOptions::find(int64_t first, int64_t end,
                                                   uint32_t keptForOthers) {
  const std::vector<SpillOption> *&options = known[{first, end, keptForOthers}];
  if (options)
    return *options;
  auto [found, isNew] = solved.try_emplace(describe(first, end, keptForOthers));
  if (isNew)
    found->second =
        GroupSolver(model, index, request, first, end, keptForOthers).solve();
  options = &found->second;
  return *options;
}
