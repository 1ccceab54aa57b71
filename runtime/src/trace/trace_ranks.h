//===- trace_ranks.h - Clocks and events of several ranks -------*- C -*-===//
//
// These functions are collective: all ranks must call them. If there is only
// one rank, nothing is exchanged.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRACE_TRACE_RANKS_H
#define HFTA_SRC_TRACE_TRACE_RANKS_H

#include "hfta/communicator.h"
#include "trace/trace_impl.h"

/// Sets `*time` on all ranks to rank 0's, converted to the rank's own clock:
/// exact to half of the shortest round trip of a message to rank 0. If all
/// exchanges are consistent with equal clocks, as on one host, the clocks are
/// assumed to be equal.
hfta_status hfta_trace_align(hfta_communicator *communicator, double *time,
                             hfta_error *error);

/// Passes the parts of all ranks to rank 0's sink, in the order of ranks; the
/// other ranks' sinks aren't used.
hfta_status hfta_trace_gather(hfta_communicator *communicator,
                              const hfta_trace_part *part,
                              const hfta_trace_sink *sink, hfta_error *error);

#endif // HFTA_SRC_TRACE_TRACE_RANKS_H
