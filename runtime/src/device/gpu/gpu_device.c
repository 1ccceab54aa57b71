//===- gpu_device.c - A GPU as a device -----------------------------------===//
//
// Queues are the driver's streams, and events its events. Consecutive tasks of
// a queue are collected until another command comes, and are then launched
// together as one run (gpu_graphs.h). The host blocks only in `wait` and
// `wait_until`, which also report failures of earlier commands. While there is
// an observer, the host waits for each command, so that it can be timed.
//===----------------------------------------------------------------------===//

#include "device/gpu/gpu_device.h"

#include "device/gpu/gpu_calls.h"
#include "device/gpu/gpu_graphs.h"
#include "device/gpu/gpu_marks.h"
#include "system/clock.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct gpu_device {
  hfta_device base;
  hfta_device_functions functions;
  const hfta_gpu_driver *driver;
  hfta_gpu *gpu; ///< NULL if it couldn't be opened
  const hfta_program *program;
  int index, threads;
  uint32_t queue_count, event_count;
  hfta_gpu_stream *streams;
  hfta_gpu_event *events;
  bool *is_recorded;
  hfta_gpu_marks marks;
  bool is_lost[HFTA_DEVICE_MARKS]; ///< whether a command before the mark has
                                   ///< failed
  /// The number of host functions that streams were given before the mark.
  uint64_t calls_before[HFTA_DEVICE_MARKS];
  hfta_gpu_launcher launcher;
  hfta_gpu_graphs *graphs;
  uint32_t run_queue; ///< the queue of the collected tasks, if there are any
  hfta_gpu_calls calls;
  const hfta_observer *observer;
  hfta_status status; ///< the first failure of a driver call since the last
                      ///< wait
  hfta_error error;
  double computed; ///< seconds that tasks have taken while there was an
                   ///< observer
} gpu_device;

static gpu_device *own(hfta_device *device) { return (gpu_device *)device; }

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// Checks the result of a driver call, and keeps the first failure for `wait`.
/// Returns whether the call has succeeded. `of` names the object of the call;
/// NULL if there is none.
static bool note(gpu_device *self, hfta_gpu_result result, const char *of) {
  if (result.code == 0)
    return true;
  if (self->status != HFTA_OK)
    return false;
  hfta_error reason;
  self->status = hfta_gpu_fail(self->gpu, result, of, &reason);
  hfta_fail(&self->error, self->status, "device '%s:%d': %s",
            self->functions.kind, self->index, reason.message);
  return false;
}

/// Returns and clears the first failure since the last call; a driver call's
/// failure takes precedence over a host function's.
static hfta_status take_error(gpu_device *self, hfta_error *error) {
  hfta_status calls =
      hfta_gpu_calls_take_error(&self->calls, UINT64_MAX, error);
  hfta_status status = self->status;
  if (status == HFTA_OK)
    return calls;
  self->status = HFTA_OK;
  return hfta_fail(error, status, "%s", self->error.message);
}

/// Makes calls of this thread be for the GPU. Returns false if that fails or an
/// earlier failure hasn't been reported yet.
static bool enter(gpu_device *self) {
  return self->status == HFTA_OK &&
         note(self, self->driver->enter(self->gpu), NULL);
}

//===----------------------------------------------------------------------===//
// Closing
//===----------------------------------------------------------------------===//

/// Waits for all streams, even those with failed work, because the memory that
/// they use is about to be freed.
static void finish_streams(gpu_device *self) {
  for (uint32_t i = 0; self->streams && i < self->queue_count; ++i)
    if (self->streams[i])
      self->driver->stream_synchronize(self->gpu, self->streams[i]);
}

static void gpu_close(hfta_device *device) {
  gpu_device *self = own(device);
  const hfta_gpu_driver *driver = self->driver;
  hfta_gpu *gpu = self->gpu;
  if (gpu) {
    driver->enter(gpu);
    finish_streams(self);
    hfta_gpu_graphs_destroy(self->graphs);
    self->graphs = NULL;
    driver->unload(gpu, self->launcher.code);
    if (self->launcher.scratch)
      driver->memory_free(gpu, self->launcher.scratch);
    hfta_gpu_marks_close(&self->marks);
    for (uint32_t i = 0; self->events && i < self->event_count; ++i)
      if (self->events[i])
        driver->event_destroy(gpu, self->events[i]);
    for (uint32_t i = 0; self->streams && i < self->queue_count; ++i)
      if (self->streams[i])
        driver->stream_destroy(gpu, self->streams[i]);
    driver->close(gpu);
  }
  hfta_gpu_graphs_destroy(self->graphs);
  hfta_gpu_calls_close(&self->calls);
  free(self->events);
  free(self->is_recorded);
  free(self->streams);
  free(self->launcher.parameters);
  free(self->launcher.places);
  free(self);
}

