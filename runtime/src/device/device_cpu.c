//===- device_cpu.c - The CPU as a device ---------------------------------===//

#include "hfta/device.h"
#include "hfta/pool.h"
#include "system/pages.h"

#include <stdlib.h>
#include <string.h>

typedef struct cpu_device {
  hfta_device base;
  hfta_pool *pool;
} cpu_device;

static hfta_status cpu_open(const hfta_device_options *options,
                            hfta_device **out, hfta_error *error) {
  *out = NULL;
  if (options->index != 0)
    return hfta_fail(error, HFTA_USAGE, "device 'cpu:%d': there is one cpu",
                     options->index);
  cpu_device *self = calloc(1, sizeof(*self));
  if (!self)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a device");
  self->base.functions = &hfta_device_cpu;
  hfta_status status = hfta_pool_create(
      options->threads, options->scratch_bytes, &self->pool, error);
  if (status != HFTA_OK) {
    free(self);
    return status;
  }
  *out = &self->base;
  return HFTA_OK;
}

static void cpu_close(hfta_device *device) {
  hfta_pool_destroy(((cpu_device *)device)->pool);
  free(device);
}

static int cpu_threads(const hfta_device *device) {
  return hfta_pool_threads(((const cpu_device *)device)->pool);
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

static hfta_status cpu_fill_zero(hfta_device *device, hfta_queue queue,
                                 void *to, uint64_t bytes, hfta_error *error) {
  (void)device, (void)queue, (void)error;
  if (bytes != 0)
    memset(to, 0, bytes);
  return HFTA_OK;
}

static hfta_status cpu_copy(hfta_device *device, hfta_queue queue, void *to,
                            const void *from, uint64_t bytes,
                            hfta_error *error) {
  (void)device, (void)queue, (void)error;
  if (bytes != 0)
    memcpy(to, from, bytes);
  return HFTA_OK;
}

static hfta_status cpu_run_task(hfta_device *device, hfta_queue queue,
                                const hfta_task *task, void *const *segments,
                                int64_t first_copy, int64_t copies,
                                hfta_error *error) {
  (void)queue;
  cpu_device *self = (cpu_device *)device;
  hfta_task_context context = {segments, self->pool, first_copy, copies};
  task->function(&context);
  const char *refused = hfta_pool_refused_kernel(self->pool);
  if (refused)
    return hfta_fail(error, HFTA_INTERNAL,
                     "task '%s': kernel '%s' asks for more scratch or buffers "
                     "than the program declares",
                     task->name, refused);
  return HFTA_OK;
}

static hfta_status cpu_record_event(hfta_device *device, hfta_queue queue,
                                    hfta_event *out, hfta_error *error) {
  (void)device, (void)queue, (void)error;
  out->handle = 0;
  return HFTA_OK;
}

static hfta_status cpu_wait_event(hfta_device *device, hfta_event event,
                                  hfta_error *error) {
  (void)device, (void)event, (void)error;
  return HFTA_OK;
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
    .fill_zero = cpu_fill_zero,
    .copy_in = cpu_copy,
    .copy_out = cpu_copy,
    .run_task = cpu_run_task,
    .record_event = cpu_record_event,
    .wait_event = cpu_wait_event,
    .host_address = cpu_host_address,
};
