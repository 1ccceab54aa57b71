//===- queue.c - Command queues of a device on the CPU --------------------===//

#include "device/cpu/queue.h"
#include "system/clock.h"
#include "system/computing.h"
#include "system/thread.h"

#include <stdlib.h>
#include <string.h>

enum { CAPACITY = 64 }; // the most commands in a queue

typedef struct queue {
  hfta_queues *all;
  pthread_t thread;
  bool started;
  /// The condition on which a single thread waits: the queue's own, or the host
  /// for queue 0. So no thread wakes in vain, which would take time from
  /// threads that compute.
  pthread_cond_t wakes;
  bool awaits; // whether the thread waits until event `event` has happened
               // `records` times
  uint32_t event;
  uint64_t records;
  // The numbers of commands that were pushed and done so far. Command number n
  // is in work[n % CAPACITY].
  uint64_t pushed, done;
  hfta_work work[CAPACITY];
  void **segments; // for each command, `all->segments` pointers
  // For each command, the call's copies and their slabs: 2 * `all->copies`
  // numbers.
  int32_t *copies;
} queue;

struct hfta_queues {
  hfta_shared_pool *pool;
  uint32_t segments;
  int64_t copies;
  uint64_t *recorded; // for each event, how many of its records were pushed
  hfta_observer observer;
  hfta_task_runner runner; // if it has no function, tasks run on the pool
  bool computes;           // whether the host counts as computing (computing.h)
  bool is_timed; // whether to measure for how long tasks hold the pool
  // The next three members are protected by the pool's mutex.
  uint32_t waiting; // the number of tasks that wait for the pool
  // The time at which the pool was taken, and the seconds for which earlier
  // tasks have held it.
  double taken, computed;

  pthread_mutex_t observing; // held while the observer is called, by one thread
                             // at a time
  pthread_mutex_t mutex; // protects all members below, and the queues' numbers
  bool stopping;
  uint64_t *happened; // for each event, how many of its records were executed
  queue *finishing;   // the queue that the host waits for; NULL if it waits for
                      // none
  uint64_t finishes;  // the host waits until this many commands of `finishing`
                      // are done
  hfta_status status;
  hfta_error error;

  uint32_t count;
  queue queues[];
};

//===----------------------------------------------------------------------===//
// Executing commands
//===----------------------------------------------------------------------===//

static void note_error(hfta_queues *self, hfta_status status,
                       const hfta_error *error) {
  pthread_mutex_lock(&self->mutex);
  if (self->status == HFTA_OK) {
    self->status = status;
    self->error = *error;
  }
  pthread_mutex_unlock(&self->mutex);
}

static bool needs_scratch(const hfta_task *task) {
  for (uint32_t i = 0; i < task->launch_count; ++i)
    if (task->launches[i].scratch_bytes > 0)
      return true;
  return false;
}

/// Returns whether the pool is free and no other queues with precedence wait
/// for it. The caller holds the pool's mutex.
static bool may_take(const hfta_queues *self) {
  const hfta_shared_pool *pool = self->pool;
  const hfta_queues *first = pool->first;
  return !pool->is_taken && (!first || first == self || first->waiting == 0);
}

/// Takes the pool for a task of a queue. Returns false if the pool isn't free
/// and the task is a small one of a queue other than the first; it then runs on
/// the calling thread alone.
static bool take_pool(hfta_queues *self, uint32_t queue,
                      const hfta_task *task) {
  hfta_shared_pool *pool = self->pool;
  bool waits = queue == 0 || needs_scratch(task);
  pthread_mutex_lock(&pool->mutex);
  ++self->waiting;
  while (waits && !may_take(self))
    pthread_cond_wait(&pool->freed, &pool->mutex);
  --self->waiting;
  bool is_ours = may_take(self);
  if (is_ours)
    pool->is_taken = true;
  if (is_ours && self->is_timed)
    self->taken = hfta_now();
  pthread_mutex_unlock(&pool->mutex);
  return is_ours;
}

static void leave_pool(hfta_queues *self) {
  hfta_shared_pool *pool = self->pool;
  pthread_mutex_lock(&pool->mutex);
  if (self->is_timed)
    self->computed += hfta_now() - self->taken;
  pool->is_taken = false;
  pthread_cond_broadcast(&pool->freed);
  pthread_mutex_unlock(&pool->mutex);
}

