//===- cuda_functions.c - NVIDIA's driver for the device for GPUs ---------===//
//
// The table of functions by which the device for GPUs uses libcuda. Each
// function makes one call of the driver, unless it says otherwise.
//===----------------------------------------------------------------------===//

#include "device/cuda/cuda_images.h"

#include <stdlib.h>

static hfta_cuda_gpu *own(hfta_gpu *gpu) { return (hfta_cuda_gpu *)gpu; }

static const hfta_cuda *of(hfta_gpu *gpu) { return own(gpu)->cuda; }

static hfta_cu_stream stream_of(hfta_gpu_stream stream) {
  return (hfta_cu_stream)stream;
}

static hfta_cu_event event_of(hfta_gpu_event event) {
  return (hfta_cu_event)event;
}

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

static void close_gpu(hfta_gpu *gpu) {
  if (own(gpu)->context)
    of(gpu)->context_release(own(gpu)->device);
  free(gpu);
}

/// Loads the driver if that wasn't done yet, and opens a GPU.
static hfta_status open_gpu(int index, hfta_gpu **out, hfta_error *error) {
  *out = NULL;
  const hfta_cuda *cuda;
  hfta_status status = hfta_cuda_load(&cuda, error);
  if (status != HFTA_OK)
    return status;
  hfta_cuda_gpu *self = calloc(1, sizeof(*self));
  if (!self)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a device");
  status = hfta_cuda_take_gpu(cuda, &hfta_cuda_functions, index, self, error);
  if (status == HFTA_OK)
    *out = &self->base;
  else
    close_gpu(&self->base);
  return status;
}

static hfta_gpu_result enter(hfta_gpu *gpu) {
  return hfta_cuda_result("cuCtxSetCurrent",
                          of(gpu)->context_set(own(gpu)->context));
}

