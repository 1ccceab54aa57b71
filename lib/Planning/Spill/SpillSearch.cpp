//===- SpillSearch.cpp - Search for groups and what they keep -------------===//
//
// Dynamic programming over groups, which are added from the last to the first.
// A state says, of the values that cross the cut before the groups so far,
// which ones these need, and whether all of them are in the store between
// micro-batches. Each state has labels: the memory of its groups, and their
// seconds of computing, reading and writing. These sums and peaks are those of
// a schedule that fetches nothing early. Plans are compared later by simulating
// their schedules.
//===----------------------------------------------------------------------===//

#include "Spill/SpillSearch.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

/// No group ends at a cut that more than this number of values cross.
static constexpr size_t kMostCrossing = 5;
/// If there are more than kFewBlocks blocks, groups have at most
/// kMostBlocksInGroup.
static constexpr int64_t kFewBlocks = 12, kMostBlocksInGroup = 12;
/// The most labels that a state may have.
static constexpr size_t kMostLabels = 100, kMostLabelsOfFewBlocks = 1000;
static constexpr size_t kLabelsBetweenPrunings = 4096;

namespace {
struct Label {
  /// The peak of bytes from the first forward to the last backward of these
  /// groups.
  int64_t memory = 0;
  int64_t behind = 0; ///< bytes that remain in memory after their backward
  /// The peak of bytes of updates, if all backwards come before them.
  int64_t updates = 0;
  double compute = 0, read = 0, write = 0; ///< seconds
  /// Index of the node of its groups; before it has one, of the later groups.
  int32_t node = -1;
  int32_t change = -1; ///< index of the change that added its first group

  bool isAsGoodAs(const Label &other) const {
    return memory <= other.memory && behind <= other.behind &&
           updates <= other.updates && compute <= other.compute &&
           read <= other.read && write <= other.write;
  }
  double getSeconds(bool isShared) const {
    return isShared ? std::max(compute, read + write)
                    : std::max({compute, read, write});
  }
};

/// The state of a cut. It has two bits for each value that crosses the cut:
/// whether later groups need the value, and how it is kept for them. Another
/// bit says whether the cut is streamed.
using State = uint32_t;
enum : State { kNotNeeded = 0, kSaved = 1, kSpilled = 2 };
State getCode(State state, size_t number) { return state >> (2 * number) & 3; }
constexpr State kStreamed = State(1) << 31;

/// A group that was prepended to later ones.
struct Node {
  int32_t next = -1; ///< index of the node of the later groups
  SpillGroup group;
  const SpillOption *option = nullptr;
  State behind = 0; ///< the state of the cut after the group
};

/// A group with an option, between the states of the cuts before and after it.
struct Change {
  SpillGroup group;
  const SpillOption *option = nullptr;
  State before = 0, behind = 0;
  int64_t local = 0;  ///< peak of bytes in its forward and backward
  int64_t update = 0; ///< bytes in its update
  int64_t kept = 0;   ///< bytes from its forward to its backward
  int64_t left = 0;   ///< bytes from its backward to its update
  int64_t always = 0; ///< bytes that are always in memory
  double compute = 0, read = 0, write = 0; ///< seconds
};

class ChainSearch {
public:
  ChainSearch(const SpillModel &model, const SpillIndex &index,
              const SpillRequest &request, SpillOptions &options,
              int64_t copies);

  std::vector<SpillPlan> search();

private:
  using Labels = std::vector<Label>;

  /// Sums over the blocks of a group, in bytes of one copy.
  struct GroupBytes {
    int64_t trained = 0, frozen = 0, shared = 0, gradients = 0, state = 0;
    int64_t read = 0; ///< own values that the group's backward reads
  };
  GroupBytes sumUp(int64_t first, int64_t end) const;
  /// Sums over the values of a group, in bytes of one copy and micro-batch.
  struct ValueBytes {
    int64_t saved = 0, spilled = 0; ///< own values of the group
    /// The values that forwards on both sides use of the cut after the group,
    /// of the cut before it, and of both cuts; then those of them that aren't
    /// saved for a backward.
    int64_t out = 0, in = 0, passing = 0;
    int64_t outUnsaved = 0, inUnsaved = 0, passingUnsaved = 0;
    /// Spilled values of other groups that the group's backward reads.
    int64_t needed = 0;
    int64_t reads = 0, writes = 0;
  };
  void addLeaving(const Change &change, ValueBytes &sums) const;
  void addEntering(const Change &change, ValueBytes &sums) const;
  void addGroups(int64_t first, int64_t end);
  void addStates(Change change, const GroupBytes &bytes);
  void addResidencies(Change change, const GroupBytes &bytes);
  void price(Change &change, const GroupBytes &bytes) const;
  void priceParameters(Change &change, const GroupBytes &bytes) const;
  void priceValues(Change &change, const GroupBytes &bytes) const;
  void addLabels(const Change &change);
  void thin(Labels &labels, size_t most) const;
  void prune(Labels &labels) const;
  void makeNodes(Labels &labels);
  SpillPlan makePlan(const Label &label) const;

