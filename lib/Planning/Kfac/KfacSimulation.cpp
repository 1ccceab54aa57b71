//===- KfacSimulation.cpp - Simulates steps of K-FAC ----------------------===//

#include "Kfac/KfacStep.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <limits>
#include <tuple>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

llvm::StringRef planning::getName(KfacActivity activity) {
  switch (activity) {
  case KfacActivity::lead:
    return "lead";
  case KfacActivity::forward:
    return "forward";
  case KfacActivity::backward:
    return "backward";
  case KfacActivity::reduceGradients:
    return "reduce gradients";
  case KfacActivity::reduceFactors:
    return "reduce factors";
  case KfacActivity::average:
    return "running means";
  case KfacActivity::invert:
    return "invert";
  case KfacActivity::broadcastInverses:
    return "broadcast inverses";
  case KfacActivity::precondition:
    return "precondition";
  case KfacActivity::broadcastDirections:
    return "broadcast directions";
  case KfacActivity::update:
    return "update";
  }
  llvm_unreachable("an activity without a name");
}

double KfacRun::getEnd(KfacActivity activity) const {
  double end = 0;
  for (const KfacEvent &event : events)
    if (event.activity == activity)
      end = std::max(end, event.end);
  return end;
}

//===----------------------------------------------------------------------===//
// A step as queues of actions
//===----------------------------------------------------------------------===//

unsigned KfacStepRun::addQueue() {
  simulation.machines.emplace_back();
  SimulatedQueue queue;
  queue.machine = simulation.machines.size() - 1;
  simulation.queues.push_back(std::move(queue));
  return simulation.queues.size() - 1;
}

unsigned KfacStepRun::add(unsigned queue, double seconds, Actions after,
                          KfacActivity activity, int64_t rank, int64_t number) {
  SimulatedAction action;
  action.queue = queue;
  action.seconds = seconds;
  action.after = std::move(after);
  KfacEvent label;
  label.activity = activity;
  label.rank = rank;
  label.number = number;
  labels.emplace_back(label);
  return simulation.add(std::move(action));
}

void KfacStepRun::addBarrier(unsigned queue, Actions after) {
  add(queue, 0, std::move(after), KfacActivity::lead);
  labels.back().reset();
}

/// Returns the last action of a queue, for actions that depend on all of the
/// queue so far; none if the queue is empty.
Actions KfacStepRun::getLast(unsigned queue) const {
  const std::vector<unsigned> &actions = simulation.queues[queue].actions;
  return actions.empty() ? Actions() : Actions{actions.back()};
}

//===----------------------------------------------------------------------===//
// Forward and backward
//===----------------------------------------------------------------------===//

/// Adds forwards and backwards. With local statistics, the moments of a factor
/// take time on its owner only. If schedules go by blocks, they take time on
/// all ranks: each computes all moments and drops those of others.
void KfacStepRun::addChains() {
  chainOfRank.assign(ranks, 0);
  llvm::SmallVector<int64_t> all = llvm::to_vector(
      llvm::seq<int64_t>(0, isFactorStep() ? model.factors.size() : 0));
  if (!isLocal() || costs.isByBlocks) {
    addChain(kEveryRank, all);
    return;
  }
  std::map<int64_t, std::vector<int64_t>> owned;
  for (int64_t factor : all)
    owned[plan.owners[factor]].push_back(factor);
  if (static_cast<int64_t>(owned.size()) < ranks)
    addChain(kEveryRank, {});
  for (const auto &[rank, factors] : owned) {
    chainOfRank[rank] = chains.size();
    addChain(rank, factors);
  }
}

void KfacStepRun::addChain(int64_t rank, llvm::ArrayRef<int64_t> factors) {
  std::vector<double> forward, backward;
  for (const KfacBlock &block : model.blocks) {
    forward.push_back(block.forward);
    backward.push_back(block.backward);
  }
  for (int64_t number : factors) {
    const KfacFactor &factor = model.factors[number];
    (factor.isInput ? forward : backward)[factor.block] += factor.moment;
  }
  Chain chain;
  chain.rank = rank;
  chain.queue = addQueue();
  int64_t blocks = model.blocks.size();
  auto addPass = [&](double seconds, KfacActivity activity, int64_t block) {
    return add(chain.queue, seconds / static_cast<double>(model.microBatches),
               {}, activity, rank, block);
  };
  add(chain.queue, model.getLead(factors), {}, KfacActivity::lead, rank);
  for (int64_t block = 0; block < blocks; ++block)
    chain.forwards.push_back(
        addPass(forward[block], KfacActivity::forward, block));
  chain.backwards.resize(blocks);
  for (int64_t block = blocks; block-- > 0;)
    chain.backwards[block] =
        addPass(backward[block], KfacActivity::backward, block);
  chains.push_back(std::move(chain));
}

