//===- Lookahead.h - A decision near the end, by lookahead ------*- C++ -*-===//

#ifndef HFTA_LIB_PLANNING_LOOKAHEAD_H
#define HFTA_LIB_PLANNING_LOOKAHEAD_H

#include "Hfta/Planning/ShardScheduler.h"

namespace mlir::hfta::planning {

/// Near the end, long units leave other devices idle, which remaining times
/// alone don't show. So this tries each model that the device may be given: the
/// remaining units continue by longest remaining time, without transfers except
/// that of the unit that is decided on. Returns the model with which all ends
/// first; returns `model` where none ends earlier, or where too much is left to
/// try.
unsigned lookAhead(const SchedulingState &state, unsigned device,
                   unsigned model);

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_LOOKAHEAD_H