  /// Returns whether the group's backward directly follows its forward, so that
  /// its values needn't leave memory in between.
  bool isAtTurn(const SpillGroup &group) const {
    return model.microBatches == 1 && group.endBlock == count;
  }
  double toRead(int64_t bytes) const {
    return static_cast<double>(bytes) / model.store.readBytesPerSecond;
  }
  double toWrite(int64_t bytes) const {
    return static_cast<double>(bytes) / model.store.writeBytesPerSecond;
  }
  int64_t getBytes(int64_t value) const { return model.values[value].bytes; }
  /// Returns whether the value is made before a cut and a forward after the cut
  /// reads it.
  bool isCarried(int64_t value, int64_t cut) const {
    return index.getBlockOf(value) < cut && index.lastForwards[value] >= cut;
  }

  const SpillModel &model;
  const SpillIndex &index;
  const SpillRequest &request;
  SpillOptions &options;
  int64_t copies, turns, count;
  size_t mostLabels;
  std::vector<std::map<State, Labels>> cuts;
  std::vector<Node> nodes;
  std::vector<Change> changes; ///< changes since the last nodes were made
};
} // namespace

ChainSearch::ChainSearch(const SpillModel &model, const SpillIndex &index,
                         const SpillRequest &request, SpillOptions &options,
                         int64_t copies)
    : model(model), index(index), request(request), options(options),
      copies(copies), turns((model.copies + copies - 1) / copies),
      count(static_cast<int64_t>(model.blocks.size())),
      mostLabels(count <= kFewBlocks ? kMostLabelsOfFewBlocks : kMostLabels),
      cuts(count + 1) {}

ChainSearch::GroupBytes ChainSearch::sumUp(int64_t first, int64_t end) const {
  GroupBytes bytes;
  int64_t firstValue = index.firstValues[model.getFirstOp(first)];
  llvm::SmallVector<int64_t> reads;
  for (int64_t block = first; block < end; ++block) {
    const SpillBlock &one = model.blocks[block];
    bytes.trained += one.parameterBytes;
    bytes.frozen += one.frozenBytes;
    bytes.shared += one.sharedBytes;
    bytes.gradients += one.gradientBytes;
    bytes.state += one.stateBytes;
    for (int64_t value : one.backwardReads)
      if (value >= firstValue)
        reads.push_back(value);
  }
  llvm::sort(reads);
  reads.erase(llvm::unique(reads), reads.end());
  for (int64_t value : reads)
    bytes.read += getBytes(value);
  return bytes;
}

//===----------------------------------------------------------------------===//
// Costs of a group
//===----------------------------------------------------------------------===//

/// Adds the costs of a group's parameters, gradients and optimizer state, which
/// are moved once per step and copy.
void ChainSearch::priceParameters(Change &change,
                                  const GroupBytes &bytes) const {
  const SpillGroup &group = change.group;
  int64_t trained = copies * bytes.trained;
  int64_t all = trained + copies * bytes.frozen + bytes.shared;
  bool isFirst = group.firstBlock == 0 && turns == 1;
  bool isLast = group.endBlock == count;
  // Parameters are read for forward and for backward. With clipping, trained
  // ones are read again for the update.
  int64_t reads = (isFirst ? 0 : 1) +
                  (isLast || group.residency == Residency::held ? 0 : 1);
  int64_t read = 0, written = 0;
  if (group.residency < Residency::parameters) {
    read += reads * all + (model.clips ? trained : 0);
    written += trained;
    change.local += all;
    change.update += trained;
    if (group.residency == Residency::held)
      change.kept += all;
  } else {
    change.always +=
        model.copies * (bytes.trained + bytes.frozen) + bytes.shared;
  }
  int64_t state = copies * bytes.state, gradients = copies * bytes.gradients;
  if (group.residency == Residency::everything) {
    change.always += model.copies * bytes.state;
    state = 0;
  }
  read += state;
  written += state;
  if (group.spillsGradients) {
    read += gradients;
    written += gradients;
  } else if (model.clips) {
    change.left += gradients;
  }
  double share =
      static_cast<double>(model.copies) / static_cast<double>(copies);
  change.read += toRead(read) * share;
  change.write += toWrite(written) * share;
  change.local += gradients;
  change.update += state + (change.left > 0 ? 0 : gradients);
}

