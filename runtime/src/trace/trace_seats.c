//===- trace_seats.c - A trace of the jobs on seats -----------------------===//

#include "trace/trace_seats.h"

#include "system/clock.h"
#include "system/pages.h"
#include "trace/trace_elements.h"

#include <pthread.h>
#include <stdlib.h>

struct hfta_seat_trace {
  const char *path;
  const char *const *jobs;
  uint32_t job_count, seats, places;
  double zero;
  pthread_mutex_t mutex; ///< protects all members below
  bool is_finished;
  int64_t asked; ///< the number of events so far, including dropped ones
  hfta_seat_event *events;
};

/// Returns the number of recorded events.
static int64_t count_events(const hfta_seat_trace *self) {
  return self->asked < HFTA_TRACE_CAPACITY ? self->asked : HFTA_TRACE_CAPACITY;
}

void hfta_seat_trace_note(hfta_seat_trace *trace,
                          const hfta_seat_event *event) {
  if (!trace)
    return;
  pthread_mutex_lock(&trace->mutex);
  if (!trace->is_finished && trace->asked++ < HFTA_TRACE_CAPACITY)
    trace->events[trace->asked - 1] = *event;
  pthread_mutex_unlock(&trace->mutex);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Returns the row of a seat's place. All rows belong to process 0.
static hfta_trace_row row_of(const hfta_seat_trace *self, uint32_t seat,
                             uint32_t place) {
  return (hfta_trace_row){0, (int64_t)self->places * seat + place};
}

/// Writes the name of a place's row. The second place of a seat is labeled
/// "ahead", since a model usually takes it to fetch its data ahead of its turn.
static void name_row(const hfta_seat_trace *self, uint32_t seat, uint32_t place,
                     hfta_json_writer *writer) {
  char text[64];
  int length = snprintf(text, sizeof(text), "seat %u", seat);
  size_t left = sizeof(text) - (size_t)length;
  if (place == 1)
    snprintf(text + length, left, ", ahead");
  else if (place > 1)
    snprintf(text + length, left, ", ahead %u", place);
  hfta_trace_name_row(writer, row_of(self, seat, place), text);
}

static hfta_status write_names(const hfta_seat_trace *self,
                               const hfta_trace_sink *sink, hfta_error *error) {
  hfta_json_writer writer;
  hfta_trace_begin_piece(&writer);
  hfta_trace_name_process(&writer, 0, "seats",
                          self->asked - count_events(self));
  for (uint32_t seat = 0; seat < self->seats; ++seat)
    for (uint32_t place = 0; place < self->places; ++place)
      name_row(self, seat, place, &writer);
  return hfta_trace_end_piece(&writer, sink, error);
}

static void put_event(const hfta_seat_trace *self, const hfta_seat_event *event,
                      hfta_json_writer *writer) {
  hfta_trace_begin_element(writer, "X", self->jobs[event->job],
                           row_of(self, event->seat, event->place));
  hfta_trace_put_span(writer, self->zero, event->begin, event->end);
  hfta_json_key(writer, "args");
  hfta_json_begin_object(writer);
  switch ((hfta_seat_kind)event->kind) {
  case HFTA_SEAT_STEPS:
    hfta_json_put_integer(writer, "step", event->first_step + 1);
    hfta_json_put_integer(writer, "steps", event->steps);
    break;
  case HFTA_SEAT_EVALUATE:
    hfta_json_put_string(writer, "what", "evaluation");
    break;
  case HFTA_SEAT_START:
    hfta_json_put_string(writer, "what", "start");
    break;
  }
  hfta_json_end_object(writer);
  hfta_json_end_object(writer);
}

/// Writes a piece with the events from number `begin` on.
static hfta_status write_piece(const hfta_seat_trace *self, int64_t begin,
                               const hfta_trace_sink *sink, hfta_error *error) {
  hfta_status status = hfta_trace_write_comma(sink, error);
  if (status != HFTA_OK)
    return status;
  int64_t end = count_events(self);
  if (end > begin + HFTA_TRACE_PIECE)
    end = begin + HFTA_TRACE_PIECE;
  hfta_json_writer writer;
  hfta_trace_begin_piece(&writer);
  for (int64_t i = begin; i < end; ++i)
    put_event(self, &self->events[i], &writer);
  return hfta_trace_end_piece(&writer, sink, error);
}

static hfta_status write_all(void *argument, const hfta_trace_sink *sink,
                             hfta_error *error) {
  const hfta_seat_trace *self = argument;
  hfta_json_writer writer;
  hfta_trace_begin_head(&writer);
  hfta_json_put_unsigned(&writer, "jobs", self->job_count);
  hfta_json_put_unsigned(&writer, "seats", self->seats);
  hfta_status status = hfta_trace_end_head(&writer, sink, error);
  if (status == HFTA_OK)
    status = write_names(self, sink, error);
  for (int64_t i = 0; i < count_events(self) && status == HFTA_OK;
       i += HFTA_TRACE_PIECE)
    status = write_piece(self, i, sink, error);
  if (status == HFTA_OK)
    status = hfta_trace_write_tail(sink, error);
  return status;
}

hfta_status hfta_seat_trace_finish(hfta_seat_trace *trace, int64_t *dropped,
                                   hfta_error *error) {
  *dropped = 0;
  if (!trace)
    return HFTA_OK;
  pthread_mutex_lock(&trace->mutex);
  bool was_finished = trace->is_finished;
  trace->is_finished = true;
  pthread_mutex_unlock(&trace->mutex);
  if (was_finished)
    return HFTA_OK;
  // No event is added once is_finished is set, so the mutex isn't needed.
  *dropped = trace->asked - count_events(trace);
  return hfta_trace_write_file(trace->path, write_all, trace, error);
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

hfta_status hfta_seat_trace_open(const char *path, const char *const *jobs,
                                 uint32_t job_count, uint32_t seats,
                                 uint32_t places, hfta_seat_trace **out,
                                 hfta_error *error) {
  *out = NULL;
  if (!path)
    return HFTA_OK;
  hfta_status status = hfta_trace_check_path(path, error);
  if (status != HFTA_OK)
    return status;
  hfta_seat_trace *self = calloc(1, sizeof(*self));
  hfta_seat_event *events =
      hfta_pages_map(HFTA_TRACE_CAPACITY * sizeof(*events), 64);
  if (!self || !events) {
    hfta_pages_unmap(events, HFTA_TRACE_CAPACITY * sizeof(*events));
    free(self);
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a trace");
  }
  self->path = path;
  self->jobs = jobs;
  self->job_count = job_count;
  self->seats = seats;
  self->places = places;
  self->events = events;
  pthread_mutex_init(&self->mutex, NULL);
  self->zero = hfta_now();
  *out = self;
  return HFTA_OK;
}

void hfta_seat_trace_close(hfta_seat_trace *trace) {
  if (!trace)
    return;
  pthread_mutex_destroy(&trace->mutex);
  hfta_pages_unmap(trace->events, HFTA_TRACE_CAPACITY * sizeof(*trace->events));
  free(trace);
}
