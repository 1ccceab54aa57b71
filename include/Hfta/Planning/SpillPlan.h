//===- SpillPlan.h - How a step fits in a budget of memory ------*- C++ -*-===//
//
// What is kept in memory, what goes to the store meanwhile and what is computed
// again, so that a step needs no more memory than there is and takes as little
// time as possible. Only the peak that a simulation of the step has counts.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_SPILLPLAN_H
#define HFTA_PLANNING_SPILLPLAN_H

#include "Hfta/Planning/SpillModel.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <limits>
#include <memory>
#include <optional>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::hfta::planning {

/// What becomes of a value from its last use in a forward to its first one in a
/// backward.
enum class Keep : uint8_t {
  save,     ///< it stays in memory
  spill,    ///< it lies in the store
  recompute ///< it is computed again, or not needed
};

/// What stays of a block's parameters and its optimizer's state.
enum class Residency : uint8_t {
  streamed,   ///< nothing: they are read for forward, and for backward
  held,       ///< a turn's parameters, from forward to backward
  parameters, ///< all copies' parameters
  everything  ///< all copies' parameters and state
};

/// Blocks that follow each other, as one: what goes from one to the next needs
/// no place but within its tasks.
struct SpillGroup {
  int64_t firstBlock = 0, endBlock = 0;
  Residency residency = Residency::streamed;
  /// What comes from earlier blocks, and the gradients that go back to them,
  /// lie in the store until a micro-batch's turn comes, unless they are saved.
  bool streamsInputs = false;
  /// Of models that clip: gradients lie in the store until norms are known.
  bool spillsGradients = false;

  bool operator==(const SpillGroup &other) const {
    return firstBlock == other.firstBlock && endBlock == other.endBlock &&
           residency == other.residency &&
           streamsInputs == other.streamsInputs &&
           spillsGradients == other.spillsGradients;
  }
};

struct SpillPlan {
  /// That go through the step together; the others follow in turns.
  int64_t copies = 1;
  std::vector<SpillGroup> groups;
  std::vector<Keep> values; ///< of each of the model's
  /// For so many tasks what is being written keeps its place at most.
  int64_t writeWindow = 0;

  bool operator==(const SpillPlan &other) const {
    return copies == other.copies && groups == other.groups &&
           values == other.values && writeWindow == other.writeWindow;
  }
};

enum class RecomputePolicy : uint8_t { none, automatic, all };

struct SpillRequest {
  int64_t budget = 0; ///< bytes
  bool spills = true; ///< there is a store
  /// What goes from block to block may lie in the store until a micro-batch's
  /// turn comes, whatever backwards need.
  bool streamsInputs = true;
  RecomputePolicy recompute = RecomputePolicy::automatic;
  /// Of a turn; no more than the model's.
  int64_t leastCopies = 1, mostCopies = std::numeric_limits<int64_t>::max();
};

/// Why there is no plan.
struct SpillFailure {
  int64_t leastBudget = 0; ///< with which there is one
  std::string block;       ///< the last one of those that need it
  SpillPlan plan;          ///< that needs no more
};

struct SpillChoice {
  SpillPlan plan;
  double seconds = 0; ///< of a step
};

/// Plans one step for budgets of several sizes: what plans there are is found
/// once.
class SpillPlanner {
public:
  /// The model and the request must live as long. Its budget is of no account.
  SpillPlanner(const SpillModel &model, const SpillRequest &request);
  ~SpillPlanner();

  /// As planSpill.
  std::optional<SpillChoice> plan(int64_t budget, SpillFailure &failure);

private:
  class Candidates;
  std::unique_ptr<Candidates> candidates;
};

/// The fastest plan found whose peak is within the budget. Equal models and
/// requests have equal plans, and no larger budget has a slower one where
/// reading and writing don't hinder each other. None: `failure` says why.
std::optional<SpillChoice> planSpill(const SpillModel &model,
                                     const SpillRequest &request,
                                     SpillFailure &failure);

/// Whether nothing is computed again or moved: all blocks' parameters and state
/// stay, and each value that some backward reads. None is faster.
bool keepsAll(const SpillModel &model, const SpillPlan &plan);

/// Of one copy, of all its micro-batches.
struct GroupSeconds {
  double forward = 0, recompute = 0, backward = 0, update = 0;
};

/// Of a plan that checkPlan finds no fault with, by its groups.
std::vector<GroupSeconds> getGroupSeconds(const SpillModel &model,
                                          const SpillPlan &plan);

/// Whether the plan can be carried out: groups are all blocks, and what a
/// backward needs is there or can be computed again.
llvm::Error checkPlan(const SpillModel &model, const SpillPlan &plan);

llvm::StringRef getName(Keep keep);
llvm::StringRef getName(Residency residency);

/// Tables of the plan, and of the step that it makes within the budget.
void printSpillPlan(const SpillModel &model, const SpillPlan &plan,
                    int64_t budget, llvm::raw_ostream &os);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_SPILLPLAN_H
