//===- trace_seats.h - A trace of the jobs on seats ---------------*- C -*-===//
//
// Several jobs that train at the same time take turns on seats. Their
// activities there are recorded and written as JSON that chrome://tracing and
// Perfetto show: one row for each place of each seat. The activities of a row
// don't overlap if jobs never share a place.
//
// There is room for a number of events; further ones are counted and dropped.
//
// Threads: several threads may note events at once; the other functions are for
// one.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRACE_TRACE_SEATS_H
#define HFTA_SRC_TRACE_TRACE_SEATS_H

#include "hfta/status.h"

#include <stdint.h>

typedef struct hfta_seat_trace hfta_seat_trace;

typedef enum hfta_seat_kind {
  HFTA_SEAT_STEPS,    ///< steps of the training
  HFTA_SEAT_EVALUATE, ///< all copies, on the test data
  HFTA_SEAT_START,    ///< work before a job's first step
} hfta_seat_kind;

/// An activity of a job on a seat. Numbers are below those with which the trace
/// was opened.
typedef struct hfta_seat_event {
  uint32_t seat;
  uint32_t place; ///< number among the seat's places
  uint32_t job;
  int64_t first_step, steps; ///< STEPS only: number of the job's first step,
                             ///< counted from 0, and number of steps
  uint32_t kind;             ///< hfta_seat_kind
  double begin, end;         ///< in seconds of hfta_now
} hfta_seat_event;

/// Makes sure that the file, which appears at the end, can be written. Times
/// count from now on. Path and names are borrowed until the trace is closed.
/// `*out` is NULL without a path; all functions below then do nothing.
hfta_status hfta_seat_trace_open(const char *path, const char *const *jobs,
                                 uint32_t job_count, uint32_t seats,
                                 uint32_t places, hfta_seat_trace **out,
                                 hfta_error *error);

/// Records a copy of the event.
void hfta_seat_trace_note(hfta_seat_trace *trace, const hfta_seat_event *event);

/// Writes the file, once; later events aren't in it. `*dropped` becomes the
/// number of events for which there was no room. After a failure there is no
/// file.
hfta_status hfta_seat_trace_finish(hfta_seat_trace *trace, int64_t *dropped,
                                   hfta_error *error);

/// Closes a trace; a file that wasn't finished is removed. NULL is allowed. No
/// event may be noted any more.
void hfta_seat_trace_close(hfta_seat_trace *trace);

#endif // HFTA_SRC_TRACE_TRACE_SEATS_H
