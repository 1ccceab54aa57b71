//===- ChunkSearch.cpp - Stages of several chunks for a model -------------===//
//
// Parts of a model are assigned to workers in a fixed way, so that only the
// cuts are searched. Cuts are moved as long as this lowers an estimate; the
// best of them are then moved as long as this shortens a simulated step. The
// search is limited by amounts of work, not by time, so that equal inputs have
// equal plans.
//===----------------------------------------------------------------------===//

#include "Hfta/Planning/Pipelines/ChunkSearch.h"
#include "Pipelines/ChunkJudge.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <memory>
#include <random>
#include <tuple>

using namespace mlir::hfta::planning;

/// Limits of the number of estimates: for all numbers of stages together, and
/// for each.
static constexpr int64_t kAllEstimates = 400000;
static constexpr int64_t kMostEstimates = 20000;
/// Limit of the product of estimates and parts of the model, for all numbers of
/// stages together.
static constexpr int64_t kAllParts = 16 * kAllEstimates;
/// The most actions to simulate for one number of stages, which takes seconds.
static constexpr int64_t kMostActions = 400000;
/// The most forwards of a step, micro-batches times parts of the model, for
/// which a search takes seconds rather than minutes; with more micro-batches,
/// fewer stages are tried.
static constexpr int64_t kMostChunkForwards = 8192;
/// How often the best cuts are changed at random and then moved again, first by
/// estimates, later by simulating the best order.
static constexpr int kPerturbations = 24;
static constexpr int kChosen = 100;
/// The number of cuts, the best by their estimates, that are simulated, and the
/// number of those that are then moved by the results.
static constexpr size_t kSimulated = 8;
static constexpr size_t kMoved = 3;
/// The most pairs of numbers of stages and micro-batches that are searched
/// completely.
static constexpr size_t kMostSearches = 3;
/// Once there is a plan, no further search begins after this many actions.
static constexpr int64_t kAllActions = 2 * kMostActions * kMostSearches;

static constexpr double kNever = ChunkJudge::kNever;

namespace {

using Objective = llvm::function_ref<double(const Cuts &)>;

struct JudgedCuts {
  Cuts cuts;
  double value = kNever;

  bool operator<(const JudgedCuts &other) const {
    return std::tie(value, cuts) < std::tie(other.value, other.cuts);
  }
};

/// Searches cuts for one number of stages and one number of micro-batches.
class ChunkSearch {
public:
  explicit ChunkSearch(ChunkJudge judge)
      : judge(std::move(judge)), costs(this->judge.getCosts()),
        count(this->judge.getCount()), layers(this->judge.getLayers()) {}

  /// Returns the number of parts of the model.
  int64_t getCount() const { return count; }
  /// Limits the number of estimates in `findSeeds` and in `findLeastMemory`.
  void allow(int64_t most) { estimates = most; }
  /// Finds cuts with the allowed number of estimates. Returns whether any fit
  /// into memory.
  bool findSeeds();
  /// Returns the estimate of the best cuts found.
  double getEstimate() const { return seeds.front().value; }
  /// Moves cuts as long as this shortens a simulated step, and returns the plan
  /// with the shortest step; nothing if no order fits into memory.
  std::optional<PipelinePlan> improve();
  /// Returns the actions that have been simulated.
  int64_t getWork() const { return judge.getWork(); }
  /// Returns the memory that the stages need with cuts that are chosen for the
  /// least memory.
  PlanFailure findLeastMemory() {
    return judge.measureShortage(findSmallest().cuts);
  }

private:
  Cuts spread(llvm::function_ref<double(int64_t)> weigh) const;
  Cuts spreadBytes() const;
  JudgedCuts findSmallest() const;
  std::vector<JudgedCuts> simulateSeeds();
  void descend(JudgedCuts &judged, Objective objective, int64_t &work) const;
  bool move(JudgedCuts &judged, Objective objective, int64_t &work) const;
  bool tryMove(JudgedCuts &judged, size_t one, int64_t by, size_t other,
               int64_t otherBy, Objective objective, int64_t &work) const;
  Cuts perturb(const Cuts &cuts);