/// Adds the values that cross the cut after the group: its own, and those of
/// earlier groups.
void ChainSearch::addLeaving(const Change &change, ValueBytes &sums) const {
  const SpillGroup &group = change.group;
  int64_t firstValue = index.firstValues[model.getFirstOp(group.firstBlock)];
  bool streamsOut = change.behind & kStreamed;
  for (auto [number, value] : llvm::enumerate(index.crossing[group.endBlock])) {
    bool isOwn = value >= firstValue;
    int64_t bytes = getBytes(value);
    State code = getCode(change.behind, number);
    if (index.lastForwards[value] >= group.endBlock) {
      int64_t unsaved = code == kSaved ? 0 : bytes;
      sums.out += bytes;
      sums.outUnsaved += unsaved;
      if (!isOwn) {
        sums.passing += bytes;
        sums.passingUnsaved += unsaved;
      }
      // Both the value and its gradient are moved.
      if (streamsOut) {
        sums.reads += bytes + unsaved;
        sums.writes += bytes + (code == kNotNeeded && isOwn ? bytes : 0);
      }
    }
    if (!isOwn || code == kNotNeeded)
      continue;
    (code == kSaved ? sums.saved : sums.spilled) += bytes;
    if (code == kSaved)
      continue;
    sums.writes += bytes;
    for (int64_t block = group.firstBlock; block < group.endBlock; ++block)
      if (llvm::is_contained(model.blocks[block].backwardReads, value)) {
        sums.reads += bytes;
        break;
      }
  }
}

/// Adds the values that cross the cut before the group.
void ChainSearch::addEntering(const Change &change, ValueBytes &sums) const {
  const SpillGroup &group = change.group;
  for (auto [number, value] :
       llvm::enumerate(index.crossing[group.firstBlock])) {
    int64_t bytes = getBytes(value);
    State code = getCode(change.before, number);
    if (isCarried(value, group.firstBlock)) {
      sums.in += bytes;
      sums.inUnsaved += code == kSaved ? 0 : bytes;
    }
    if (code != kSpilled || !(change.option->outside >> number & 1))
      continue;
    sums.needed += bytes;
    if (!isAtTurn(group) || index.lastForwards[value] < group.firstBlock)
      sums.reads += bytes;
  }
}

/// Adds the costs of values, both within the group's tasks and between them.
void ChainSearch::priceValues(Change &change, const GroupBytes &bytes) const {
  const SpillOption &option = *change.option;
  ValueBytes sums;
  sums.saved = option.saved;
  sums.spilled = option.spilled;
  if (!isAtTurn(change.group))
    sums.reads = sums.writes = option.spilled;
  addLeaving(change, sums);
  addEntering(change, sums);
  // The peak of memory is at the first or the last micro-batch.
  int64_t micro = model.microBatches;
  int64_t ins = change.group.streamsInputs ? 1 : micro;
  int64_t outs = change.behind & kStreamed ? 1 : micro;
  int64_t forward =
      sums.spilled - sums.passingUnsaved +
      std::max(micro * sums.saved + outs * sums.outUnsaved + sums.inUnsaved,
               sums.saved + sums.outUnsaved + ins * sums.inUnsaved);
  int64_t unsaved =
      std::max<int64_t>(0, bytes.read + option.extra - sums.saved);
  int64_t again = std::max<int64_t>(0, unsaved - sums.spilled);
  int64_t backward = std::max(micro * sums.saved + outs * sums.out + sums.in,
                              sums.saved + sums.out + ins * sums.in) -
                     sums.passing + sums.needed + unsaved - again +
                     again / model.partsOfMicroBatch;
  change.local += copies * std::max(forward, backward);
  if (!model.clips)
    change.update += copies * ins * sums.in;
  change.kept += copies * micro * sums.saved;
  auto batches = static_cast<double>(model.copies * micro);
  change.compute += option.seconds * batches;
  change.read += toRead(sums.reads) * batches;
  change.write += toWrite(sums.writes) * batches;
}

void ChainSearch::price(Change &change, const GroupBytes &bytes) const {
  priceParameters(change, bytes);
  priceValues(change, bytes);
}

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

