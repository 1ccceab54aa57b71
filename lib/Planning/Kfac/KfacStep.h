//===- KfacStep.h - A step of K-FAC as queues of actions --------*- C++ -*-===//

#ifndef HFTA_LIB_PLANNING_KFAC_KFACSTEP_H
#define HFTA_LIB_PLANNING_KFAC_KFACSTEP_H

#include "Hfta/Planning/Common/Simulator.h"
#include "Hfta/Planning/Kfac/KfacSimulation.h"

#include <map>
#include <optional>

namespace mlir::hfta::planning {

/// Numbers of actions that must end before another action, of another queue,
/// begins.
using Actions = llvm::SmallVector<unsigned, 2>;

/// The matrices of a block that one rank inverts, or, if the owner is
/// kEveryRank, each rank of a column.
struct InversionTask {
  int64_t block = 0;
  int64_t column = 0;
  int64_t owner = kEveryRank;
  /// The numbers of matrices by their size in rows, the largest first.
  std::map<int64_t, int64_t, std::greater<>> counts;
  int64_t elements = 0;
  int64_t factor = 0; ///< the number of the first factor
};

/// Lists the inversions of all layers, ordered by block. Within a block, those
/// of single ranks or columns come before those of all ranks.
std::vector<InversionTask> listInversions(const KfacModel &model,
                                          const KfacPlan &plan);

/// Simulates the work of all ranks in one step; see simulateStep.
class KfacStepRun {
public:
  KfacStepRun(const KfacModel &model, const KfacCosts &costs,
              const KfacPlan &plan, KfacStep step)
      : model(model), costs(costs), plan(plan), step(step),
        ranks(plan.grid.getRankCount()) {}

  KfacRun run();

private:
  /// Forwards and backwards of one rank, or of all ranks for which they take
  /// equally long.
  struct Chain {
    int64_t rank = kEveryRank;
    unsigned queue = 0;
    std::vector<unsigned> forwards, backwards; ///< actions, indexed by block
  };

  bool isFactorStep() const { return step != KfacStep::plain; }
  bool isLocal() const { return plan.placement == KfacPlacement::local; }
  unsigned addQueue();
  unsigned add(unsigned queue, double seconds, Actions after,
               KfacActivity activity, int64_t rank = kEveryRank,
               int64_t number = 0);
  /// Adds an action that takes no time and isn't drawn. All later actions of
  /// its queue wait for `after`.
  void addBarrier(unsigned queue, Actions after);

  void addChains();
  void addChain(int64_t rank, llvm::ArrayRef<int64_t> factors);
  Actions getBackwards(int64_t block) const;
  void addReductions();
  void addInversions(int64_t rank);
  void addColumn(int64_t column);
  void addPrecondition(int64_t rank);
  void addRow(int64_t row);
  void addPhases();
  void addBlocks();
  void addMeans();
  void addTask(const InversionTask &task);
  void addBlocksOfInversions();
  void addBlocksOfPreconditions(int64_t rank);
  void addBlocksOfRow(int64_t row);
  Actions getLast(unsigned queue) const;

  const KfacModel &model;
  const KfacCosts &costs;
  const KfacPlan &plan;
  KfacStep step;
  int64_t ranks;

  Simulation simulation;
  /// The event of each action; none for barriers.
  std::vector<std::optional<KfacEvent>> labels;
  std::vector<Chain> chains;
  std::vector<size_t> chainOfRank;
  unsigned network = 0;
  std::optional<unsigned> lastGradients;
  std::vector<unsigned> reductions; ///< the action that adds up each factor
  std::vector<unsigned> queues;     ///< the queue of each rank
  /// For each rank, the actions in which it inverts matrices for others, by the
  /// matrices' size.
  std::vector<std::map<int64_t, unsigned, std::greater<>>> owned;
  /// The queue of each column's broadcasts.
  std::vector<unsigned> columns;
  /// The action in which each rank preconditions.
  std::vector<unsigned> preconditions;

  // The members below are used if `costs.isByBlocks` is set.

  /// The queue of broadcasts of inverses. All ranks run it in the same order.
  unsigned gifts = 0;
  /// Inversions since the last action of `gifts`. The next action of `gifts`
  /// waits for them.
  Actions ungiven;
  /// The action that sends the inverses of a block and column.
  std::map<std::pair<int64_t, int64_t>, unsigned> given;
  /// For each rank, the action that preconditions each block.
  std::vector<std::map<int64_t, unsigned>> preconditionOfBlock;
};

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_KFAC_KFACSTEP_H