Actions KfacStepRun::getBackwards(int64_t block) const {
  Actions actions;
  for (const Chain &chain : chains)
    actions.push_back(chain.backwards[block]);
  return actions;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Adds the all-reduces of gradients and factors. They are in the order in
/// which they would be ready if no forward or backward had to wait.
void KfacStepRun::addReductions() {
  network = addQueue();
  if (!costs.isOverlapped)
    addBarrier(network, getBackwards(0));
  std::vector<int64_t> order;
  BucketProblem problem = getBucketProblem(model, costs, order);
  // The blocks that have gradients, in the order of `problem.others`.
  std::vector<int64_t> gradients;
  for (int64_t block = model.blocks.size(); block-- > 0;)
    if (model.blocks[block].gradientElements > 0)
      gradients.push_back(block);
  size_t next = 0;
  auto addGradients = [&](double ready) {
    for (; next < gradients.size() && problem.others[next].ready <= ready;
         ++next)
      lastGradients = add(
          network, problem.others[next].seconds, getBackwards(gradients[next]),
          KfacActivity::reduceGradients, kEveryRank, gradients[next]);
  };
  if (isFactorStep()) {
    reductions.resize(model.factors.size());
    for (auto [number, bucket] : llvm::enumerate(plan.buckets)) {
      addGradients(problem.factors[bucket.last].ready);
      const KfacFactor &last = model.factors[order[bucket.last]];
      const Chain &chain = chains.front();
      unsigned action =
          add(network, costs.reduceFactors.getSeconds(bucket.elements),
              {(last.isInput ? chain.forwards : chain.backwards)[last.block]},
              KfacActivity::reduceFactors, kEveryRank, number);
      for (int64_t place = bucket.first; place <= bucket.last; ++place)
        reductions[order[place]] = action;
    }
  }
  addGradients(std::numeric_limits<double>::infinity());
}

//===----------------------------------------------------------------------===//
// Inverses
//===----------------------------------------------------------------------===//

void KfacStepRun::addInversions(int64_t rank) {
  std::map<int64_t, std::pair<int64_t, Actions>, std::greater<>> batches;
  std::map<int64_t, int64_t> common;
  Actions afterCommon;
  auto wait = [&](Actions &after, int64_t factor) {
    bool isAddedUp = !isLocal() && !model.factors[factor].isReceived;
    if (isAddedUp && !llvm::is_contained(after, reductions[factor]))
      after.push_back(reductions[factor]);
  };
  for (auto [number, owner] : llvm::enumerate(plan.owners)) {
    Factor matrices = model.factors[number].getInverted();
    if (owner == rank) {
      auto &[count, after] = batches[matrices.size];
      count += matrices.count;
      wait(after, number);
    } else if (owner == kEveryRank &&
               plan.columns.factors[number] == plan.grid.getColumn(rank)) {
      common[matrices.size] += matrices.count;
      wait(afterCommon, number);
    }
  }
  for (auto &[size, batch] : batches)
    owned[rank][size] =
        add(queues[rank], costs.invert(size, batch.first),
            std::move(batch.second), KfacActivity::invert, rank, size);
  double seconds = 0;
  for (auto [size, count] : common)
    seconds += costs.invert(size, count);
  if (!common.empty())
    add(queues[rank], seconds, std::move(afterCommon), KfacActivity::invert,
        rank);
}

/// Adds the broadcasts of inverses from their owners to the other ranks of the
/// column.
void KfacStepRun::addColumn(int64_t column) {
  unsigned queue = columns[column] = addQueue();
  if (step != KfacStep::inverses || plan.grid.rows == 1)
    return;
  if (!costs.isOverlapped) {
    Actions after;
    for (int64_t row = 0; row < plan.grid.rows; ++row)
      after.append(getLast(queues[plan.grid.getRank(row, column)]));
    addBarrier(queue, std::move(after));
  }
  std::vector<Factor> factors;
  FactorOwners owners;
  std::vector<int64_t> numbers;
  for (auto [number, owner] : llvm::enumerate(plan.owners)) {
    if (owner == kEveryRank || plan.columns.factors[number] != column)
      continue;
    factors.push_back(model.factors[number].getInverted());
    owners.push_back(owner);
    numbers.push_back(number);
  }
  PlacementCosts placement = getPlacementCosts(model, costs, plan.grid);
  for (const FactorBroadcast &broadcast :
       getBroadcasts(factors, owners, placement)) {
    int64_t least = factors[broadcast.factors.front()].size;
    for (int64_t factor : broadcast.factors)
      least = std::min(least, factors[factor].size);
    add(queue, placement.broadcast.getSeconds(broadcast.elements),
        {owned[broadcast.owner].at(least)}, KfacActivity::broadcastInverses,
        broadcast.owner, numbers[broadcast.factors.front()]);
  }
}

//===----------------------------------------------------------------------===//
// Directions
//===----------------------------------------------------------------------===//

void KfacStepRun::addPrecondition(int64_t rank) {
  int64_t column = plan.grid.getColumn(rank);
  double seconds = 0;
  for (auto [layer, of] : llvm::zip_equal(model.layers, plan.columns.layers))
    if (of == column)
      seconds += layer.precondition;
  Actions after = getLast(columns[column]);
  if (lastGradients)
    after.push_back(*lastGradients);
  preconditions[rank] = add(queues[rank], seconds, std::move(after),
                            KfacActivity::precondition, rank);
}

/// Adds the broadcasts in a row: each rank sends the preconditioned gradients
/// of its column's layers to the others. The ranks with the least work send
/// first.
void KfacStepRun::addRow(int64_t row) {
  const FactorGrid &grid = plan.grid;
  unsigned queue = addQueue();
  if (grid.columns > 1) {
    std::vector<std::tuple<double, int64_t, int64_t>> senders(grid.columns);
    for (int64_t column = 0; column < grid.columns; ++column)
      std::get<1>(senders[column]) = column;
    for (auto [layer, column] :
         llvm::zip_equal(model.layers, plan.columns.layers)) {
      std::get<0>(senders[column]) += layer.precondition;
      std::get<2>(senders[column]) += layer.gradientElements;
    }
    llvm::sort(senders);
    if (!costs.isOverlapped) {
      Actions after;
      for (int64_t column = 0; column < grid.columns; ++column)
        after.push_back(preconditions[grid.getRank(row, column)]);
      addBarrier(queue, std::move(after));
    }
    TransferCost cost = costs.broadcast(grid.columns);
    for (auto [seconds, column, elements] : senders) {
      int64_t rank = grid.getRank(row, column);
      if (elements > 0)
        add(queue, cost.getSeconds(elements), {preconditions[rank]},
            KfacActivity::broadcastDirections, rank);
    }
  }
  for (int64_t column = 0; column < grid.columns; ++column) {
    int64_t rank = grid.getRank(row, column);
    add(queues[rank], model.update, getLast(queue), KfacActivity::update, rank);
  }
}

/// Adds the inversions and broadcasts of all ranks, and then their
/// preconditioning.
void KfacStepRun::addPhases() {
  preconditions.resize(ranks);
  owned.resize(ranks);
  columns.resize(plan.grid.columns);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    queues.push_back(addQueue());
    Actions after = {chains[chainOfRank[rank]].backwards.front()};
    if (!costs.isOverlapped)
      after.append(getLast(network));
    addBarrier(queues[rank], std::move(after));
    if (step == KfacStep::inverses)
      addInversions(rank);
  }
  for (int64_t column = 0; column < plan.grid.columns; ++column)
    addColumn(column);
  for (int64_t rank = 0; rank < ranks; ++rank)
    addPrecondition(rank);
  for (int64_t row = 0; row < plan.grid.rows; ++row)
    addRow(row);
}