void ChainSearch::addLabels(const Change &change) {
  Labels &to = cuts[change.group.firstBlock][change.before];
  for (const Label &label : cuts[change.group.endBlock][change.behind]) {
    Label one = label;
    int64_t update = change.update + label.behind + change.left;
    one.memory =
        std::max(change.local + label.behind, change.kept + label.memory);
    if (model.clips)
      one.updates = std::max(change.left + label.updates, update);
    else
      one.memory = std::max(one.memory, update);
    one.memory += change.always;
    one.updates += change.always;
    one.behind += change.left + change.always;
    one.compute += change.compute;
    one.read += change.read;
    one.write += change.write;
    one.change = static_cast<int32_t>(changes.size());
    to.push_back(one);
  }
  changes.push_back(change);
  if (to.size() > kLabelsBetweenPrunings)
    prune(to);
}

/// Keeps the best labels in each of several ranges of memory.
void ChainSearch::thin(Labels &labels, size_t most) const {
  auto logMemory = [](const Label &label) {
    return std::log1p(static_cast<double>(label.memory));
  };
  double least = logMemory(labels.front()), greatest = least;
  for (const Label &label : labels) {
    least = std::min(least, logMemory(label));
    greatest = std::max(greatest, logMemory(label));
  }
  using Costs = std::array<double, 5>;
  auto getCosts = [&](const Label &label) {
    return Costs{label.getSeconds(model.store.isShared), label.compute,
                 label.read + label.write,
                 label.compute + label.read + label.write,
                 static_cast<double>(label.behind)};
  };
  size_t ranges = most / std::tuple_size_v<Costs>;
  struct Best {
    Costs costs;
    std::array<size_t, std::tuple_size_v<Costs>> labels;
  };
  std::vector<std::optional<Best>> best(ranges + 1);
  for (auto [number, label] : llvm::enumerate(labels)) {
    double place =
        (logMemory(label) - least) / std::max(greatest - least, 1e-9);
    auto &range =
        best[static_cast<size_t>(place * static_cast<double>(ranges))];
    Costs costs = getCosts(label);
    if (!range) {
      range.emplace();
      range->costs = costs;
      range->labels.fill(number);
      continue;
    }
    for (size_t cost = 0; cost < costs.size(); ++cost)
      if (costs[cost] < range->costs[cost]) {
        range->costs[cost] = costs[cost];
        range->labels[cost] = number;
      }
  }
  std::vector<size_t> picked;
  for (const std::optional<Best> &range : best)
    if (range)
      picked.insert(picked.end(), range->labels.begin(), range->labels.end());
  llvm::sort(picked);
  picked.erase(llvm::unique(picked), picked.end());
  Labels remaining;
  for (size_t number : picked)
    remaining.push_back(labels[number]);
  labels = std::move(remaining);
}

