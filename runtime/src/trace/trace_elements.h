//===- trace_elements.h - Files of Chrome's trace event format --*- C -*-===//
//
// Used by all kinds of traces (trace.h, trace_seats.h). The file is JSON: a
// head with members of the caller, then an array of elements. An element of
// phase "X" is an activity; one of phase "M" names or sorts a process (a group
// of rows) or a row. Times are written in microseconds. Format: Google's "Trace
// Event Format".
//
// Threads: an object may be used by one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRACE_TRACE_ELEMENTS_H
#define HFTA_SRC_TRACE_TRACE_ELEMENTS_H

#include "hfta/json.h"

/// The most events that a trace records.
enum { HFTA_TRACE_CAPACITY = 1 << 16 };

/// The most events in one piece of the file's text.
enum { HFTA_TRACE_PIECE = 512 };

/// A destination of the file's text, which is produced in pieces: `take`
/// consumes `bytes` bytes of `text` before it returns.
typedef struct hfta_trace_sink {
  hfta_status (*take)(void *argument, const char *text, uint64_t bytes,
                      hfta_error *error);
  void *argument;
} hfta_trace_sink;

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// Returns an error if a file can't be written at `path`. Called before the
/// training starts, so that such an error is reported early.
hfta_status hfta_trace_check_path(const char *path, hfta_error *error);

/// Writes a file completely or not at all. Its contents are the text that
/// `write` passes to the sink that it is called with.
hfta_status hfta_trace_write_file(
    const char *path,
    hfta_status (*write)(void *argument, const hfta_trace_sink *sink,
                         hfta_error *error),
    void *argument, hfta_error *error);

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

/// Begin and end the head of the file. In between the caller adds its own
/// members, such as the number of jobs. end_head passes the head to the sink
/// and releases the writer.
void hfta_trace_begin_head(hfta_json_writer *writer);
hfta_status hfta_trace_end_head(hfta_json_writer *writer,
                                const hfta_trace_sink *sink, hfta_error *error);

/// Begin and end a piece of the array of elements. In between the caller adds
/// elements. end_piece passes the piece to the sink and releases the writer.
void hfta_trace_begin_piece(hfta_json_writer *writer);
hfta_status hfta_trace_end_piece(hfta_json_writer *writer,
                                 const hfta_trace_sink *sink,
                                 hfta_error *error);

/// Write the separator between two pieces of the array, and the end of the
/// file.
hfta_status hfta_trace_write_comma(const hfta_trace_sink *sink,
                                   hfta_error *error);
hfta_status hfta_trace_write_tail(const hfta_trace_sink *sink,
                                  hfta_error *error);

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// A row of the trace, on which activities are shown.
typedef struct hfta_trace_row {
  int64_t process; ///< the format's "pid"
  int64_t number;  ///< the row's number within the process, the format's "tid"
} hfta_trace_row;

/// Begins an element and writes the members that all elements have. The caller
/// adds others and ends the object.
void hfta_trace_begin_element(hfta_json_writer *writer, const char *phase,
                              const char *name, hfta_trace_row row);

/// Returns the time from `zero` to `time`, both in seconds, rounded to whole
/// nanoseconds.
double hfta_trace_nanoseconds(double zero, double time);

/// Writes a member with a time in whole nanoseconds, converted to microseconds.
void hfta_trace_put_time(hfta_json_writer *writer, const char *key,
                         double nanoseconds);

/// Writes the members for the begin and duration of an activity. All times are
/// in seconds; the written ones are relative to `zero`.
void hfta_trace_put_span(hfta_json_writer *writer, double zero, double begin,
                         double end);

/// Write the names of a process and of one of its rows, and have the viewer
/// sort both by their numbers. If the process has dropped events, their number
/// is shown as its label.
void hfta_trace_name_process(hfta_json_writer *writer, int64_t process,
                             const char *name, int64_t dropped);
void hfta_trace_name_row(hfta_json_writer *writer, hfta_trace_row row,
                         const char *name);

#endif // HFTA_SRC_TRACE_TRACE_ELEMENTS_H
