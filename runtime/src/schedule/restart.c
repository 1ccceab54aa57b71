//===- restart.c - Copies that begin again --------------------------------===//

#include "instance/copy_tensors.h"
#include "instance/instance_impl.h"
#include "schedule/run.h"

#include <stdlib.h>
#include <string.h>

/// The memory that a restart needs beside the instance.
typedef struct restart {
  hfta_instance *instance;
  int32_t *live; ///< the copies that run when it begins
  int64_t live_count;
  void *zeros; ///< as many as the largest tensor has bytes
  /// The bytes of tensors that all copies share, one after the other. The
  /// schedule `initialize` writes them for all copies, but a caller may have
  /// written or loaded others.
  char *shared;
} restart;

/// Returns whether checkpoints contain the tensor, and this rank has memory for
/// it.
static bool is_state(const hfta_instance *instance, const hfta_tensor *tensor) {
  return (tensor->flags & HFTA_TENSOR_CHECKPOINT) != 0 && tensor->bytes > 0 &&
         hfta_instance_find_worker(instance, tensor->segment);
}

static bool is_shared(const hfta_tensor *tensor) {
  return (tensor->flags & HFTA_TENSOR_SHARED) != 0;
}

/// Refuses to restart copies on their own if they share state that training
/// changes.
static hfta_status check_shared(hfta_instance *instance) {
  const hfta_tensor *tensor =
      hfta_find_shared_state(instance->program, HFTA_TENSOR_CHECKPOINT);
  return !tensor ? HFTA_OK
                 : hfta_fail(&instance->error, HFTA_UNSUPPORTED,
                             "copies can't begin again on their own, as all of "
                             "them share '%s', which training changes",
                             tensor->name);
}

static hfta_status check(hfta_instance *instance) {
  if (instance->has_gradients)
    return hfta_fail(&instance->error, HFTA_USAGE,
                     "copies can't begin again between an accumulation and its "
                     "update");
  if (instance->part_count > 0)
    return hfta_fail(
        &instance->error, HFTA_UNSUPPORTED,
        "copies can't begin again in an instance of several parts");
  if (instance->workload.is_loaded)
    return hfta_fail(
        &instance->error, HFTA_USAGE,
        "copies of an instance that is only loaded have no initial "
        "weights");
  return check_shared(instance);
}

/// Allocates all memory, before anything is changed.
static hfta_status allocate(restart *self) {
  const hfta_instance *instance = self->instance;
  const hfta_program *program = instance->program;
  uint64_t most = 1, shared = 1;
  for (uint32_t i = 0; i < program->tensor_count; ++i) {
    const hfta_tensor *tensor = &program->tensors[i];
    if (!is_state(instance, tensor))
      continue;
    most = tensor->bytes > most ? tensor->bytes : most;
    shared += is_shared(tensor) ? tensor->bytes : 0;
  }
  self->live_count = instance->live_count;
  self->live = malloc(sizeof(*self->live) * (size_t)self->live_count);
  self->zeros = calloc(1, most);
  self->shared = malloc(shared);
  if (!self->live || !self->zeros || !self->shared)
    return hfta_fail(&self->instance->error, HFTA_UNSUPPORTED,
                     "not enough memory for %llu bytes of tensors",
                     (unsigned long long)(most + shared));
  memcpy(self->live, instance->live,
         sizeof(*self->live) * (size_t)self->live_count);
  return HFTA_OK;
}

/// Reads all shared tensors or, if `writes`, restores them.
static hfta_status move_shared(restart *self, bool writes) {
  hfta_instance *instance = self->instance;
  const hfta_program *program = instance->program;
  char *at = self->shared;
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < program->tensor_count && status == HFTA_OK; ++i) {
    const hfta_tensor *tensor = &program->tensors[i];
    if (!is_state(instance, tensor) || !is_shared(tensor))
      continue;
    status = writes ? hfta_instance_write(instance, i, 0, 0, at, tensor->bytes)
                    : hfta_instance_read(instance, i, 0, 0, at, tensor->bytes);
    at += tensor->bytes;
  }
  return status;
}

/// Gives a copy's tensors the bytes that they have before `initialize` runs:
/// those of their segments' initial contents, or zeros.
static hfta_status clear_copy(restart *self, int64_t copy) {
  hfta_instance *instance = self->instance;
  const hfta_program *program = instance->program;
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < program->tensor_count && status == HFTA_OK; ++i) {
    const hfta_tensor *tensor = &program->tensors[i];
    if (!is_state(instance, tensor) || is_shared(tensor) ||
        !hfta_tensor_is_of(tensor, copy))
      continue;
    const char *image = program->segments[tensor->segment].image;
    const void *from =
        image ? image + hfta_tensor_offset(program, tensor, copy) : self->zeros;
    status = hfta_instance_write(instance, i, copy, 0, from, tensor->bytes);
  }
  instance->reports[copy] = HFTA_NO_REPORT;
  return status;
}

/// Initializes the live copies, as at step 0.
static hfta_status initialize(restart *self) {
  hfta_instance *instance = self->instance;
  hfta_status status = HFTA_OK;
  hfta_instance_offer(instance, NULL);
  hfta_instance_set_integer(instance, instance->program->roles.step, 0, 0, 0);
  for (int64_t i = 0; i < instance->live_count && status == HFTA_OK; ++i)
    status = clear_copy(self, instance->live[i]);
  hfta_schedule_call call = {.name = "initialize",
                             .micro_batches = instance->program->micro_batches};
  if (status == HFTA_OK)
    status = hfta_instance_run_turns(instance, &call);
  return status == HFTA_OK ? move_shared(self, /*writes=*/true) : status;
}

static hfta_status run(restart *self, const int32_t *copies, int64_t count) {
  hfta_status status = move_shared(self, /*writes=*/false);
  if (status == HFTA_OK)
    status = hfta_instance_set_live(self->instance, copies, count);
  if (status != HFTA_OK)
    return status;
  status = initialize(self);
  hfta_status later =
      hfta_instance_set_live(self->instance, self->live, self->live_count);
  return status == HFTA_OK ? later : status;
}

hfta_status hfta_instance_restart(hfta_instance *instance,
                                  const int32_t *copies, int64_t count) {
  hfta_status status = check(instance);
  if (status != HFTA_OK)
    return status;
  restart self = {.instance = instance};
  status = allocate(&self);
  if (status == HFTA_OK)
    status = run(&self, copies, count);
  free(self.live);
  free(self.zeros);
  free(self.shared);
  return status;
}
