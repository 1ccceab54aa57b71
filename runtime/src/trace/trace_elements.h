//===- trace_elements.h - Files of Chrome's trace event format --*- C -*-===//
//
// Shared by all kinds of traces: the check of a path, the writing of the file,
// and its elements. Elements "X" are activities, "M" names. A process of the
// format is a group of rows. Times are in microseconds.
//
// Threads: an object is used by one thread at a time.
// Threads: one at a time an object.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRACE_TRACE_ELEMENTS_H
#define HFTA_SRC_TRACE_TRACE_ELEMENTS_H

#include "hfta/json.h"

/// The number of events for which a trace has room.
enum { HFTA_TRACE_CAPACITY = 1 << 16 };

/// The number of events in one piece of text.
enum { HFTA_TRACE_PIECE = 512 };

/// Receives pieces of the file's text.
typedef struct hfta_trace_sink {
  hfta_status (*take)(void *argument, const char *text, uint64_t bytes,
                      hfta_error *error);
  void *argument;
} hfta_trace_sink;

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// Checks, before anything is traced, that the file can be written.
hfta_status hfta_trace_check_path(const char *path, hfta_error *error);

/// Writes a file completely or not at all, with the text that `write` passes to
/// its sink.
hfta_status hfta_trace_write_file(
    const char *path,
    hfta_status (*write)(void *argument, const hfta_trace_sink *sink,
                         hfta_error *error),
    void *argument, hfta_error *error);

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

/// Begin and end the head of the file, to which the caller adds its own
/// members. end_head releases the writer.
void hfta_trace_begin_head(hfta_json_writer *writer);
hfta_status hfta_trace_end_head(hfta_json_writer *writer,
                                const hfta_trace_sink *sink, hfta_error *error);

/// Begin and end a piece, to which the caller adds elements. end_piece passes
/// it to the sink and releases the writer.
void hfta_trace_begin_piece(hfta_json_writer *writer);
hfta_status hfta_trace_end_piece(hfta_json_writer *writer,
                                 const hfta_trace_sink *sink,
                                 hfta_error *error);

/// Write the separator between two pieces, and the end after the last one.
hfta_status hfta_trace_write_comma(const hfta_trace_sink *sink,
                                   hfta_error *error);
hfta_status hfta_trace_write_tail(const hfta_trace_sink *sink,
                                  hfta_error *error);

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// A row of the trace.
typedef struct hfta_trace_row {
  int64_t process;
  int64_t number; ///< number within the process
} hfta_trace_row;

/// Writes the keys that all elements have. The caller ends the object.
void hfta_trace_begin_element(hfta_json_writer *writer, const char *phase,
                              const char *name, hfta_trace_row row);

/// Returns the whole nanoseconds from `zero` to `time`, both in seconds.
double hfta_trace_nanoseconds(double zero, double time);

/// Writes a key with whole nanoseconds, as microseconds.
void hfta_trace_put_time(hfta_json_writer *writer, const char *key,
                         double nanoseconds);

/// Writes the keys for the times of an activity. Times are in seconds.
void hfta_trace_put_span(hfta_json_writer *writer, double zero, double begin,
                         double end);

/// Write the names of a process and of one of its rows, which are sorted by
/// their numbers. A process with dropped events also gets their number.
void hfta_trace_name_process(hfta_json_writer *writer, int64_t process,
                             const char *name, int64_t dropped);
void hfta_trace_name_row(hfta_json_writer *writer, hfta_trace_row row,
                         const char *name);

#endif // HFTA_SRC_TRACE_TRACE_ELEMENTS_H
