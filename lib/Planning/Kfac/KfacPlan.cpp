//===- KfacPlan.cpp - How ranks share the work of K-FAC -------------------===//

#include "Hfta/Planning/Kfac/KfacPlan.h"

#include "Hfta/Planning/Kfac/KfacSimulation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/FormatVariadic.h"

#include <cassert>
#include <cmath>
#include <optional>
#include <tuple>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

double KfacModel::getLead(llvm::ArrayRef<int64_t> measured) const {
  double all = 0;
  for (const KfacBlock &block : blocks)
    all += block.forward + block.backward;
  for (int64_t factor : measured)
    all += factors[factor].moment;
  return lead + all * static_cast<double>(microBatches - 1) /
                    static_cast<double>(microBatches);
}

std::vector<Factor> KfacModel::getMatrices() const {
  std::vector<Factor> matrices;
  matrices.reserve(factors.size());
  for (const KfacFactor &factor : factors)
    matrices.push_back(factor.getInverted());
  return matrices;
}

std::vector<FactorPair> KfacModel::getPairs() const {
  std::vector<FactorPair> pairs;
  pairs.reserve(layers.size());
  for (const KfacLayer &layer : layers)
    pairs.push_back(layer.factors);
  return pairs;
}

//===----------------------------------------------------------------------===//
// Buckets
//===----------------------------------------------------------------------===//

