//===- best_weights.c - Weights of each copy's best evaluation ------------===//

#include "checkpoint/best_weights.h"

#include "instance/copy_tensors.h"
#include "instance/instance_impl.h"

#include <stdlib.h>
#include <string.h>

enum { WEIGHTS = HFTA_TENSOR_EXPORT };

bool hfta_best_weights_have(const hfta_tensor *tensor, int64_t copy) {
  return hfta_tensor_is_own(tensor, WEIGHTS, copy);
}

uint64_t hfta_best_weights_bytes(const hfta_program *program) {
  uint64_t bytes = 0;
  for (int64_t copy = 0; copy < program->copies; ++copy)
    for (uint32_t i = 0; i < program->tensor_count; ++i)
      if (hfta_best_weights_have(&program->tensors[i], copy))
        bytes += program->tensors[i].bytes;
  return bytes;
}

/// Allocates the arrays, and the memory of each copy.
static bool allocate(hfta_best_weights *self) {
  const hfta_program *program = self->instance->program;
  size_t copies = (size_t)program->copies, most = 1;
  for (uint32_t i = 0; i < program->tensor_count; ++i)
    if ((program->tensors[i].flags & WEIGHTS) &&
        program->tensors[i].bytes > most)
      most = (size_t)program->tensors[i].bytes;
  self->scratch = malloc(most);
  self->steps = calloc(copies, sizeof(*self->steps));
  self->memory = calloc(copies, sizeof(*self->memory));
  bool complete = self->scratch && self->steps && self->memory;
  for (int64_t copy = 0; copy < program->copies && complete; ++copy) {
    // One more byte, since a rank may have no tensor of the copy.
    uint64_t bytes = hfta_copy_tensors_bytes(self->instance, WEIGHTS, copy) + 1;
    self->memory[copy] = malloc((size_t)bytes);
    complete = self->memory[copy] != NULL;
  }
  return complete;
}

hfta_status hfta_best_weights_open(hfta_best_weights *self,
                                   hfta_instance *instance, hfta_error *error) {
  const hfta_program *program = instance->program;
  const hfta_tensor *shared = hfta_find_shared_state(program, WEIGHTS);
  *self = (hfta_best_weights){.instance = instance, .found_copy = -1};
  if (shared)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "'%s' can't keep the best weights of each copy, as all "
                     "copies share '%s', which training changes",
                     program->name, shared->name);
  return allocate(self)
             ? HFTA_OK
             : hfta_fail(error, HFTA_UNSUPPORTED,
                         "not enough memory for the best weights of %lld "
                         "copies, %llu bytes",
                         (long long)program->copies,
                         (unsigned long long)hfta_best_weights_bytes(program));
}

void hfta_best_weights_close(hfta_best_weights *self) {
  for (int64_t copy = 0; self->memory && copy < self->instance->program->copies;
       ++copy)
    free(self->memory[copy]);
  free(self->memory);
  free(self->steps);
  free(self->scratch);
  *self = (hfta_best_weights){0};
}

hfta_status hfta_best_weights_take(hfta_best_weights *self, int64_t copy,
                                   int64_t step) {
  hfta_status status =
      hfta_copy_tensors_read(self->instance, WEIGHTS, copy, self->memory[copy]);
  self->steps[copy] = status == HFTA_OK ? step : 0;
  return status;
}

static hfta_status exchange_copy(hfta_best_weights *self, int64_t copy) {
  hfta_instance *instance = self->instance;
  const hfta_program *program = instance->program;
  char *at = self->memory[copy];
  hfta_status status = HFTA_OK;
  for (uint32_t i = hfta_copy_tensors_next(instance, WEIGHTS, 0, copy);
       i < program->tensor_count && status == HFTA_OK;
       i = hfta_copy_tensors_next(instance, WEIGHTS, i + 1, copy)) {
    uint64_t bytes = program->tensors[i].bytes;
    status = hfta_instance_read(instance, i, copy, 0, self->scratch, bytes);
    if (status == HFTA_OK)
      status = hfta_instance_write(instance, i, copy, 0, at, bytes);
    memcpy(at, self->scratch, (size_t)bytes);
    at += bytes;
  }
  return status;
}

hfta_status hfta_best_weights_exchange(hfta_best_weights *self) {
  hfta_status status = HFTA_OK;
  for (int64_t copy = 0;
       copy < self->instance->program->copies && status == HFTA_OK; ++copy)
    if (self->steps[copy] > 0)
      status = exchange_copy(self, copy);
  return status;
}

char *hfta_best_weights_find(hfta_best_weights *self, uint32_t tensor,
                             int64_t copy) {
  const hfta_instance *instance = self->instance;
  if (self->found_copy != copy || self->found_tensor > tensor) {
    self->found_copy = copy;
    self->found_tensor = hfta_copy_tensors_next(instance, WEIGHTS, 0, copy);
    self->found_offset = 0;
  }
  while (self->found_tensor < tensor) {
    self->found_offset += instance->program->tensors[self->found_tensor].bytes;
    self->found_tensor =
        hfta_copy_tensors_next(instance, WEIGHTS, self->found_tensor + 1, copy);
  }
  return self->memory[copy] + self->found_offset;
}
