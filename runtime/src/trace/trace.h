//===- trace.h - A trace of an instance's activities --------------*- C -*-===//
//
// Records what an instance does during a few steps and writes it to a JSON file
// for chrome://tracing and Perfetto. Each rank is a process with rows of
// activities that never overlap. Times are in rank 0's clock.
//
// Memory for HFTA_TRACE_CAPACITY events is allocated when the trace is opened;
// later events are counted and dropped. hfta_trace_open and hfta_trace_finish
// are collective: all ranks call them in the same order. Rank 0 writes the
// file.
//
// Threads: the observer's function may be called by any thread, all other
// functions by one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRACE_TRACE_H
#define HFTA_SRC_TRACE_TRACE_H

#include "hfta/device.h"
#include "hfta/instance.h"

/// The default number of steps to trace.
enum { HFTA_DEFAULT_TRACE_STEPS = 5 };

/// A trace in progress. Functions below do nothing for NULL, which stands for a
/// training without a trace.
typedef struct hfta_trace hfta_trace;

typedef struct hfta_trace_options {
  const char *path; ///< the file; borrowed. NULL: no trace
  int64_t steps; ///< the number of steps to trace; 0: HFTA_DEFAULT_TRACE_STEPS
  int64_t first; ///< the number of steps that the training has done already
} hfta_trace_options;

/// Opens a trace: checks that the file can be written, and compares the clocks
/// of the ranks. `*out` is NULL if `options` has no path, or after a failure.
/// The file itself is written by hfta_trace_finish.
hfta_status hfta_trace_open(hfta_instance *instance,
                            const hfta_trace_options *options, hfta_trace **out,
                            hfta_error *error);

/// Returns an observer that records the activities of traced steps, and all
/// reads of these steps' batches, which happen ahead of the steps. It is valid
/// until the trace is closed. NULL if there is no trace.
const hfta_observer *hfta_trace_observer(const hfta_trace *trace);

/// Mark the begin and the end of a training step. Steps after the last traced
/// one are ignored.
void hfta_trace_begin_step(hfta_trace *trace);
void hfta_trace_end_step(hfta_trace *trace);

/// Returns whether all wanted steps have been traced, or there is no trace.
bool hfta_trace_is_complete(const hfta_trace *trace);

/// Writes the file on rank 0; later calls do nothing. Sets `*dropped` to the
/// number of this rank's events that were dropped for lack of room. After a
/// failure there is no file.
hfta_status hfta_trace_finish(hfta_trace *trace, int64_t *dropped,
                              hfta_error *error);

/// Closes a trace and frees its memory. Without hfta_trace_finish no file is
/// written. The observer may not be called any more. NULL is allowed.
void hfta_trace_close(hfta_trace *trace);

#endif // HFTA_SRC_TRACE_TRACE_H
