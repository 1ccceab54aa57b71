//===- bench_ranks.c - What ranks did, and how they are linked ------------===//

#include "commands/bench_ranks.h"
#include "commands/ranks.h"

#include "communicator/tags.h"
#include "system/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 8, SMALL_EXCHANGES = 32, LARGE = 4000000, LARGE_EXCHANGES = 4 };

static hfta_status out_of_memory(hfta_error *error) {
  return hfta_fail(error, HFTA_UNSUPPORTED,
                   "not enough memory for the ranks' times");
}

static hfta_status exchange(hfta_communicator *communicator, int tag,
                            hfta_message message, hfta_error *error) {
  const char *what =
      tag == HFTA_TAG_LINKS ? "measurement of links" : "times of tasks";
  hfta_post post = {{what, -1, tag}, &message, 1};
  return hfta_communicator_complete(communicator, &post, error);
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

void hfta_rank_time_add(hfta_rank_time *self, const hfta_activity *activity) {
  double seconds = activity->end - activity->begin;
  switch (activity->kind) {
  case HFTA_ACTIVITY_RUN:
  case HFTA_ACTIVITY_COPY:
  case HFTA_ACTIVITY_FILL:
    self->busy += seconds;
    break;
  case HFTA_ACTIVITY_CALL:
    self->communicating += seconds;
    break;
  case HFTA_ACTIVITY_AWAIT:
  case HFTA_ACTIVITY_WAIT:
    self->waiting += activity->queue == 0 ? seconds : 0.0;
    break;
  case HFTA_ACTIVITY_READ:
  case HFTA_ACTIVITY_STEP:
    break;
  }
}

/// Rank 0's side: a peer's times.
static hfta_status add_peer(hfta_communicator *communicator, int peer,
                            hfta_task_time *tasks, hfta_task_time *received,
                            uint32_t task_count, hfta_rank_measures *out,
                            hfta_error *error) {
  hfta_message message = {peer, false, &out->times[peer],
                          sizeof(hfta_rank_time)};
  hfta_status status = exchange(communicator, HFTA_TAG_TIMES, message, error);
  message = (hfta_message){peer, false, received,
                           task_count * sizeof(hfta_task_time)};
  if (status == HFTA_OK)
    status = exchange(communicator, HFTA_TAG_TIMES, message, error);
  for (uint32_t i = 0; i < task_count && status == HFTA_OK; ++i) {
    tasks[i].seconds += received[i].seconds;
    tasks[i].runs += received[i].runs;
  }
  return status;
}

static hfta_status give_times(hfta_communicator *communicator,
                              const hfta_rank_time *own,
                              const hfta_task_time *tasks, uint32_t task_count,
                              hfta_error *error) {
  hfta_message message = {0, true, (void *)(uintptr_t)own, sizeof(*own)};
  hfta_status status = exchange(communicator, HFTA_TAG_TIMES, message, error);
  message = (hfta_message){0, true, (void *)(uintptr_t)tasks,
                           task_count * sizeof(hfta_task_time)};
  return status == HFTA_OK
             ? exchange(communicator, HFTA_TAG_TIMES, message, error)
             : status;
}

hfta_status hfta_gather_times(hfta_communicator *communicator,
                              const hfta_rank_time *own, hfta_task_time *tasks,
                              uint32_t task_count, hfta_rank_measures *out,
                              hfta_error *error) {
  if (communicator->rank > 0)
    return give_times(communicator, own, tasks, task_count, error);
  out->ranks = communicator->size;
  out->times = calloc((size_t)out->ranks, sizeof(*out->times));
  hfta_task_time *received =
      calloc((size_t)task_count + 1, sizeof(hfta_task_time));
  hfta_status status = out->times && received ? HFTA_OK : out_of_memory(error);
  if (status == HFTA_OK)
    out->times[0] = *own;
  for (int peer = 1; peer < communicator->size && status == HFTA_OK; ++peer)
    status =
        add_peer(communicator, peer, tasks, received, task_count, out, error);
  free(received);
  return status;
}

//===----------------------------------------------------------------------===//
// Links
//===----------------------------------------------------------------------===//

/// Half of the least time in which a message goes to the peer and back.
static hfta_status measure(hfta_communicator *communicator, int peer,
                           char *buffer, uint64_t bytes, int exchanges,
                           double *seconds, hfta_error *error) {
  bool begins = communicator->rank < peer;
  *seconds = INFINITY;
  for (int i = 0; i < exchanges; ++i) {
    double begin = hfta_now();
    for (int j = 0; j < 2; ++j) {
      hfta_message message = {peer, begins == (j == 0), buffer, bytes};
      hfta_status status =
          exchange(communicator, HFTA_TAG_LINKS, message, error);
      if (status != HFTA_OK)
        return status;
    }
    *seconds = fmin(*seconds, (hfta_now() - begin) / 2.0);
  }
  return HFTA_OK;
}

static hfta_status measure_link(hfta_communicator *communicator, int peer,
                                char *buffer, hfta_link *out,
                                hfta_error *error) {
  double small, large;
  hfta_status status = measure(communicator, peer, buffer, SMALL,
                               SMALL_EXCHANGES, &small, error);
  if (status == HFTA_OK)
    status = measure(communicator, peer, buffer, LARGE, LARGE_EXCHANGES, &large,
                     error);
  if (status != HFTA_OK)
    return status;
  // Where the clock is too coarse: no more than what it can tell.
  double rest = fmax(large - small, 1e-9);
  *out = (hfta_link){small, LARGE / rest};
  return HFTA_OK;
}

/// The pair of `first` and `second`, while the others wait; rank 0 learns of
/// it.
static hfta_status measure_pair(hfta_communicator *communicator, int first,
                                int second, char *buffer, hfta_link *links,
                                hfta_error *error) {
  int own = communicator->rank;
  hfta_link link = {0.0, 0.0};
  hfta_status status = HFTA_OK;
  if (own == first || own == second)
    status = measure_link(communicator, own == first ? second : first, buffer,
                          &link, error);
  hfta_message message = {own == 0 ? first : 0, own != 0, &link, sizeof(link)};
  if (status == HFTA_OK && first != 0 && (own == first || own == 0))
    status = exchange(communicator, HFTA_TAG_LINKS, message, error);
  if (own == 0)
    links[first * communicator->size + second] = link;
  int64_t nothing = 0;
  return status == HFTA_OK
             ? hfta_communicator_max(communicator, "links that are measured",
                                     &nothing, error)
             : status;
}

hfta_status hfta_measure_links(hfta_communicator *communicator,
                               hfta_rank_measures *out, hfta_error *error) {
  size_t ranks = (size_t)communicator->size;
  if (ranks == 1)
    return HFTA_OK;
  char *buffer = calloc(LARGE, 1);
  out->links = calloc(ranks * ranks, sizeof(*out->links));
  hfta_status status = buffer && out->links ? HFTA_OK : out_of_memory(error);
  for (int i = 0; i < communicator->size; ++i)
    for (int j = i + 1; j < communicator->size && status == HFTA_OK; ++j)
      status = measure_pair(communicator, i, j, buffer, out->links, error);
  free(buffer);
  return status;
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

void hfta_rank_measures_free(hfta_rank_measures *self) {
  free(self->times);
  free(self->links);
}

static void put_number(hfta_json_writer *writer, const char *key,
                       double value) {
  hfta_json_key(writer, key);
  hfta_json_number(writer, value, HFTA_F64);
}

static void write_links(const hfta_rank_measures *self,
                        hfta_json_writer *writer) {
  hfta_json_key(writer, "links");
  hfta_json_begin_array(writer);
  for (int i = 0; i < self->ranks; ++i)
    for (int j = i + 1; j < self->ranks; ++j) {
      const hfta_link *link = &self->links[i * self->ranks + j];
      hfta_json_begin_object(writer);
      hfta_json_key(writer, "ranks");
      hfta_json_begin_array(writer);
      hfta_json_integer(writer, i);
      hfta_json_integer(writer, j);
      hfta_json_end_array(writer);
      put_number(writer, "latency", link->latency);
      put_number(writer, "bytes_per_second", link->bytes_per_second);
      hfta_json_end_object(writer);
    }
  hfta_json_end_array(writer);
}

void hfta_write_rank_measures(const hfta_rank_measures *self, int64_t steps,
                              hfta_json_writer *writer) {
  hfta_json_key(writer, "rank_times");
  hfta_json_begin_array(writer);
  for (int i = 0; i < self->ranks; ++i) {
    hfta_json_begin_object(writer);
    hfta_json_put_integer(writer, "rank", i);
    put_number(writer, "busy", self->times[i].busy / (double)steps);
    put_number(writer, "waiting", self->times[i].waiting / (double)steps);
    put_number(writer, "communicating",
               self->times[i].communicating / (double)steps);
    hfta_json_key(writer, "peak_bytes");
    hfta_json_unsigned(writer, self->times[i].peak_bytes);
    hfta_json_end_object(writer);
  }
  hfta_json_end_array(writer);
  if (self->links)
    write_links(self, writer);
}

void hfta_print_rank_times(const hfta_rank_measures *self,
                           const hfta_program *program, int64_t steps) {
  double scale = 1e3 / (double)steps;
  bool has_stages = program->stage_count > 1;
  int width = has_stages ? 34 : 9;
  printf("%-*s   busy ms  waiting ms  communicating ms  planned peak MiB\n",
         width, "rank");
  for (int i = 0; i < self->ranks; ++i) {
    hfta_rank_name name = hfta_name_rank(program, i, self->ranks);
    if (!has_stages)
      snprintf(name.text, sizeof(name.text), "%d", i);
    printf("%-*s %9.3f %11.3f %17.3f %17.2f\n", width, name.text,
           scale * self->times[i].busy, scale * self->times[i].waiting,
           scale * self->times[i].communicating,
           (double)self->times[i].peak_bytes / (1 << 20));
  }
}
