//===- SpillOptions.h - What a group may keep of its forward ----*- C++ -*-===//

#ifndef HFTA_LIB_PLANNING_SPILLOPTIONS_H
#define HFTA_LIB_PLANNING_SPILLOPTIONS_H

#include "SpillNeeds.h"

#include <map>

namespace mlir::hfta::planning {

/// What a group keeps for its backward, beside what later groups need anyway.
/// All is of one copy and one micro-batch.
struct SpillOption {
  int64_t saved = 0;    ///< bytes
  int64_t spilled = 0;  ///< bytes
  int64_t extra = 0;    ///< bytes of these that only recomputation reads
  double seconds = 0;   ///< of recomputation
  uint32_t outside = 0; ///< which values of the group's first cut it needs
  /// Of the group's own values, from its first one.
  std::vector<Keep> values;
};

/// Finds the options of groups. Groups that look the same are solved once.
class SpillOptions {
public:
  SpillOptions(const SpillModel &model, const SpillIndex &index,
               const SpillRequest &request)
      : model(model), index(index), request(request) {}

  /// Of blocks [first, end), when these of the values that go over the cut
  /// behind them are kept for later groups. None is as good as another one in
  /// all respects.
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

#endif // HFTA_LIB_PLANNING_SPILLOPTIONS_H
