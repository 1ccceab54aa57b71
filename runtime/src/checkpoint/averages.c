//===- averages.c - Running averages in place of weights ------------------===//

#include "checkpoint/averages.h"

#include "instance/copy_tensors.h"
#include "instance/instance_impl.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>

enum { WEIGHTS = HFTA_TENSOR_TRAINED };

bool hfta_program_averages(const hfta_program *program) {
  for (uint32_t i = 0; i < program->tensor_count; ++i)
    if (program->tensors[i].average != 0)
      return true;
  return false;
}

void hfta_instance_load_averages(hfta_instance *instance) {
  instance->loads_averages = true;
}

const hfta_tensor *hfta_find_average(const hfta_program *program,
                                     const hfta_tensor *tensor) {
  return tensor->average == 0 ? NULL : &program->tensors[tensor->average - 1];
}

void hfta_convert_average(const hfta_tensor *parameter,
                          const hfta_tensor *average, const void *from,
                          uint64_t offset, char *bytes, uint64_t count) {
  if (parameter->type == average->type) {
    memcpy(bytes, (const char *)from + offset, (size_t)count);
    return;
  }
  // The only narrower types are f16 and bf16, of which the average is an f32.
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t at = offset + i;
    float number;
    memcpy(&number, (const char *)from + sizeof(number) * (at / 2),
           sizeof(number));
    uint16_t bits = parameter->type == HFTA_BF16 ? hfta_bf16_from_f64(number)
                                                 : hfta_f16_from_f64(number);
    bytes[i] = (char)(bits >> 8 * (at % 2));
  }
}

uint64_t hfta_averages_bytes(const hfta_program *program) {
  uint64_t bytes = 0;
  for (int64_t copy = 0; copy < program->copies; ++copy)
    for (uint32_t i = 0; i < program->tensor_count; ++i)
      if (hfta_tensor_is_own(&program->tensors[i], WEIGHTS, copy))
        bytes += program->tensors[i].bytes;
  return bytes;
}

/// Allocates the arrays, and the memory of each copy.
static bool allocate(hfta_averages *self) {
  const hfta_program *program = self->instance->program;
  uint64_t most = 1, widest = 1;
  for (uint32_t i = 0; i < program->tensor_count; ++i) {
    const hfta_tensor *average =
        hfta_find_average(program, &program->tensors[i]);
    if (!average)
      continue;
    most = program->tensors[i].bytes > most ? program->tensors[i].bytes : most;
    widest = average->bytes > widest ? average->bytes : widest;
  }
  self->scratch = malloc((size_t)most);
  self->wide = malloc((size_t)widest);
  self->kept = calloc((size_t)program->copies, sizeof(*self->kept));
  bool complete = self->scratch && self->wide && self->kept;
  for (int64_t copy = 0; copy < program->copies && complete; ++copy) {
    // One more byte, since a rank may have no tensor of the copy.
    uint64_t bytes = hfta_copy_tensors_bytes(self->instance, WEIGHTS, copy) + 1;
    self->kept[copy] = malloc((size_t)bytes);
    complete = self->kept[copy] != NULL;
  }
  return complete;
}

hfta_status hfta_averages_open(hfta_averages *self, hfta_instance *instance,
                               hfta_error *error) {
  *self = (hfta_averages){.instance = instance};
  return allocate(self)
             ? HFTA_OK
             : hfta_fail(
                   error, HFTA_UNSUPPORTED,
                   "not enough memory to evaluate the averages of %lld "
                   "copies, %llu bytes",
                   (long long)instance->program->copies,
                   (unsigned long long)hfta_averages_bytes(instance->program));
}

void hfta_averages_close(hfta_averages *self) {
  for (int64_t copy = 0; self->kept && copy < self->instance->program->copies;
       ++copy)
    free(self->kept[copy]);
  free(self->kept);
  free(self->scratch);
  free(self->wide);
  *self = (hfta_averages){0};
}

/// Puts the averages of a copy in place of its parameters, which were kept.
static hfta_status put_copy(hfta_averages *self, int64_t copy) {
  hfta_instance *instance = self->instance;
  const hfta_program *program = instance->program;
  hfta_status status = HFTA_OK;
  for (uint32_t i = hfta_copy_tensors_next(instance, WEIGHTS, 0, copy);
       i < program->tensor_count && status == HFTA_OK;
       i = hfta_copy_tensors_next(instance, WEIGHTS, i + 1, copy)) {
    const hfta_tensor *tensor = &program->tensors[i];
    const hfta_tensor *average = hfta_find_average(program, tensor);
    if (!average)
      continue;
    status = hfta_instance_read(instance, tensor->average - 1, copy, 0,
                                self->wide, average->bytes);
    if (status != HFTA_OK)
      break;
    hfta_convert_average(tensor, average, self->wide, 0, self->scratch,
                         tensor->bytes);
    status =
        hfta_instance_write(instance, i, copy, 0, self->scratch, tensor->bytes);
  }
  return status;
}

hfta_status hfta_averages_put(hfta_averages *self) {
  int64_t copies = self->instance->program->copies;
  hfta_status status = HFTA_OK;
  // All parameters are kept first, so that all can be put back.
  for (int64_t copy = 0; copy < copies && status == HFTA_OK; ++copy)
    status =
        hfta_copy_tensors_read(self->instance, WEIGHTS, copy, self->kept[copy]);
  if (status != HFTA_OK)
    return status;
  for (int64_t copy = 0; copy < copies && status == HFTA_OK; ++copy)
    status = put_copy(self, copy);
  if (status != HFTA_OK) {
    hfta_error reason = self->instance->error;
    (void)hfta_averages_remove(self);
    self->instance->error = reason;
  }
  return status;
}

hfta_status hfta_averages_remove(hfta_averages *self) {
  hfta_status status = HFTA_OK;
  for (int64_t copy = 0;
       copy < self->instance->program->copies && status == HFTA_OK; ++copy)
    status = hfta_copy_tensors_write(self->instance, WEIGHTS, copy,
                                     self->kept[copy]);
  return status;
}
