//===- bench_ranks.c - Times of ranks, and speed of their links -----------===//

#include "command_line/bench/bench_ranks.h"
#include "command_line/ranks.h"

#include "command_line/rank_name.h"
#include "communicator/tags.h"
#include "hfta/device.h"
#include "system/clock.h"
#include "system/computing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// Sizes of messages in bytes, the number of measurements of which the median
/// is taken, and the queues for receives and sends.
enum { SMALL = 8, LARGE = 4000000, EXCHANGES = 5, RECEIVES = 1, SENDS = 2 };

/// The pause before each exchange. In a step messages follow tasks instead of
/// each other, so that the threads that exchange them have gone to sleep.
static const useconds_t pause_microseconds = 1000;

/// The longest duration of a task to measure with, in seconds. During longer
/// tasks the threads hardly poll for messages any more.
static const double longest_task = 5e-3;

static hfta_status out_of_memory(hfta_error *error) {
  return hfta_fail(error, HFTA_UNSUPPORTED,
                   "not enough memory for the ranks' times");
}

/// Sends or receives one message and waits for it.
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
  case HFTA_ACTIVITY_FETCH:
  case HFTA_ACTIVITY_EVICT:
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

/// Receives a peer's times on rank 0 and adds its tasks' times to `tasks`.
/// `received` is a buffer for these.
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
    tasks[i].copies += received[i].copies;
  }
  return status;
}

/// Sends this rank's times to rank 0.
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

/// The state of measuring the link to one peer.
typedef struct hfta_probe {
  hfta_communicator *communicator;
  hfta_device *device;
  char *buffer;
  double task_seconds;
  hfta_message send, receive;
} hfta_probe;

static hfta_status send_message(void *argument, hfta_error *error) {
  hfta_probe *self = argument;
  return exchange(self->communicator, HFTA_TAG_LINKS, self->send, error);
}

static hfta_status receive_message(void *argument, hfta_error *error) {
  hfta_probe *self = argument;
  return exchange(self->communicator, HFTA_TAG_LINKS, self->receive, error);
}

/// Begins to send or receive a message as a step does: on a thread of a queue.
/// The host waits for its end by the device's `wait`.
static void begin_exchange(hfta_probe *self, bool sends, uint64_t bytes) {
  self->send.bytes = self->receive.bytes = bytes;
  hfta_host_call call = {sends ? send_message : receive_message, self, NULL};
  self->device->functions->call(self->device, sends ? SENDS : RECEIVES, &call);
}

/// Sends or receives a message and waits for it.
static hfta_status complete(hfta_probe *self, bool sends, uint64_t bytes,
                            hfta_error *error) {
  begin_exchange(self, sends, bytes);
  return self->device->functions->wait(self->device, error);
}

