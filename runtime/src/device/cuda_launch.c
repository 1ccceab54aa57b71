//===- cuda_launch.c - Launching tasks on a GPU ---------------------------===//

#include "device/cuda_launch.h"

#include "device/cuda_maps.h"

/// The most copies of one launch: copies are the grid's z dimension, which the
/// driver limits.
enum { MOST_COPIES = 65535 };

static uint64_t count_blocks(const hfta_launch *launch) {
  return ((uint64_t)launch->items + launch->block_threads - 1) /
         launch->block_threads;
}

/// Returns the most threads per block that the launch may use, whichever images
/// are loaded.
static uint64_t count_threads(const hfta_launch *launch) {
  const hfta_warp_group_launch *groups = launch->warp_groups;
  return groups && groups->block_threads > launch->block_threads
             ? groups->block_threads
             : launch->block_threads;
}

uint64_t hfta_cuda_scratch_bytes(const hfta_program *program, int64_t copies) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < program->task_count; ++i)
    for (uint32_t j = 0; j < program->tasks[i].launch_count; ++j) {
      const hfta_launch *launch = &program->tasks[i].launches[j];
      uint64_t bytes = launch->scratch_bytes * count_blocks(launch) *
                       count_threads(launch) *
                       (launch->per_copy ? (uint64_t)copies : 1);
      most = bytes > most ? bytes : most;
    }
  return most;
}

/// Returns the number of consecutive copies, from `position` in the call's
/// list, whose operands have a constant stride.
static int64_t count_together(const hfta_task_call *call, int64_t position) {
  int64_t count = 1;
  while (count < MOST_COPIES && position + count < call->copy_count &&
         hfta_call_copy(call, position + count) ==
             hfta_call_copy(call, position) + count &&
         hfta_call_slab(call, position + count) ==
             hfta_call_slab(call, position) + count)
    ++count;
  return count;
}

/// Fills in the kernel's parameters: for each operand its address for the copy
/// at `position` and the stride to the next copy, then the scratch memory, and
/// the tensor maps for `copies` copies if the kernel has any.
static hfta_cu_result bind(const hfta_cuda_launcher *self,
                           const hfta_task_call *call,
                           const hfta_launch *launch, int64_t position,
                           int64_t copies) {
  uint64_t *next = self->parameters;
  for (uint32_t i = 0; i < launch->binding_count; ++i) {
    *next++ = (uint64_t)(uintptr_t)hfta_call_address(call, launch, i, position);
    *next++ = launch->bindings[i].copy_stride;
  }
  *next++ = self->scratch;
  size_t count = (size_t)(next - self->parameters);
  for (size_t i = 0; i < count; ++i)
    self->places[i] = &self->parameters[i];
  const hfta_warp_group_launch *groups =
      hfta_cuda_images_groups(&self->images, launch);
  bool has_maps = groups && groups->map_count > 0;
  if (has_maps)
    self->places[count++] = self->maps;
  // The emulated driver finds the end of the parameters by this NULL.
  self->places[count] = NULL;
  return has_maps ? hfta_cuda_make_maps(self->cuda, launch, self->parameters,
                                        (uint64_t)copies, self->maps)
                  : 0;
}

/// The arguments of a call of hfta_cuda_give.
typedef struct giving {
  const hfta_cuda_launcher *launcher;
  const hfta_task_call *call;
  const hfta_cuda_taker *taker;
  hfta_cuda_failed *failed;
} giving;

/// Passes a kernel to the taker, for `count` copies from `position` in the
/// call's list.
static hfta_cu_result give_for(const giving *self, const hfta_launch *launch,
                               hfta_cu_function function, int64_t position,
                               int64_t count) {
  self->failed->call = "cuTensorMapEncodeTiled";
  hfta_cu_result result =
      bind(self->launcher, self->call, launch, position, count);
  if (result != 0)
    return result;
  const hfta_warp_group_launch *groups =
      hfta_cuda_images_groups(&self->launcher->images, launch);
  const hfta_cuda_kernel kernel = {
      .launch = launch,
      .function = function,
      .blocks = (unsigned)count_blocks(launch),
      .copies = (unsigned)count,
      .block_threads = groups ? groups->block_threads : launch->block_threads,
      .shared_bytes = groups ? groups->shared_bytes : 0,
      .parameters = self->launcher->parameters,
      .places = self->launcher->places};
  self->failed->call = self->taker->call;
  return self->taker->take(self->taker->argument, &kernel);
}

static hfta_cu_result give_one(const giving *self, const hfta_launch *launch,
                               hfta_cu_function function) {
  const hfta_task_call *call = self->call;
  hfta_cu_result result = 0;
  if (launch->items == 0)
    return result;
  if (launch->per_copy) {
    for (int64_t at = 0, count; at < call->copy_count && result == 0;
         at += count) {
      count = count_together(call, at);
      result = give_for(self, launch, function, at, count);
    }
    return result;
  }
  int64_t position = 0;
  while (launch->copy >= 0 && position < call->copy_count &&
         hfta_call_copy(call, position) != launch->copy)
    ++position;
  if (launch->copy < 0 || position < call->copy_count)
    result = give_for(self, launch, function, position, 1);
  return result;
}

hfta_cu_result hfta_cuda_give(const hfta_cuda_launcher *launcher,
                              const hfta_task_call *call, uint32_t number,
                              const hfta_cuda_taker *taker,
                              hfta_cuda_failed *failed) {
  const giving self = {launcher, call, taker, failed};
  const hfta_cu_function *functions =
      launcher->images.functions + launcher->images.first[number];
  for (uint32_t i = 0; i < call->task->launch_count; ++i) {
    failed->launch = &call->task->launches[i];
    hfta_cu_result result = give_one(&self, failed->launch, functions[i]);
    if (result != 0)
      return result;
  }
  return 0;
}

static hfta_cu_result launch_kernel(void *argument,
                                    const hfta_cuda_kernel *kernel) {
  const hfta_cuda_destination *to = argument;
  return to->cuda->launch_kernel(kernel->function, kernel->blocks, 1,
                                 kernel->copies, kernel->block_threads, 1, 1,
                                 kernel->shared_bytes, to->stream,
                                 kernel->places, NULL);
}

hfta_cuda_taker hfta_cuda_take_to(hfta_cuda_destination *destination) {
  return (hfta_cuda_taker){launch_kernel, destination, "cuLaunchKernel"};
}

hfta_cu_result hfta_cuda_launch(const hfta_cuda_launcher *launcher,
                                hfta_cu_stream stream,
                                const hfta_task_call *call, uint32_t number,
                                hfta_cuda_failed *failed) {
  hfta_cuda_destination to = {launcher->cuda, stream};
  const hfta_cuda_taker taker = hfta_cuda_take_to(&to);
  return hfta_cuda_give(launcher, call, number, &taker, failed);
}
