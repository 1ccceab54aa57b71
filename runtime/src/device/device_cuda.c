//===- device_cuda.c - An NVIDIA GPU as a device --------------------------===//
//
// Queues are CUDA streams, and events are CUDA events. Consecutive tasks of a
// queue are collected until another command comes, and are then launched
// together as one run (cuda_graphs.h). The host blocks only in `wait` and
// `wait_until`, which also report failures of earlier commands. While there is
// an observer, the host waits for each command, so that it can be timed.
//===----------------------------------------------------------------------===//

#include "device/cuda_calls.h"
#include "device/cuda_gpu.h"
#include "device/cuda_graphs.h"
#include "device/cuda_maps.h"
#include "device/cuda_marks.h"
#include "hfta/device.h"
#include "system/clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct cuda_device {
  hfta_device base;
  const hfta_cuda *cuda;
  const hfta_program *program;
  int index, threads;
  uint32_t queue_count, event_count;
  hfta_cuda_gpu gpu;
  hfta_cu_stream *streams;
  hfta_cu_event *events;
  bool *is_recorded;
  hfta_cuda_marks marks;
  bool is_lost[HFTA_DEVICE_MARKS]; ///< whether a command before the mark has
                                   ///< failed
  /// The number of host functions that streams were given before the mark.
  uint64_t calls_before[HFTA_DEVICE_MARKS];
  hfta_cuda_launcher launcher;
  hfta_cuda_graphs *graphs;
  uint32_t run_queue; ///< the queue of the collected tasks, if there are any
  hfta_cuda_calls calls;
  const hfta_observer *observer;
  hfta_status status; ///< the first failure of a driver call since the last
                      ///< wait
  hfta_error error;
  double computed; ///< seconds that tasks have taken while there was an
                   ///< observer
} cuda_device;

static cuda_device *own(hfta_device *device) { return (cuda_device *)device; }

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// Checks the result of a driver call, and keeps the first failure for `wait`.
/// Returns whether the call has succeeded. `of` names the object of the call;
/// NULL if there is none.
static bool note(cuda_device *self, hfta_cu_result result, const char *call,
                 const char *of) {
  if (result == 0)
    return true;
  if (self->status != HFTA_OK)
    return false;
  hfta_error reason;
  self->status = hfta_cuda_fail(self->cuda, result, call, of, &reason);
  hfta_fail(&self->error, self->status, "device 'cuda:%d': %s", self->index,
            reason.message);
  return false;
}

/// Returns and clears the first failure since the last call; a driver call's
/// failure takes precedence over a host function's.
static hfta_status take_error(cuda_device *self, hfta_error *error) {
  hfta_status calls =
      hfta_cuda_calls_take_error(&self->calls, UINT64_MAX, error);
  hfta_status status = self->status;
  if (status == HFTA_OK)
    return calls;
  self->status = HFTA_OK;
  return hfta_fail(error, status, "%s", self->error.message);
}

