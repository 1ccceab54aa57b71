//===- SpillPlan.h - How a step fits in a budget of memory ------*- C++ -*-===//
//
// A plan says what is kept in memory, what goes to the store meanwhile and what
// is recomputed, so that a step fits in the available memory and takes as
// little time as possible. The peak of memory is that of a simulation of the
// step.
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

/// The fate of a value between its last use in a forward and its first use in a
/// backward.
enum class Keep : uint8_t {
  save,     ///< it stays in memory
  spill,    ///< it lies in the store
  recompute ///< it is recomputed, or not needed
};

/// The part of a block's parameters and optimizer state that stays in memory.
enum class Residency : uint8_t {
  streamed,   ///< nothing: they are read for forward, and for backward
  held,       ///< a turn's parameters, from forward to backward
  parameters, ///< all copies' parameters
  everything  ///< all copies' parameters and state
};

/// Consecutive blocks that count as one: values that go from one to the next
/// need memory only within its tasks.
struct SpillGroup {
  int64_t firstBlock = 0, endBlock = 0;
  Residency residency = Residency::streamed;
  /// Whether the values from earlier blocks, and the gradients that go back to
  /// them, lie in the store until the micro-batch is processed, unless they are
  /// saved.
  bool streamsInputs = false;
  /// Whether gradients lie in the store until their norms are known; only for
  /// models that clip.
  bool spillsGradients = false;

  bool operator==(const SpillGroup &other) const {
    return firstBlock == other.firstBlock && endBlock == other.endBlock &&
           residency == other.residency &&
           streamsInputs == other.streamsInputs &&
           spillsGradients == other.spillsGradients;
  }
};

struct SpillPlan {
  /// The copies that go through the step together; the others follow in turns.
  int64_t copies = 1;
  std::vector<SpillGroup> groups;
  std::vector<Keep> values; ///< one for each value of the model
  /// The most tasks for which bytes that are being written keep their place.
  int64_t writeWindow = 0;

  bool operator==(const SpillPlan &other) const {
    return copies == other.copies && groups == other.groups &&
           values == other.values && writeWindow == other.writeWindow;
  }
};

enum class RecomputePolicy : uint8_t { none, automatic, all };

struct SpillRequest {
  int64_t budget = 0; ///< bytes
  bool spills = true; ///< whether there is a store
  /// Whether values that go from block to block may lie in the store until
  /// their micro-batch is processed, whatever backwards need.
  bool streamsInputs = true;
  RecomputePolicy recompute = RecomputePolicy::automatic;
  /// Limits of the copies in a turn; no more than the model has.
  int64_t leastCopies = 1, mostCopies = std::numeric_limits<int64_t>::max();
};

/// The reason why there is no plan.
struct SpillFailure {
  int64_t leastBudget = 0; ///< the least budget with which there is a plan
  std::string block;       ///< the last of the blocks that need it
  SpillPlan plan;          ///< a plan that needs no more
};

struct SpillChoice {
  SpillPlan plan;
  double seconds = 0; ///< seconds per step
};

/// Plans one step for budgets of several sizes, finding the possible plans only
/// once.
class SpillPlanner {
public:
  /// The model and the request must outlive the planner, which ignores the
  /// request's budget.
  SpillPlanner(const SpillModel &model, const SpillRequest &request);
  ~SpillPlanner();

  /// Plans for this budget as planSpill does.
  std::optional<SpillChoice> plan(int64_t budget, SpillFailure &failure);

private:
  class Candidates;
  std::unique_ptr<Candidates> candidates;
};

/// Returns the fastest plan found whose peak is within the budget. Equal models
/// and requests have equal plans, and no larger budget has a slower one where
/// reading and writing don't hinder each other. If there is none, sets
/// `failure`.
std::optional<SpillChoice> planSpill(const SpillModel &model,
                                     const SpillRequest &request,
                                     SpillFailure &failure);

/// Returns whether nothing is recomputed or moved: the parameters and state of
/// all blocks stay in memory, and so does each value that some backward reads.
/// No plan is faster.
bool keepsAll(const SpillModel &model, const SpillPlan &plan);

/// Seconds of one copy, over all its micro-batches.
struct GroupSeconds {
  double forward = 0, recompute = 0, backward = 0, update = 0;
};

/// Returns the seconds of each group of a plan that checkPlan accepts.
std::vector<GroupSeconds> getGroupSeconds(const SpillModel &model,
                                          const SpillPlan &plan);

/// Checks whether the plan can be carried out: the groups cover all blocks, and
/// what a backward needs is there or can be recomputed.
llvm::Error checkPlan(const SpillModel &model, const SpillPlan &plan);

llvm::StringRef getName(Keep keep);
llvm::StringRef getName(Residency residency);

/// Prints tables of the plan, and of its step within the budget.
void printSpillPlan(const SpillModel &model, const SpillPlan &plan,
                    int64_t budget, llvm::raw_ostream &os);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_SPILLPLAN_H