/// Removes dominated labels, and limits the number of the others.
void ChainSearch::prune(Labels &labels) const {
  if (labels.size() > 2 * mostLabels)
    thin(labels, 2 * mostLabels);
  auto getRank = [](const Label &label) {
    return std::make_tuple(label.memory,
                           label.compute + label.read + label.write,
                           label.change, label.node);
  };
  llvm::sort(labels, [&](const Label &left, const Label &right) {
    return getRank(left) < getRank(right);
  });
  Labels best;
  for (const Label &label : labels)
    if (llvm::none_of(llvm::reverse(best), [&](const Label &other) {
          return other.isAsGoodAs(label);
        }))
      best.push_back(label);
  labels = std::move(best);
  if (labels.size() > mostLabels)
    thin(labels, mostLabels);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

void ChainSearch::addResidencies(Change change, const GroupBytes &bytes) {
  int64_t parameters = bytes.trained + bytes.frozen + bytes.shared;
  bool movesParameters = request.spills && parameters > 0;
  for (Residency residency : {Residency::everything, Residency::parameters,
                              Residency::held, Residency::streamed}) {
    bool isDifferent = residency == Residency::everything ||
                       (request.spills && residency == Residency::parameters &&
                        bytes.state > 0) ||
                       (movesParameters && residency == Residency::held &&
                        change.group.endBlock < count) ||
                       (movesParameters && residency == Residency::streamed);
    if (!isDifferent)
      continue;
    for (bool spillsGradients : {false, true}) {
      if (spillsGradients &&
          (!model.clips || !request.spills || bytes.gradients == 0))
        continue;
      Change one = change;
      one.group.residency = residency;
      one.group.spillsGradients = spillsGradients;
      price(one, bytes);
      addLabels(one);
    }
  }
}

/// Adds the group for each possible state of the cut before it. A value that
/// this group, but no later one, needs of an earlier group is either saved or
/// spilled.
void ChainSearch::addStates(Change change, const GroupBytes &bytes) {
  const auto &entering = index.crossing[change.group.firstBlock];
  const auto &leaving = index.crossing[change.group.endBlock];
  std::vector<State> states = {0};
  bool isCarrying = false;
  for (auto [number, value] : llvm::enumerate(entering)) {
    isCarrying |= isCarried(value, change.group.firstBlock);
    const auto *found = llvm::find(leaving, value);
    State code = found == leaving.end()
                     ? kNotNeeded
                     : getCode(change.behind, found - leaving.begin());
    bool isNeeded = change.option->outside >> number & 1;
    std::vector<State> with;
    for (State state : states) {
      State shift = 2 * static_cast<State>(number);
      if (code != kNotNeeded || !isNeeded) {
        with.push_back(state | code << shift);
        continue;
      }
      with.push_back(state | kSaved << shift);
      if (request.spills)
        with.push_back(state | kSpilled << shift);
    }
    states = std::move(with);
  }
  bool mayStream = request.spills && request.streamsInputs && isCarrying &&
                   (model.microBatches > 1 || entering.size() > 1);
  for (State state : states)
    for (bool streams : {false, true}) {
      if (streams && !mayStream)
        continue;
      change.group.streamsInputs = streams;
      change.before = state | (streams ? kStreamed : 0);
      addResidencies(change, bytes);
    }
}

void ChainSearch::addGroups(int64_t first, int64_t end) {
  GroupBytes bytes = sumUp(first, end);
  int64_t firstValue = index.firstValues[model.getFirstOp(first)];
  for (const auto &[state, labels] : cuts[end]) {
    uint32_t keptForOthers = 0;
    for (auto [number, value] : llvm::enumerate(index.crossing[end]))
      if (value >= firstValue && getCode(state, number) != kNotNeeded)
        keptForOthers |= 1u << number;
    for (const SpillOption &option : options.find(first, end, keptForOthers)) {
      Change change;
      change.group.firstBlock = first;
      change.group.endBlock = end;
      change.option = &option;
      change.behind = state;
      addStates(change, bytes);
    }
  }
}

void ChainSearch::makeNodes(Labels &labels) {
  for (Label &label : labels) {
    const Change &change = changes[label.change];
    nodes.push_back({label.node, change.group, change.option, change.behind});
    label.node = static_cast<int32_t>(nodes.size()) - 1;
  }
}

SpillPlan ChainSearch::makePlan(const Label &label) const {
  SpillPlan plan;
  plan.copies = copies;
  plan.values.assign(model.values.size(), Keep::recompute);
  for (int32_t at = label.node; at >= 0; at = nodes[at].next) {
    const Node &node = nodes[at];
    plan.groups.push_back(node.group);
    int64_t firstValue =
        index.firstValues[model.getFirstOp(node.group.firstBlock)];
    llvm::copy(node.option->values, plan.values.begin() + firstValue);
    // No value is moved here, so spilled values can as well be saved.
    if (isAtTurn(node.group))
      std::replace(plan.values.begin() + firstValue, plan.values.end(),
                   Keep::spill, Keep::save);
    for (auto [number, value] :
         llvm::enumerate(index.crossing[node.group.endBlock])) {
      State code = getCode(node.behind, number);
      if (value >= firstValue && code != kNotNeeded)
        plan.values[value] = code == kSaved ? Keep::save : Keep::spill;
    }
  }
  return plan;
}

std::vector<SpillPlan> ChainSearch::search() {
  cuts[count][0] = {Label()};
  for (int64_t first = count - 1; first >= 0; --first) {
    if (index.crossing[first].size() > kMostCrossing)
      continue;
    for (int64_t end = first + 1; end <= count; ++end) {
      bool isTooLong = request.spills && count > kFewBlocks &&
                       end - first > kMostBlocksInGroup;
      if (!isTooLong || cuts[first].empty())
        addGroups(first, end);
    }
    for (auto &[state, labels] : cuts[first]) {
      prune(labels);
      makeNodes(labels);
    }
    changes.clear();
  }
  std::vector<SpillPlan> plans;
  for (const auto &[state, labels] : cuts[0])
    for (const Label &label : labels)
      plans.push_back(makePlan(label));
  return plans;
}

std::vector<SpillPlan> planning::searchPlans(const SpillModel &model,
                                             const SpillIndex &index,
                                             const SpillRequest &request,
                                             SpillOptions &options,
                                             int64_t copies) {
  return ChainSearch(model, index, request, options, copies).search();
}