  ChunkJudge judge;
  const StageCosts &costs;
  int64_t count, layers, estimates = kMostEstimates;
  /// Cuts to simulate, those with the best estimate first.
  std::vector<JudgedCuts> seeds;
  std::mt19937 random{1};
};

} // namespace

/// Returns cuts that divide the model into parts of about equal weight.
Cuts ChunkSearch::spread(llvm::function_ref<double(int64_t)> weigh) const {
  double all = 0, before = 0;
  for (int64_t layer = 0; layer < layers; ++layer)
    all += weigh(layer);
  Cuts cuts;
  int64_t layer = 0;
  for (int64_t part = 1; part < count; ++part) {
    double wanted =
        all * static_cast<double>(part) / static_cast<double>(count);
    // Leave at least one layer for each of the parts that follow.
    int64_t most = layers - 1 - (count - part);
    before += weigh(layer);
    while (layer < most && before + weigh(layer + 1) / 2 <= wanted)
      before += weigh(++layer);
    cuts.push_back(layer++);
  }
  return cuts;
}

Cuts ChunkSearch::spreadBytes() const {
  return spread(
      [&](int64_t layer) { return costs.getPeakBytes(layer, layer, 1, 1); });
}

//===----------------------------------------------------------------------===//
// Moving cuts
//===----------------------------------------------------------------------===//

/// Moves cut `one` by `by` layers and cut `other` by `otherBy`. Keeps the
/// change, and returns true, if this lowers the objective.
bool ChunkSearch::tryMove(JudgedCuts &judged, size_t one, int64_t by,
                          size_t other, int64_t otherBy, Objective objective,
                          int64_t &work) const {
  Cuts next = judged.cuts;
  next[one] += by;
  next[other] += otherBy;
  for (size_t cut : {one, other}) {
    int64_t before = cut == 0 ? -1 : next[cut - 1];
    int64_t after = cut + 1 == next.size() ? layers - 1 : next[cut + 1];
    if (next[cut] <= before || next[cut] >= after)
      return false;
  }
  --work;
  double value = objective(next);
  if (value >= judged.value)
    return false;
  judged = {std::move(next), value};
  return true;
}

/// Tries all moves of one or two cuts once. Returns whether any was an
/// improvement.
bool ChunkSearch::move(JudgedCuts &judged, Objective objective,
                       int64_t &work) const {
  bool isBetter = false;
  size_t cuts = judged.cuts.size();
  for (size_t one = 0; one < cuts; ++one)
    for (int64_t by : {1, -1, 2, -2, 4, -4})
      if (work > 0)
        isBetter |= tryMove(judged, one, by, one, 0, objective, work);
  for (size_t one = 0; one < cuts; ++one)
    for (size_t other = one + 1; other < cuts; ++other)
      for (int64_t by : {1, -1})
        for (int64_t otherBy : {1, -1})
          if (work > 0)
            isBetter |=
                tryMove(judged, one, by, other, otherBy, objective, work);
  return isBetter;
}

void ChunkSearch::descend(JudgedCuts &judged, Objective objective,
                          int64_t &work) const {
  while (work > 0 && move(judged, objective, work))
    ;
}

/// Moves a few cuts to random places between their neighbours, or draws all
/// cuts anew.
Cuts ChunkSearch::perturb(const Cuts &cuts) {
  constexpr int kWays = 3;
  if (random() % kWays == 0) {
    std::vector<double> weights;
    for (int64_t layer = 0; layer < layers; ++layer)
      weights.push_back(static_cast<double>(random() % layers));
    return spread([&](int64_t layer) { return weights[layer]; });
  }
  Cuts next = cuts;
  for (size_t changes = 1 + random() % next.size(); changes > 0; --changes) {
    size_t cut = random() % next.size();
    int64_t before = cut == 0 ? -1 : next[cut - 1];
    int64_t after = cut + 1 == next.size() ? layers - 1 : next[cut + 1];
    next[cut] =
        before + 1 + static_cast<int64_t>(random() % (after - before - 1));
  }
  return next;
}

