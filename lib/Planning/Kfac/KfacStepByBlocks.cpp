//===- KfacStepByBlocks.cpp - A step of K-FAC, block by block -------------===//
//
// This is the step that compiled schedules run. After the last all-reduce, each
// rank updates the running means of statistics, does its own inversions, block
// by block, and then preconditions, block by block. Results are sent in a
// separate queue, whose order is the same on all ranks. So a rank gets another
// one's inverses only after it has itself reached this point of its own tasks.
//===----------------------------------------------------------------------===//

#include "Kfac/KfacStep.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <set>

using namespace mlir::hfta;
using namespace mlir::hfta::planning;

namespace {

/// Lists the inversions of all layers as tasks.
class InversionTasks {
public:
  InversionTasks(const KfacModel &model, const KfacPlan &plan)
      : model(model), plan(plan) {}

  std::vector<InversionTask> list();

private:
  void addFactor(int64_t block, int64_t number);

  const KfacModel &model;
  const KfacPlan &plan;
  /// For each block, in the order in which they were added: the inversions of
  /// single ranks or columns, and those of all ranks.
  std::map<int64_t, std::vector<InversionTask>> ofSome, ofAll;
};

} // namespace

void InversionTasks::addFactor(int64_t block, int64_t number) {
  int64_t owner = plan.owners[number], column = plan.columns.factors[number];
  bool isOfAll = owner == kEveryRank && plan.grid.columns == 1;
  std::vector<InversionTask> &tasks = (isOfAll ? ofAll : ofSome)[block];
  auto task = llvm::find_if(tasks, [&](const InversionTask &known) {
    return known.owner == owner && known.column == column;
  });
  if (task == tasks.end())
    task = tasks.insert(task, {block, column, owner, {}, 0, number});
  const Factor &matrices = model.factors[number].matrices;
  task->counts[matrices.size] += matrices.count;
  task->elements += matrices.getElements() * model.numbersPerElement;
}

/// Lists the inversions. If layers share a factor, each of them inverts it,
/// unless one inverse serves them all: then the first layer does.
std::vector<InversionTask> InversionTasks::list() {
  std::vector<bool> isInverted(model.factors.size());
  for (const KfacLayer &layer : model.layers) {
    // A layer without gradients is listed only because its factors must be in
    // one column.
    if (layer.gradientElements == 0)
      continue;
    int64_t block = model.getBlock(layer);
    for (int64_t number : {layer.factors.input, layer.factors.output}) {
      if (number == kNoFactor ||
          (isInverted[number] && model.factors[number].inverses == 1))
        continue;
      isInverted[number] = true;
      addFactor(block, number);
    }
  }
  std::vector<InversionTask> all;
  for (int64_t block : llvm::seq<int64_t>(0, model.blocks.size()))
    for (auto *tasks : {&ofSome, &ofAll})
      llvm::append_range(all, (*tasks)[block]);
  return all;
}

std::vector<InversionTask> planning::listInversions(const KfacModel &model,
                                                    const KfacPlan &plan) {
  return InversionTasks(model, plan).list();
}

//===----------------------------------------------------------------------===//
// Running means and inverses
//===----------------------------------------------------------------------===//

/// Adds the updates of running means. Each rank updates all of them; with local
/// statistics it updates only its own, and the ranks then send each other their
/// counts of skipped factors.
void KfacStepRun::addMeans() {
  std::vector<double> seconds(plan.grid.columns, 0);
  std::set<std::pair<int64_t, int64_t>> tasks;
  for (auto [factor, column] :
       llvm::zip_equal(model.factors, plan.columns.factors)) {
    seconds[isLocal() ? column : 0] += factor.mean;
    tasks.insert({factor.block, column});
  }
  Actions means;
  for (int64_t rank = 0; rank < ranks; ++rank)
    means.push_back(add(queues[rank],
                        seconds[isLocal() ? plan.grid.getColumn(rank) : 0], {},
                        KfacActivity::average, rank));
  if (isLocal() && ranks > 1)
    add(gifts, costs.broadcast(1).latency * static_cast<double>(tasks.size()),
        std::move(means), KfacActivity::broadcastInverses);
}

/// Adds an inversion. The ranks that compute it send the inverses to the others
/// in their column, and their counts of failures to all ranks.
void KfacStepRun::addTask(const InversionTask &task) {
  const FactorGrid &grid = plan.grid;
  double seconds = 0;
  for (auto [size, count] : task.counts)
    seconds += costs.invert(size, count);
  bool isOwned = task.owner != kEveryRank;
  for (int64_t row = 0; row < grid.rows; ++row) {
    int64_t rank = grid.getRank(row, task.column);
    if (isOwned && rank != task.owner)
      continue;
    int64_t number = isOwned ? task.counts.begin()->first : 0;
    ungiven.push_back(
        add(queues[rank], seconds, {}, KfacActivity::invert, rank, number));
  }
  if (ranks == 1 || (!isOwned && grid.columns == 1))
    return;
  double sent = costs.broadcast(1).latency;
  if (isOwned && grid.rows > 1)
    sent += costs.broadcast(grid.rows).getSeconds(task.elements);
  given[{task.block, task.column}] =
      add(gifts, sent, std::move(ungiven), KfacActivity::broadcastInverses,
          task.owner, task.factor);
  ungiven.clear();
}