/// Returns the current time if there is an observer; else 0.
static double begin_activity(const hfta_queues *self) {
  return self->observer.done ? hfta_now() : 0.0;
}

static void end_activity(hfta_queues *self, hfta_activity activity) {
  if (!self->observer.done)
    return;
  activity.end = hfta_now();
  pthread_mutex_lock(&self->observing);
  self->observer.done(self->observer.argument, &activity);
  pthread_mutex_unlock(&self->observing);
}

static void run_task(hfta_queues *self, uint32_t queue, const hfta_work *work) {
  hfta_error error;
  bool is_ours = self->runner.run == NULL;
  bool has_pool = is_ours && take_pool(self, queue, work->call.task);
  hfta_task_call call = work->call;
  if (has_pool && self->observer.launches)
    call.times = &self->observer.launches[work->number];
  double begin = begin_activity(self);
  hfta_status status =
      is_ours ? hfta_run_task(has_pool ? self->pool->pool : NULL, &call, &error)
              : self->runner.run(self->runner.argument, queue, work->number,
                                 &work->call, &error);
  if (has_pool)
    leave_pool(self);
  end_activity(self, (hfta_activity){.kind = HFTA_ACTIVITY_RUN,
                                     .queue = queue,
                                     .number = work->number,
                                     .call = &work->call,
                                     .begin = begin});
  if (status != HFTA_OK)
    note_error(self, status, &error);
}

/// Counts an occurrence of an event, and wakes the threads that wait for
/// exactly this. The caller holds the mutex.
static void happen(hfta_queues *self, uint32_t event) {
  ++self->happened[event];
  for (uint32_t i = 0; i < self->count; ++i) {
    queue *other = &self->queues[i];
    if (other->awaits && other->event == event &&
        self->happened[event] >= other->records)
      pthread_cond_signal(&other->wakes);
  }
}

static void record(hfta_queues *self, uint32_t event) {
  pthread_mutex_lock(&self->mutex);
  happen(self, event);
  pthread_mutex_unlock(&self->mutex);
}

static void begin_computing(hfta_queues *self) {
  if (!self->computes)
    hfta_computing_begin();
  self->computes = true;
}

/// Ends the time in which the host counts as computing. Called by the host when
/// it has no more commands to execute.
static void end_computing(hfta_queues *self) {
  if (self->computes)
    hfta_computing_end();
  self->computes = false;
}

static void await(hfta_queues *self, uint32_t number, const hfta_work *work) {
  queue *own = &self->queues[number];
  pthread_mutex_lock(&self->mutex);
  bool blocks = self->happened[work->number] < work->records;
  double begin = blocks ? begin_activity(self) : 0.0;
  if (blocks && number == 0)
    hfta_waiting_begin();
  own->event = work->number;
  own->records = work->records;
  own->awaits = true;
  while (self->happened[work->number] < work->records)
    pthread_cond_wait(&own->wakes, &self->mutex);
  own->awaits = false;
  pthread_mutex_unlock(&self->mutex);
  if (blocks && number == 0)
    hfta_waiting_end();
  if (blocks)
    end_activity(self, (hfta_activity){.kind = HFTA_ACTIVITY_AWAIT,
                                       .queue = number,
                                       .number = work->number,
                                       .begin = begin});
}

static void call_host(hfta_queues *self, uint32_t queue,
                      const hfta_host_call *call) {
  hfta_error error;
  double begin = begin_activity(self);
  hfta_status status = call->function(call->argument, &error);
  end_activity(self, (hfta_activity){.kind = HFTA_ACTIVITY_CALL,
                                     .queue = queue,
                                     .post = call->post,
                                     .begin = begin});
  if (status != HFTA_OK)
    note_error(self, status, &error);
}