bool ChunkSearch::findSeeds() {
  int64_t left = estimates;
  auto estimate = [&](const Cuts &cuts) { return judge.estimate(cuts); };
  auto countBytes = [&](const Cuts &cuts) { return judge.countBytes(cuts); };
  auto add = [&](Cuts cuts) {
    JudgedCuts next{std::move(cuts), kNever};
    next.value = estimate(next.cuts);
    if (next.value == kNever) {
      // Other cuts, whose parts need less memory, may fit.
      next.value = countBytes(next.cuts);
      descend(next, countBytes, left);
      next.value = estimate(next.cuts);
    }
    if (next.value == kNever)
      return;
    descend(next, estimate, left);
    if (llvm::none_of(seeds, [&](const JudgedCuts &other) {
          return other.cuts == next.cuts;
        }))
      seeds.push_back(std::move(next));
  };
  add(spread(
      [&](int64_t layer) { return costs.getComputeTime(layer, layer); }));
  add(spread([](int64_t) { return 1.0; }));
  bool isLimited = costs.getCluster().memory != 0;
  if (isLimited)
    add(spreadBytes());
  for (int i = 0; i < kPerturbations && !seeds.empty() && left > 0; ++i)
    add(perturb(llvm::min_element(seeds)->cuts));
  llvm::sort(seeds);
  if (seeds.size() > kSimulated)
    seeds.resize(kSimulated);
  // An order may need more memory than the estimate assumes, so cuts that need
  // the least memory are tried too.
  if (isLimited && !seeds.empty())
    seeds.push_back(findSmallest());
  return !seeds.empty();
}

/// Simulates the seeds in an order that doesn't depend on times, and moves the
/// best ones by the results. Returns these, sorted by the length of their
/// steps.
std::vector<JudgedCuts> ChunkSearch::simulateSeeds() {
  auto simulate = [&](const Cuts &cuts) { return judge.simulate(cuts); };
  std::vector<JudgedCuts> judged;
  for (const JudgedCuts &seed : seeds)
    if (judge.getWork() < kMostActions || judged.empty())
      judged.push_back({seed.cuts, simulate(seed.cuts)});
  llvm::sort(judged);
  if (judged.size() > kMoved)
    judged.resize(kMoved);
  auto rest = static_cast<int64_t>(judged.size());
  for (JudgedCuts &next : judged) {
    int64_t left =
        (kMostActions - judge.getWork()) / judge.getWorkOfStep() / rest--;
    if (next.value < kNever)
      descend(next, simulate, left);
  }
  llvm::sort(judged);
  return judged;
}

std::optional<PipelinePlan> ChunkSearch::improve() {
  // From here on, cuts are judged with the order that is best for their times,
  // which may differ from the one simulated before.
  auto choose = [&](const Cuts &cuts) { return judge.chooseOrder(cuts); };
  auto countLeft = [&] {
    return std::max<int64_t>(0, 2 * kMostActions - judge.getWork()) /
           judge.getWorkOfChoice();
  };
  JudgedCuts best;
  for (const JudgedCuts &next : simulateSeeds())
    if (best.value == kNever || countLeft() > 0)
      best = std::min(best, {next.cuts, choose(next.cuts)});
  if (best.value == kNever)
    return std::nullopt;
  int64_t left = countLeft();
  descend(best, choose, left);
  for (int i = 0; i < kChosen && (left = countLeft()) > 0; ++i) {
    JudgedCuts next{perturb(best.cuts), kNever};
    next.value = choose(next.cuts);
    descend(next, choose, left);
    best = std::min(best, next);
  }
  return judge.describe(best.cuts);
}

/// Returns cuts with which the largest stage needs about the least memory.
JudgedCuts ChunkSearch::findSmallest() const {
  int64_t left = estimates;
  auto countBytes = [&](const Cuts &cuts) { return judge.countBytes(cuts); };
  JudgedCuts least{spreadBytes(), kNever};
  least.value = countBytes(least.cuts);
  descend(least, countBytes, left);
  return least;
}