BucketProblem planning::getBucketProblem(const KfacModel &model,
                                         const KfacCosts &costs,
                                         std::vector<int64_t> &order) {
  BucketProblem problem;
  problem.allReduce = costs.reduceFactors;
  order.clear();
  double now = model.getLead(
      llvm::to_vector(llvm::seq<int64_t>(0, model.factors.size())));
  double share = 1 / static_cast<double>(model.microBatches);
  auto runBlock = [&](int64_t block, bool isForward) {
    now += share * (isForward ? model.blocks[block].forward
                              : model.blocks[block].backward);
    size_t first = order.size();
    for (int64_t number = 0, count = model.factors.size(); number < count;
         ++number) {
      const KfacFactor &factor = model.factors[number];
      if (factor.block != block || factor.isInput != isForward ||
          factor.isReceived)
        continue;
      now += share * factor.moment;
      order.push_back(number);
      problem.factors.push_back({0, factor.getSummedElements(), false});
    }
    for (ReadyFactor &factor :
         llvm::MutableArrayRef(problem.factors).drop_front(first))
      factor.ready = now;
    if (order.size() > first)
      problem.factors.back().endsBlock = true;
    int64_t gradients = model.blocks[block].gradientElements;
    if (!isForward && gradients > 0)
      problem.others.push_back(
          {now, costs.reduceGradients.getSeconds(gradients)});
  };
  int64_t blocks = model.blocks.size();
  for (int64_t block = 0; block < blocks; ++block)
    runBlock(block, /*isForward=*/true);
  for (int64_t block = blocks; block-- > 0;)
    runBlock(block, /*isForward=*/false);
  if (costs.isOverlapped)
    return problem;
  for (ReadyFactor &factor : problem.factors)
    factor.ready = now;
  for (OtherTransfer &other : problem.others)
    other.ready = now;
  return problem;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static void addBuckets(KfacPlan &plan, const KfacModel &model,
                       const KfacCosts &costs) {
  plan.buckets = planBuckets(getBucketProblem(model, costs, plan.readyOrder));
}

/// Chooses the owners of a column's factors among the ranks of the column.
static void placeInColumn(KfacPlan &plan, llvm::ArrayRef<Factor> matrices,
                          int64_t column, const PlacementCosts &costs) {
  std::vector<Factor> factors;
  std::vector<int64_t> numbers;
  for (auto [number, of] : llvm::enumerate(plan.columns.factors)) {
    if (of != column)
      continue;
    factors.push_back(matrices[number]);
    numbers.push_back(number);
  }
  FactorOwners rows = placeFactors(factors, plan.grid.rows, costs);
  for (auto [number, row] : llvm::zip_equal(numbers, rows)) {
    // The only rank of a column owns everything.
    if (plan.grid.rows == 1)
      row = 0;
    plan.owners[number] =
        row == kEveryRank ? kEveryRank : plan.grid.getRank(row, column);
  }
}

PlacementCosts planning::getPlacementCosts(const KfacModel &model,
                                           const KfacCosts &costs,
                                           const FactorGrid &grid) {
  TransferCost broadcast = costs.broadcast(grid.rows);
  broadcast.secondsPerElement *= static_cast<double>(model.numbersPerElement);
  return {costs.invert, broadcast, costs.isMerged,
          costs.isOverlapped || costs.isByBlocks};
}

KfacPlan planning::planFraction(const KfacModel &model, const KfacCosts &costs,
                                const FactorGrid &grid) {
  KfacPlan plan;
  plan.placement = KfacPlacement::fraction;
  plan.grid = grid;
  std::vector<Factor> matrices = model.getMatrices();
  plan.columns = chooseColumns(matrices, model.getPairs(), grid.columns,
                               [&](const Factor &factor) {
                                 return costs.invert(factor.size, factor.count);
                               });
  plan.owners.resize(matrices.size());
  for (int64_t column = 0; column < grid.columns; ++column)
    placeInColumn(plan, matrices, column,
                  getPlacementCosts(model, costs, grid));
  addBuckets(plan, model, costs);
  return plan;
}

KfacPlan planning::planBalanced(const KfacModel &model, const KfacCosts &costs,
                                int64_t ranks) {
  KfacPlan plan = planFraction(model, costs, {ranks, 1});
  plan.placement = KfacPlacement::balanced;
  return plan;
}

static KfacPlan planOnGrid(KfacPlacement placement, const KfacModel &model,
                           const FactorGrid &grid, FactorPairing pairing) {
  KfacPlan plan;
  plan.placement = placement;
  plan.grid = grid;
  GridPlacement placed =
      placeOnGrid(model.getMatrices(), model.getPairs(), grid, pairing);
  plan.columns = std::move(placed.columns);
  plan.owners = std::move(placed.owners);
  return plan;
}

KfacPlan planning::planFraction(const KfacModel &model, const KfacCosts &costs,
                                const FactorGrid &grid, FactorPairing pairing) {
  KfacPlan plan = planOnGrid(KfacPlacement::fraction, model, grid, pairing);
  addBuckets(plan, model, costs);
  return plan;
}

KfacPlan planning::planLocal(const KfacModel &model, int64_t ranks) {
  return planOnGrid(KfacPlacement::local, model, {1, ranks},
                    FactorPairing::together);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

KfacMemory planning::getMemory(const KfacModel &model, const KfacCosts &costs,
                               const KfacPlan &plan, int64_t rank) {
  KfacMemory memory;
  for (auto [factor, owner, column] :
       llvm::zip_equal(model.factors, plan.owners, plan.columns.factors)) {
    if (plan.placement != KfacPlacement::local || owner == rank)
      memory.factors += costs.bytesPerElement *
                        static_cast<double>(factor.matrices.getElements());
    if (column == plan.grid.getColumn(rank))
      memory.inverses +=
          costs.bytesPerElement *
          static_cast<double>(model.numbersPerElement *
                              factor.getInverted().getElements());
  }
  return memory;
}

KfacMemory planning::getLargestMemory(const KfacModel &model,
                                      const KfacCosts &costs,
                                      const KfacPlan &plan) {
  // A rank's memory depends on its column alone. In local plans, where ranks
  // differ, each column has only one rank.
  KfacMemory largest;
  for (int64_t column = 0; column < plan.grid.columns; ++column) {
    KfacMemory memory =
        getMemory(model, costs, plan, plan.grid.getRank(0, column));
    if (memory.getBytes() > largest.getBytes())
      largest = memory;
  }
  return largest;
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// Lists the plans to compare. The balanced plan comes first: it needs the
/// network least, and should be chosen if others are equally good.
static std::vector<KfacPlan>
getCandidates(const KfacModel &model, const KfacCosts &costs, int64_t ranks) {
  std::vector<KfacPlan> plans = {planBalanced(model, costs, ranks)};
  for (int64_t rows = ranks; rows > 0; --rows) {
    if (ranks % rows != 0)
      continue;
    FactorGrid grid{rows, ranks / rows};
    // With one column, this would be the balanced plan.
    if (grid.columns > 1)
      plans.push_back(planFraction(model, costs, grid));
    plans.push_back(planFraction(model, costs, grid, FactorPairing::together));
    // With one row, a column is one rank, so that pairing has no effect.
    if (rows > 1)
      plans.push_back(planFraction(model, costs, grid, FactorPairing::apart));
  }
  return plans;
}

llvm::Expected<ChosenKfacPlan> planning::chooseKfacPlan(const KfacModel &model,
                                                        const KfacCosts &costs,
                                                        int64_t ranks,
                                                        double memory) {
  std::optional<ChosenKfacPlan> best;
  std::optional<double> least;
  for (KfacPlan &plan : getCandidates(model, costs, ranks)) {
    KfacMemory needed = getLargestMemory(model, costs, plan);
    least = std::min(least.value_or(needed.getBytes()), needed.getBytes());
    if (memory > 0 && needed.getBytes() > memory)
      continue;
    double seconds = getMeanSeconds(model, costs, plan);
    double bytes = needed.getBytes();
    if (best) {
      double bestBytes = best->memory.getBytes();
      if (std::tie(best->seconds, bestBytes) <= std::tie(seconds, bytes))
        continue;
    }
    best = {std::move(plan), seconds, needed};
  }
  if (best)
    return std::move(*best);
  return llvm::createStringError(llvm::formatv(
      "factors and inverses need {0} bytes on a rank at least: expected at "
      "most {1}",
      static_cast<int64_t>(std::ceil(*least)), static_cast<int64_t>(memory)));
}
