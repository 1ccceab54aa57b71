//===- trace_seats.h - Which job was where when, as a file ------*- C -*-===//
//
// Several jobs that train at the same time take turns on seats. What they do
// there is recorded and written as JSON that chrome://tracing and Perfetto
// show: a row for each place of each seat. On a row nothing overlaps if jobs
// never share a place.
//
// There is room for a number of events; what finds none is counted and dropped.
//
// Threads: events may be noted by several at a time, the rest is one's.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRACE_TRACE_SEATS_H
#define HFTA_SRC_TRACE_TRACE_SEATS_H

#include "hfta/status.h"

#include <stdint.h>

typedef struct hfta_seat_trace hfta_seat_trace;

typedef enum hfta_seat_kind {
  HFTA_SEAT_STEPS,    ///< of the training
  HFTA_SEAT_EVALUATE, ///< all copies, on the test data
  HFTA_SEAT_START,    ///< what comes before a job's first step
} hfta_seat_kind;

/// What a job did on a seat. Numbers are below those that the trace was opened
/// with.
typedef struct hfta_seat_event {
  uint32_t seat;
  uint32_t place; ///< of the seat's places
  uint32_t job;
  int64_t first_step, steps; ///< the job's steps from number `first_step` on,
                             ///< counted from 0; only of STEPS
  uint32_t kind;             ///< hfta_seat_kind
  double begin, end;         ///< seconds, as hfta_now gives them
} hfta_seat_event;

/// Makes sure that the file can be written, which appears at the end. Times
/// count from now on. Path and names are borrowed until the trace is closed.
/// `*out` is NULL without a path; all functions below then do nothing.
hfta_status hfta_seat_trace_open(const char *path, const char *const *jobs,
                                 uint32_t job_count, uint32_t seats,
                                 uint32_t places, hfta_seat_trace **out,
                                 hfta_error *error);

/// Copies the event.
void hfta_seat_trace_note(hfta_seat_trace *trace, const hfta_seat_event *event);

/// Writes the file, once; what is noted later isn't in it. `*dropped` becomes
/// the number of events that there was no room for. After a failure nothing is
/// left of it.
hfta_status hfta_seat_trace_finish(hfta_seat_trace *trace, int64_t *dropped,
                                   hfta_error *error);

/// Nothing is left of a file that wasn't finished. NULL is allowed. Nobody may
/// note an event any more.
void hfta_seat_trace_close(hfta_seat_trace *trace);

#endif // HFTA_SRC_TRACE_TRACE_SEATS_H
