//===- SpillPlanTest.cpp - Plans within a budget of memory ----------------===//

#include "Hfta/Planning/Spill/SpillPlan.h"
#include "Spill/SpillSchedule.h"

#include "Spill/TestSpillModels.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <cmath>
#include <functional>
#include <iterator>

using namespace mlir::hfta::planning;

//===----------------------------------------------------------------------===//
// Comparison with all plans
//===----------------------------------------------------------------------===//

namespace {
/// An exhaustive search over all plans of a small chain.
class AllPlans {
public:
  AllPlans(const SpillModel &model, const SpillRequest &request)
      : model(model), request(request), index(model),
        mayStream(model.microBatches > 1 ||
                  llvm::any_of(index.crossing, [](const auto &crossing) {
                    return crossing.size() > 1;
                  })) {
    plan.values.resize(model.values.size(), Keep::recompute);
  }

  /// Returns the ticks of the fastest plan; kNoTicks if none fits.
  Ticks findBest() {
    for (plan.copies = 1; plan.copies <= model.copies; ++plan.copies)
      addGroup(0);
    return best;
  }

private:
  void addGroup(int64_t first) {
    if (first == static_cast<int64_t>(model.blocks.size()))
      return chooseValue(0);
    for (int64_t end = first + 1;
         end <= static_cast<int64_t>(model.blocks.size()); ++end) {
      plan.groups.push_back({first, end});
      chooseResidency();
      plan.groups.pop_back();
    }
  }
  void chooseResidency() {
    // An index instead of a reference, because the recursion appends groups.
    size_t group = plan.groups.size() - 1;
    int64_t parameters = 0, state = 0;
    for (int64_t block = plan.groups[group].firstBlock;
         block < plan.groups[group].endBlock; ++block) {
      parameters += model.blocks[block].parameterBytes;
      state += model.blocks[block].stateBytes;
    }
    for (Residency residency : {Residency::everything, Residency::parameters,
                                Residency::held, Residency::streamed})
      for (bool streams : {false, true})
        for (bool spills : {false, true}) {
          if (!request.spills && residency != Residency::everything)
            continue;
          if (parameters == 0 && residency != Residency::everything)
            continue;
          if (state == 0 && residency == Residency::parameters)
            continue;
          if (streams && (!request.spills || !mayStream || group == 0))
            continue;
          if (spills && (!request.spills || !model.clips || parameters == 0))
            continue;
          plan.groups[group].residency = residency;
          plan.groups[group].streamsInputs = streams;
          plan.groups[group].spillsGradients = spills;
          addGroup(plan.groups[group].endBlock);
        }
  }
  void chooseValue(size_t value) {
    if (value == plan.values.size())
      return judge();
    for (Keep keep : {Keep::save, Keep::spill, Keep::recompute}) {
      if (keep == Keep::spill && !request.spills)
        continue;
      plan.values[value] = keep;
      chooseValue(value + 1);
    }
  }
  void judge() {
    for (const SpillGroup &group : plan.groups) {
      SpillNeeds needs = findNeeds(model, index, plan.values, group);
      if (needs.fault >= 0 ||
          (needs.recompute > 0 && request.recompute == RecomputePolicy::none))
        return;
      for (const auto *list : {&needs.byBackward, &needs.byRecompute})
        for (int64_t value : *list)
          if (plan.values[value] == Keep::recompute)
            return;
    }
    SpillSchedule schedule(model, index, plan);
    if (schedule.leastBytes > request.budget ||
        (best != kNoTicks && schedule.getLeastTicks() >= best))
      return;
    for (int64_t window : {0, 1, 2, 4, 8}) {
      Ticks ticks = schedule.run(request.budget, window);
      if (ticks != kNoTicks && (best == kNoTicks || ticks < best))
        best = ticks;
    }
  }

  const SpillModel &model;
  const SpillRequest &request;
  SpillIndex index;
  bool mayStream;
  SpillPlan plan;
  Ticks best = kNoTicks;
};
} // namespace

