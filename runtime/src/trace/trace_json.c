//===- trace_json.c - A rank's events as JSON -----------------------------===//
//
// Besides activities and names there are flow events, which the viewers show as
// arrows: phase "s" starts an arrow at a send, phase "f" finishes it at a
// receive.
//===----------------------------------------------------------------------===//

#include "program/command_records.h"
#include "text/ranges.h"
#include "trace/trace_impl.h"

#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Numbers of a rank's rows. Two are for steps and for reading batches; then
/// each queue of each worker has QUEUE_ROWS: one for work, one for messages and
/// one for waiting, so that activities of a row never overlap.
enum { ROW_STEPS, ROW_READING, ROW_QUEUES, QUEUE_ROWS = 3 };

static uint32_t count_rows(const hfta_trace_part *part) {
  const hfta_instance *instance = part->instance;
  return ROW_QUEUES +
         QUEUE_ROWS * instance->program->queue_count * instance->worker_count;
}

/// Returns the row that shows an event.
static uint32_t row_of(const hfta_trace_part *part,
                       const hfta_trace_event *event) {
  uint32_t queues = part->instance->program->queue_count;
  uint32_t first =
      ROW_QUEUES + QUEUE_ROWS * (queues * event->worker + event->queue);
  switch (event->kind) {
  case HFTA_ACTIVITY_STEP:
    return ROW_STEPS;
  case HFTA_ACTIVITY_READ:
    return ROW_READING;
  case HFTA_ACTIVITY_RUN:
  case HFTA_ACTIVITY_COPY:
  case HFTA_ACTIVITY_FILL:
  case HFTA_ACTIVITY_FETCH:
  case HFTA_ACTIVITY_EVICT:
    break;
  case HFTA_ACTIVITY_CALL:
    return first + 1;
  case HFTA_ACTIVITY_AWAIT:
  case HFTA_ACTIVITY_WAIT:
    return first + 2;
  }
  return first;
}

/// Returns a name for a queue that says which commands the schedules have on
/// it. Tasks may be on a queue beside others, which name it then.
static const char *name_queue(const hfta_program *program, uint32_t queue) {
  const char *name = "transfers";
  if (queue == 0)
    return "compute";
  for (uint32_t s = 0; s < program->schedule_count; ++s)
    for (uint32_t i = 0; i < program->schedules[s].command_count; ++i) {
      const hfta_command *command = &program->schedules[s].commands[i];
      const char *own = hfta_find_command_record(command->kind)->queue;
      if (command->queue != queue || !own)
        continue;
      if (command->kind != HFTA_COMMAND_RUN)
        return own;
      name = own;
    }
  return name;
}

/// Returns the number of a rank's worker among the workers of all ranks. In a
/// program of one stage, this is the rank's number.
static int64_t number_of(const hfta_trace_part *part, uint32_t worker) {
  return hfta_worker_number(&part->instance->workers[worker]);
}