/// Copies or fills memory.
static void write_memory(hfta_queues *self, uint32_t queue,
                         const hfta_work *work) {
  bool is_copy = work->kind == HFTA_WORK_COPY;
  double begin = begin_activity(self);
  if (is_copy)
    memcpy(work->to, work->from, work->bytes);
  else
    memset(work->to, 0, work->bytes);
  end_activity(self, (hfta_activity){.kind = is_copy ? HFTA_ACTIVITY_COPY
                                                     : HFTA_ACTIVITY_FILL,
                                     .queue = queue,
                                     .to = work->to,
                                     .bytes = work->bytes,
                                     .begin = begin});
}

/// Copies extents of a store to memory or memory to extents.
static void move(hfta_queues *self, uint32_t queue, const hfta_work *work) {
  hfta_error error;
  bool is_fetch = work->kind == HFTA_WORK_FETCH;
  double begin = begin_activity(self);
  hfta_status status =
      is_fetch ? hfta_store_read(work->store, work->extent, work->extents,
                                 work->to, &error)
               : hfta_store_write(work->store, work->extent, work->extents,
                                  work->from, &error);
  end_activity(self, (hfta_activity){.kind = is_fetch ? HFTA_ACTIVITY_FETCH
                                                      : HFTA_ACTIVITY_EVICT,
                                     .queue = queue,
                                     .number = (int64_t)work->extent,
                                     .bytes = work->bytes,
                                     .begin = begin});
  if (status != HFTA_OK)
    note_error(self, status, &error);
}

static void do_work(hfta_queues *self, uint32_t queue, const hfta_work *work) {
  switch (work->kind) {
  case HFTA_WORK_RUN:
    run_task(self, queue, work);
    break;
  case HFTA_WORK_CALL:
    call_host(self, queue, &work->host_call);
    break;
  case HFTA_WORK_COPY:
  case HFTA_WORK_FILL:
    write_memory(self, queue, work);
    break;
  case HFTA_WORK_FETCH:
  case HFTA_WORK_EVICT:
    move(self, queue, work);
    break;
  case HFTA_WORK_RECORD:
    record(self, work->number);
    break;
  case HFTA_WORK_AWAIT:
    await(self, queue, work);
    break;
  }
}

/// Executes commands of queue 0 on the host's thread, until `end` commands are
/// done. The host counts as computing from its first command until `wait` has
/// executed all commands: in between, it only adds commands.
static void do_first_queue(hfta_queues *self, uint64_t end) {
  queue *first = &self->queues[0];
  if (first->done < end)
    begin_computing(self);
  for (; first->done < end; ++first->done)
    do_work(self, 0, &first->work[first->done % CAPACITY]);
}

static void *queue_main(void *argument) {
  queue *own = argument;
  hfta_queues *self = own->all;
  pthread_mutex_lock(&self->mutex);
  for (;;) {
    while (own->done == own->pushed && !self->stopping)
      pthread_cond_wait(&own->wakes, &self->mutex);
    if (own->done == own->pushed)
      break;
    pthread_mutex_unlock(&self->mutex);
    do_work(self, (uint32_t)(own - self->queues),
            &own->work[own->done % CAPACITY]);
    pthread_mutex_lock(&self->mutex);
    ++own->done;
    if (self->finishing == own && own->done >= self->finishes)
      pthread_cond_signal(&self->queues[0].wakes);
  }
  pthread_mutex_unlock(&self->mutex);
  return NULL;
}

//===----------------------------------------------------------------------===//
// The host
//===----------------------------------------------------------------------===//

/// Waits until `done` commands of a queue are done by its thread. Returns
/// whether that took time. The caller holds the mutex.
static bool finish(hfta_queues *self, queue *of, uint64_t done) {
  bool blocks = of->done < done;
  if (blocks)
    hfta_waiting_begin();
  self->finishing = of;
  self->finishes = done;
  while (of->done < done)
    pthread_cond_wait(&self->queues[0].wakes, &self->mutex);
  self->finishing = NULL;
  if (blocks)
    hfta_waiting_end();
  return blocks;
}