/// Returns the plan in which all parameters and state stay in memory, and all
/// values are kept as `keep` says.
static SpillPlan keepAll(const SpillModel &model, Keep keep = Keep::save) {
  SpillPlan plan;
  plan.copies = model.copies;
  plan.values.assign(model.values.size(), keep);
  for (size_t block = 0; block < model.blocks.size(); ++block) {
    auto number = static_cast<int64_t>(block);
    plan.groups.push_back({number, number + 1, Residency::everything});
  }
  return plan;
}

static int64_t getPeakOfAll(const SpillModel &model) {
  return simulateSpill(model, keepAll(model)).peakBytes;
}

static std::optional<SpillChoice> plan(const SpillModel &model,
                                       const SpillRequest &request) {
  SpillFailure failure;
  return planSpill(model, request, failure);
}

TEST(SpillPlanTest, isNearTheBestOfAllPlans) {
  std::mt19937 random(1);
  const ChainKind kinds[] = {
      {8, 1, false, false, 1, 1}, {6, 1, false, true, 1, 1},
      {4, 2, false, false, 2, 1}, {3, 1, true, false, 1, 2},
      {3, 1, true, false, 2, 1},  {4, 1, true, true, 1, 1},
  };
  int compared = 0, fitting = 0;
  for (int number = 0; compared < 200; ++number) {
    SCOPED_TRACE("chain " + std::to_string(number));
    const ChainKind &kind = kinds[number % std::size(kinds)];
    SpillModel model = makeRandomChain(random, kind);
    SpillRequest request;
    // There would be too many plans of eight blocks with both spilling and
    // recomputation.
    request.spills = kind.blocks < 6 || number % 4 != 0;
    if (kind.blocks == 8 && request.spills)
      request.recompute = RecomputePolicy::none;
    if (model.values.size() > 7 && kind.blocks < 8)
      continue;
    request.budget =
        getPeakOfAll(model) * (35 + static_cast<int64_t>(random() % 60)) / 100;
    ++compared;
    Ticks best = AllPlans(model, request).findBest();
    if (best == kNoTicks)
      continue;
    ++fitting;
    std::optional<SpillChoice> choice = plan(model, request);
    ASSERT_TRUE(choice);
    EXPECT_LE(choice->seconds, 1.02 * toSeconds(best));
    EXPECT_FALSE(checkPlan(model, choice->plan));
    SpillRun run = simulateSpill(model, choice->plan, request.budget);
    EXPECT_LE(run.peakBytes, request.budget);
    EXPECT_EQ(run.seconds, choice->seconds);
  }
  EXPECT_GT(fitting, 150);
}

//===----------------------------------------------------------------------===//
// Budgets
//===----------------------------------------------------------------------===//

/// Makes the blocks of a transformer: five per layer, each with a residual
/// connection.
static SpillModel makeTransformer(int64_t layers, int64_t microBatches,
                                  int64_t copies) {
  SpillModel model;
  model.copies = copies;
  model.microBatches = microBatches;
  model.store = {2e9, 1e9, 1e-4, false};
  addBlock(model, 1e-3).parameterBytes = 60 << 20;
  int64_t last = addOp(model, 5e-4, 1 << 20, {});
  for (int64_t number = 0; number < 5 * layers; ++number) {
    int64_t part = number % 5;
    SpillBlock &block = addBlock(model, (2 + static_cast<double>(part)) * 1e-3);
    block.parameterBytes = block.gradientBytes = (1 + part % 3) << 20;
    block.stateBytes = 2 * block.parameterBytes;
    block.update = 2e-4;
    int64_t input = last;
    llvm::SmallVector<int64_t, 8> reads = {input};
    for (int64_t op = 0; op < 6; ++op) {
      double seconds = (1 + static_cast<double>((op * 7 + part) % 5)) * 1e-4;
      last = addOp(model, seconds, ((op + part) % 4 + 1) << 18, {last});
      if (op % 3 != 1)
        reads.push_back(last);
    }
    model.ops.back().operands.push_back(input);
    model.blocks.back().backwardReads = reads;
  }
  return model;
}

