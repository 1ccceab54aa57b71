//===- trace.h - A trace of activities, as a file -----------------*- C -*-===//
//
// Records the activities of an instance in a few steps and writes them as JSON
// that chrome://tracing and Perfetto show: one process per rank, with rows of
// activities that never overlap. Times are rank 0's.
//
// Room for events is allocated before the first step; events without room are
// counted and dropped. Several ranks call the same functions in the same order;
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
  int64_t steps;    ///< number of traced steps; 0: HFTA_DEFAULT_TRACE_STEPS
  int64_t first;    ///< steps done before these
} hfta_trace_options;

/// Makes sure that the file, which appears at the end, can be written, and that
/// the ranks agree on the time. `*out` is NULL without a path; all functions
/// below then do nothing.
hfta_status hfta_trace_open(hfta_instance *instance,
                            const hfta_trace_options *options, hfta_trace **out,
                            hfta_error *error);

/// Returns an observer that records activities within a step, and reads of the
/// steps' batches at any time. It lives until the trace is closed; NULL: there
/// is no trace.
const hfta_observer *hfta_trace_observer(const hfta_trace *trace);

/// Enclose each step, until all wanted steps are traced.
void hfta_trace_begin_step(hfta_trace *trace);
void hfta_trace_end_step(hfta_trace *trace);

/// Whether no further step is to be traced; true without a trace.
bool hfta_trace_is_complete(const hfta_trace *trace);

/// Writes the file, once. `*dropped` becomes the number of this rank's events
/// for which there was no room. After a failure there is no file.
hfta_status hfta_trace_finish(hfta_trace *trace, int64_t *dropped,
                              hfta_error *error);

/// Closes a trace; a file that wasn't finished is removed. NULL is allowed. The
/// observer may not be called any more.
void hfta_trace_close(hfta_trace *trace);

#endif // HFTA_SRC_TRACE_TRACE_H