/// Waits until a queue has room for a command. Before waiting for a thread, the
/// host executes its own commands, because that thread may be waiting for an
/// event that they record.
static void make_room(hfta_queues *self, queue *to) {
  queue *first = &self->queues[0];
  if (to == first) {
    if (first->pushed - first->done == CAPACITY)
      do_first_queue(self, first->done + 1);
    return;
  }
  pthread_mutex_lock(&self->mutex);
  bool is_full = to->pushed - to->done == CAPACITY;
  pthread_mutex_unlock(&self->mutex);
  if (!is_full)
    return;
  do_first_queue(self, first->pushed);
  pthread_mutex_lock(&self->mutex);
  finish(self, to, to->pushed - CAPACITY + 1);
  pthread_mutex_unlock(&self->mutex);
}

/// Records an event immediately if its queue is idle, since all commands before
/// it are done. Waking the queue's thread just for this would delay whoever
/// waits for the event. Returns false if the queue isn't idle.
static bool record_at_once(hfta_queues *self, const queue *of, uint32_t event) {
  pthread_mutex_lock(&self->mutex);
  bool is_idle = of->done == of->pushed;
  if (is_idle)
    happen(self, event);
  pthread_mutex_unlock(&self->mutex);
  return is_idle;
}

void hfta_queues_push(hfta_queues *self, uint32_t number,
                      const hfta_work *work) {
  queue *to = &self->queues[number];
  if (work->kind == HFTA_WORK_RECORD) {
    ++self->recorded[work->number];
    if (number != 0 && record_at_once(self, to, work->number))
      return;
  }
  make_room(self, to);
  uint64_t place = to->pushed % CAPACITY;
  hfta_work *entry = &to->work[place];
  *entry = *work;
  if (work->kind == HFTA_WORK_RUN) {
    void **segments = to->segments + place * self->segments;
    int32_t *copies = to->copies + 2 * place * (uint64_t)self->copies;
    int32_t *slabs = copies + self->copies;
    size_t count = sizeof(int32_t) * (size_t)work->call.copy_count;
    memcpy(segments, work->call.segments, sizeof(void *) * self->segments);
    entry->call.segments = segments;
    if (work->call.copies) {
      memcpy(copies, work->call.copies, count);
      entry->call.copies = copies;
    }
    if (work->call.slabs) {
      memcpy(slabs, work->call.slabs, count);
      entry->call.slabs = slabs;
    }
  } else if (work->kind == HFTA_WORK_AWAIT) {
    entry->records = self->recorded[work->number];
  }
  if (number == 0) {
    ++to->pushed;
    return;
  }
  pthread_mutex_lock(&self->mutex);
  // Only an idle thread must be woken. A thread that isn't idle is executing a
  // command or waits for an event.
  bool is_idle = to->done == to->pushed++;
  if (is_idle)
    pthread_cond_signal(&to->wakes);
  pthread_mutex_unlock(&self->mutex);
}

/// Waits for the queues in the set of bits `which`, except queue 0. Returns
/// whether any of them had commands left.
static bool wait_for_threads(hfta_queues *self, uint64_t which) {
  bool blocks = false;
  pthread_mutex_lock(&self->mutex);
  for (uint32_t i = 1; i < self->count; ++i)
    if (which >> (i < 63 ? i : 63) & 1)
      blocks |= finish(self, &self->queues[i], self->queues[i].pushed);
  pthread_mutex_unlock(&self->mutex);
  return blocks;
}

hfta_status hfta_queues_wait(hfta_queues *self, uint64_t which,
                             hfta_error *error) {
  do_first_queue(self, self->queues[0].pushed);
  double begin = begin_activity(self);
  if (wait_for_threads(self, which))
    end_activity(self,
                 (hfta_activity){.kind = HFTA_ACTIVITY_WAIT, .begin = begin});
  end_computing(self);
  // The mutex is needed because queues that aren't waited for may report errors
  // meanwhile.
  pthread_mutex_lock(&self->mutex);
  hfta_status status = self->status;
  self->status = HFTA_OK;
  if (status != HFTA_OK)
    hfta_fail(error, status, "%s", self->error.message);
  pthread_mutex_unlock(&self->mutex);
  return status;
}

void hfta_queues_observe(hfta_queues *self, const hfta_observer *observer) {
  self->observer = observer ? *observer : (hfta_observer){NULL, NULL, NULL};
}

