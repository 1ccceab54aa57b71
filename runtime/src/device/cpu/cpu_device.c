//===- cpu_device.c - The CPU as a device ---------------------------------===//

#include "device/cpu/cpu_device.h"
#include "hfta/pool.h"
#include "system/pages.h"

#include <stdlib.h>

static hfta_queues *queues_of(hfta_device *device) {
  return ((hfta_cpu_device *)device)->queues;
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

static hfta_status create_pool(const hfta_device_options *options,
                               hfta_shared_pool **out, hfta_error *error) {
  hfta_shared_pool *shared = calloc(1, sizeof(*shared));
  if (!shared)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a device");
  hfta_status status = hfta_pool_create(
      options->threads, options->scratch_bytes, &shared->pool, error);
  if (status != HFTA_OK) {
    free(shared);
    return status;
  }
  pthread_mutex_init(&shared->mutex, NULL);
  pthread_cond_init(&shared->freed, NULL);
  *out = shared;
  return HFTA_OK;
}

/// Ends a device's use of the pool; the last device destroys it.
static void leave_pool(hfta_shared_pool *shared) {
  if (!shared || atomic_fetch_sub(&shared->users, 1) > 1)
    return;
  hfta_pool_destroy(shared->pool);
  pthread_cond_destroy(&shared->freed);
  pthread_mutex_destroy(&shared->mutex);
  free(shared);
}

hfta_status hfta_cpu_device_begin(hfta_cpu_device *self,
                                  const hfta_device_options *options,
                                  hfta_error *error) {
  hfta_status status = HFTA_OK;
  if (options->beside)
    self->pool = ((hfta_cpu_device *)options->beside)->pool;
  else
    status = create_pool(options, &self->pool, error);
  if (status != HFTA_OK)
    return status;
  atomic_fetch_add(&self->pool->users, 1);
  return hfta_queues_create(options, self->pool, &self->queues, error);
}

void hfta_cpu_device_end(hfta_cpu_device *self) {
  hfta_queues_destroy(self->queues);
  leave_pool(self->pool);
}

//===----------------------------------------------------------------------===//
// The table of functions
//===----------------------------------------------------------------------===//

static void cpu_close(hfta_device *device) {
  hfta_cpu_device_end((hfta_cpu_device *)device);
  free(device);
}

static hfta_status cpu_open(const hfta_device_options *options,
                            hfta_device **out, hfta_error *error) {
  *out = NULL;
  if (options->index != 0)
    return hfta_fail(error, HFTA_USAGE, "device 'cpu:%d': there is one cpu",
                     options->index);
  hfta_cpu_device *self = calloc(1, sizeof(*self));
  if (!self)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a device");
  self->base.functions = &hfta_device_cpu;
  hfta_status status = hfta_cpu_device_begin(self, options, error);
  if (status != HFTA_OK) {
    cpu_close(&self->base);
    return status;
  }
  *out = &self->base;
  return HFTA_OK;
}

static int cpu_threads(const hfta_device *device) {
  return hfta_pool_threads(((const hfta_cpu_device *)device)->pool->pool);
}

static hfta_status cpu_allocate(hfta_device *device, uint64_t bytes,
                                uint64_t alignment, void **out,
                                hfta_error *error) {
  (void)device;
  *out = hfta_pages_map(bytes, alignment);
  if (bytes != 0 && !*out)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory for %llu bytes",
                     (unsigned long long)bytes);
  return HFTA_OK;
}

static void cpu_release(hfta_device *device, void *memory, uint64_t bytes) {
  (void)device;
  hfta_pages_unmap(memory, bytes);
}

static void cpu_fill(hfta_device *device, uint32_t queue, void *to,
                     uint64_t bytes) {
  hfta_work work = {.kind = HFTA_WORK_FILL, .to = to, .bytes = bytes};
  if (bytes != 0)
    hfta_queues_push(queues_of(device), queue, &work);
}

static void cpu_copy(hfta_device *device, uint32_t queue, void *to,
                     const void *from, uint64_t bytes) {
  hfta_work work = {
      .kind = HFTA_WORK_COPY, .to = to, .from = from, .bytes = bytes};
  if (bytes != 0)
    hfta_queues_push(queues_of(device), queue, &work);
}

