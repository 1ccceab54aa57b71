//===- copy_state.c - The whole state of one copy in memory ---------------===//

#include "tuning/copy_state.h"

#include "instance/copy_tensors.h"
#include "instance/instance_impl.h"

#include <string.h>

/// Tensors that all copies share aren't trained (hfta_instance_restart), so
/// that they belong to no copy's state.
enum { STATE = HFTA_TENSOR_CHECKPOINT };

uint64_t hfta_copy_state_bytes(const hfta_instance *instance, int64_t copy) {
  return hfta_copy_tensors_bytes(instance, STATE, copy);
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
    uint32_t i = hfta_copy_tensors_next(instance, STATE, 0, 0),
             j = hfta_copy_tensors_next(instance, STATE, 0, copy);
    while (i < count && j < count &&
           are_alike(&program->tensors[i], &program->tensors[j])) {
      i = hfta_copy_tensors_next(instance, STATE, i + 1, 0);
      j = hfta_copy_tensors_next(instance, STATE, j + 1, copy);
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
  return hfta_copy_tensors_read(instance, STATE, copy, memory);
}

hfta_status hfta_copy_state_give(hfta_instance *instance, int64_t copy,
                                 const void *memory) {
  return hfta_copy_tensors_write(instance, STATE, copy, memory);
}
