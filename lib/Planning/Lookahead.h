//===- Lookahead.h - What a decision leads to at the end --------*- C++ -*-===//

#ifndef HFTA_LIB_PLANNING_LOOKAHEAD_H
#define HFTA_LIB_PLANNING_LOOKAHEAD_H

#include "Hfta/Planning/ShardScheduler.h"

namespace mlir::hfta::planning {

/// Near the end long units leave devices idle beside them, which remaining
/// times don't tell. So each model that the device may be given is tried: what
/// is left goes on by longest remaining time, without transfers but that of the
/// unit that is decided on. Returns the one that ends first; `model` where none
/// ends before that, or more is left than is tried.
unsigned lookAhead(const SchedulingState &state, unsigned device,
                   unsigned model);

} // namespace mlir::hfta::planning

#endif // HFTA_LIB_PLANNING_LOOKAHEAD_H
