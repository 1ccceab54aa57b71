//===- launch.c - Running tasks on a pool of threads ----------------------===//

#include "hfta/launch.h"

#include "system/clock.h"
#include "system/denormals.h"

#include <string.h>

/// Consecutive launches of a task, to be run for some of the call's copies.
typedef struct work {
  hfta_pool *pool;
  const hfta_task_call *call;
  const hfta_launch *launches;
  int64_t count;
  int64_t first;
  int64_t copies; ///< the number of copies; position `first` in the call's list
                  ///< is the first one
  /// If not NULL, `first` is a position in this list of positions.
  const int32_t *positions;
} work;

/// Returns the position, in the call's list, of one of the copies, numbered
/// from 0.
static int64_t position_of(const work *self, int64_t number) {
  int64_t at = self->first + number;
  return self->positions ? self->positions[at] : at;
}

/// Fills in the addresses of the first launch's operands for one of the copies,
/// numbered from 0.
static void bind(const work *self, int64_t number, void **buffers) {
  int64_t position = position_of(self, number);
  for (uint32_t i = 0; i < self->launches->binding_count; ++i)
    buffers[i] = hfta_call_address(self->call, self->launches, i, position);
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

/// Returns the current time if the call's launches are timed; else 0.
static double begin_time(const work *self) {
  return self->call->times ? hfta_now() : 0.0;
}

/// Adds the time since `begin` to what a thread has computed for the first
/// launch.
static void note_busy(const work *self, int thread, double begin) {
  const hfta_task *task = self->call->task;
  const hfta_launch_times *times = self->call->times;
  if (!times || times->warm)
    return;
  uint32_t number = (uint32_t)(self->launches - task->launches);
  times->busy[(uint32_t)thread * task->launch_count + number] +=
      hfta_now() - begin;
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

/// Runs items `begin` to `end` - 1 of a kernel. Items are numbered
/// consecutively over all copies, from copy `first` on.
static void run_items(void *argument, int64_t begin, int64_t end, int thread) {
  const work *self = argument;
  const hfta_launch *launch = self->launches;
  void *buffers[HFTA_MAX_BINDINGS];
  void *scratch = self->pool ? hfta_pool_scratch(self->pool, thread) : NULL;
  int64_t items = launch->items;
  int64_t number = begin / items, item = begin % items;
  double start = begin_time(self);
  for (int64_t left = end - begin; left > 0; ++number, item = 0) {
    bind(self, number, buffers);
    for (; item < items && left > 0; ++item, --left)
      launch->kernel(buffers, item, scratch);
  }
  note_busy(self, thread, start);
}

/// Runs groups `begin` to `end` - 1 of a kernel with lanes. Items are numbered
/// consecutively over all copies; a group has one item per lane. If the last
/// group isn't full, its remaining lanes repeat the last item.
static void run_groups(void *argument, int64_t begin, int64_t end, int thread) {
  const work *self = argument;
  const hfta_launch *launch = self->launches;
  void *buffers[HFTA_MAX_BINDINGS];
  int64_t items[HFTA_MAX_BINDINGS];
  void *scratch = self->pool ? hfta_pool_scratch(self->pool, thread) : NULL;
  // The cast goes through void (*)(void) to avoid a compiler warning.
  hfta_lanes_kernel kernel = (hfta_lanes_kernel)(void (*)(void))launch->kernel;
  int64_t last = self->copies * launch->items - 1;
  double start = begin_time(self);
  for (int64_t group = begin; group < end; ++group) {
    for (int64_t lane = 0; lane < launch->lanes; ++lane) {
      int64_t index = group * launch->lanes + lane;
      index = index < last ? index : last;
      bind(self, index / launch->items, buffers + lane * launch->binding_count);
      items[lane] = index % launch->items;
    }
    kernel(buffers, items, scratch);
  }
  note_busy(self, thread, start);
}

/// Runs all launches for one copy before those for the next copy, so that a
/// kernel finds the previous kernel's results in the thread's caches.
static void run_copies(void *argument, int64_t begin, int64_t end, int thread) {
  const work *self = argument;
  for (int64_t number = begin; number < end; ++number) {
    for (int64_t i = 0; i < self->count; ++i) {
      work one = *self;
      one.launches += i;
      one.count = one.copies = 1;
      one.first += number;
      if (one.launches->items > 0)
        run_items(&one, 0, one.launches->items, thread);
    }
  }
}

/// Divides `count` pieces of work among the pool's threads; without a pool, the
/// calling thread does all of them.
static void share_out(hfta_pool *pool, int64_t count,
                      hfta_range_function function, void *argument) {
  if (pool)
    hfta_parallel_for(pool, count, function, argument);
  else if (count > 0)
    function(argument, 0, count, 0);
}

/// Work whose threads flush denormals.
typedef struct flushing_work {
  hfta_range_function function;
  void *argument;
} flushing_work;

static void run_flushing(void *argument, int64_t begin, int64_t end,
                         int thread) {
  const flushing_work *self = argument;
  unsigned mode = hfta_flush_denormals();
  self->function(self->argument, begin, end, thread);
  hfta_restore_denormals(mode);
}

/// Divides `count` pieces of a task's work among the pool's threads.
static void share_work(work *self, int64_t count,
                       hfta_range_function function) {
  flushing_work flushing = {function, self};
  if (self->call->task->flags & HFTA_TASK_FLUSHES_DENORMALS)
    share_out(self->pool, count, run_flushing, &flushing);
  else
    share_out(self->pool, count, function, self);
}

/// Runs the first launch, and divides its items among the threads.
static void share_items(work *self) {
  int64_t items = self->copies * self->launches->items;
  int64_t lanes = self->launches->lanes;
  if (items > 0 && lanes > 0)
    share_work(self, (items + lanes - 1) / lanes, run_groups);
  else if (items > 0)
    share_work(self, items, run_items);
}

/// Checks that every kernel of the task has enough scratch memory and buffers.
static hfta_status check(const hfta_pool *pool, const hfta_task *task,
                         hfta_error *error) {
  uint64_t scratch = pool ? hfta_pool_scratch_bytes(pool) : 0;
  for (uint32_t i = 0; i < task->launch_count; ++i) {
    const hfta_launch *launch = &task->launches[i];
    int64_t lanes = launch->lanes > 0 ? launch->lanes : 1;
    if (launch->binding_count * lanes > HFTA_MAX_BINDINGS ||
        launch->scratch_bytes > scratch)
      return hfta_fail(
          error, HFTA_INTERNAL,
          "task '%s': kernel '%s' asks for more scratch or buffers "
          "than the program declares",
          task->name, launch->name);
  }
  return HFTA_OK;
}

/// Runs consecutive launches for each copy. If there are several, most copies
/// run through all of them without a barrier in between.
static void run_joined(work self) {
  int64_t copies = self.copies;
  // Each thread has as many whole copies, of which others may take some. For
  // the remaining copies, all threads share each launch's items.
  if (self.count > 1) {
    int64_t threads = self.pool ? hfta_pool_threads(self.pool) : 1;
    int64_t whole = copies - copies % threads;
    share_work(&self, whole, run_copies);
    self.first += whole;
    self.copies -= whole;
  }
  for (; self.count > 0; ++self.launches, --self.count)
    share_items(&self);
}

/// Runs consecutive launches for each of those copies that their places name.
static void run_for_some(work self) {
  enum { MOST = 256 };
  int32_t positions[MOST];
  self.positions = positions;
  self.copies = 0;
  for (int64_t at = 0; at < self.call->copy_count; ++at) {
    if (hfta_call_runs(self.call, self.launches, at))
      positions[self.copies++] = (int32_t)at;
    bool is_last = at + 1 == self.call->copy_count;
    if (self.copies == MOST || (is_last && self.copies > 0)) {
      run_joined(self);
      self.copies = 0;
    }
  }
}

/// Runs a launch once: for the copy that it belongs to, or for all copies
/// together if it belongs to none.
static void run_once(work self) {
  int64_t copy = self.launches->copy;
  if (copy >= 0)
    while (self.first < self.call->copy_count &&
           hfta_call_copy(self.call, self.first) != copy)
      ++self.first;
  bool is_here = copy < 0 || self.first < self.call->copy_count;
  self.copies = 1;
  if (is_here)
    share_items(&self);
}

/// Returns whether a launch can run without a barrier after the previous one,
/// copy by copy. Kernels with lanes can't, since their groups extend over
/// several copies.
static bool joins(const hfta_launch *launch) {
  return launch->joins && launch->lanes == 0 && launch[-1].lanes == 0;
}

/// Runs consecutive launches for the copies that they are for.
static void run_group(work self) {
  if (self.launches->per_copy && self.launches->places)
    run_for_some(self);
  else if (self.launches->per_copy)
    run_joined(self);
  else
    run_once(self);
}

static void write_memory(void *argument, int64_t begin, int64_t end,
                         int thread) {
  const hfta_launch_times *times = argument;
  memset((char *)times->evicting + begin, thread, (size_t)(end - begin));
}

/// Runs each launch of a group alone, with cold and then with warm caches.
static void time_alone(work group) {
  const hfta_launch_times *times = group.call->times;
  hfta_task_call untimed = *group.call;
  untimed.times = NULL;
  if (group.copies < 1)
    return;
  for (int64_t i = 0; i < group.count; ++i) {
    work one = group;
    one.call = &untimed;
    one.launches += i;
    one.count = 1;
    int64_t number = one.launches - group.call->task->launches;
    double *least[] = {&times->cold[number], &times->warm[number]};
    share_out(group.pool, (int64_t)times->evicting_bytes, write_memory,
              (void *)(uintptr_t)times);
    for (int run = 0; run < 2; ++run) {
      double begin = hfta_now();
      run_group(one);
      double seconds = (hfta_now() - begin) / (double)group.copies;
      if (*least[run] <= 0 || seconds < *least[run])
        *least[run] = seconds;
    }
  }
}

hfta_status hfta_run_task(hfta_pool *pool, const hfta_task_call *call,
                          hfta_error *error) {
  const hfta_task *task = call->task;
  hfta_status status = check(pool, task, error);
  if (status != HFTA_OK)
    return status;
  for (uint32_t i = 0; i < task->launch_count;) {
    work group = {pool, call, &task->launches[i], 1, 0, call->copy_count, NULL};
    while (i + group.count < task->launch_count &&
           joins(&task->launches[i + group.count]))
      ++group.count;
    double begin = begin_time(&group);
    run_group(group);
    if (call->times && call->times->warm)
      time_alone(group);
    else if (call->times)
      call->times->wall[i] += hfta_now() - begin;
    i += (uint32_t)group.count;
  }
  return HFTA_OK;
}