static void describe(hfta_gpu *gpu, int code, const char **name,
                     const char **text) {
  of(gpu)->error_name(code, name);
  of(gpu)->error_text(code, text);
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

static void unload(hfta_gpu *gpu, hfta_gpu_code *code) {
  (void)gpu;
  if (code)
    hfta_cuda_images_unload((hfta_cuda_images *)code);
  free(code);
}

static hfta_status load(hfta_gpu *gpu, const hfta_program *program,
                        hfta_gpu_code **out, hfta_error *error) {
  *out = NULL;
  hfta_cuda_images *images = calloc(1, sizeof(*images));
  if (!images)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a device");
  hfta_gpu_code *code = (hfta_gpu_code *)images;
  hfta_status status = hfta_cuda_images_load(own(gpu), program, images, error);
  if (status == HFTA_OK)
    *out = code;
  else
    unload(gpu, code);
  return status;
}

static hfta_gpu_result prepare(hfta_gpu *gpu, hfta_gpu_code *code,
                               hfta_gpu_kernel *kernel) {
  (void)gpu;
  return hfta_cuda_images_prepare((hfta_cuda_images *)code, kernel);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static uint64_t free_bytes(hfta_gpu *gpu) {
  size_t available = 0, total = 0;
  of(gpu)->memory_info(&available, &total);
  return available;
}

static hfta_gpu_result memory_allocate(hfta_gpu *gpu, hfta_gpu_address *out,
                                       uint64_t bytes) {
  return hfta_cuda_result("cuMemAlloc", of(gpu)->memory_allocate(out, bytes));
}

static void memory_free(hfta_gpu *gpu, hfta_gpu_address address) {
  of(gpu)->memory_free(address);
}

static hfta_gpu_result memory_clear(hfta_gpu *gpu, hfta_gpu_address to,
                                    uint64_t bytes, hfta_gpu_stream stream) {
  return hfta_cuda_result("cuMemsetD8Async",
                          of(gpu)->memory_set(to, 0, bytes, stream_of(stream)));
}

/// The driver tells host memory from device memory by the address, so no
/// direction is needed.
static hfta_gpu_result memory_copy(hfta_gpu *gpu, hfta_gpu_address to,
                                   hfta_gpu_address from, uint64_t bytes,
                                   hfta_gpu_stream stream) {
  return hfta_cuda_result(
      "cuMemcpyAsync",
      of(gpu)->memory_copy(to, from, bytes, stream_of(stream)));
}

static hfta_gpu_result host_lock(hfta_gpu *gpu, void *memory, uint64_t bytes) {
  return hfta_cuda_result("cuMemHostRegister",
                          of(gpu)->host_lock(memory, bytes, 0));
}

static void host_unlock(hfta_gpu *gpu, void *memory) {
  of(gpu)->host_unlock(memory);
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

static hfta_gpu_result stream_create(hfta_gpu *gpu, hfta_gpu_stream *out) {
  hfta_cu_stream stream = NULL;
  hfta_cu_result result =
      of(gpu)->stream_create(&stream, HFTA_CU_STREAM_NON_BLOCKING);
  *out = (hfta_gpu_stream)stream;
  return hfta_cuda_result("cuStreamCreate", result);
}

static void stream_destroy(hfta_gpu *gpu, hfta_gpu_stream stream) {
  of(gpu)->stream_destroy(stream_of(stream));
}

static hfta_gpu_result stream_synchronize(hfta_gpu *gpu,
                                          hfta_gpu_stream stream) {
  return hfta_cuda_result("cuStreamSynchronize",
                          of(gpu)->stream_synchronize(stream_of(stream)));
}

static hfta_gpu_result stream_wait(hfta_gpu *gpu, hfta_gpu_stream stream,
                                   hfta_gpu_event event) {
  return hfta_cuda_result(
      "cuStreamWaitEvent",
      of(gpu)->stream_wait(stream_of(stream), event_of(event), 0));
}

static hfta_gpu_result stream_call(hfta_gpu *gpu, hfta_gpu_stream stream,
                                   void (*function)(void *argument),
                                   void *argument) {
  return hfta_cuda_result(
      "cuLaunchHostFunc",
      of(gpu)->launch_host(stream_of(stream), function, argument));
}

static hfta_gpu_result event_create(hfta_gpu *gpu, hfta_gpu_event *out) {
  hfta_cu_event event = NULL;
  hfta_cu_result result =
      of(gpu)->event_create(&event, HFTA_CU_EVENT_DISABLE_TIMING);
  *out = (hfta_gpu_event)event;
  return hfta_cuda_result("cuEventCreate", result);
}

static void event_destroy(hfta_gpu *gpu, hfta_gpu_event event) {
  of(gpu)->event_destroy(event_of(event));
}

static hfta_gpu_result event_record(hfta_gpu *gpu, hfta_gpu_event event,
                                    hfta_gpu_stream stream) {
  return hfta_cuda_result(
      "cuEventRecord",
      of(gpu)->event_record(event_of(event), stream_of(stream)));
}

static hfta_gpu_result event_synchronize(hfta_gpu *gpu, hfta_gpu_event event) {
  return hfta_cuda_result("cuEventSynchronize",
                          of(gpu)->event_synchronize(event_of(event)));
}

//===----------------------------------------------------------------------===//
// Launches and graphs
//===----------------------------------------------------------------------===//

static hfta_gpu_result launch(hfta_gpu *gpu, const hfta_gpu_kernel *kernel,
                              hfta_gpu_stream stream) {
  return hfta_cuda_result(
      "cuLaunchKernel",
      of(gpu)->launch_kernel((hfta_cu_function)kernel->function, kernel->blocks,
                             1, kernel->copies, kernel->block_threads, 1, 1,
                             kernel->shared_bytes, stream_of(stream),
                             kernel->places, NULL));
}

static hfta_gpu_result graph_create(hfta_gpu *gpu, hfta_gpu_graph *out) {
  hfta_cu_graph graph = NULL;
  hfta_cu_result result = of(gpu)->graph_create(&graph, 0);
  *out = (hfta_gpu_graph)graph;
  return hfta_cuda_result("cuGraphCreate", result);
}

static void graph_destroy(hfta_gpu *gpu, hfta_gpu_graph graph) {
  of(gpu)->graph_destroy((hfta_cu_graph)graph);
}

static hfta_gpu_result graph_add(hfta_gpu *gpu, hfta_gpu_graph_node *out,
                                 hfta_gpu_graph graph,
                                 const hfta_gpu_graph_node *before,
                                 size_t before_count,
                                 const hfta_gpu_kernel *kernel) {
  const hfta_cu_kernel_node row = {.function =
                                       (hfta_cu_function)kernel->function,
                                   .grid_x = kernel->blocks,
                                   .grid_y = 1,
                                   .grid_z = kernel->copies,
                                   .block_x = kernel->block_threads,
                                   .block_y = 1,
                                   .block_z = 1,
                                   .shared_bytes = kernel->shared_bytes,
                                   .parameters = kernel->places};
  hfta_cu_graph_node node = NULL;
  // Both kinds of handles are pointers, so that a list of the one is a list of
  // the other.
  hfta_cu_result result = of(gpu)->graph_add_kernel(
      &node, (hfta_cu_graph)graph, (const hfta_cu_graph_node *)before,
      before_count, &row);
  *out = (hfta_gpu_graph_node)node;
  return hfta_cuda_result("cuGraphAddKernelNode", result);
}

static hfta_gpu_result graph_instantiate(hfta_gpu *gpu,
                                         hfta_gpu_graph_exec *out,
                                         hfta_gpu_graph graph) {
  hfta_cu_graph_exec exec = NULL;
  hfta_cu_result result =
      of(gpu)->graph_instantiate(&exec, (hfta_cu_graph)graph, 0);
  *out = (hfta_gpu_graph_exec)exec;
  return hfta_cuda_result("cuGraphInstantiate", result);
}

static hfta_gpu_result graph_launch(hfta_gpu *gpu, hfta_gpu_graph_exec exec,
                                    hfta_gpu_stream stream) {
  return hfta_cuda_result(
      "cuGraphLaunch",
      of(gpu)->graph_launch((hfta_cu_graph_exec)exec, stream_of(stream)));
}

static void graph_exec_destroy(hfta_gpu *gpu, hfta_gpu_graph_exec exec) {
  of(gpu)->graph_exec_destroy((hfta_cu_graph_exec)exec);
}

const hfta_gpu_driver hfta_cuda_functions = {
    .open = open_gpu,
    .close = close_gpu,
    .enter = enter,
    .describe = describe,
    .load = load,
    .unload = unload,
    .prepare = prepare,
    .free_bytes = free_bytes,
    .memory_allocate = memory_allocate,
    .memory_free = memory_free,
    .memory_clear = memory_clear,
    .memory_copy = memory_copy,
    .host_lock = host_lock,
    .host_unlock = host_unlock,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_synchronize = stream_synchronize,
    .stream_wait = stream_wait,
    .stream_call = stream_call,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_synchronize = event_synchronize,
    .launch = launch,
    .graph_create = graph_create,
    .graph_destroy = graph_destroy,
    .graph_add = graph_add,
    .graph_instantiate = graph_instantiate,
    .graph_launch = graph_launch,
    .graph_exec_destroy = graph_exec_destroy,
};
