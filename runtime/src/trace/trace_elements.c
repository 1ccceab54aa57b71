//===- trace_elements.c - Files of Chrome's trace event format ------------===//

#include "trace/trace_elements.h"

#include "system/file.h"
#include "system/stat_calls.h"

#include <math.h>
#include <sys/stat.h>

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// Checks the path by opening an output and discarding it at once. The output
/// isn't kept open until the end, because a killed process would leave its
/// temporary file behind. A pipe or device isn't opened, since closing it again
/// would signal the end of the data to its reader.
hfta_status hfta_trace_check_path(const char *path, hfta_error *error) {
  struct stat there;
  bool is_pipe_or_device = hfta_stat(path, &there) == 0 &&
                           !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode);
  if (is_pipe_or_device)
    return HFTA_OK;
  hfta_output *output;
  hfta_status status = hfta_output_open(path, &output, error);
  hfta_output_discard(output);
  return status;
}

static hfta_status write_text(void *argument, const char *text, uint64_t bytes,
                              hfta_error *error) {
  return hfta_output_write(argument, text, bytes, error);
}

hfta_status hfta_trace_write_file(
    const char *path,
    hfta_status (*write)(void *argument, const hfta_trace_sink *sink,
                         hfta_error *error),
    void *argument, hfta_error *error) {
  hfta_output *output;
  hfta_status status = hfta_output_open(path, &output, error);
  if (status != HFTA_OK)
    return status;
  hfta_trace_sink sink = {write_text, output};
  status = write(argument, &sink, error);
  if (status == HFTA_OK)
    return hfta_output_commit(output, error);
  hfta_output_discard(output);
  return status;
}

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

void hfta_trace_begin_head(hfta_json_writer *writer) {
  hfta_json_to_memory(writer);
  hfta_json_begin_object(writer);
  hfta_json_put_string(writer, "displayTimeUnit", "ms");
  hfta_json_key(writer, "otherData");
  hfta_json_begin_object(writer);
}

hfta_status hfta_trace_end_head(hfta_json_writer *writer,
                                const hfta_trace_sink *sink,
                                hfta_error *error) {
  hfta_json_end_object(writer);
  hfta_json_key(writer, "traceEvents");
  hfta_json_begin_array(writer);
  size_t length = 0;
  const char *text = hfta_json_text(writer, &length);
  hfta_status status = text ? sink->take(sink->argument, text, length, error)
                            : hfta_fail(error, HFTA_UNSUPPORTED,
                                        "not enough memory for a trace");
  hfta_json_release(writer);
  return status;
}

void hfta_trace_begin_piece(hfta_json_writer *writer) {
  hfta_json_to_memory(writer);
  hfta_json_begin_array(writer);
}

/// Passes the array's elements to the sink without the brackets: the file's
/// pieces form one array, whose brackets are in its head and tail.
hfta_status hfta_trace_end_piece(hfta_json_writer *writer,
                                 const hfta_trace_sink *sink,
                                 hfta_error *error) {
  hfta_json_end_array(writer);
  hfta_status status = hfta_json_finish(writer, error);
  size_t length = 0;
  const char *text = hfta_json_text(writer, &length);
  if (status == HFTA_OK)
    status = sink->take(sink->argument, text + 1, length - 2, error);
  hfta_json_release(writer);
  return status;
}

hfta_status hfta_trace_write_comma(const hfta_trace_sink *sink,
                                   hfta_error *error) {
  return sink->take(sink->argument, ",\n", 2, error);
}

hfta_status hfta_trace_write_tail(const hfta_trace_sink *sink,
                                  hfta_error *error) {
  return sink->take(sink->argument, "]}\n", 3, error);
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

void hfta_trace_begin_element(hfta_json_writer *writer, const char *phase,
                              const char *name, hfta_trace_row row) {
  hfta_json_begin_object(writer);
  hfta_json_put_string(writer, "name", name);
  hfta_json_put_string(writer, "ph", phase);
  hfta_json_put_integer(writer, "pid", row.process);
  hfta_json_put_integer(writer, "tid", row.number);
}

double hfta_trace_nanoseconds(double zero, double time) {
  return round(1e9 * (time - zero));
}

void hfta_trace_put_time(hfta_json_writer *writer, const char *key,
                         double nanoseconds) {
  hfta_json_key(writer, key);
  hfta_json_number(writer, nanoseconds / 1e3, HFTA_F64);
}

void hfta_trace_put_span(hfta_json_writer *writer, double zero, double begin,
                         double end) {
  double first = hfta_trace_nanoseconds(zero, begin);
  hfta_trace_put_time(writer, "ts", first);
  hfta_trace_put_time(writer, "dur", hfta_trace_nanoseconds(zero, end) - first);
}

/// Writes a metadata element of type `what` with one string argument.
static void put_name(hfta_json_writer *writer, const char *what,
                     hfta_trace_row row, const char *key, const char *text) {
  hfta_trace_begin_element(writer, "M", what, row);
  hfta_json_key(writer, "args");
  hfta_json_begin_object(writer);
  hfta_json_put_string(writer, key, text);
  hfta_json_end_object(writer);
  hfta_json_end_object(writer);
}

/// Writes a metadata element of type `what` that sets the sort key of a process
/// or row to `number`.
static void put_order(hfta_json_writer *writer, const char *what,
                      hfta_trace_row row, int64_t number) {
  hfta_trace_begin_element(writer, "M", what, row);
  hfta_json_key(writer, "args");
  hfta_json_begin_object(writer);
  hfta_json_put_integer(writer, "sort_index", number);
  hfta_json_end_object(writer);
  hfta_json_end_object(writer);
}

void hfta_trace_name_process(hfta_json_writer *writer, int64_t process,
                             const char *name, int64_t dropped) {
  hfta_trace_row row = {process, 0};
  put_name(writer, "process_name", row, "name", name);
  put_order(writer, "process_sort_index", row, process);
  if (dropped == 0)
    return;
  char text[64];
  snprintf(text, sizeof(text), "%lld events were dropped", (long long)dropped);
  put_name(writer, "process_labels", row, "labels", text);
}

void hfta_trace_name_row(hfta_json_writer *writer, hfta_trace_row row,
                         const char *name) {
  put_name(writer, "thread_name", row, "name", name);
  put_order(writer, "thread_sort_index", row, row.number);
}
