//===- cuda_launch.c - Tasks on a GPU -------------------------------------===//

#include "device/cuda_launch.h"

/// A grid's third extent.
enum { MOST_COPIES = 65535 };

static uint64_t count_blocks(const hfta_launch *launch) {
  return ((uint64_t)launch->items + launch->block_threads - 1) /
         launch->block_threads;
}

uint64_t hfta_cuda_scratch_bytes(const hfta_program *program) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < program->task_count; ++i)
    for (uint32_t j = 0; j < program->tasks[i].launch_count; ++j) {
      const hfta_launch *launch = &program->tasks[i].launches[j];
      uint64_t copies = launch->per_copy ? (uint64_t)program->copies : 1;
      uint64_t bytes = launch->scratch_bytes * count_blocks(launch) *
                       launch->block_threads * copies;
      most = bytes > most ? bytes : most;
    }
  return most;
}

/// How many copies from a position on lie at equal distances.
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

/// The address of the copy at a position, and the distance to the next one's,
/// of each operand.
static void bind(const hfta_cuda_launcher *self, const hfta_task_call *call,
                 const hfta_launch *launch, int64_t position) {
  uint64_t *next = self->parameters;
  for (uint32_t i = 0; i < launch->binding_count; ++i) {
    *next++ = (uint64_t)(uintptr_t)hfta_call_address(call, launch, i, position);
    *next++ = launch->bindings[i].copy_stride;
  }
  *next++ = self->scratch;
  // The emulated driver finds their end by a NULL.
  size_t count = (size_t)(next - self->parameters);
  for (size_t i = 0; i < count; ++i)
    self->places[i] = &self->parameters[i];
  self->places[count] = NULL;
}

/// What is on the way to somebody.
typedef struct giving {
  const hfta_cuda_launcher *launcher;
  const hfta_task_call *call;
  hfta_cuda_taker taker;
  void *argument;
} giving;

/// A kernel for `count` copies from a position of the call's list on.
static hfta_cu_result give_for(const giving *self, const hfta_launch *launch,
                               hfta_cu_function function, int64_t position,
                               int64_t count) {
  bind(self->launcher, self->call, launch, position);
  const hfta_cuda_kernel kernel = {.launch = launch,
                                   .function = function,
                                   .blocks = (unsigned)count_blocks(launch),
                                   .copies = (unsigned)count,
                                   .block_threads = launch->block_threads,
                                   .parameters = self->launcher->parameters,
                                   .places = self->launcher->places};
  return self->taker(self->argument, &kernel);
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
                              hfta_cuda_taker taker, void *argument,
                              const hfta_launch **failed) {
  const giving self = {launcher, call, taker, argument};
  const hfta_cu_function *functions =
      launcher->images.functions + launcher->images.first[number];
  for (uint32_t i = 0; i < call->task->launch_count; ++i) {
    *failed = &call->task->launches[i];
    hfta_cu_result result = give_one(&self, *failed, functions[i]);
    if (result != 0)
      return result;
  }
  return 0;
}

hfta_cu_result hfta_cuda_take_to_stream(void *argument,
                                        const hfta_cuda_kernel *kernel) {
  const hfta_cuda_destination *to = argument;
  return to->cuda->launch_kernel(kernel->function, kernel->blocks, 1,
                                 kernel->copies, kernel->block_threads, 1, 1, 0,
                                 to->stream, kernel->places, NULL);
}

hfta_cu_result hfta_cuda_launch(const hfta_cuda_launcher *launcher,
                                hfta_cu_stream stream,
                                const hfta_task_call *call, uint32_t number,
                                const hfta_launch **failed) {
  hfta_cuda_destination to = {launcher->cuda, stream};
  return hfta_cuda_give(launcher, call, number, hfta_cuda_take_to_stream, &to,
                        failed);
}