static int compare_seconds(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static double find_median(double all[EXCHANGES]) {
  qsort(all, EXCHANGES, sizeof(*all), compare_seconds);
  return all[EXCHANGES / 2];
}

/// Measures half of a message's round trip to the peer and back, in seconds:
/// the median of EXCHANGES measurements.
static hfta_status measure(hfta_probe *self, uint64_t bytes, double *seconds,
                           hfta_error *error) {
  bool begins = self->communicator->rank < self->send.peer;
  double all[EXCHANGES];
  for (int i = 0; i < EXCHANGES; ++i) {
    if (begins)
      usleep(pause_microseconds);
    double begin = hfta_now();
    for (int j = 0; j < 2; ++j) {
      hfta_status status = complete(self, begins == (j == 0), bytes, error);
      if (status != HFTA_OK)
        return status;
    }
    all[i] = (hfta_now() - begin) / 2.0;
  }
  *seconds = find_median(all);
  return HFTA_OK;
}

/// Computes for a number of rounds. Returns the seconds that this took.
static double compute(int64_t rounds) {
  volatile double sum = 0.0;
  hfta_computing_begin();
  double begin = hfta_now();
  for (int64_t i = 0; i < rounds; ++i)
    sum = sum + 1.0;
  double seconds = hfta_now() - begin;
  hfta_computing_end();
  return seconds;
}

/// Measures by what factor a computation slows down while a message is awaited,
/// since the threads that poll for the message may use the same processor.
static hfta_status measure_slowdown(hfta_probe *self, double *slowdown,
                                    hfta_error *error) {
  double alone[EXCHANGES], beside[EXCHANGES];
  int64_t rounds = 100000;
  double seconds = fmin(fmax(self->task_seconds, 1e-4), longest_task);
  rounds =
      (int64_t)(seconds * (double)rounds / fmax(compute(rounds), 1e-6)) + 1;
  hfta_status status = HFTA_OK;
  for (int i = 0; i < EXCHANGES && status == HFTA_OK; ++i) {
    alone[i] = compute(rounds);
    begin_exchange(self, false, SMALL);
    beside[i] = compute(rounds);
    status = complete(self, true, SMALL, error);
  }
  if (status == HFTA_OK)
    *slowdown = fmax(find_median(beside) / fmax(find_median(alone), 1e-9), 1.0);
  return status;
}

double hfta_link_rate(double small, double large, uint64_t bytes) {
  // Where ranks share a processor, both times may consist of waiting for it.
  // Their difference would then be meaningless.
  double rest = large >= 2.0 * small ? large - small : large;
  // Avoid a division by 0 where the clock's resolution is too low.
  return (double)bytes / fmax(rest, 1e-9);
}

/// Measures the link between this rank and a peer; both ranks call it.
static hfta_status measure_link(hfta_probe *self, int peer, hfta_link *out,
                                hfta_error *error) {
  double small, large;
  double slowdown = 1.0;
  self->send = (hfta_message){peer, true, self->buffer, 0};
  self->receive = (hfta_message){peer, false, self->buffer, 0};
  hfta_status status = measure(self, SMALL, &small, error);
  if (status == HFTA_OK)
    status = measure(self, LARGE, &large, error);
  if (status == HFTA_OK)
    status = measure_slowdown(self, &slowdown, error);
  if (status == HFTA_OK)
    *out = (hfta_link){small, hfta_link_rate(small, large, LARGE), slowdown};
  return status;
}

/// Measures the link between two ranks, while all other ranks wait, and sends
/// the result to rank 0.
static hfta_status measure_pair(hfta_probe *self, int first, int second,
                                hfta_link *links, hfta_error *error) {
  hfta_communicator *communicator = self->communicator;
  int own = communicator->rank;
  hfta_link link = {0.0, 0.0, 1.0};
  hfta_status status = HFTA_OK;
  if (own == first || own == second)
    status = measure_link(self, own == first ? second : first, &link, error);
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

static hfta_status measure_pairs(hfta_probe *self, hfta_link *links,
                                 hfta_error *error) {
  hfta_status status = HFTA_OK;
  for (int i = 0; i < self->communicator->size; ++i)
    for (int j = i + 1; j < self->communicator->size && status == HFTA_OK; ++j)
      status = measure_pair(self, i, j, links, error);
  return status;
}

hfta_status hfta_measure_links(hfta_communicator *communicator,
                               double task_seconds, hfta_rank_measures *out,
                               hfta_error *error) {
  size_t ranks = (size_t)communicator->size;
  if (ranks == 1)
    return HFTA_OK;
  hfta_probe probe = {.communicator = communicator,
                      .task_seconds = task_seconds,
                      .buffer = calloc(LARGE, 1)};
  out->links = calloc(ranks * ranks, sizeof(*out->links));
  hfta_status status =
      probe.buffer && out->links ? HFTA_OK : out_of_memory(error);
  hfta_device_options options = {.threads = 1, .queues = SENDS + 1};
  if (status == HFTA_OK)
    status = hfta_device_cpu.open(&options, &probe.device, error);
  if (status == HFTA_OK) {
    status = measure_pairs(&probe, out->links, error);
    hfta_device_cpu.close(probe.device);
  }
  free(probe.buffer);
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
      put_number(writer, "slowdown", link->slowdown);
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
