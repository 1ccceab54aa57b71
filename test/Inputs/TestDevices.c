//===- TestDevices.c - A CPU device that reorders its queues' commands ----===//
//
// A table of devices for tests' programs, which replaces the runtime's table of
// devices that belong to no target:
//
//   shuffled:S   executes no command before the host waits. Then it executes
//                commands of all queues in an order that events allow. If S is
//                0, the next command is always one of the lowest queue that
//                can go on; if S is 1, one of the highest such queue;
//                otherwise one of a random queue, with S as seed.
//
// A schedule that lacks an event gives a wrong result in some of these orders.
//===----------------------------------------------------------------------===//

#include "hfta/device.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

typedef enum kind { RUN, COPY, FILL, RECORD, AWAIT } kind;

typedef struct command {
  kind kind;
  void *to;
  const void *from;
  uint64_t bytes;
  uint32_t number;  // RUN: number of the task; RECORD, AWAIT: of the event
  uint64_t records; // AWAIT: how often the event must have happened before
  hfta_task_call call;
} command;

typedef struct queue {
  command *commands;
  size_t count, capacity, done; // `done` of `count` commands were executed
} queue;

typedef struct device {
  hfta_device base;
  hfta_device *cpu; // has the memory, and runs tasks
  hfta_device_options options;
  uint64_t chance; // state of the random numbers
  queue *queues;
  // For each event, how often it was recorded, and how often it has happened.
  // After the program's events there is one for each queue, then one for each
  // mark.
  uint64_t *recorded, *happened;
} device;

/// Returns the device that begins with this base.
static device *of(const hfta_device *base) { return (device *)(uintptr_t)base; }

/// Aborts if an allocation has failed.
static void check(const void *memory) {
  if (!memory)
    abort();
}

static hfta_status open_on_cpu(const hfta_device_functions *functions,
                               const hfta_device_options *options,
                               hfta_device **out, hfta_error *error) {
  device *self = calloc(1, sizeof(*self));
  check(self);
  self->base.functions = functions;
  self->options = *options;
  self->chance = (uint64_t)options->index;
  self->queues = calloc(options->queues, sizeof(queue));
  size_t events = (size_t)options->events + options->queues + HFTA_DEVICE_MARKS;
  self->recorded = calloc(events, sizeof(uint64_t));
  self->happened = calloc(events, sizeof(uint64_t));
  check(self->queues);
  check(self->recorded);
  check(self->happened);
  hfta_device_options own = *options;
  own.index = 0;
  own.beside = options->beside ? of(options->beside)->cpu : NULL;
  hfta_status status = hfta_device_cpu.open(&own, &self->cpu, error);
  if (status == HFTA_OK)
    *out = &self->base;
  return status;
}

static void close_both(hfta_device *base) {
  device *self = of(base);
  hfta_device_cpu.close(self->cpu);
  for (uint32_t i = 0; i < self->options.queues; ++i)
    free(self->queues[i].commands);
  free(self->queues);
  free(self->recorded);
  free(self->happened);
  free(self);
}

static int threads(const hfta_device *base) {
  return hfta_device_cpu.threads(of(base)->cpu);
}
static hfta_status allocate(hfta_device *base, uint64_t bytes,
                            uint64_t alignment, void **out, hfta_error *error) {
  return hfta_device_cpu.allocate(of(base)->cpu, bytes, alignment, out, error);
}
static void release(hfta_device *base, void *memory, uint64_t bytes) {
  hfta_device_cpu.release(of(base)->cpu, memory, bytes);
}
static void observe(hfta_device *base, const hfta_observer *observer) {
  hfta_device_cpu.observe(of(base)->cpu, observer);
}
static void *host_address(hfta_device *base, void *memory) {
  return hfta_device_cpu.host_address(of(base)->cpu, memory);
}

//===----------------------------------------------------------------------===//
// Shuffled: appending commands to queues
//===----------------------------------------------------------------------===//

/// Appends a command to a queue. The result is valid until the next call.
static command *push(hfta_device *base, uint32_t number, kind kind) {
  queue *to = &of(base)->queues[number];
  if (to->count == to->capacity) {
    to->capacity = 2 * to->capacity + 16;
    to->commands = realloc(to->commands, to->capacity * sizeof(command));
    check(to->commands);
  }
  command *last = &to->commands[to->count++];
  memset(last, 0, sizeof(*last));
  last->kind = kind;
  return last;
}

static void shuffled_fill(hfta_device *base, uint32_t queue, void *to,
                          uint64_t bytes) {
  command *last = push(base, queue, FILL);
  last->to = to;
  last->bytes = bytes;
}

static void shuffled_copy(hfta_device *base, uint32_t queue, void *to,
                          const void *from, uint64_t bytes) {
  command *last = push(base, queue, COPY);
  last->to = to;
  last->from = from;
  last->bytes = bytes;
}

/// Returns a copy of memory, which the caller frees; NULL for NULL, because a
/// task's list of copies may be NULL.
static void *duplicate(const void *from, size_t bytes) {
  if (!from)
    return NULL;
  void *to = malloc(bytes + 1);
  check(to);
  return memcpy(to, from, bytes);
}

static void shuffled_run(hfta_device *base, uint32_t queue,
                         const hfta_task_call *call, uint32_t number) {
  command *last = push(base, queue, RUN);
  last->number = number;
  last->call = *call;
  last->call.segments = duplicate(call->segments, of(base)->options.segments *
                                                      sizeof(*call->segments));
  last->call.copies =
      duplicate(call->copies, (size_t)call->copy_count * sizeof(*call->copies));
}