static void cpu_fetch(hfta_device *device, uint32_t queue, hfta_store *store,
                      uint64_t first, uint64_t count, void *to,
                      uint64_t bytes) {
  hfta_work work = {.kind = HFTA_WORK_FETCH,
                    .to = to,
                    .bytes = bytes,
                    .store = store,
                    .extent = first,
                    .extents = count};
  hfta_queues_push(queues_of(device), queue, &work);
}

static void cpu_evict(hfta_device *device, uint32_t queue, hfta_store *store,
                      uint64_t first, uint64_t count, const void *from,
                      uint64_t bytes) {
  hfta_work work = {.kind = HFTA_WORK_EVICT,
                    .from = from,
                    .bytes = bytes,
                    .store = store,
                    .extent = first,
                    .extents = count};
  hfta_queues_push(queues_of(device), queue, &work);
}

static void cpu_run(hfta_device *device, uint32_t queue,
                    const hfta_task_call *call, uint32_t number) {
  hfta_work work = {.kind = HFTA_WORK_RUN, .number = number, .call = *call};
  hfta_queues_push(queues_of(device), queue, &work);
}

static void cpu_call(hfta_device *device, uint32_t queue,
                     const hfta_host_call *call) {
  hfta_work work = {.kind = HFTA_WORK_CALL, .host_call = *call};
  hfta_queues_push(queues_of(device), queue, &work);
}

static void cpu_record(hfta_device *device, uint32_t queue, uint32_t event) {
  hfta_work work = {.kind = HFTA_WORK_RECORD, .number = event};
  hfta_queues_push(queues_of(device), queue, &work);
}

static void cpu_await(hfta_device *device, uint32_t queue, uint32_t event) {
  hfta_work work = {.kind = HFTA_WORK_AWAIT, .number = event};
  hfta_queues_push(queues_of(device), queue, &work);
}

static void cpu_use_threads(hfta_device *device, hfta_device *of) {
  hfta_cpu_device *self = (hfta_cpu_device *)device;
  hfta_shared_pool *before = self->pool;
  self->pool = ((hfta_cpu_device *)of)->pool;
  atomic_fetch_add(&self->pool->users, 1);
  hfta_queues_use_pool(self->queues, self->pool);
  leave_pool(before);
}

static void cpu_go_first(hfta_device *device) {
  hfta_queues_go_first(queues_of(device));
}

static double cpu_computed(hfta_device *device) {
  return hfta_queues_computed(queues_of(device));
}

static hfta_status cpu_wait_for(hfta_device *device, uint64_t queues,
                                hfta_error *error) {
  return hfta_queues_wait(queues_of(device), queues, error);
}

static hfta_status cpu_wait(hfta_device *device, hfta_error *error) {
  return cpu_wait_for(device, UINT64_MAX, error);
}

static void cpu_observe(hfta_device *device, const hfta_observer *observer) {
  hfta_queues_observe(queues_of(device), observer);
}

static void *cpu_host_address(hfta_device *device, void *memory) {
  (void)device;
  return memory;
}

const hfta_device_functions hfta_device_cpu = {
    .kind = "cpu",
    .open = cpu_open,
    .close = cpu_close,
    .threads = cpu_threads,
    .allocate = cpu_allocate,
    .release = cpu_release,
    .fill = cpu_fill,
    .copy = cpu_copy,
    .fetch = cpu_fetch,
    .evict = cpu_evict,
    .run = cpu_run,
    .call = cpu_call,
    .record = cpu_record,
    .await = cpu_await,
    .use_threads = cpu_use_threads,
    .go_first = cpu_go_first,
    .computed = cpu_computed,
    .wait = cpu_wait,
    .wait_for = cpu_wait_for,
    .observe = cpu_observe,
    .host_address = cpu_host_address,
};

const hfta_target hfta_target_cpu = {
    .name = "cpu",
    .device = &hfta_device_cpu,
    .default_device = "cpu",
    .device_help = "device to compute on: cpu (default)",
    .measuring_device_help =
        "device to compute on: cpu (default), or\n" HFTA_PACED_HELP,
    .noun = "the CPU",
    .is_host = true,
    .has_seats = true,
};
