//===- SpillPlan.h - How a step fits in a budget of memory ------*- C++ -*-===//
//
// Plans a step within a memory budget. A plan says which values stay in memory,
// which are in the store while they aren't used, and which are recomputed. It
// is chosen so that the step takes as little time as possible. Peak memory and
// time are those of a simulation of the step.
//===----------------------------------------------------------------------===//

#ifndef HFTA_PLANNING_SPILL_SPILLPLAN_H
#define HFTA_PLANNING_SPILL_SPILLPLAN_H

#include "Hfta/Planning/Common/SpillModel.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <limits>
#include <memory>
#include <optional>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::hfta::planning {

/// The way in which a value is kept between its last use in the forward and its
/// first use in the backward.
enum class Keep : uint8_t {
  save,     ///< stays in memory
  spill,    ///< is in the store
  recompute ///< is recomputed, or isn't needed
};

/// Which of a block's parameters and optimizer state stay in memory.
enum class Residency : uint8_t {
  streamed,   ///< none: they are fetched for the forward and for the backward
  held,       ///< the parameters of a turn's copies, from forward to backward
  parameters, ///< the parameters of all copies
  everything  ///< the parameters and state of all copies
};

/// Consecutive blocks that are merged into one. Values that are only used
/// within a group need memory only while its tasks run.
struct SpillGroup {
  int64_t firstBlock = 0, endBlock = 0;
  Residency residency = Residency::streamed;
  /// Whether the values from earlier blocks, and the gradients that go back to
  /// them, are in the store until their micro-batch is processed, unless they
  /// are saved.
  bool streamsInputs = false;
  /// Whether gradients are in the store until their norms are known; only for
  /// models that clip gradients.
  bool spillsGradients = false;

  bool operator==(const SpillGroup &other) const {
    return firstBlock == other.firstBlock && endBlock == other.endBlock &&
           residency == other.residency &&
           streamsInputs == other.streamsInputs &&
           spillsGradients == other.spillsGradients;
  }
};

/// A plan of a step.
struct SpillPlan {
  /// The number of copies of a turn, which go through the step together.
  int64_t copies = 1;
  std::vector<SpillGroup> groups;
  std::vector<Keep> values; ///< one for each value of the model
  /// The largest number of tasks during which bytes that are being written to
  /// the store still occupy memory.
  int64_t writeWindow = 0;

  bool operator==(const SpillPlan &other) const {
    return copies == other.copies && groups == other.groups &&
           values == other.values && writeWindow == other.writeWindow;
  }
};

/// Which values may be recomputed: none, any, or all that can be.
enum class RecomputePolicy : uint8_t { none, automatic, all };

/// The demands on a plan.
struct SpillRequest {
  int64_t budget = 0; ///< the memory budget, in bytes
  bool spills = true; ///< whether there is a store
  /// Whether values that go from block to block may be in the store until their
  /// micro-batch is processed (SpillGroup::streamsInputs), regardless of the
  /// needs of backwards.
  bool streamsInputs = true;
  RecomputePolicy recompute = RecomputePolicy::automatic;
  /// The smallest and largest allowed number of copies in a turn. The largest
  /// may exceed the model's number of copies.
  int64_t leastCopies = 1, mostCopies = std::numeric_limits<int64_t>::max();
};

/// The reason why there is no plan.
struct SpillFailure {
  int64_t leastBudget = 0; ///< the least budget with which a plan was found
  std::string block;       ///< the last one of the blocks that need it
  SpillPlan plan;          ///< a plan that needs at most `leastBudget`
};

/// A plan with its simulated duration.
struct SpillChoice {
  SpillPlan plan;
  double seconds = 0; ///< seconds per step
};

/// Plans one step for several budgets, and searches for candidate plans only
/// once.
class SpillPlanner {
public:
  /// The model and the request must outlive the planner. The request's budget
  /// is ignored.
  SpillPlanner(const SpillModel &model, const SpillRequest &request);
  ~SpillPlanner();

  /// Returns the best plan for this budget, like planSpill.
  std::optional<SpillChoice> plan(int64_t budget, SpillFailure &failure);

private:
  class Candidates;
  std::unique_ptr<Candidates> candidates;
};

/// Returns the fastest plan that was found with a peak within the budget. If
/// there is none, returns nothing and sets `failure`. Equal models and requests
/// give equal plans. If reads and writes don't share a channel, a larger budget
/// never gives a slower plan.
std::optional<SpillChoice> planSpill(const SpillModel &model,
                                     const SpillRequest &request,
                                     SpillFailure &failure);

/// Returns whether the plan neither recomputes nor moves anything: all
/// parameters, all state and all values that a backward reads stay in memory.
/// No plan is faster.
bool keepsAll(const SpillModel &model, const SpillPlan &plan);

/// The seconds of one copy in a group, over all micro-batches.
struct GroupSeconds {
  double forward = 0, recompute = 0, backward = 0, update = 0;
};

/// Returns the seconds of each group. checkPlan must accept the plan.
std::vector<GroupSeconds> getGroupSeconds(const SpillModel &model,
                                          const SpillPlan &plan);

/// Checks whether a plan can be carried out: its groups cover all blocks, and
/// each value that a backward needs is kept or can be recomputed.
llvm::Error checkPlan(const SpillModel &model, const SpillPlan &plan);

llvm::StringRef getName(Keep keep);
llvm::StringRef getName(Residency residency);

/// Prints tables for people: the plan, and its simulated step within the
/// budget.
void printSpillPlan(const SpillModel &model, const SpillPlan &plan,
                    int64_t budget, llvm::raw_ostream &os);

} // namespace mlir::hfta::planning

#endif // HFTA_PLANNING_SPILL_SPILLPLAN_H