/// Makes the GPU's context current on the calling thread. Returns false if that
/// fails or an earlier failure hasn't been reported yet.
static bool enter(cuda_device *self) {
  return self->status == HFTA_OK &&
         note(self, self->cuda->context_set(self->gpu.context),
              "cuCtxSetCurrent", NULL);
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

/// Waits for all streams, even those with failed work, because the memory that
/// they use is about to be freed.
static void finish_streams(cuda_device *self) {
  for (uint32_t i = 0; self->streams && i < self->queue_count; ++i)
    if (self->streams[i])
      self->cuda->stream_synchronize(self->streams[i]);
}

static void cuda_close(hfta_device *device) {
  cuda_device *self = own(device);
  const hfta_cuda *cuda = self->cuda;
  if (self->gpu.context) {
    cuda->context_set(self->gpu.context);
    finish_streams(self);
    hfta_cuda_graphs_destroy(self->graphs);
    self->graphs = NULL;
    hfta_cuda_images_unload(&self->launcher.images);
    if (self->launcher.scratch)
      cuda->memory_free(self->launcher.scratch);
    hfta_cuda_marks_close(&self->marks);
    for (uint32_t i = 0; self->events && i < self->event_count; ++i)
      if (self->events[i])
        cuda->event_destroy(self->events[i]);
    for (uint32_t i = 0; self->streams && i < self->queue_count; ++i)
      if (self->streams[i])
        cuda->stream_destroy(self->streams[i]);
    cuda->context_release(self->gpu.device);
  }
  hfta_cuda_graphs_destroy(self->graphs);
  hfta_cuda_calls_close(&self->calls);
  free(self->events);
  free(self->is_recorded);
  free(self->streams);
  free(self->launcher.parameters);
  free(self->launcher.places);
  free(self->launcher.maps);
  free(self);
}

static bool create_streams(cuda_device *self,
                           const hfta_device_options *options) {
  bool works = true;
  for (uint32_t i = 0; i < options->queues && works; ++i)
    works = note(self,
                 self->cuda->stream_create(&self->streams[i],
                                           HFTA_CU_STREAM_NON_BLOCKING),
                 "cuStreamCreate", NULL);
  for (uint32_t i = 0; i < options->events && works; ++i)
    works = note(self,
                 self->cuda->event_create(&self->events[i],
                                          HFTA_CU_EVENT_DISABLE_TIMING),
                 "cuEventCreate", NULL);
  if (!works)
    return false;
  const char *call;
  hfta_cu_result result = hfta_cuda_marks_open(
      &self->marks, self->cuda, self->streams, self->queue_count, &call);
  return note(self, result, call, NULL);
}

static hfta_status begin(cuda_device *self, const hfta_device_options *options,
                         hfta_error *error) {
  self->queue_count = options->queues;
  self->event_count = options->events;
  self->streams = calloc((size_t)options->queues + 1, sizeof(*self->streams));
  self->events = calloc((size_t)options->events + 1, sizeof(*self->events));
  self->is_recorded = calloc((size_t)options->events + 1, sizeof(bool));
  hfta_cuda_launcher *launcher = &self->launcher;
  launcher->parameters =
      calloc(HFTA_CUDA_PARAMETERS, sizeof(*launcher->parameters));
  launcher->places = calloc(HFTA_CUDA_PARAMETERS, sizeof(void *));
  uint64_t map_bytes = hfta_cuda_most_map_bytes(options->program);
  launcher->maps =
      aligned_alloc(HFTA_MAP_ALIGNMENT, map_bytes + HFTA_MAP_ALIGNMENT);
  self->graphs = hfta_cuda_graphs_create(launcher, options->program);
  if (!self->streams || !self->events || !self->is_recorded ||
      !launcher->parameters || !launcher->places || !launcher->maps ||
      !self->graphs)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a device");
  hfta_status status = hfta_cuda_load(&self->cuda, error);
  if (status == HFTA_OK)
    status = hfta_cuda_take_gpu(self->cuda, self->index, &self->gpu, error);
  if (status != HFTA_OK)
    return status;
  if (!enter(self) || !create_streams(self, options))
    return take_error(self, error);
  status = hfta_cuda_images_load(self->cuda, options->program, &self->gpu.chip,
                                 &launcher->images, error);
  if (status != HFTA_OK)
    return status;
  launcher->cuda = self->cuda;
  return HFTA_OK;
}

static hfta_status cuda_open(const hfta_device_options *options,
                             hfta_device **out, hfta_error *error) {
  *out = NULL;
  if (!options->program || !options->program->images)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "device 'cuda:%d' is not available: this program was "
                     "compiled for cpu",
                     options->index);
  if (options->beside)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "device 'cuda:%d': several jobs, or workers of a "
                     "pipeline, at the same time aren't supported on a GPU in "
                     "this version",
                     options->index);
  cuda_device *self = calloc(1, sizeof(*self));
  if (!self)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a device");
  self->base.functions = &hfta_device_cuda;
  hfta_cuda_calls_open(&self->calls);
  self->program = options->program;
  self->index = options->index;
  // A turn has as many copies as there are threads, and on a GPU all copies run
  // at once.
  self->threads = (int)options->copies;
  hfta_status status = begin(self, options, error);
  if (status == HFTA_OK)
    *out = &self->base;
  else
    cuda_close(&self->base);
  return status;
}