/// Plans for twenty budgets, up to the memory that keeping everything needs,
/// and expects that a larger budget never makes the step slower.
static void expectMoreIsNeverSlower(const SpillModel &model,
                                    const SpillRequest &request) {
  int64_t most = getPeakOfAll(model);
  double last = 0;
  int fitting = 0;
  for (int64_t number = 1; number <= 20; ++number) {
    SpillRequest one = request;
    one.budget = most * number / 20;
    SpillFailure failure;
    std::optional<SpillChoice> choice = planSpill(model, one, failure);
    if (!choice) {
      EXPECT_EQ(fitting, 0) << "no plan with more than before";
      EXPECT_GT(failure.leastBudget, one.budget);
      continue;
    }
    ++fitting;
    SpillRun run = simulateSpill(model, choice->plan, one.budget);
    EXPECT_LE(run.peakBytes, one.budget);
    EXPECT_GE(run.seconds, run.getLeastSeconds(model.store));
    if (last > 0)
      EXPECT_LE(choice->seconds, last);
    last = choice->seconds;
  }
  EXPECT_GT(fitting, 1);
}

TEST(SpillPlanTest, isNeverSlowerWithMoreMemory) {
  std::mt19937 random(2);
  for (int number = 0; number < 3; ++number) {
    SCOPED_TRACE(number);
    SpillModel model = makeRandomChain(
        random, {6 + number, 2, true, true, 1 + number % 2, 1 + number % 3});
    expectMoreIsNeverSlower(model, {});
    expectMoreIsNeverSlower(model, {0, false});
  }
}

TEST(SpillPlanTest, isNeverSlowerWithMoreMemoryForTransformers) {
  expectMoreIsNeverSlower(makeTransformer(3, 2, 2), {});
}

TEST(SpillPlanTest, namesTheLeastBudget) {
  std::mt19937 random(3);
  for (int number = 0; number < 10; ++number) {
    SCOPED_TRACE(number);
    SpillModel model =
        makeRandomChain(random, {5, 2, true, false, 1 + number % 2, 2});
    for (bool spills : {true, false}) {
      SpillRequest request = {1, spills};
      SpillFailure failure;
      EXPECT_FALSE(planSpill(model, request, failure));
      EXPECT_TRUE(llvm::any_of(model.blocks, [&](const SpillBlock &block) {
        return block.name == failure.block;
      }));
      // The failure contains the plan that needs the least memory.
      EXPECT_FALSE(checkPlan(model, failure.plan));
      EXPECT_EQ(simulateSpill(model, failure.plan).leastBytes,
                failure.leastBudget);
      request.budget = failure.leastBudget;
      EXPECT_TRUE(plan(model, request));
      --request.budget;
      EXPECT_FALSE(plan(model, request));
    }
  }
}

TEST(SpillPlanTest, takesTurnsThatAreAllowed) {
  std::mt19937 random(4);
  SpillModel model = makeRandomChain(random, {4, 2, true, false, 1, 6});
  auto countCopies = [&](int64_t budget, int64_t least, int64_t most) {
    SpillRequest request;
    request.budget = budget;
    request.leastCopies = least;
    request.mostCopies = most;
    SpillFailure failure;
    std::optional<SpillChoice> choice = planSpill(model, request, failure);
    return (choice ? choice->plan : failure.plan).copies;
  };
  EXPECT_LE(countCopies(kEveryByte, 1, 3), 3);
  EXPECT_EQ(countCopies(kEveryByte, 2, 2), 2);
  EXPECT_EQ(countCopies(kEveryByte, 6, 6), 6);
  // The limits also hold for the plan of a failure. Turns can't have more than
  // the model's six copies.
  EXPECT_EQ(countCopies(1, 6, 6), 6);
  EXPECT_EQ(countCopies(1, 9, 9), 6);
  // Six copies need two turns, whether these have four or five copies.
  EXPECT_EQ(countCopies(kEveryByte, 4, 5), 5);
}

