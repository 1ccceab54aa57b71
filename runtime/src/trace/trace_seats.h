//===- trace_seats.h - A trace of the jobs on seats ---------------*- C -*-===//
//
// Jobs that are trained at the same time take turns at seats (fleet.h). A trace
// records their activities and writes them to a JSON file for chrome://tracing
// and Perfetto, with one row for each place of each seat. The activities of a
// row don't overlap, as a place is taken by one job at a time.
//
// A trace has room for HFTA_TRACE_CAPACITY events; later events are counted and
// dropped.
//
// Threads: hfta_seat_trace_note may be called by several threads at once, the
// other functions by one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRACE_TRACE_SEATS_H
#define HFTA_SRC_TRACE_TRACE_SEATS_H

#include "hfta/status.h"

#include <stdint.h>

/// A trace in progress. Functions below do nothing for NULL, which stands for a
/// training without a trace.
typedef struct hfta_seat_trace hfta_seat_trace;

typedef enum hfta_seat_kind {
  HFTA_SEAT_STEPS,    ///< steps of a training
  HFTA_SEAT_EVALUATE, ///< an evaluation of all copies on the test data
  HFTA_SEAT_START,    ///< computing the initial weights
} hfta_seat_kind;

/// An activity of a job at a seat. Seat, place and job are numbers below those
/// that hfta_seat_trace_open was given.
typedef struct hfta_seat_event {
  uint32_t seat;
  uint32_t place; ///< the place within the seat
  uint32_t job;
  int64_t first_step, steps; ///< STEPS: the first of these steps in the job's
                             ///< training, from 0, and their number
  uint32_t kind;             ///< an hfta_seat_kind
  double begin, end;         ///< in seconds of hfta_now
} hfta_seat_event;

/// Opens a trace of `seats` seats with `places` places each; its times count
/// from this call. Checks that the file can be written, but
/// hfta_seat_trace_finish writes it. `jobs` has one name per job, or per part
/// of a job that is divided. `path` and names are borrowed until the trace is
/// closed. `*out` is NULL if `path` is NULL, or after a failure.
hfta_status hfta_seat_trace_open(const char *path, const char *const *jobs,
                                 uint32_t job_count, uint32_t seats,
                                 uint32_t places, hfta_seat_trace **out,
                                 hfta_error *error);

/// Records a copy of an event that has ended.
void hfta_seat_trace_note(hfta_seat_trace *trace, const hfta_seat_event *event);

/// Writes the file; later calls do nothing, and later events are ignored. Sets
/// `*dropped` to the number of events that were dropped for lack of room. After
/// a failure there is no file.
hfta_status hfta_seat_trace_finish(hfta_seat_trace *trace, int64_t *dropped,
                                   hfta_error *error);

/// Closes a trace and frees its memory. Without hfta_seat_trace_finish no file
/// is written. No event may be noted any more. NULL is allowed.
void hfta_seat_trace_close(hfta_seat_trace *trace);

#endif // HFTA_SRC_TRACE_TRACE_SEATS_H