static int gpu_threads(const hfta_device *device) {
  return ((const gpu_device *)device)->threads;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static hfta_status fail_memory(gpu_device *self, uint64_t bytes,
                               hfta_error *error) {
  return hfta_fail(error, HFTA_UNSUPPORTED,
                   "device '%s:%d' ('%s') needs %llu more bytes of memory, "
                   "but %llu are free",
                   self->functions.kind, self->index, self->gpu->name,
                   (unsigned long long)bytes,
                   (unsigned long long)self->driver->free_bytes(self->gpu));
}

/// Allocates zeroed memory. `alignment` isn't needed: the driver aligns all
/// allocations to at least 256 bytes.
static hfta_status gpu_allocate(hfta_device *device, uint64_t bytes,
                                uint64_t alignment, void **out,
                                hfta_error *error) {
  (void)alignment;
  gpu_device *self = own(device);
  const hfta_gpu_driver *driver = self->driver;
  *out = NULL;
  if (bytes == 0)
    return HFTA_OK;
  hfta_gpu_address address = 0;
  hfta_gpu_result result = driver->enter(self->gpu);
  if (result.code == 0)
    result = driver->memory_allocate(self->gpu, &address, bytes);
  if (result.lacks_memory)
    return fail_memory(self, bytes, error);
  if (result.code == 0)
    result = driver->memory_clear(self->gpu, address, bytes, self->streams[0]);
  if (result.code == 0)
    result = driver->stream_synchronize(self->gpu, self->streams[0]);
  if (result.code == 0) {
    *out = (void *)(uintptr_t)address;
    return HFTA_OK;
  }
  // The stream may still be writing to the memory, so wait before freeing it.
  hfta_status status = hfta_gpu_fail(self->gpu, result, NULL, error);
  if (address) {
    driver->stream_synchronize(self->gpu, self->streams[0]);
    driver->memory_free(self->gpu, address);
  }
  return status;
}

static void gpu_release(hfta_device *device, void *memory, uint64_t bytes) {
  (void)bytes;
  gpu_device *self = own(device);
  if (memory && self->driver->enter(self->gpu).code == 0)
    self->driver->memory_free(self->gpu, (hfta_gpu_address)(uintptr_t)memory);
}

/// Allocates scratch memory for kernels that run for at most `copies` copies.
static hfta_status gpu_reserve(hfta_device *device, int64_t copies,
                               hfta_error *error) {
  gpu_device *self = own(device);
  uint64_t bytes = hfta_gpu_scratch_bytes(self->program, copies);
  void *scratch = NULL;
  hfta_error reason;
  gpu_release(device, (void *)(uintptr_t)self->launcher.scratch, 0);
  self->launcher.scratch = 0;
  hfta_status status = gpu_allocate(device, bytes, 256, &scratch, &reason);
  self->launcher.scratch = (hfta_gpu_address)(uintptr_t)scratch;
  return status == HFTA_OK
             ? HFTA_OK
             : hfta_fail(error, status, "kernels' scratch memory: %s",
                         reason.message);
}

static bool gpu_lock(hfta_device *device, void *memory, uint64_t bytes) {
  gpu_device *self = own(device);
  return self->driver->enter(self->gpu).code == 0 &&
         self->driver->host_lock(self->gpu, memory, bytes).code == 0;
}

static void gpu_unlock(hfta_device *device, void *memory) {
  gpu_device *self = own(device);
  if (self->driver->enter(self->gpu).code == 0)
    self->driver->host_unlock(self->gpu, memory);
}

static void *gpu_host_address(hfta_device *device, void *memory) {
  (void)device;
  (void)memory;
  return NULL;
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// Launches the collected tasks, if they are for this queue.
static void flush(gpu_device *self, uint32_t queue) {
  if (!hfta_gpu_graphs_has_run(self->graphs) || self->run_queue != queue)
    return;
  if (!enter(self))
    return hfta_gpu_graphs_drop(self->graphs);
  hfta_gpu_failure failure;
  hfta_gpu_result result =
      hfta_gpu_graphs_flush(self->graphs, self->streams[queue], &failure);
  note(self, result, failure.of);
}

/// Launches the queue's collected tasks, and makes calls be for the GPU.
/// Returns false after a failure that wasn't reported yet.
static bool enter_queue(gpu_device *self, uint32_t queue) {
  flush(self, queue);
  return enter(self);
}

/// If there is an observer, waits for the end of a command that began at time
/// `from` and reports it.
static void tell(gpu_device *self, hfta_activity *activity, double from) {
  if (!self->observer || self->status != HFTA_OK)
    return;
  note(self,
       self->driver->stream_synchronize(self->gpu,
                                        self->streams[activity->queue]),
       NULL);
  activity->begin = from;
  activity->end = hfta_now();
  self->observer->done(self->observer->argument, activity);
}

static double now_if_observed(const gpu_device *self) {
  return self->observer ? hfta_now() : 0;
}

static void gpu_fill(hfta_device *device, uint32_t queue, void *to,
                     uint64_t bytes) {
  gpu_device *self = own(device);
  if (bytes == 0 || !enter_queue(self, queue))
    return;
  double from = now_if_observed(self);
  note(self,
       self->driver->memory_clear(self->gpu, (hfta_gpu_address)(uintptr_t)to,
                                  bytes, self->streams[queue]),
       NULL);
  tell(
      self,
      &(hfta_activity){
          .kind = HFTA_ACTIVITY_FILL, .queue = queue, .to = to, .bytes = bytes},
      from);
}

/// Copies memory. The driver tells host memory from device memory by the
/// address, so no direction is needed.
static void gpu_copy(hfta_device *device, uint32_t queue, void *to,
                     const void *from, uint64_t bytes) {
  gpu_device *self = own(device);
  if (bytes == 0 || !enter_queue(self, queue))
    return;
  double begin = now_if_observed(self);
  note(self,
       self->driver->memory_copy(self->gpu, (hfta_gpu_address)(uintptr_t)to,
                                 (hfta_gpu_address)(uintptr_t)from, bytes,
                                 self->streams[queue]),
       NULL);
  tell(
      self,
      &(hfta_activity){
          .kind = HFTA_ACTIVITY_COPY, .queue = queue, .to = to, .bytes = bytes},
      begin);
}

/// Records a failure. hftac compiles no program with a store for a GPU, so this
/// isn't reached.
static void refuse_store(gpu_device *self) {
  if (self->status == HFTA_OK)
    self->status = hfta_fail(&self->error, HFTA_UNSUPPORTED,
                             "device '%s:%d': nothing is spilled from a GPU "
                             "in this version",
                             self->functions.kind, self->index);
}

static void gpu_fetch(hfta_device *device, uint32_t queue, hfta_store *store,
                      uint64_t first, uint64_t count, void *to,
                      uint64_t bytes) {
  (void)queue, (void)store, (void)first, (void)count, (void)to, (void)bytes;
  refuse_store(own(device));
}

static void gpu_evict(hfta_device *device, uint32_t queue, hfta_store *store,
                      uint64_t first, uint64_t count, const void *from,
                      uint64_t bytes) {
  (void)queue, (void)store, (void)first, (void)count, (void)from, (void)bytes;
  refuse_store(own(device));
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Launches a task immediately and without a graph, so that it can be timed.
static void run_observed(gpu_device *self, uint32_t queue,
                         const hfta_task_call *call, uint32_t number) {
  if (!enter_queue(self, queue))
    return;
  double from = hfta_now();
  const hfta_launch *failed;
  hfta_gpu_result result = hfta_gpu_launch(
      &self->launcher, self->streams[queue], call, number, &failed);
  if (result.code != 0) {
    char of[512];
    snprintf(of, sizeof(of), "kernel '%s' of task '%s'", failed->name,
             call->task->name);
    note(self, result, of);
  }
  tell(self,
       &(hfta_activity){.kind = HFTA_ACTIVITY_RUN,
                        .queue = queue,
                        .number = number,
                        .call = call},
       from);
  self->computed += hfta_now() - from;
}

static void gpu_run(hfta_device *device, uint32_t queue,
                    const hfta_task_call *call, uint32_t number) {
  gpu_device *self = own(device);
  if (self->observer)
    return run_observed(self, queue, call, number);
  if (self->run_queue != queue)
    flush(self, self->run_queue);
  self->run_queue = queue;
  if (!hfta_gpu_graphs_add(self->graphs, call, number) &&
      self->status == HFTA_OK)
    self->status = hfta_fail(&self->error, HFTA_UNSUPPORTED,
                             "not enough memory for a run of tasks");
}

//===----------------------------------------------------------------------===//
// Host functions, events and marks
//===----------------------------------------------------------------------===//

static void gpu_call(hfta_device *device, uint32_t queue,
                     const hfta_host_call *call) {
  gpu_device *self = own(device);
  if (!enter_queue(self, queue))
    return;
  double from = now_if_observed(self);
  hfta_gpu_result result =
      hfta_gpu_calls_give(&self->calls, self->gpu, self->streams[queue], call);
  if (result.lacks_memory)
    self->status = hfta_fail(&self->error, HFTA_UNSUPPORTED,
                             "not enough memory for a call of the host");
  else
    note(self, result, NULL);
  tell(self,
       &(hfta_activity){
           .kind = HFTA_ACTIVITY_CALL, .queue = queue, .post = call->post},
       from);
}

static void gpu_record(hfta_device *device, uint32_t queue, uint32_t event) {
  gpu_device *self = own(device);
  if (enter_queue(self, queue))
    self->is_recorded[event] =
        note(self,
             self->driver->event_record(self->gpu, self->events[event],
                                        self->streams[queue]),
             NULL);
}

static void gpu_await(hfta_device *device, uint32_t queue, uint32_t event) {
  gpu_device *self = own(device);
  if (self->is_recorded[event] && enter_queue(self, queue))
    note(self,
         self->driver->stream_wait(self->gpu, self->streams[queue],
                                   self->events[event]),
         NULL);
}

/// Does nothing, since no threads of the host run kernels.
static void gpu_use_threads(hfta_device *device, hfta_device *of) {
  (void)device;
  (void)of;
}

static void gpu_go_first(hfta_device *device) { (void)device; }

static double gpu_computed(hfta_device *device) {
  return own(device)->computed;
}

/// Waits for the queues whose bits are set in `queues`, and keeps the first
/// failure. Waits for all of them even after a failure, because callers then
/// free memory that the queues' work uses.
static void finish_queues(gpu_device *self, uint64_t queues) {
  for (uint32_t i = 0; i < self->queue_count; ++i) {
    if (!(queues >> (i < 63 ? i : 63) & 1))
      continue;
    flush(self, i);
    if (!enter(self))
      self->driver->enter(self->gpu);
    note(self, self->driver->stream_synchronize(self->gpu, self->streams[i]),
         "earlier launches");
  }
}

static hfta_status gpu_wait_for(hfta_device *device, uint64_t queues,
                                hfta_error *error) {
  gpu_device *self = own(device);
  finish_queues(self, queues);
  if (queues == UINT64_MAX && self->status == HFTA_OK)
    hfta_gpu_calls_forget(&self->calls, UINT64_MAX);
  return take_error(self, error);
}

static hfta_status gpu_wait(hfta_device *device, hfta_error *error) {
  return gpu_wait_for(device, UINT64_MAX, error);
}

/// Sets a mark. Collected tasks are launched before it, so that their failures
/// count as failures before the mark. Failures of host functions become known
/// only later: see settle_calls.
static void gpu_mark(hfta_device *device, uint32_t number) {
  gpu_device *self = own(device);
  if (enter_queue(self, self->run_queue))
    note(self, hfta_gpu_marks_set(&self->marks, number), NULL);
  self->is_lost[number] = self->status != HFTA_OK;
  self->calls_before[number] = self->calls.count;
}

/// Returns the failure of a host function that was called before a mark, all of
/// which have ended. After a failure, waits for all queues, so that no work
/// after the mark is in flight.
static hfta_status settle_calls(gpu_device *self, uint32_t number,
                                hfta_error *error) {
  uint64_t end = self->calls_before[number];
  hfta_status status = hfta_gpu_calls_take_error(&self->calls, end, error);
  if (status != HFTA_OK)
    finish_queues(self, UINT64_MAX);
  hfta_gpu_calls_forget(&self->calls, end);
  return status;
}

/// Waits for a mark. Failures of commands after the mark are left to later
/// calls, unless a command before the mark has failed.
static hfta_status gpu_wait_until(hfta_device *device, uint32_t number,
                                  hfta_error *error) {
  gpu_device *self = own(device);
  if (!self->is_lost[number]) {
    hfta_gpu_result result = self->driver->enter(self->gpu);
    if (result.code == 0)
      result = self->driver->event_synchronize(self->gpu,
                                               self->marks.events[number]);
    if (result.code == 0)
      return settle_calls(self, number, error);
    note(self, result, "earlier launches");
  }
  return gpu_wait(device, error);
}

static void gpu_observe(hfta_device *device, const hfta_observer *observer) {
  flush(own(device), own(device)->run_queue);
  own(device)->observer = observer;
}

static const hfta_device_functions gpu_functions = {
    .close = gpu_close,
    .threads = gpu_threads,
    .allocate = gpu_allocate,
    .release = gpu_release,
    .scratch_bytes = hfta_gpu_scratch_bytes,
    .reserve = gpu_reserve,
    .lock = gpu_lock,
    .unlock = gpu_unlock,
    .fill = gpu_fill,
    .copy = gpu_copy,
    .fetch = gpu_fetch,
    .evict = gpu_evict,
    .run = gpu_run,
    .call = gpu_call,
    .record = gpu_record,
    .await = gpu_await,
    .use_threads = gpu_use_threads,
    .go_first = gpu_go_first,
    .computed = gpu_computed,
    .wait = gpu_wait,
    .wait_for = gpu_wait_for,
    .mark = gpu_mark,
    .wait_until = gpu_wait_until,
    .observe = gpu_observe,
    .host_address = gpu_host_address,
};

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

static bool create_streams(gpu_device *self,
                           const hfta_device_options *options) {
  const hfta_gpu_driver *driver = self->driver;
  bool works = true;
  for (uint32_t i = 0; i < options->queues && works; ++i)
    works =
        note(self, driver->stream_create(self->gpu, &self->streams[i]), NULL);
  for (uint32_t i = 0; i < options->events && works; ++i)
    works = note(self, driver->event_create(self->gpu, &self->events[i]), NULL);
  return works && note(self,
                       hfta_gpu_marks_open(&self->marks, self->gpu,
                                           self->streams, self->queue_count),
                       NULL);
}

static hfta_status begin(gpu_device *self, const hfta_device_options *options,
                         hfta_error *error) {
  self->queue_count = options->queues;
  self->event_count = options->events;
  self->streams = calloc((size_t)options->queues + 1, sizeof(*self->streams));
  self->events = calloc((size_t)options->events + 1, sizeof(*self->events));
  self->is_recorded = calloc((size_t)options->events + 1, sizeof(bool));
  hfta_gpu_launcher *launcher = &self->launcher;
  launcher->parameters =
      calloc(HFTA_GPU_PARAMETERS, sizeof(*launcher->parameters));
  launcher->places = calloc(HFTA_GPU_PARAMETERS, sizeof(void *));
  self->graphs = hfta_gpu_graphs_create(launcher, options->program);
  if (!self->streams || !self->events || !self->is_recorded ||
      !launcher->parameters || !launcher->places || !self->graphs)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a device");
  hfta_status status = self->driver->open(self->index, &self->gpu, error);
  if (status != HFTA_OK)
    return status;
  launcher->gpu = self->gpu;
  if (!enter(self) || !create_streams(self, options))
    return take_error(self, error);
  return self->driver->load(self->gpu, options->program, &launcher->code,
                            error);
}

hfta_status hfta_gpu_device_open(const hfta_device_functions *kind,
                                 const hfta_gpu_driver *driver,
                                 const hfta_device_options *options,
                                 hfta_device **out, hfta_error *error) {
  *out = NULL;
  if (options->beside)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "device '%s:%d': several jobs, or workers of a "
                     "pipeline, at the same time aren't supported on a GPU in "
                     "this version",
                     kind->kind, options->index);
  gpu_device *self = calloc(1, sizeof(*self));
  if (!self)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a device");
  self->functions = gpu_functions;
  self->functions.kind = kind->kind;
  self->functions.open = kind->open;
  self->base.functions = &self->functions;
  self->driver = driver;
  hfta_gpu_calls_open(&self->calls);
  self->program = options->program;
  self->index = options->index;
  // A turn has as many copies as there are threads, and on a GPU all copies run
  // at once.
  self->threads = (int)options->copies;
  hfta_status status = begin(self, options, error);
  if (status == HFTA_OK)
    *out = &self->base;
  else
    gpu_close(&self->base);
  return status;
}