static int cuda_threads(const hfta_device *device) {
  return ((const cuda_device *)device)->threads;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static hfta_status fail_memory(cuda_device *self, uint64_t bytes,
                               hfta_error *error) {
  size_t available = 0, total = 0;
  self->cuda->memory_info(&available, &total);
  return hfta_fail(error, HFTA_UNSUPPORTED,
                   "device 'cuda:%d' ('%s') needs %llu more bytes of memory, "
                   "but %llu are free",
                   self->index, self->gpu.chip.name, (unsigned long long)bytes,
                   (unsigned long long)available);
}

/// Allocates zeroed memory. `alignment` isn't needed: the driver aligns all
/// allocations to at least 256 bytes.
static hfta_status cuda_allocate(hfta_device *device, uint64_t bytes,
                                 uint64_t alignment, void **out,
                                 hfta_error *error) {
  (void)alignment;
  cuda_device *self = own(device);
  *out = NULL;
  if (bytes == 0)
    return HFTA_OK;
  hfta_cu_address address = 0;
  const char *call = "cuCtxSetCurrent";
  hfta_cu_result result = self->cuda->context_set(self->gpu.context);
  if (result == 0) {
    call = "cuMemAlloc";
    result = self->cuda->memory_allocate(&address, bytes);
  }
  if (result == HFTA_CU_OUT_OF_MEMORY)
    return fail_memory(self, bytes, error);
  if (result == 0) {
    call = "cuMemsetD8Async";
    result = self->cuda->memory_set(address, 0, bytes, self->streams[0]);
  }
  if (result == 0) {
    call = "cuStreamSynchronize";
    result = self->cuda->stream_synchronize(self->streams[0]);
  }
  if (result == 0) {
    *out = (void *)(uintptr_t)address;
    return HFTA_OK;
  }
  // The stream may still be writing to the memory, so wait before freeing it.
  hfta_status status = hfta_cuda_fail(self->cuda, result, call, NULL, error);
  if (address) {
    self->cuda->stream_synchronize(self->streams[0]);
    self->cuda->memory_free(address);
  }
  return status;
}

static void cuda_release(hfta_device *device, void *memory, uint64_t bytes) {
  (void)bytes;
  cuda_device *self = own(device);
  if (memory && self->cuda->context_set(self->gpu.context) == 0)
    self->cuda->memory_free((hfta_cu_address)(uintptr_t)memory);
}

/// Allocates scratch memory for kernels that run for at most `copies` copies.
static hfta_status cuda_reserve(hfta_device *device, int64_t copies,
                                hfta_error *error) {
  cuda_device *self = own(device);
  uint64_t bytes = hfta_cuda_scratch_bytes(self->program, copies);
  void *scratch = NULL;
  hfta_error reason;
  cuda_release(device, (void *)(uintptr_t)self->launcher.scratch, 0);
  self->launcher.scratch = 0;
  hfta_status status = cuda_allocate(device, bytes, 256, &scratch, &reason);
  self->launcher.scratch = (hfta_cu_address)(uintptr_t)scratch;
  return status == HFTA_OK
             ? HFTA_OK
             : hfta_fail(error, status, "kernels' scratch memory: %s",
                         reason.message);
}

static bool cuda_lock(hfta_device *device, void *memory, uint64_t bytes) {
  cuda_device *self = own(device);
  return self->cuda->context_set(self->gpu.context) == 0 &&
         self->cuda->host_lock(memory, bytes, 0) == 0;
}

static void cuda_unlock(hfta_device *device, void *memory) {
  cuda_device *self = own(device);
  if (self->cuda->context_set(self->gpu.context) == 0)
    self->cuda->host_unlock(memory);
}

static void *cuda_host_address(hfta_device *device, void *memory) {
  (void)device;
  (void)memory;
  return NULL;
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// Launches the collected tasks, if they are for this queue.
static void flush(cuda_device *self, uint32_t queue) {
  if (!hfta_cuda_graphs_has_run(self->graphs) || self->run_queue != queue)
    return;
  if (!enter(self))
    return hfta_cuda_graphs_drop(self->graphs);
  hfta_cuda_failure failure = {.call = ""};
  hfta_cu_result result =
      hfta_cuda_graphs_flush(self->graphs, self->streams[queue], &failure);
  note(self, result, failure.call, failure.of);
}

/// Launches the queue's collected tasks, and makes the GPU's context current.
/// Returns false after a failure that wasn't reported yet.
static bool enter_queue(cuda_device *self, uint32_t queue) {
  flush(self, queue);
  return enter(self);
}

/// If there is an observer, waits for the end of a command that began at time
/// `from` and reports it.
static void tell(cuda_device *self, hfta_activity *activity, double from) {
  if (!self->observer || self->status != HFTA_OK)
    return;
  note(self, self->cuda->stream_synchronize(self->streams[activity->queue]),
       "cuStreamSynchronize", NULL);
  activity->begin = from;
  activity->end = hfta_now();
  self->observer->done(self->observer->argument, activity);
}

static double now_if_observed(const cuda_device *self) {
  return self->observer ? hfta_now() : 0;
}

static void cuda_fill(hfta_device *device, uint32_t queue, void *to,
                      uint64_t bytes) {
  cuda_device *self = own(device);
  if (bytes == 0 || !enter_queue(self, queue))
    return;
  double from = now_if_observed(self);
  note(self,
       self->cuda->memory_set((hfta_cu_address)(uintptr_t)to, 0, bytes,
                              self->streams[queue]),
       "cuMemsetD8Async", NULL);
  tell(
      self,
      &(hfta_activity){
          .kind = HFTA_ACTIVITY_FILL, .queue = queue, .to = to, .bytes = bytes},
      from);
}

/// Copies memory. The driver tells host memory from device memory by the
/// address, so no direction is needed.
static void cuda_copy(hfta_device *device, uint32_t queue, void *to,
                      const void *from, uint64_t bytes) {
  cuda_device *self = own(device);
  if (bytes == 0 || !enter_queue(self, queue))
    return;
  double begin = now_if_observed(self);
  note(self,
       self->cuda->memory_copy((hfta_cu_address)(uintptr_t)to,
                               (hfta_cu_address)(uintptr_t)from, bytes,
                               self->streams[queue]),
       "cuMemcpyAsync", NULL);
  tell(
      self,
      &(hfta_activity){
          .kind = HFTA_ACTIVITY_COPY, .queue = queue, .to = to, .bytes = bytes},
      begin);
}

/// Records a failure. hftac compiles no program with a store for a GPU, so this
/// isn't reached.
static void refuse_store(cuda_device *self) {
  if (self->status == HFTA_OK)
    self->status = hfta_fail(&self->error, HFTA_UNSUPPORTED,
                             "device 'cuda:%d': nothing is spilled from a GPU "
                             "in this version",
                             self->index);
}

static void cuda_fetch(hfta_device *device, uint32_t queue, hfta_store *store,
                       uint64_t first, uint64_t count, void *to,
                       uint64_t bytes) {
  (void)queue, (void)store, (void)first, (void)count, (void)to, (void)bytes;
  refuse_store(own(device));
}

static void cuda_evict(hfta_device *device, uint32_t queue, hfta_store *store,
                       uint64_t first, uint64_t count, const void *from,
                       uint64_t bytes) {
  (void)queue, (void)store, (void)first, (void)count, (void)from, (void)bytes;
  refuse_store(own(device));
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Launches a task immediately and without a graph, so that it can be timed.
static void run_observed(cuda_device *self, uint32_t queue,
                         const hfta_task_call *call, uint32_t number) {
  if (!enter_queue(self, queue))
    return;
  double from = hfta_now();
  hfta_cuda_failed failed;
  hfta_cu_result result = hfta_cuda_launch(
      &self->launcher, self->streams[queue], call, number, &failed);
  if (result != 0) {
    char of[512];
    snprintf(of, sizeof(of), "kernel '%s' of task '%s'", failed.launch->name,
             call->task->name);
    note(self, result, failed.call, of);
  }
  tell(self,
       &(hfta_activity){.kind = HFTA_ACTIVITY_RUN,
                        .queue = queue,
                        .number = number,
                        .call = call},
       from);
  self->computed += hfta_now() - from;
}

static void cuda_run(hfta_device *device, uint32_t queue,
                     const hfta_task_call *call, uint32_t number) {
  cuda_device *self = own(device);
  if (self->observer)
    return run_observed(self, queue, call, number);
  if (self->run_queue != queue)
    flush(self, self->run_queue);
  self->run_queue = queue;
  if (!hfta_cuda_graphs_add(self->graphs, call, number) &&
      self->status == HFTA_OK)
    self->status = hfta_fail(&self->error, HFTA_UNSUPPORTED,
                             "not enough memory for a run of tasks");
}

//===----------------------------------------------------------------------===//
// Host functions, events and marks
//===----------------------------------------------------------------------===//

static void cuda_call(hfta_device *device, uint32_t queue,
                      const hfta_host_call *call) {
  cuda_device *self = own(device);
  if (!enter_queue(self, queue))
    return;
  double from = now_if_observed(self);
  hfta_cu_result result = hfta_cuda_calls_give(&self->calls, self->cuda,
                                               self->streams[queue], call);
  if (result == HFTA_CU_OUT_OF_MEMORY)
    self->status = hfta_fail(&self->error, HFTA_UNSUPPORTED,
                             "not enough memory for a call of the host");
  else
    note(self, result, "cuLaunchHostFunc", NULL);
  tell(self,
       &(hfta_activity){
           .kind = HFTA_ACTIVITY_CALL, .queue = queue, .post = call->post},
       from);
}

static void cuda_record(hfta_device *device, uint32_t queue, uint32_t event) {
  cuda_device *self = own(device);
  if (enter_queue(self, queue))
    self->is_recorded[event] = note(
        self,
        self->cuda->event_record(self->events[event], self->streams[queue]),
        "cuEventRecord", NULL);
}

static void cuda_await(hfta_device *device, uint32_t queue, uint32_t event) {
  cuda_device *self = own(device);
  if (self->is_recorded[event] && enter_queue(self, queue))
    note(self,
         self->cuda->stream_wait(self->streams[queue], self->events[event], 0),
         "cuStreamWaitEvent", NULL);
}

/// Does nothing, since no threads of the host run kernels.
static void cuda_use_threads(hfta_device *device, hfta_device *of) {
  (void)device;
  (void)of;
}

static void cuda_go_first(hfta_device *device) { (void)device; }

static double cuda_computed(hfta_device *device) {
  return own(device)->computed;
}

/// Waits for the queues whose bits are set in `queues`, and keeps the first
/// failure. Waits for all of them even after a failure, because callers then
/// free memory that the queues' work uses.
static void finish_queues(cuda_device *self, uint64_t queues) {
  for (uint32_t i = 0; i < self->queue_count; ++i) {
    if (!(queues >> (i < 63 ? i : 63) & 1))
      continue;
    flush(self, i);
    if (!enter(self))
      self->cuda->context_set(self->gpu.context);
    note(self, self->cuda->stream_synchronize(self->streams[i]),
         "cuStreamSynchronize", "earlier launches");
  }
}

static hfta_status cuda_wait_for(hfta_device *device, uint64_t queues,
                                 hfta_error *error) {
  cuda_device *self = own(device);
  finish_queues(self, queues);
  if (queues == UINT64_MAX && self->status == HFTA_OK)
    hfta_cuda_calls_forget(&self->calls, UINT64_MAX);
  return take_error(self, error);
}

static hfta_status cuda_wait(hfta_device *device, hfta_error *error) {
  return cuda_wait_for(device, UINT64_MAX, error);
}

/// Sets a mark. Collected tasks are launched before it, so that their failures
/// count as failures before the mark. Failures of host functions become known
/// only later: see settle_calls.
static void cuda_mark(hfta_device *device, uint32_t number) {
  cuda_device *self = own(device);
  const char *call;
  if (enter_queue(self, self->run_queue)) {
    hfta_cu_result result = hfta_cuda_marks_set(&self->marks, number, &call);
    note(self, result, call, NULL);
  }
  self->is_lost[number] = self->status != HFTA_OK;
  self->calls_before[number] = self->calls.count;
}

/// Returns the failure of a host function that was called before a mark, all of
/// which have ended. After a failure, waits for all queues, so that no work
/// after the mark is in flight.
static hfta_status settle_calls(cuda_device *self, uint32_t number,
                                hfta_error *error) {
  uint64_t end = self->calls_before[number];
  hfta_status status = hfta_cuda_calls_take_error(&self->calls, end, error);
  if (status != HFTA_OK)
    finish_queues(self, UINT64_MAX);
  hfta_cuda_calls_forget(&self->calls, end);
  return status;
}

/// Waits for a mark. Failures of commands after the mark are left to later
/// calls, unless a command before the mark has failed.
static hfta_status cuda_wait_until(hfta_device *device, uint32_t number,
                                   hfta_error *error) {
  cuda_device *self = own(device);
  const hfta_cuda *cuda = self->cuda;
  if (!self->is_lost[number]) {
    const char *call = "cuCtxSetCurrent";
    hfta_cu_result result = cuda->context_set(self->gpu.context);
    if (result == 0) {
      call = "cuEventSynchronize";
      result = cuda->event_synchronize(self->marks.events[number]);
    }
    if (result == 0)
      return settle_calls(self, number, error);
    note(self, result, call, "earlier launches");
  }
  return cuda_wait(device, error);
}

static void cuda_observe(hfta_device *device, const hfta_observer *observer) {
  flush(own(device), own(device)->run_queue);
  own(device)->observer = observer;
}

const hfta_device_functions hfta_device_cuda = {
    .kind = "cuda",
    .open = cuda_open,
    .close = cuda_close,
    .threads = cuda_threads,
    .allocate = cuda_allocate,
    .release = cuda_release,
    .reserve = cuda_reserve,
    .lock = cuda_lock,
    .unlock = cuda_unlock,
    .fill = cuda_fill,
    .copy = cuda_copy,
    .fetch = cuda_fetch,
    .evict = cuda_evict,
    .run = cuda_run,
    .call = cuda_call,
    .record = cuda_record,
    .await = cuda_await,
    .use_threads = cuda_use_threads,
    .go_first = cuda_go_first,
    .computed = cuda_computed,
    .wait = cuda_wait,
    .wait_for = cuda_wait_for,
    .mark = cuda_mark,
    .wait_until = cuda_wait_until,
    .observe = cuda_observe,
    .host_address = cuda_host_address,
};