void KfacStepRun::addBlocksOfInversions() {
  gifts = addQueue();
  for (int64_t rank = 0; rank < ranks; ++rank) {
    queues.push_back(addQueue());
    addBarrier(queues[rank], getLast(chains.front().queue));
    addBarrier(queues[rank], getLast(network));
    ungiven.append(getLast(queues[rank]));
  }
  if (isFactorStep())
    addMeans();
  if (step != KfacStep::inverses)
    return;
  for (int64_t rank = 0; rank < ranks; ++rank)
    ungiven.append(getLast(queues[rank]));
  for (const InversionTask &task : listInversions(model, plan))
    addTask(task);
}

//===----------------------------------------------------------------------===//
// Directions
//===----------------------------------------------------------------------===//

/// Adds the preconditioning of a rank. A block waits for the inverses of its
/// layers' factors, and so for all inverses that are sent before these.
void KfacStepRun::addBlocksOfPreconditions(int64_t rank) {
  int64_t own = plan.grid.getColumn(rank);
  std::map<int64_t, std::pair<double, unsigned>> blocks;
  for (auto [layer, column] :
       llvm::zip_equal(model.layers, plan.columns.layers)) {
    if (column != own || layer.gradientElements == 0)
      continue;
    int64_t block = model.getBlock(layer);
    auto &[seconds, after] = blocks.try_emplace(block, 0, kNone).first->second;
    seconds += layer.precondition;
    for (int64_t number : {layer.factors.input, layer.factors.output})
      for (int64_t of :
           {block, number < 0 ? block : model.factors[number].block})
        if (auto gift = given.find({of, column}); gift != given.end())
          after = after == kNone ? gift->second : std::max(after, gift->second);
  }
  for (auto [block, task] : blocks)
    preconditionOfBlock[rank][block] =
        add(queues[rank], task.first,
            task.second == kNone ? Actions() : Actions{task.second},
            KfacActivity::precondition, rank, block);
}

/// Adds the broadcasts of preconditioned gradients in a row. Those of a block
/// begin when all ranks of the row have preconditioned it. Each rank with
/// layers in the block sends one message for every run of neighbouring layers,
/// and inner products.
void KfacStepRun::addBlocksOfRow(int64_t row) {
  const FactorGrid &grid = plan.grid;
  unsigned queue = addQueue();
  struct Sent {
    int64_t elements = 0, messages = 1;
  };
  std::map<int64_t, std::map<int64_t, Sent>> blocks; // by block, then by column
  std::map<int64_t, int64_t> lastColumn;             // by block
  for (auto [layer, column] :
       llvm::zip_equal(model.layers, plan.columns.layers)) {
    if (grid.columns == 1 || layer.gradientElements == 0)
      continue;
    int64_t block = model.getBlock(layer);
    Sent &sent = blocks[block][column];
    sent.elements += layer.gradientElements;
    auto [last, isFirst] = lastColumn.try_emplace(block, column);
    sent.messages += isFirst || last->second != column;
    last->second = column;
  }
  addBarrier(queue, getLast(gifts));
  TransferCost cost = costs.broadcast(grid.columns);
  for (const auto &[block, columns] : blocks) {
    Actions after;
    for (int64_t column = 0; column < grid.columns; ++column) {
      const auto &own = preconditionOfBlock[grid.getRank(row, column)];
      if (auto done = own.find(block); done != own.end())
        after.push_back(done->second);
    }
    addBarrier(queue, std::move(after));
    for (const auto &[column, sent] : columns)
      add(queue,
          cost.latency * static_cast<double>(sent.messages - 1) +
              cost.getSeconds(sent.elements),
          {}, KfacActivity::broadcastDirections, grid.getRank(row, column),
          block);
  }
  for (int64_t column = 0; column < grid.columns; ++column) {
    int64_t rank = grid.getRank(row, column);
    add(queues[rank], model.update, getLast(queue), KfacActivity::update, rank);
  }
}

void KfacStepRun::addBlocks() {
  addBlocksOfInversions();
  preconditionOfBlock.resize(ranks);
  for (int64_t rank = 0; rank < ranks; ++rank)
    addBlocksOfPreconditions(rank);
  for (int64_t row = 0; row < plan.grid.rows; ++row)
    addBlocksOfRow(row);
}