static void shuffled_record(hfta_device *base, uint32_t queue, uint32_t event) {
  ++of(base)->recorded[event];
  push(base, queue, RECORD)->number = event;
}

static void shuffled_await(hfta_device *base, uint32_t queue, uint32_t event) {
  command *last = push(base, queue, AWAIT);
  last->number = event;
  last->records = of(base)->recorded[event];
}

/// Returns the number of a mark's event.
static uint32_t event_of(const device *self, uint32_t mark) {
  return self->options.events + self->options.queues + mark;
}

/// Makes every queue wait for all earlier commands of all queues (a barrier),
/// and then records the mark's event.
static void shuffled_mark(hfta_device *base, uint32_t number) {
  const hfta_device_options *options = &of(base)->options;
  for (uint32_t i = 0; i < options->queues; ++i)
    shuffled_record(base, i, options->events + i);
  for (uint32_t i = 0; i < options->queues; ++i)
    for (uint32_t j = 0; j < options->queues; ++j)
      shuffled_await(base, i, options->events + j);
  shuffled_record(base, 0, event_of(of(base), number));
}

//===----------------------------------------------------------------------===//
// Shuffled: executing commands
//===----------------------------------------------------------------------===//

static hfta_status do_command(device *self, const command *next,
                              hfta_error *error) {
  hfta_status status = HFTA_OK;
  switch (next->kind) {
  case RUN:
    hfta_device_cpu.run(self->cpu, 0, &next->call, next->number);
    status = hfta_device_cpu.wait(self->cpu, error);
    free((void *)(uintptr_t)next->call.segments);
    free((void *)(uintptr_t)next->call.copies);
    break;
  case COPY:
    memcpy(next->to, next->from, next->bytes);
    break;
  case FILL:
    memset(next->to, 0, next->bytes);
    break;
  case RECORD:
    ++self->happened[next->number];
    break;
  case AWAIT:
    break;
  }
  return status;
}

/// Returns whether a queue has a command that needn't wait for an event.
static bool can_go_on(const device *self, const queue *own) {
  if (own->done == own->count)
    return false;
  const command *next = &own->commands[own->done];
  return next->kind != AWAIT || self->happened[next->number] >= next->records;
}

static bool flips_coin(device *self) {
  self->chance = self->chance * 6364136223846793005u + 1442695040888963407u;
  return self->chance >> 63;
}

/// Chooses the queue whose next command is executed, as the table at the top
/// says. Returns NULL if no queue can go on.
static queue *choose(device *self) {
  queue *chosen = NULL;
  for (uint32_t i = 0; i < self->options.queues; ++i) {
    uint32_t last = self->options.queues - 1;
    queue *own = &self->queues[self->options.index == 1 ? last - i : i];
    if (!can_go_on(self, own))
      continue;
    if (self->options.index < 2)
      return own;
    if (!chosen || flips_coin(self))
      chosen = own;
  }
  return chosen;
}

/// Executes one command of the chosen queue, and notes the first error. Returns
/// false if no queue can go on.
static bool do_next(device *self, hfta_status *status, hfta_error *error) {
  queue *own = choose(self);
  if (!own)
    return false;
  hfta_error reason;
  hfta_status result = do_command(self, &own->commands[own->done++], &reason);
  if (*status == HFTA_OK && result != HFTA_OK)
    *status = hfta_fail(error, result, "%s", reason.message);
  return true;
}

/// Executes commands only until the mark is reached.
static hfta_status shuffled_wait_until(hfta_device *base, uint32_t number,
                                       hfta_error *error) {
  device *self = of(base);
  uint32_t event = event_of(self, number);
  hfta_status status = HFTA_OK;
  while (self->happened[event] < self->recorded[event])
    if (!do_next(self, &status, error))
      return hfta_fail(error, HFTA_INTERNAL, "a mark is never reached");
  return status;
}

static hfta_status shuffled_wait(hfta_device *base, hfta_error *error) {
  device *self = of(base);
  hfta_status status = HFTA_OK;
  while (do_next(self, &status, error))
    ;
  for (uint32_t i = 0; i < self->options.queues; ++i) {
    if (self->queues[i].done != self->queues[i].count)
      return hfta_fail(error, HFTA_INTERNAL,
                       "queue %u waits for an event that never comes", i);
    self->queues[i].done = self->queues[i].count = 0;
  }
  return status;
}

/// Waits for all queues instead of some, as a device may.
static hfta_status shuffled_wait_for(hfta_device *base, uint64_t queues,
                                     hfta_error *error) {
  (void)queues;
  return shuffled_wait(base, error);
}

static hfta_status shuffled_open(const hfta_device_options *options,
                                 hfta_device **out, hfta_error *error);

static const hfta_device_functions shuffled = {
    .kind = "shuffled",
    .open = shuffled_open,
    .close = close_both,
    .threads = threads,
    .allocate = allocate,
    .release = release,
    .fill = shuffled_fill,
    .copy = shuffled_copy,
    .run = shuffled_run,
    .record = shuffled_record,
    .await = shuffled_await,
    .wait = shuffled_wait,
    .wait_for = shuffled_wait_for,
    .mark = shuffled_mark,
    .wait_until = shuffled_wait_until,
    .observe = observe,
    .host_address = host_address,
};

static hfta_status shuffled_open(const hfta_device_options *options,
                                 hfta_device **out, hfta_error *error) {
  return open_on_cpu(&shuffled, options, out, error);
}

const hfta_device_functions *const hfta_device_kinds[] = {&shuffled, NULL};
