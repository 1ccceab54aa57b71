//===- trace.h - What was done when, as a file --------------------*- C -*-===//
//
// Records what an instance does in a few steps and writes it as JSON that
// chrome://tracing and Perfetto show: a process a rank, and in it rows of
// activities that never overlap. Times are rank 0's.
//
// Room for events is taken before the first step; what finds none is counted
// and dropped. Of several ranks all call the same functions in the same order;
// the first one writes the file.
//
// Threads: the observer's function may be called by any, the rest by one.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRACE_TRACE_H
#define HFTA_SRC_TRACE_TRACE_H

#include "hfta/device.h"
#include "hfta/trainer.h"

typedef struct hfta_trace hfta_trace;

typedef struct hfta_trace_options {
  const char *path; ///< NULL: no trace; borrowed
  int64_t steps;    ///< that are traced; 0: HFTA_DEFAULT_TRACE_STEPS
  int64_t first;    ///< steps done before these
} hfta_trace_options;

/// Makes sure that the file can be written, which appears at the end, and that
/// the ranks agree on the time.
/// `*out` is NULL without a path; all functions below then do nothing.
hfta_status hfta_trace_open(hfta_instance *instance,
                            const hfta_trace_options *options, hfta_trace **out,
                            hfta_error *error);

/// Records activities within a step, and reads of the steps' batches at any
/// time. Stays until the trace is closed; NULL: there is no trace.
const hfta_observer *hfta_trace_observer(const hfta_trace *trace);

/// Around each step, until all that are wanted are traced.
void hfta_trace_begin_step(hfta_trace *trace);
void hfta_trace_end_step(hfta_trace *trace);

/// Whether no further step is to be traced; true without a trace.
bool hfta_trace_is_complete(const hfta_trace *trace);

/// Writes the file, once. `*dropped` becomes the number of this rank's events
/// that there was no room for. After a failure nothing is left of it.
hfta_status hfta_trace_finish(hfta_trace *trace, int64_t *dropped,
                              hfta_error *error);

/// Nothing is left of a file that wasn't finished. NULL is allowed. Nobody may
/// call the observer any more.
void hfta_trace_close(hfta_trace *trace);

#endif // HFTA_SRC_TRACE_TRACE_H
