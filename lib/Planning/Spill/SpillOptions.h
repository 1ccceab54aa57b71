//===- SpillOptions.h - Options for keeping a group's values ----*- C++ -*-===//

#ifndef HFTA_LIB_PLANNING_SPILL_SPILLOPTIONS_H
#define HFTA_LIB_PLANNING_SPILL_SPILLOPTIONS_H

#include "Spill/SpillNeeds.h"

#include <map>

namespace mlir::hfta::planning {

/// A choice of the values that a group keeps for its backward, in addition to
/// those that later groups need anyway. All numbers are for one copy and one
/// micro-batch.
struct SpillOption {
  int64_t saved = 0;   ///< bytes kept in memory
  int64_t spilled = 0; ///< bytes spilled to the store
  int64_t extra = 0;   ///< bytes of both that only recomputation reads
  double seconds = 0;  ///< seconds of recomputation
  /// The set of those values crossing the cut before the group that the group
  /// needs, with a bit for each value of the cut.
  uint32_t outside = 0;
  /// How each of the group's own values is kept, in the order of their numbers.
  std::vector<Keep> values;
};

/// Finds the options of groups. Groups with the same structure are solved once.
class SpillOptions {
public:
  SpillOptions(const SpillModel &model, const SpillIndex &index,
               const SpillRequest &request)
      : model(model), index(index), request(request) {}

  /// Returns the options of the group of blocks [first, end). `keptForOthers`
  /// is the set of those values crossing the cut after the group that are kept
  /// for later groups, with a bit for each value. Only Pareto-optimal options
  /// are returned: none is at least as good as another one in all respects.
  const std::vector<SpillOption> &find(int64_t first, int64_t end,
                                       uint32_t keptForOthers);

private:
  using Signature = std::vector<int64_t>;
  Signature describe(int64_t first, int64_t end, uint32_t keptForOthers) const;

  const SpillModel &model;
  const SpillIndex &index;
  SpillRequest request;
  std::map<std::tuple<int64_t, int64_t, uint32_t>,
           const std::vector<SpillOption> *>
      known;
  std::map<Signature, std::vector<SpillOption>> solved;
};

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_SPILL_SPILLOPTIONS_H