TEST(SpillPlanTest, plansForSeveralBudgets) {
  std::mt19937 random(7);
  SpillModel model = makeRandomChain(random, {5, 2, true, false, 1, 3});
  SpillRequest request;
  SpillPlanner planner(model, request);
  int64_t most = getPeakOfAll(model);
  SpillFailure failure;
  // A budget in which everything fits keeps everything. Later calls still find
  // plans for smaller budgets.
  std::optional<SpillChoice> all = planner.plan(kEveryByte, failure);
  ASSERT_TRUE(all);
  EXPECT_TRUE(keepsAll(model, all->plan));
  for (int64_t tenths : {9, 3, 6, 9}) {
    request.budget = most * tenths / 10;
    std::optional<SpillChoice> alone = planSpill(model, request, failure);
    std::optional<SpillChoice> choice = planner.plan(request.budget, failure);
    ASSERT_EQ(bool(choice), bool(alone));
    if (!choice)
      continue;
    EXPECT_LE(choice->seconds, alone->seconds);
    EXPECT_TRUE(planner.plan(request.budget, failure)->plan == choice->plan);
  }
  ASSERT_FALSE(planner.plan(0, failure));
  EXPECT_TRUE(planner.plan(failure.leastBudget, failure));
}

TEST(SpillPlanTest, obeysWhatMayBeDone) {
  SpillModel model = makeTransformer(2, 1, 1);
  model.blocks.front().parameterBytes = 1 << 20;
  SpillRequest request;
  request.budget = getPeakOfAll(model) * 6 / 10;
  request.recompute = RecomputePolicy::none;
  std::optional<SpillChoice> choice = plan(model, request);
  ASSERT_TRUE(choice);
  SpillRun run = simulateSpill(model, choice->plan, request.budget);
  EXPECT_GT(run.readBytes, 0);
  EXPECT_TRUE(llvm::none_of(run.events, [](const SpillEvent &event) {
    return event.activity == SpillActivity::recompute;
  }));

  request.recompute = RecomputePolicy::automatic;
  request.spills = false;
  request.budget = 1;
  SpillFailure failure;
  ASSERT_FALSE(planSpill(model, request, failure));
  request.budget = failure.leastBudget;
  choice = plan(model, request);
  ASSERT_TRUE(choice);
  run = simulateSpill(model, choice->plan, request.budget);
  EXPECT_EQ(run.readBytes + run.writtenBytes, 0);
  double least = simulateSpill(model, keepAll(model)).seconds;
  EXPECT_GT(run.seconds, least);

  // Everything is recomputed, however much memory there is.
  request.recompute = RecomputePolicy::all;
  request.budget = kEveryByte;
  choice = plan(model, request);
  ASSERT_TRUE(choice);
  EXPECT_GT(simulateSpill(model, choice->plan).computeSeconds, least);
}

//===----------------------------------------------------------------------===//
// Other ways to plan
//===----------------------------------------------------------------------===//

namespace {
/// Makes plans by simple rules, and keeps the time of the fastest one that
/// fits.
class Rules {
public:
  Rules(const SpillModel &model, int64_t budget)
      : model(model), index(model), budget(budget) {}

  double seconds = 0; ///< seconds of the fastest plan; 0: none fits

  /// Simulates a plan, after marking as saved the values that its other
  /// decisions need in memory, and those that can't be recomputed.
  void judge(SpillPlan plan) {
    bool isChanged = true;
    while (isChanged) {
      isChanged = false;
      for (const SpillGroup &group : plan.groups) {
        SpillNeeds needs = findNeeds(model, index, plan.values, group);
        llvm::SmallVector<int64_t, 4> saved(needs.byBackward);
        llvm::append_range(saved, needs.byRecompute);
        for (int64_t value = 0;
             needs.fault >= 0 &&
             value < static_cast<int64_t>(plan.values.size());
             ++value)
          if (model.values[value].maker == needs.fault)
            saved.push_back(value);
        for (int64_t value : saved)
          if (plan.values[value] == Keep::recompute) {
            plan.values[value] = Keep::save;
            isChanged = true;
          }
      }
    }
    for (Residency residency : {Residency::everything, Residency::streamed}) {
      for (SpillGroup &group : plan.groups)
        group.residency = residency;
      SpillRun run = simulateSpill(model, plan, budget);
      if (run.peakBytes <= budget && (seconds == 0 || run.seconds < seconds))
        seconds = run.seconds;
    }
  }

