//===- KfacStep.h - A step of K-FAC as queues of actions --------*- C++ -*-===//

#ifndef HFTA_LIB_PLANNING_KFACSTEP_H
#define HFTA_LIB_PLANNING_KFACSTEP_H

#include "Hfta/Planning/KfacSimulation.h"
#include "Hfta/Planning/Simulator.h"

#include <map>
#include <optional>

namespace mlir::hfta::planning {

/// Actions in other queues that an action comes after.
using Actions = llvm::SmallVector<unsigned, 2>;

/// The matrices of a block that one rank, or each rank of a column, inverts.
struct InversionTask {
  int64_t block = 0;
  int64_t column = 0;
  int64_t owner = kEveryRank;
  /// The number of matrices of each size.
  std::map<int64_t, int64_t, std::greater<>> counts;
  int64_t elements = 0;
  int64_t factor = 0; ///< the first factor
};

/// Lists the inversions of all layers, block by block; within a block, those of
/// single ranks or columns come first.
std::vector<InversionTask> listInversions(const KfacModel &model,
                                          const KfacPlan &plan);

/// The work of all ranks in one step; see simulateStep.
class KfacStepRun {
public:
  KfacStepRun(const KfacModel &model, const KfacCosts &costs,
              const KfacPlan &plan, KfacStep step)
      : model(model), costs(costs), plan(plan), step(step),
        ranks(plan.grid.getRankCount()) {}

  KfacRun run();

private:
  /// Ranks whose forwards and backwards take equally long.
  struct Chain {
    int64_t rank = kEveryRank;
    unsigned queue = 0;
    std::vector<unsigned> forwards, backwards; ///< indexed by block
  };

  bool isFactorStep() const { return step != KfacStep::plain; }
  bool isLocal() const { return plan.placement == KfacPlacement::local; }
  unsigned addQueue();
  unsigned add(unsigned queue, double seconds, Actions after,
               KfacActivity activity, int64_t rank = kEveryRank,
               int64_t number = 0);
  /// Adds an invisible action: later work in its queue waits for `after`.
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
  std::vector<std::optional<KfacEvent>> labels; ///< the event of each action
  std::vector<Chain> chains;
  std::vector<size_t> chainOfRank;
  unsigned network = 0;
  std::optional<unsigned> lastGradients;
  std::vector<unsigned> reductions; ///< by factor
  std::vector<unsigned> queues;     ///< by rank
  /// For each rank, the inversions that it broadcasts, by size.
  std::vector<std::map<int64_t, unsigned, std::greater<>>> owned;
  std::vector<unsigned> columns;       ///< queues
  std::vector<unsigned> preconditions; ///< by rank

  // These are used if isByBlocks is set.

  /// The queue that sends inverses, which all ranks go through in one order.
  unsigned gifts = 0;
  /// Inversions since the last action of `gifts`; the next one waits for them.
  Actions ungiven;
  /// The action after which the inverses of a block and column have arrived.
  std::map<std::pair<int64_t, int64_t>, unsigned> given;
  /// For each rank, the preconditioning of each block.
  std::vector<std::map<int64_t, unsigned>> preconditionOfBlock;
};

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_KFACSTEP_H