/// Gives up precedence in the pool, before the queues are destroyed or use
/// another pool.
static void stop_being_first(hfta_queues *self) {
  hfta_shared_pool *pool = self->pool;
  pthread_mutex_lock(&pool->mutex);
  if (pool->first == self)
    pool->first = NULL;
  pthread_mutex_unlock(&pool->mutex);
}

void hfta_queues_use_pool(hfta_queues *self, hfta_shared_pool *pool) {
  self->is_timed = true;
  if (pool == self->pool)
    return;
  stop_being_first(self);
  self->pool = pool;
}

double hfta_queues_computed(hfta_queues *self) {
  pthread_mutex_lock(&self->pool->mutex);
  double seconds = self->computed;
  pthread_mutex_unlock(&self->pool->mutex);
  return seconds;
}

void hfta_queues_go_first(hfta_queues *self) {
  hfta_shared_pool *pool = self->pool;
  pthread_mutex_lock(&pool->mutex);
  pool->first = self;
  pthread_cond_broadcast(&pool->freed);
  pthread_mutex_unlock(&pool->mutex);
}

void hfta_queues_run_by(hfta_queues *self, const hfta_task_runner *runner) {
  self->runner = *runner;
}

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

static hfta_status allocate(hfta_queues *self, uint32_t events,
                            hfta_error *error) {
  self->recorded = calloc(events + 1, sizeof(*self->recorded));
  self->happened = calloc(events + 1, sizeof(*self->happened));
  bool complete = self->recorded && self->happened;
  for (uint32_t i = 0; i < self->count; ++i) {
    queue *own = &self->queues[i];
    own->all = self;
    pthread_cond_init(&own->wakes, NULL);
    own->segments =
        calloc((size_t)self->segments * CAPACITY + 1, sizeof(*own->segments));
    own->copies =
        calloc(2 * (size_t)self->copies * CAPACITY + 1, sizeof(*own->copies));
    complete &= own->segments && own->copies;
  }
  return complete ? HFTA_OK
                  : hfta_fail(error, HFTA_UNSUPPORTED,
                              "not enough memory for the device's queues");
}

static hfta_status start_threads(hfta_queues *self, hfta_error *error) {
  int code = 0;
  for (uint32_t i = 1; i < self->count && code == 0; ++i) {
    queue *own = &self->queues[i];
    code = hfta_small_thread_start(&own->thread, queue_main, own);
    own->started = code == 0;
  }
  return code == 0
             ? HFTA_OK
             : hfta_fail(error, HFTA_UNSUPPORTED,
                         "cannot start a queue's thread: %s", strerror(code));
}

hfta_status hfta_queues_create(const hfta_device_options *options,
                               hfta_shared_pool *pool, hfta_queues **out,
                               hfta_error *error) {
  *out = NULL;
  uint32_t count = options->queues ? options->queues : 1;
  hfta_queues *self = calloc(1, sizeof(*self) + count * sizeof(queue));
  if (!self)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory for the device's queues");
  self->pool = pool;
  self->segments = options->segments;
  self->copies = options->copies;
  self->count = count;
  pthread_mutex_init(&self->observing, NULL);
  pthread_mutex_init(&self->mutex, NULL);
  hfta_status status = allocate(self, options->events, error);
  if (status == HFTA_OK)
    status = start_threads(self, error);
  if (status != HFTA_OK) {
    hfta_queues_destroy(self);
    return status;
  }
  *out = self;
  return HFTA_OK;
}

void hfta_queues_destroy(hfta_queues *self) {
  if (!self)
    return;
  end_computing(self);
  stop_being_first(self);
  pthread_mutex_lock(&self->mutex);
  self->stopping = true;
  for (uint32_t i = 0; i < self->count; ++i)
    pthread_cond_signal(&self->queues[i].wakes);
  pthread_mutex_unlock(&self->mutex);
  for (uint32_t i = 0; i < self->count; ++i) {
    if (self->queues[i].started)
      pthread_join(self->queues[i].thread, NULL);
    pthread_cond_destroy(&self->queues[i].wakes);
    free(self->queues[i].segments);
    free(self->queues[i].copies);
  }
  pthread_mutex_destroy(&self->mutex);
  pthread_mutex_destroy(&self->observing);
  free(self->recorded);
  free(self->happened);
  free(self);
}