  void group(int64_t blocksInGroup) {
    SpillPlan plan = keepAll(model, Keep::recompute);
    plan.groups.clear();
    auto count = static_cast<int64_t>(model.blocks.size());
    for (int64_t first = 0; first < count; first += blocksInGroup)
      plan.groups.push_back({first, std::min(count, first + blocksInGroup)});
    judge(plan);
  }

  void swapLargest() {
    SpillPlan plan = keepAll(model);
    std::vector<int64_t> order;
    for (size_t value = 0; value < model.values.size(); ++value)
      order.push_back(static_cast<int64_t>(value));
    llvm::sort(order, [&](int64_t left, int64_t right) {
      return std::make_pair(-model.values[left].bytes, left) <
             std::make_pair(-model.values[right].bytes, right);
    });
    for (int64_t value : order) {
      plan.values[value] = Keep::spill;
      judge(plan);
    }
  }

  /// Chooses saved values by solving a knapsack problem: among the sets of at
  /// most `most` bytes, the one whose recomputation would take the most time.
  /// `most` is the largest number for which the step fits in the budget.
  void fillKnapsack() {
    int64_t all = 0;
    for (const SpillValue &value : model.values)
      all += value.bytes;
    std::vector<double> best(all + 1, 0);
    std::vector<std::vector<bool>> taken;
    for (const SpillValue &value : model.values) {
      std::vector<bool> &takes = taken.emplace_back(all + 1, false);
      double saved = model.ops[value.maker].seconds;
      for (int64_t bytes = all; bytes >= value.bytes; --bytes)
        if (best[bytes - value.bytes] + saved > best[bytes]) {
          best[bytes] = best[bytes - value.bytes] + saved;
          takes[bytes] = true;
        }
    }
    for (int64_t most = all; most >= 0 && seconds == 0; --most) {
      SpillPlan plan = keepAll(model, Keep::recompute);
      int64_t left = most;
      for (size_t value = model.values.size(); value-- > 0;)
        if (taken[value][left]) {
          plan.values[value] = Keep::save;
          left -= model.values[value].bytes;
        }
      judge(plan);
    }
  }

private:
  const SpillModel &model;
  SpillIndex index;
  int64_t budget;
};
} // namespace

TEST(SpillPlanTest, isNeverBehindSimpleRules) {
  std::mt19937 random(4);
  int judged = 0;
  for (int number = 0; number < 24; ++number) {
    SpillModel model =
        makeRandomChain(random, {8 + number % 12, 2, number % 2 == 0,
                                 number % 3 == 0, 1 + number % 2, 1});
    SpillRequest request;
    request.budget = getPeakOfAll(model) * (40 + 2 * number) / 100;
    std::optional<SpillChoice> choice = plan(model, request);
    const std::function<void(Rules &)> rules[] = {
        [](Rules &rules) { rules.group(1); },
        [&](Rules &rules) {
          rules.group(static_cast<int64_t>(
              std::ceil(std::sqrt(static_cast<double>(model.blocks.size())))));
        },
        [](Rules &rules) { rules.swapLargest(); },
        [](Rules &rules) { rules.fillKnapsack(); },
    };
    for (auto [rule, apply] : llvm::enumerate(rules)) {
      SCOPED_TRACE("chain " + std::to_string(number) + ", rule " +
                   std::to_string(rule));
      Rules known(model, request.budget);
      apply(known);
      if (known.seconds == 0)
        continue;
      ++judged;
      ASSERT_TRUE(choice);
      EXPECT_LE(choice->seconds, known.seconds * (1 + 1e-9));
    }
  }
  EXPECT_GT(judged, 40);
}