/// Writes the name of a row. Names the worker too if the program has several
/// stages.
static void name_row(const hfta_trace_part *part, uint32_t row, char *name,
                     size_t bytes) {
  const hfta_program *program = part->instance->program;
  static const char *const formats[QUEUE_ROWS] = {"%s", "messages (%s)",
                                                  "waiting (%s)"};
  if (row < ROW_QUEUES) {
    snprintf(name, bytes, "%s", row == ROW_STEPS ? "steps" : "reading");
    return;
  }
  uint32_t place = row - ROW_QUEUES, queue = place / QUEUE_ROWS;
  int length = 0;
  if (part->instance->group)
    length = snprintf(name, bytes, "worker %lld: ",
                      (long long)number_of(part, queue / program->queue_count));
  snprintf(name + length, bytes - (size_t)length, formats[place % QUEUE_ROWS],
           name_queue(program, queue % program->queue_count));
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static hfta_trace_row place_of(const hfta_trace_part *part, uint32_t row) {
  return (hfta_trace_row){part->instance->communicator->rank, row};
}

static void name_rank(const hfta_trace_part *part, hfta_json_writer *writer) {
  const hfta_communicator *ranks = part->instance->communicator;
  const hfta_program *program = part->instance->program;
  int64_t count = hfta_rank_worker_count(program, ranks->size, ranks->rank);
  hfta_ranges workers = {0};
  for (int64_t i = 0; i < count; ++i)
    hfta_ranges_add(&workers,
                    hfta_rank_worker(program, ranks->size, ranks->rank, i));
  char text[192];
  snprintf(text, sizeof(text), "rank %d (worker%s %s)", ranks->rank,
           count > 1 ? "s" : "", workers.text);
  hfta_trace_name_process(writer, ranks->rank, text, part->dropped);
}

//===----------------------------------------------------------------------===//
// Activities
//===----------------------------------------------------------------------===//

/// Returns the segment that `memory` points into: into one of its instances, or
/// into its image in the host's memory, which `*is_host` tells. Returns
/// UINT32_MAX if there is none.
static uint32_t find_segment(const hfta_worker *worker, const void *memory,
                             bool *is_host) {
  const char *at = memory;
  *is_host = false;
  for (uint32_t s = 0; s < worker->program->segment_count; ++s) {
    const hfta_segment_memory *segment = &worker->memory[s];
    for (uint32_t i = 0; i < segment->count; ++i) {
      const char *base = segment->bases[i];
      if (base && at >= base && at < base + segment->bytes)
        return s;
    }
    const char *host = segment->host;
    *is_host =
        (host && at >= host && at < host + segment->bytes * segment->count) ||
        hfta_host_copies_hold(worker, s, memory);
    if (*is_host)
      return s;
  }
  return UINT32_MAX;
}

/// Writes the name of a COPY or FILL with the segment that it writes to.
static void name_writing(const hfta_trace_part *part,
                         const hfta_trace_event *event, char *text,
                         size_t bytes) {
  const hfta_instance *instance = part->instance;
  bool is_host;
  uint32_t segment =
      find_segment(&instance->workers[event->worker], event->to, &is_host);
  const char *name = segment == UINT32_MAX
                         ? "memory"
                         : instance->program->segments[segment].name;
  if (event->kind == HFTA_ACTIVITY_FILL)
    snprintf(text, bytes, "fill %s", name);
  else
    snprintf(text, bytes, is_host ? "copy %s to the host" : "copy to %s", name);
}

/// Writes the name of a FETCH or EVICT with the segment that it moves.
static void name_move(const hfta_trace_part *part,
                      const hfta_trace_event *event, char *text, size_t bytes) {
  const hfta_instance *instance = part->instance;
  uint32_t segment = hfta_spill_find_segment(&instance->workers[event->worker],
                                             (uint64_t)event->number);
  snprintf(text, bytes, "%s %s",
           event->kind == HFTA_ACTIVITY_FETCH ? "fetch" : "evict",
           segment == UINT32_MAX ? "memory"
                                 : instance->program->segments[segment].name);
}

static void name_event(const hfta_trace_part *part,
                       const hfta_trace_event *event, char *text,
                       size_t bytes) {
  const hfta_program *program = part->instance->program;
  switch (event->kind) {
  case HFTA_ACTIVITY_RUN:
    snprintf(text, bytes, "%s", program->tasks[event->number].name);
    break;
  case HFTA_ACTIVITY_COPY:
  case HFTA_ACTIVITY_FILL:
    name_writing(part, event, text, bytes);
    break;
  case HFTA_ACTIVITY_FETCH:
  case HFTA_ACTIVITY_EVICT:
    name_move(part, event, text, bytes);
    break;
  case HFTA_ACTIVITY_CALL:
    snprintf(text, bytes, "%s",
             event->post ? event->post->label.what : "call of the host");
    break;
  case HFTA_ACTIVITY_AWAIT:
    snprintf(text, bytes, "await");
    break;
  case HFTA_ACTIVITY_WAIT:
    snprintf(text, bytes, "wait for all queues");
    break;
  case HFTA_ACTIVITY_READ:
    snprintf(text, bytes, "read batch");
    break;
  case HFTA_ACTIVITY_STEP:
    snprintf(text, bytes, "step");
    break;
  }
}

/// Returns the number of a message's other side, counted as by number_of.
static int64_t peer_of(const hfta_trace_part *part,
                       const hfta_trace_event *event,
                       const hfta_message *message) {
  const hfta_worker *worker = &part->instance->workers[event->worker];
  return message->peer + hfta_worker_first_peer(worker, event->post);
}

static void put_messages(const hfta_trace_part *part,
                         const hfta_trace_event *event,
                         hfta_json_writer *writer, bool sends) {
  const hfta_post *post = event->post;
  hfta_json_key(writer, sends ? "sends" : "receives");
  hfta_json_begin_array(writer);
  for (uint32_t i = 0; i < post->count; ++i) {
    const hfta_message *message = &post->messages[i];
    if (message->sends != sends)
      continue;
    hfta_json_begin_object(writer);
    hfta_json_put_integer(writer, sends ? "to" : "from",
                          peer_of(part, event, message));
    hfta_json_put_unsigned(writer, "bytes", message->bytes);
    hfta_json_end_object(writer);
  }
  hfta_json_end_array(writer);
}

static void put_arguments(const hfta_trace_part *part,
                          const hfta_trace_event *event,
                          hfta_json_writer *writer) {
  hfta_json_key(writer, "args");
  hfta_json_begin_object(writer);
  if (event->kind == HFTA_ACTIVITY_STEP || event->kind == HFTA_ACTIVITY_READ)
    hfta_json_put_integer(writer, "step", event->number + 1);
  if (event->kind == HFTA_ACTIVITY_AWAIT)
    hfta_json_put_integer(writer, "event", event->number);
  if (event->micro_batch >= 0)
    hfta_json_put_integer(writer, "micro_batch", event->micro_batch);
  if (event->first_copy >= 0) {
    hfta_json_put_integer(writer, "first_copy", event->first_copy);
    hfta_json_put_integer(writer, "copies", event->copy_count);
  }
  if (event->bytes > 0)
    hfta_json_put_unsigned(writer, "bytes", event->bytes);
  if (event->post) {
    put_messages(part, event, writer, true);
    put_messages(part, event, writer, false);
  }
  hfta_json_end_object(writer);
}

static void put_event(const hfta_trace_part *part,
                      const hfta_trace_event *event, hfta_json_writer *writer) {
  char text[256];
  name_event(part, event, text, sizeof(text));
  hfta_trace_begin_element(writer, "X", text,
                           place_of(part, row_of(part, event)));
  hfta_trace_put_span(writer, part->zero, event->begin, event->end);
  put_arguments(part, event, writer);
  hfta_json_end_object(writer);
}

//===----------------------------------------------------------------------===//
// Arrows from sends to receives
//===----------------------------------------------------------------------===//

/// The number of messages so far between two workers in one direction with one
/// tag. The n-th send matches the n-th receive, so that this number identifies
/// a message on both sides.
typedef struct arrows {
  int64_t own, peer;
  bool sends;
  int tag;
  int64_t count;
} arrows;

/// The counters of all pairs and tags of a rank.
typedef struct arrow_list {
  arrows *kinds;
  size_t count;
} arrow_list;

/// Returns the counter for the message described by `wanted`, after adding it
/// if there is none. Returns NULL if memory runs out.
static arrows *find_arrows(arrow_list *self, const arrows *wanted) {
  for (size_t i = 0; i < self->count; ++i) {
    arrows *kind = &self->kinds[i];
    if (kind->own == wanted->own && kind->peer == wanted->peer &&
        kind->sends == wanted->sends && kind->tag == wanted->tag)
      return kind;
  }
  arrows *kinds =
      realloc(self->kinds, (self->count + 1) * sizeof(*self->kinds));
  if (!kinds)
    return NULL;
  self->kinds = kinds;
  kinds[self->count] = *wanted;
  return &kinds[self->count++];
}

/// Writes this rank's end of a message's arrow, which starts at the begin of
/// the send and finishes at the end of the receive. Both ranks compute the same
/// id. Returns false if memory runs out.
static bool put_arrow(const hfta_trace_part *part, arrow_list *list,
                      const hfta_trace_event *event,
                      const hfta_message *message, hfta_json_writer *writer) {
  const hfta_label *label = &event->post->label;
  bool sends = message->sends;
  const arrows wanted = {number_of(part, event->worker),
                         peer_of(part, event, message), sends, label->tag, 0};
  arrows *kind = find_arrows(list, &wanted);
  if (!kind)
    return false;
  int64_t from = sends ? kind->own : kind->peer;
  int64_t to = sends ? kind->peer : kind->own;
  char id[96];
  snprintf(id, sizeof(id), "%lld-%lld-%d-%lld", (long long)from, (long long)to,
           label->tag, (long long)kind->count++);
  hfta_trace_begin_element(writer, sends ? "s" : "f", label->what,
                           place_of(part, row_of(part, event)));
  hfta_trace_put_time(
      writer, "ts",
      hfta_trace_nanoseconds(part->zero, sends ? event->begin : event->end));
  hfta_json_put_string(writer, "cat", "message");
  hfta_json_put_string(writer, "id", id);
  if (!sends)
    hfta_json_put_string(writer, "bp", "e");
  hfta_json_end_object(writer);
  return true;
}

static bool put_arrows(const hfta_trace_part *part, arrow_list *list,
                       const hfta_trace_event *event,
                       hfta_json_writer *writer) {
  bool ok = true;
  for (uint32_t i = 0; event->post && i < event->post->count && ok; ++i)
    ok = put_arrow(part, list, event, &event->post->messages[i], writer);
  return ok;
}

//===----------------------------------------------------------------------===//
// Pieces of text
//===----------------------------------------------------------------------===//

static hfta_status write_names(const hfta_trace_part *part,
                               const hfta_trace_sink *sink, hfta_error *error) {
  uint32_t rows = count_rows(part);
  bool *is_used = calloc(rows, sizeof(bool));
  if (!is_used)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a trace");
  for (int64_t i = 0; i < part->count; ++i)
    is_used[row_of(part, &part->events[i])] = true;
  hfta_json_writer writer;
  hfta_trace_begin_piece(&writer);
  name_rank(part, &writer);
  for (uint32_t row = 0; row < rows; ++row) {
    char text[64];
    if (!is_used[row])
      continue;
    name_row(part, row, text, sizeof(text));
    hfta_trace_name_row(&writer, place_of(part, row), text);
  }
  free(is_used);
  return hfta_trace_end_piece(&writer, sink, error);
}

/// Writes a piece with the events from number `begin` on.
static hfta_status write_piece(const hfta_trace_part *part, int64_t begin,
                               arrow_list *list, const hfta_trace_sink *sink,
                               hfta_error *error) {
  hfta_status status = hfta_trace_write_comma(sink, error);
  if (status != HFTA_OK)
    return status;
  hfta_json_writer writer;
  hfta_trace_begin_piece(&writer);
  bool ok = true;
  for (int64_t i = begin; i < part->count && i < begin + HFTA_TRACE_PIECE && ok;
       ++i) {
    put_event(part, &part->events[i], &writer);
    ok = put_arrows(part, list, &part->events[i], &writer);
  }
  if (ok)
    return hfta_trace_end_piece(&writer, sink, error);
  hfta_json_release(&writer);
  return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a trace");
}

hfta_status hfta_trace_write_part(const hfta_trace_part *part,
                                  const hfta_trace_sink *sink,
                                  hfta_error *error) {
  arrow_list list = {NULL, 0};
  hfta_status status = write_names(part, sink, error);
  for (int64_t i = 0; i < part->count && status == HFTA_OK;
       i += HFTA_TRACE_PIECE)
    status = write_piece(part, i, &list, sink, error);
  free(list.kinds);
  return status;
}

hfta_status hfta_trace_write_head(const hfta_trace_part *part,
                                  const hfta_trace_sink *sink,
                                  hfta_error *error) {
  hfta_json_writer writer;
  hfta_trace_begin_head(&writer);
  hfta_json_put_string(&writer, "program", part->instance->program->name);
  hfta_json_put_integer(&writer, "ranks", part->instance->communicator->size);
  return hfta_trace_end_head(&writer, sink, error);
}
