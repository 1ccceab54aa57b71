//===- trace_elements.h - Files of Chrome's trace event format --*- C -*-===//
//
// What traces of all kinds have in common: the check of a path, how its file
// is written, and the elements that it has. "X" are activities, "M" names. A
// process of the format is a group of rows. Times are in microseconds.
//
// Threads: one at a time an object.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRACE_TRACE_ELEMENTS_H
#define HFTA_SRC_TRACE_TRACE_ELEMENTS_H

#include "hfta/json.h"

/// How many events a trace has room for.
enum { HFTA_TRACE_CAPACITY = 1 << 16 };

/// So many events are one piece of text.
enum { HFTA_TRACE_PIECE = 512 };

/// Takes a piece of the file's text.
typedef struct hfta_trace_sink {
  hfta_status (*take)(void *argument, const char *text, uint64_t bytes,
                      hfta_error *error);
  void *argument;
} hfta_trace_sink;

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// Finds out, before anything is traced, that there can be no such file.
hfta_status hfta_trace_check_path(const char *path, hfta_error *error);

/// A file that appears whole or not at all, of what `write` gives to its sink.
hfta_status hfta_trace_write_file(
    const char *path,
    hfta_status (*write)(void *argument, const hfta_trace_sink *sink,
                         hfta_error *error),
    void *argument, hfta_error *error);

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

/// The beginning of the file, to which the caller adds what it tells of itself.
/// end_head releases the writer.
void hfta_trace_begin_head(hfta_json_writer *writer);
hfta_status hfta_trace_end_head(hfta_json_writer *writer,
                                const hfta_trace_sink *sink, hfta_error *error);

/// Elements of one piece, to which the caller adds. end_piece hands them on and
/// releases the writer.
void hfta_trace_begin_piece(hfta_json_writer *writer);
hfta_status hfta_trace_end_piece(hfta_json_writer *writer,
                                 const hfta_trace_sink *sink,
                                 hfta_error *error);

/// What stands between two pieces, and after the last one.
hfta_status hfta_trace_write_comma(const hfta_trace_sink *sink,
                                   hfta_error *error);
hfta_status hfta_trace_write_tail(const hfta_trace_sink *sink,
                                  hfta_error *error);

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// A row among all.
typedef struct hfta_trace_row {
  int64_t process;
  int64_t number; ///< of the process's rows
} hfta_trace_row;

/// The keys that all elements have. The caller ends the object.
void hfta_trace_begin_element(hfta_json_writer *writer, const char *phase,
                              const char *name, hfta_trace_row row);

/// Whole nanoseconds from `zero` to `time`, both of them seconds.
double hfta_trace_nanoseconds(double zero, double time);

/// A key with whole nanoseconds, as microseconds.
void hfta_trace_put_time(hfta_json_writer *writer, const char *key,
                         double nanoseconds);

/// The keys that say when an activity was done. Times are in seconds.
void hfta_trace_put_span(hfta_json_writer *writer, double zero, double begin,
                         double end);

/// The names of a process and of one of its rows, and their places: those of
/// their numbers. Of a process with events that there was no room for, how
/// many these are.
void hfta_trace_name_process(hfta_json_writer *writer, int64_t process,
                             const char *name, int64_t dropped);
void hfta_trace_name_row(hfta_json_writer *writer, hfta_trace_row row,
                         const char *name);

#endif // HFTA_SRC_TRACE_TRACE_ELEMENTS_H
