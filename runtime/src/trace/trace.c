//===- trace.c - Recording of activities ----------------------------------===//

#include "system/clock.h"
#include "system/pages.h"
#include "trace/trace_ranks.h"

#include <stdatomic.h>
#include <stdlib.h>

struct hfta_trace {
  hfta_instance *instance;
  const char *path;
  hfta_observer observer;
  int64_t first, steps;
  int64_t done;    ///< the number of steps traced so far
  bool is_in_step; ///< read by the device's threads; changes only while the
                   ///< device is idle
  bool is_finished;
  double zero, step_begin;
  hfta_trace_event *events;
  atomic_llong asked; ///< the number of events so far, including dropped ones
};

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

/// Reserves the next element of `events`. Returns NULL, and counts the event as
/// dropped, if there is no room.
static hfta_trace_event *add_event(hfta_trace *self) {
  long long place = atomic_fetch_add(&self->asked, 1);
  return place < HFTA_TRACE_CAPACITY ? &self->events[place] : NULL;
}

/// The observer's function: records an activity if it belongs to a traced step.
/// A batch is read before its step begins, so that a READ is chosen by its step
/// number.
static void note_activity(void *argument, const hfta_activity *activity) {
  hfta_trace *self = argument;
  bool is_read = activity->kind == HFTA_ACTIVITY_READ;
  if (is_read ? activity->number >= self->first + self->steps
              : !self->is_in_step)
    return;
  hfta_trace_event *event = add_event(self);
  if (!event)
    return;
  *event = (hfta_trace_event){.kind = activity->kind,
                              .worker = activity->worker,
                              .queue = activity->queue,
                              .begin = activity->begin,
                              .end = activity->end,
                              .number = activity->number,
                              .micro_batch = -1,
                              .first_copy = -1,
                              .copy_count = -1,
                              .post = activity->post,
                              .to = activity->to,
                              .bytes = activity->bytes};
  const hfta_task_call *call = activity->call;
  if (call)
    event->micro_batch = call->micro_batch;
  if (activity->post)
    event->micro_batch = activity->post->label.micro_batch;
  if (call && call->copies && call->copy_count > 0) {
    event->first_copy = call->copies[0];
    event->copy_count = call->copy_count;
  }
}

const hfta_observer *hfta_trace_observer(const hfta_trace *trace) {
  return trace ? &trace->observer : NULL;
}

bool hfta_trace_is_complete(const hfta_trace *trace) {
  return !trace || trace->done == trace->steps;
}

void hfta_trace_begin_step(hfta_trace *trace) {
  if (hfta_trace_is_complete(trace))
    return;
  trace->is_in_step = true;
  trace->step_begin = hfta_now();
}

void hfta_trace_end_step(hfta_trace *trace) {
  if (hfta_trace_is_complete(trace))
    return;
  hfta_activity step = {.kind = HFTA_ACTIVITY_STEP,
                        .number = trace->first + trace->done,
                        .begin = trace->step_begin,
                        .end = hfta_now()};
  note_activity(trace, &step);
  trace->is_in_step = false;
  ++trace->done;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// The parts of all ranks: this rank's own, and the communicator through which
/// rank 0 gathers the others'.
typedef struct parts {
  hfta_communicator *communicator;
  const hfta_trace_part *own;
} parts;

static hfta_status write_parts(void *argument, const hfta_trace_sink *sink,
                               hfta_error *error) {
  const parts *all = argument;
  hfta_status status = hfta_trace_write_head(all->own, sink, error);
  if (status == HFTA_OK)
    status = hfta_trace_gather(all->communicator, all->own, sink, error);
  if (status == HFTA_OK)
    status = hfta_trace_write_tail(sink, error);
  return status;
}

static hfta_status write_file(const hfta_trace *self,
                              const hfta_trace_part *part, hfta_error *error) {
  parts all = {self->instance->communicator, part};
  return all.communicator->rank == 0
             ? hfta_trace_write_file(self->path, write_parts, &all, error)
             : hfta_trace_gather(all.communicator, part, NULL, error);
}

hfta_status hfta_trace_finish(hfta_trace *trace, int64_t *dropped,
                              hfta_error *error) {
  *dropped = 0;
  if (!trace || trace->is_finished)
    return HFTA_OK;
  trace->is_finished = true;
  int64_t asked = atomic_load(&trace->asked);
  int64_t count = asked < HFTA_TRACE_CAPACITY ? asked : HFTA_TRACE_CAPACITY;
  *dropped = asked - count;
  hfta_trace_part part = {.instance = trace->instance,
                          .events = trace->events,
                          .count = count,
                          .dropped = *dropped,
                          .zero = trace->zero};
  return write_file(trace, &part, error);
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

hfta_status hfta_trace_open(hfta_instance *instance,
                            const hfta_trace_options *options, hfta_trace **out,
                            hfta_error *error) {
  *out = NULL;
  if (!options->path)
    return HFTA_OK;
  hfta_trace *self = calloc(1, sizeof(*self));
  if (!self)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a trace");
  self->instance = instance;
  self->path = options->path;
  self->observer = (hfta_observer){note_activity, self, NULL};
  self->first = options->first;
  self->steps = options->steps ? options->steps : HFTA_DEFAULT_TRACE_STEPS;
  self->events =
      hfta_pages_map(HFTA_TRACE_CAPACITY * sizeof(hfta_trace_event), 64);
  hfta_status status = HFTA_OK;
  if (!self->events)
    status =
        hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a trace");
  if (status == HFTA_OK)
    status = instance->communicator->rank == 0
                 ? hfta_trace_check_path(options->path, error)
                 : HFTA_OK;
  self->zero = hfta_now();
  if (status == HFTA_OK)
    status = hfta_trace_align(instance->communicator, &self->zero, error);
  if (status != HFTA_OK) {
    hfta_trace_close(self);
    return status;
  }
  *out = self;
  return HFTA_OK;
}

void hfta_trace_close(hfta_trace *trace) {
  if (!trace)
    return;
  hfta_pages_unmap(trace->events,
                   HFTA_TRACE_CAPACITY * sizeof(hfta_trace_event));
  free(trace);
}