KfacRun KfacStepRun::run() {
  addChains();
  addReductions();
  if (costs.isByBlocks)
    addBlocks();
  else
    addPhases();

  SimulationResult result = simulate(simulation);
  KfacRun run;
  run.seconds = toSeconds(result.makespan);
  for (auto [label, interval] : llvm::zip_equal(labels, result.actions)) {
    if (!label)
      continue;
    label->begin = toSeconds(interval.begin);
    label->end = toSeconds(interval.end);
    run.events.push_back(*label);
  }
  llvm::sort(run.events, [](const KfacEvent &a, const KfacEvent &b) {
    return std::tie(a.begin, a.end, a.activity, a.rank, a.number) <
           std::tie(b.begin, b.end, b.activity, b.rank, b.number);
  });
  return run;
}

KfacRun planning::simulateStep(const KfacModel &model, const KfacCosts &costs,
                               const KfacPlan &plan, KfacStep step) {
  return KfacStepRun(model, costs, plan, step).run();
}

double planning::getMeanSeconds(const KfacModel &model, const KfacCosts &costs,
                                const KfacPlan &plan) {
  double inverses = 1.0 / static_cast<double>(model.inverseEvery);
  double factors = 1.0 / static_cast<double>(model.factorEvery);
  double mean = 0;
  for (auto [step, share] : {std::pair(KfacStep::plain, 1 - factors),
                             std::pair(KfacStep::factors, factors - inverses),
                             std::pair(KfacStep::inverses, inverses)})
    if (share > 0)
      mean += share * simulateStep(model, costs, plan, step).seconds;
  return mean;
}