// Compares with rotor, a library for PyTorch that recomputes values of chains
// optimally (Beaumont et al.). rotor may recompute a value several times,
// Hfta's plans only once per backward. But rotor also counts the chain's input
// and the gradient of its output as memory, which this chain doesn't have; so
// rotor's times bound those of Hfta's plans.
TEST(SpillPlanTest, isNoSlowerThanRotor) {
  SpillModel model = makeChain(48, 1, 2, 1);
  const std::pair<int64_t, double> known[] = {
      {12, 1.278}, {16, 1.243}, {24, 1.181}, {32, 1.1185}};
  for (auto [memory, most] : known) {
    SCOPED_TRACE(memory);
    std::optional<SpillChoice> choice = plan(model, {memory, false});
    ASSERT_TRUE(choice);
    EXPECT_LE(choice->seconds / (48 * 3), most);
    EXPECT_LE(simulateSpill(model, choice->plan, memory).peakBytes, memory);
  }
}

//===----------------------------------------------------------------------===//
// Faults found in plans
//===----------------------------------------------------------------------===//

static std::string getFault(const SpillModel &model, const SpillPlan &plan) {
  llvm::Error error = checkPlan(model, plan);
  return error ? llvm::toString(std::move(error)) : "";
}

TEST(SpillPlanTest, findsFaults) {
  SpillModel model = makeChain(3, 1, 2, 1);
  SpillPlan plan = keepAll(model);
  EXPECT_EQ(getFault(model, plan), "");
  plan.copies = 2;
  EXPECT_EQ(getFault(model, plan), "expected 1 to 1 copies a turn, got 2");
  plan = keepAll(model);
  plan.values.pop_back();
  EXPECT_EQ(getFault(model, plan), "expected what becomes of 3 values, got 2");
  plan = keepAll(model);
  plan.groups[1].firstBlock = 2;
  EXPECT_EQ(getFault(model, plan),
            "expected a group that begins with block 1, got blocks 2 to 1");
  plan = keepAll(model);
  plan.groups.pop_back();
  EXPECT_EQ(getFault(model, plan), "expected groups of 3 blocks, got 2");
  plan = keepAll(model);
  plan.values[0] = Keep::recompute;
  EXPECT_EQ(getFault(model, plan),
            "expected value 0 of block 'block0' to be kept for block 'block1'");
  plan = keepAll(model);
  plan.values[2] = Keep::recompute;
  EXPECT_EQ(getFault(model, plan), "");
  model.ops[2].isRepeatable = false;
  EXPECT_EQ(getFault(model, plan),
            "block 'block2': op 2 can't be computed again");
}

TEST(SpillPlanTest, printsPlans) {
  SpillModel model = makeChain(3, 1e-3, 2e-3, 1 << 20);
  model.blocks[1].parameterBytes = 2 << 20;
  model.store = {1e9, 5e8, 0, false};
  SpillPlan plan = keepAll(model);
  plan.groups = {{0, 1, Residency::everything}, {1, 3, Residency::streamed}};
  plan.values = {Keep::spill, Keep::recompute, Keep::save};
  std::string text;
  llvm::raw_string_ostream os(text);
  printSpillPlan(model, plan, 8 << 20, os);
  EXPECT_EQ(text, R"(peak 6.0 MiB of 8.0 MiB; 1 turn of 1 copy, 2 groups
step 15.389 ms, at least 10.000 ms: compute 10.000 ms, read 3.146 ms (3.0 MiB), write 6.291 ms (3.0 MiB)

group parameters  inputs     save MiB  spill MiB  recompute MiB  recompute ms  blocks
0     resident    kept            0.0        1.0            0.0         0.000  block0
1     streamed    kept            1.0        0.0            1.0         1.000  block1 to block2
)");
}
