//===- trace_ranks.h - Clocks and events of several ranks -------*- C -*-===//
//
// All functions are collective: every rank must call them. A single rank
// exchanges nothing.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRACE_TRACE_RANKS_H
#define HFTA_SRC_TRACE_TRACE_RANKS_H

#include "hfta/communicator.h"
#include "trace/trace_impl.h"

/// Broadcasts a time: sets `*time` on every rank to rank 0's `*time`, converted
/// to the rank's own clock. The difference of two clocks is estimated from the
/// times of round trips (Cristian, "Probabilistic clock synchronization",
/// 1989), with an error of at most half of the shortest one. It is taken as 0
/// if no round trip contradicts that, as on one host.
hfta_status hfta_trace_align(hfta_communicator *communicator, double *time,
                             hfta_error *error);

/// Gathers the parts of all ranks at rank 0, and passes their text to rank 0's
/// `sink` in the order of ranks. `sink` is ignored on other ranks.
hfta_status hfta_trace_gather(hfta_communicator *communicator,
                              const hfta_trace_part *part,
                              const hfta_trace_sink *sink, hfta_error *error);

#endif // HFTA_SRC_TRACE_TRACE_RANKS_H
