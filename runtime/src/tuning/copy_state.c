//===- copy_state.c - The whole state of one copy in memory ---------------===//

#include "tuning/copy_state.h"

#include "instance/instance_impl.h"

#include <string.h>

/// Returns whether a tensor is part of a copy's state on this rank. Tensors
/// that all copies share aren't trained (hfta_instance_restart), so that they
/// belong to no copy.
static bool is_state(const hfta_instance *instance, uint32_t index,
                     int64_t copy) {
  const hfta_tensor *tensor = &instance->program->tensors[index];
  return (tensor->flags & HFTA_TENSOR_CHECKPOINT) != 0 &&
         (tensor->flags & HFTA_TENSOR_SHARED) == 0 && tensor->bytes > 0 &&
         hfta_tensor_is_of(tensor, copy) &&
         hfta_instance_find_worker(instance, tensor->segment) != NULL;
}

/// Returns the index of the copy's first state tensor from `index` on; the
/// number of tensors if there is none.
static uint32_t next_of(const hfta_instance *instance, uint32_t index,
                        int64_t copy) {
  while (index < instance->program->tensor_count &&
         !is_state(instance, index, copy))
    ++index;
  return index;
}

uint64_t hfta_copy_state_bytes(const hfta_instance *instance, int64_t copy) {
  const hfta_program *program = instance->program;
  uint64_t bytes = 0;
  for (uint32_t i = next_of(instance, 0, copy); i < program->tensor_count;
       i = next_of(instance, i + 1, copy))
    bytes += program->tensors[i].bytes;
  return bytes;
}

/// Returns whether two tensors can hold the same values.
static bool are_alike(const hfta_tensor *one, const hfta_tensor *other) {
  if (one->type != other->type || one->rank != other->rank ||
      one->bytes != other->bytes || strcmp(one->name, other->name) != 0)
    return false;
  for (uint32_t i = 0; i < one->rank; ++i)
    if (one->shape[i] != other->shape[i])
      return false;
  return true;
}

hfta_status hfta_copy_state_check(hfta_instance *instance) {
  const hfta_program *program = instance->program;
  uint32_t count = program->tensor_count;
  for (int64_t copy = 1; copy < program->copies; ++copy) {
    uint32_t i = next_of(instance, 0, 0), j = next_of(instance, 0, copy);
    while (i < count && j < count &&
           are_alike(&program->tensors[i], &program->tensors[j])) {
      i = next_of(instance, i + 1, 0);
      j = next_of(instance, j + 1, copy);
    }
    if (i < count || j < count)
      return hfta_fail(&instance->error, HFTA_UNSUPPORTED,
                       "'%s' can't be searched: copies 0 and %lld have "
                       "different tensors, so that a trial can't move from one "
                       "to the other",
                       program->name, (long long)copy);
  }
  return HFTA_OK;
}

hfta_status hfta_copy_state_take(hfta_instance *instance, int64_t copy,
                                 void *memory) {
  const hfta_program *program = instance->program;
  char *at = memory;
  hfta_status status = HFTA_OK;
  for (uint32_t i = next_of(instance, 0, copy);
       i < program->tensor_count && status == HFTA_OK;
       i = next_of(instance, i + 1, copy)) {
    uint64_t bytes = program->tensors[i].bytes;
    status = hfta_instance_read(instance, i, copy, 0, at, bytes);
    at += bytes;
  }
  return status;
}

hfta_status hfta_copy_state_give(hfta_instance *instance, int64_t copy,
                                 const void *memory) {
  const hfta_program *program = instance->program;
  const char *at = memory;
  hfta_status status = HFTA_OK;
  for (uint32_t i = next_of(instance, 0, copy);
       i < program->tensor_count && status == HFTA_OK;
       i = next_of(instance, i + 1, copy)) {
    uint64_t bytes = program->tensors[i].bytes;
    status = hfta_instance_write(instance, i, copy, 0, at, bytes);
    at += bytes;
  }
  return status;
}