//===----------------------------------------------------------------------===//
// Numbers of stages and micro-batches
//===----------------------------------------------------------------------===//

int64_t mlir::hfta::planning::countChunkedStages(const LayerModel &model,
                                                 const Cluster &cluster,
                                                 int64_t chunks) {
  return std::min(cluster.getDeviceCount(),
                  static_cast<int64_t>(model.layers.size()) / chunks);
}

std::vector<int64_t>
mlir::hfta::planning::listMicroBatches(const PlanRequest &request) {
  if (request.microBatches != 0)
    return {request.microBatches};
  std::vector<int64_t> counts;
  for (int64_t count = std::max<int64_t>(1, request.groups);
       count <= std::min(request.batch, kMostSimulatedMicroBatches); ++count)
    if (request.batch % count == 0)
      counts.push_back(count);
  return counts;
}

namespace {
/// A search together with the costs that it reads.
struct Attempt {
  std::unique_ptr<StageCosts> costs;
  std::unique_ptr<ChunkSearch> search;
};
} // namespace

/// Makes a search for each number of stages and of micro-batches.
static std::vector<Attempt> makeAttempts(const LayerModel &model,
                                         const Cluster &cluster,
                                         const PlanRequest &request,
                                         const ChunkRequest &chunks,
                                         const PlanSimulationOptions &options) {
  int64_t most = std::min(countChunkedStages(model, cluster, chunks.chunks),
                          kMostSimulatedDevices);
  std::vector<Attempt> attempts;
  for (int64_t microBatches : listMicroBatches(request))
    for (int64_t stages = 2; stages <= most; ++stages) {
      if (stages > 2 &&
          stages * chunks.chunks * microBatches > kMostChunkForwards)
        break;
      Attempt &next = attempts.emplace_back();
      next.costs = std::make_unique<StageCosts>(
          model, cluster, request.getWorkload(microBatches));
      next.search = std::make_unique<ChunkSearch>(
          ChunkJudge(*next.costs, chunks, options, stages));
    }
  return attempts;
}

/// Divides the estimates that are allowed in total among all attempts.
static void allowEstimates(std::vector<Attempt> &attempts) {
  int64_t parts = 0;
  for (const Attempt &attempt : attempts)
    parts += attempt.search->getCount();
  for (Attempt &attempt : attempts)
    attempt.search->allow(std::min(
        {kMostEstimates, kAllEstimates / static_cast<int64_t>(attempts.size()),
         std::max<int64_t>(1, kAllParts / parts)}));
}

std::optional<PipelinePlan> mlir::hfta::planning::planChunks(
    const LayerModel &model, const Cluster &cluster, const PlanRequest &request,
    const ChunkRequest &chunks, const PlanSimulationOptions &options,
    PlanFailure &failure) {
  std::vector<Attempt> attempts =
      makeAttempts(model, cluster, request, chunks, options);
  if (attempts.empty())
    return std::nullopt;
  allowEstimates(attempts);
  std::vector<ChunkSearch *> promising;
  for (Attempt &attempt : attempts)
    if (attempt.search->findSeeds())
      promising.push_back(attempt.search.get());
  llvm::stable_sort(promising, [](auto *one, auto *other) {
    return one->getEstimate() < other->getEstimate();
  });
  std::optional<PipelinePlan> best;
  size_t searched = 0;
  int64_t work = 0;
  for (ChunkSearch *search : promising) {
    if (searched == kMostSearches || (best && work >= kAllActions))
      break;
    std::optional<PipelinePlan> plan = search->improve();
    work += search->getWork();
    if (!plan)
      continue;
    ++searched;
    if (!best || plan->getLength() < best->getLength())
      best = std::move(plan);
  }
  if (best)
    return best;
  failure = PlanFailure();
  for (Attempt &attempt : attempts)
    failure.takeLess(attempt.search->findLeastMemory());
  return std::nullopt;
}
