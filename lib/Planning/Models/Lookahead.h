//===- Lookahead.h - Chooses a unit near the end by lookahead ---*- C++ -*-===//

#ifndef HFTA_LIB_PLANNING_MODELS_LOOKAHEAD_H
#define HFTA_LIB_PLANNING_MODELS_LOOKAHEAD_H

#include "Hfta/Planning/Models/ShardScheduler.h"

namespace mlir::hfta::planning {

/// Chooses the model that a device computes next, near the end of a workload.
/// Remaining times alone don't show that a long unit at the end leaves other
/// devices idle. So each candidate is tried: the remaining units are simulated,
/// the longest remaining time first, without transfers except that of the
/// candidate's unit. Returns the model with which everything ends first;
/// returns `model` if no other one ends earlier, or if too much is left to try.
unsigned lookAhead(const SchedulingState &state, unsigned device,
                   unsigned model);

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_MODELS_LOOKAHEAD_H
