//===- SpillOptions.h - The options of keeping values -----------*- C++ -*-===//

#ifndef HFTA_LIB_PLANNING_SPILLOPTIONS_H
#define HFTA_LIB_PLANNING_SPILLOPTIONS_H

#include "SpillNeeds.h"

#include <map>

namespace mlir::hfta::planning {

/// The values that a group keeps for its backward, in addition to those that
/// later groups need anyway. All numbers are for one copy and one micro-batch.
struct SpillOption {
  int64_t saved = 0;   ///< bytes
  int64_t spilled = 0; ///< bytes
  int64_t extra = 0;   ///< bytes of these that only recomputation reads
  double seconds = 0;  ///< seconds of recomputation
  /// Bit set of the needed values of the group's first cut.
  uint32_t outside = 0;
  /// How the group's own values are kept, from its first one.
  std::vector<Keep> values;
};

/// Finds the options of groups. Equal groups are solved only once.
class SpillOptions {
public:
  SpillOptions(const SpillModel &model, const SpillIndex &index,
               const SpillRequest &request)
      : model(model), index(index), request(request) {}

  /// Returns the options of blocks [first, end), when the given values that
  /// cross the cut after them are kept for later groups. No option is at least
  /// as good as another one in all respects.
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
