//===- gpu_launch.c - Launching tasks on a GPU ----------------------------===//

#include "device/gpu/gpu_launch.h"

/// The most copies of one launch: copies are the grid's z dimension, which
/// drivers limit.
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

uint64_t hfta_gpu_scratch_bytes(const hfta_program *program, int64_t copies) {
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
/// list, for which a launch runs and whose operands have a constant stride.
static int64_t count_together(const hfta_task_call *call,
                              const hfta_launch *launch, int64_t position) {
  int64_t count = 1;
  while (count < MOST_COPIES && position + count < call->copy_count &&
         hfta_call_runs(call, launch, position + count) &&
         hfta_call_copy(call, position + count) ==
             hfta_call_copy(call, position) + count &&
         hfta_call_slab(call, position + count) ==
             hfta_call_slab(call, position) + count)
    ++count;
  return count;
}

/// The arguments of a call of hfta_gpu_give.
typedef struct giving {
  const hfta_gpu_launcher *launcher;
  const hfta_task_call *call;
  const hfta_gpu_taker *taker;
  uint32_t task;
} giving;

/// Fills in the parameters of a kernel: for each operand its address for the
/// copy at `position` and the stride to the next copy, then the scratch memory.
/// Returns their number.
static uint32_t bind(const giving *self, const hfta_launch *launch,
                     int64_t position) {
  const hfta_gpu_launcher *launcher = self->launcher;
  uint64_t *next = launcher->parameters;
  for (uint32_t i = 0; i < launch->binding_count; ++i) {
    *next++ =
        (uint64_t)(uintptr_t)hfta_call_address(self->call, launch, i, position);
    *next++ = launch->bindings[i].copy_stride;
  }
  *next++ = launcher->scratch;
  uint32_t count = (uint32_t)(next - launcher->parameters);
  for (uint32_t i = 0; i < count; ++i)
    launcher->places[i] = &launcher->parameters[i];
  return count;
}

/// Passes launch number `number` of the task to the taker, for `count` copies
/// from `position` in the call's list.
static hfta_gpu_result give_for(const giving *self, uint32_t number,
                                int64_t position, int64_t count) {
  const hfta_gpu_launcher *launcher = self->launcher;
  const hfta_launch *launch = &self->call->task->launches[number];
  hfta_gpu_kernel kernel = {.launch = launch,
                            .task = self->task,
                            .number = number,
                            .blocks = (unsigned)count_blocks(launch),
                            .copies = (unsigned)count,
                            .block_threads = launch->block_threads,
                            .parameters = launcher->parameters,
                            .places = launcher->places,
                            .place_count = bind(self, launch, position)};
  hfta_gpu_result result =
      launcher->gpu->driver->prepare(launcher->gpu, launcher->code, &kernel);
  if (result.code != 0)
    return result;
  // The emulated driver finds the end of the parameters by this NULL.
  kernel.places[kernel.place_count] = NULL;
  return self->taker->take(self->taker->argument, &kernel);
}

static hfta_gpu_result give_one(const giving *self, uint32_t number) {
  const hfta_task_call *call = self->call;
  const hfta_launch *launch = &call->task->launches[number];
  hfta_gpu_result result = hfta_gpu_success;
  if (launch->items == 0)
    return result;
  if (launch->per_copy) {
    for (int64_t at = 0, count; at < call->copy_count && result.code == 0;
         at += count) {
      count = 1;
      if (!hfta_call_runs(call, launch, at))
        continue;
      count = count_together(call, launch, at);
      result = give_for(self, number, at, count);
    }
    return result;
  }
  int64_t position = 0;
  while (launch->copy >= 0 && position < call->copy_count &&
         hfta_call_copy(call, position) != launch->copy)
    ++position;
  if (launch->copy < 0 || position < call->copy_count)
    result = give_for(self, number, position, 1);
  return result;
}

hfta_gpu_result hfta_gpu_give(const hfta_gpu_launcher *launcher,
                              const hfta_task_call *call, uint32_t number,
                              const hfta_gpu_taker *taker,
                              const hfta_launch **failed) {
  const giving self = {launcher, call, taker, number};
  for (uint32_t i = 0; i < call->task->launch_count; ++i) {
    *failed = &call->task->launches[i];
    hfta_gpu_result result = give_one(&self, i);
    if (result.code != 0)
      return result;
  }
  return hfta_gpu_success;
}

static hfta_gpu_result launch_kernel(void *argument,
                                     const hfta_gpu_kernel *kernel) {
  const hfta_gpu_destination *to = argument;
  return to->gpu->driver->launch(to->gpu, kernel, to->stream);
}

hfta_gpu_taker hfta_gpu_take_to(hfta_gpu_destination *destination) {
  return (hfta_gpu_taker){launch_kernel, destination};
}

hfta_gpu_result hfta_gpu_launch(const hfta_gpu_launcher *launcher,
                                hfta_gpu_stream stream,
                                const hfta_task_call *call, uint32_t number,
                                const hfta_launch **failed) {
  hfta_gpu_destination to = {launcher->gpu, stream};
  const hfta_gpu_taker taker = hfta_gpu_take_to(&to);
  return hfta_gpu_give(launcher, call, number, &taker, failed);
}
