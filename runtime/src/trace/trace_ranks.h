//===- trace_ranks.h - Clocks and events of several ranks -------*- C -*-===//
//
// Called by all ranks together. One rank alone exchanges nothing.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRACE_TRACE_RANKS_H
#define HFTA_SRC_TRACE_TRACE_RANKS_H

#include "hfta/communicator.h"
#include "trace/trace_impl.h"

/// `*time` becomes rank 0's, as this rank's clock shows it: exact to half of
/// the shortest time that a message takes to rank 0 and back. Where all
/// exchanges may have been on one clock, as they are on one host, it is taken
/// for one.
hfta_status hfta_trace_align(hfta_communicator *communicator, double *time,
                             hfta_error *error);

/// Rank 0's sink takes the parts of all ranks, in their order; the others'
/// sinks aren't used.
hfta_status hfta_trace_gather(hfta_communicator *communicator,
                              const hfta_trace_part *part,
                              const hfta_trace_sink *sink, hfta_error *error);

#endif // HFTA_SRC_TRACE_TRACE_RANKS_H
