//===- averages.c - Averages in place of weights --------------------------===//

#include "checkpoint/averages.h"

#include "instance/copy_tensors.h"
#include "instance/instance_impl.h"
#include "text/text.h"

#include <stdlib.h>
#include <string.h>

enum { WEIGHTS = HFTA_TENSOR_TRAINED };

/// Returns the tensor from which a parameter's average follows, or NULL.
static const hfta_tensor *find(const hfta_program *program,
                               const hfta_tensor *tensor) {
  return tensor->average == 0 ? NULL : &program->tensors[tensor->average - 1];
}

static bool is_offset(const hfta_tensor *average) {
  return (average->flags & HFTA_TENSOR_OFFSET) != 0;
}

static bool has_averages(const hfta_program *program, bool as_offsets) {
  for (uint32_t i = 0; i < program->tensor_count; ++i) {
    const hfta_tensor *average = find(program, &program->tensors[i]);
    if (average && is_offset(average) == as_offsets)
      return true;
  }
  return false;
}

bool hfta_program_averages(const hfta_program *program) {
  return has_averages(program, false);
}

bool hfta_program_adds_offsets(const hfta_program *program) {
  return has_averages(program, true);
}

void hfta_instance_load_averages(hfta_instance *instance) {
  instance->loads_averages = true;
}

void hfta_instance_add_offsets(hfta_instance *instance) {
  instance->adds_offsets = true;
}

/// Does as `find` for a copy: others may have other optimizers.
static const hfta_tensor *find_own(const hfta_program *program,
                                   const hfta_tensor *tensor, int64_t copy) {
  const hfta_tensor *average = find(program, tensor);
  return average && hfta_tensor_is_of(average, copy) ? average : NULL;
}

const hfta_tensor *hfta_find_loaded_average(const hfta_instance *instance,
                                            const hfta_tensor *tensor,
                                            int64_t copy) {
  const hfta_tensor *average = find_own(instance->program, tensor, copy);
  if (!average)
    return NULL;
  bool is_used =
      is_offset(average) ? instance->adds_offsets : instance->loads_averages;
  return is_used ? average : NULL;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static double read_number(uint32_t type, const void *from, uint64_t index) {
  double wide;
  float single;
  uint16_t bits;
  switch (type) {
  case HFTA_F64:
    memcpy(&wide, (const char *)from + sizeof(wide) * index, sizeof(wide));
    return wide;
  case HFTA_F32:
    memcpy(&single, (const char *)from + sizeof(single) * index,
           sizeof(single));
    return (double)single;
  default: // Others that parameters and states may have: f16 and bf16.
    memcpy(&bits, (const char *)from + sizeof(bits) * index, sizeof(bits));
    return type == HFTA_BF16 ? hfta_f64_from_bf16(bits)
                             : hfta_f64_from_f16(bits);
  }
}

/// Writes a number, rounded to a type, at the beginning of `to`.
static void write_number(uint32_t type, double number,
                         char to[sizeof(double)]) {
  float single = (float)number;
  uint16_t bits;
  switch (type) {
  case HFTA_F64:
    memcpy(to, &number, sizeof(number));
    return;
  case HFTA_F32:
    memcpy(to, &single, sizeof(single));
    return;
  default:
    bits = type == HFTA_BF16 ? hfta_bf16_from_f64(number)
                             : hfta_f16_from_f64(number);
    memcpy(to, &bits, sizeof(bits));
  }
}

void hfta_convert_average(const hfta_tensor *parameter,
                          const hfta_tensor *average, const void *own,
                          const void *from, uint64_t offset, char *bytes,
                          uint64_t count) {
  if (!is_offset(average) && parameter->type == average->type) {
    memcpy(bytes, (const char *)from + offset, (size_t)count);
    return;
  }
  uint64_t size = hfta_element_bytes((hfta_element_type)parameter->type);
  // The bytes may begin and end in the middle of a number.
  for (uint64_t at = offset, end = offset + count; at < end;) {
    char whole[sizeof(double)];
    uint64_t index = at / size, skipped = at % size;
    uint64_t taken = size - skipped < end - at ? size - skipped : end - at;
    double number = read_number(average->type, from, index);
    if (is_offset(average))
      number += read_number(parameter->type, own, index);
    write_number(parameter->type, number, whole);
    memcpy(bytes + (at - offset), whole + skipped, (size_t)taken);
    at += taken;
  }
}

//===----------------------------------------------------------------------===//
// Averages of an instance
//===----------------------------------------------------------------------===//

/// Returns whether a copy has averages.
static bool is_averaged(const hfta_program *program, int64_t copy) {
  for (uint32_t i = 0; i < program->tensor_count; ++i)
    if (hfta_tensor_is_own(&program->tensors[i], WEIGHTS, copy) &&
        find_own(program, &program->tensors[i], copy))
      return true;
  return false;
}

uint64_t hfta_averages_bytes(const hfta_program *program) {
  uint64_t bytes = 0;
  for (int64_t copy = 0; copy < program->copies; ++copy) {
    if (!is_averaged(program, copy))
      continue;
    for (uint32_t i = 0; i < program->tensor_count; ++i)
      if (hfta_tensor_is_own(&program->tensors[i], WEIGHTS, copy))
        bytes += program->tensors[i].bytes;
  }
  return bytes;
}

/// Allocates the arrays, and the memory of each copy.
static bool allocate(hfta_averages *self) {
  const hfta_program *program = self->instance->program;
  uint64_t most = 1, widest = 1;
  for (uint32_t i = 0; i < program->tensor_count; ++i) {
    const hfta_tensor *average = find(program, &program->tensors[i]);
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
    if (!is_averaged(program, copy))
      continue;
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
  const char *at = self->kept[copy];
  hfta_status status = HFTA_OK;
  for (uint32_t i = hfta_copy_tensors_next(instance, WEIGHTS, 0, copy);
       i < program->tensor_count && status == HFTA_OK;
       i = hfta_copy_tensors_next(instance, WEIGHTS, i + 1, copy)) {
    const hfta_tensor *tensor = &program->tensors[i];
    const hfta_tensor *average = find_own(program, tensor, copy);
    const char *own = at;
    at += tensor->bytes;
    if (!average)
      continue;
    status = hfta_instance_read(instance, tensor->average - 1, copy, 0,
                                self->wide, average->bytes);
    if (status != HFTA_OK)
      break;
    hfta_convert_average(tensor, average, own, self->wide, 0, self->scratch,
                         tensor->bytes);
    status =
        hfta_instance_write(instance, i, copy, 0, self->scratch, tensor->bytes);
  }
  return status;
}

hfta_status hfta_averages_put(hfta_averages *self) {
  if (!self->instance)
    return HFTA_OK;
  int64_t copies = self->instance->program->copies;
  hfta_status status = HFTA_OK;
  // All parameters are kept first, so that all can be put back.
  for (int64_t copy = 0; copy < copies && status == HFTA_OK; ++copy)
    if (self->kept[copy])
      status = hfta_copy_tensors_read(self->instance, WEIGHTS, copy,
                                      self->kept[copy]);
  if (status != HFTA_OK)
    return status;
  for (int64_t copy = 0; copy < copies && status == HFTA_OK; ++copy)
    if (self->kept[copy])
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
       self->instance && copy < self->instance->program->copies &&
       status == HFTA_OK;
       ++copy)
    if (self->kept[copy])
      status = hfta_copy_tensors_write(self->instance, WEIGHTS, copy,
                                       self->kept[copy]);
  return status;
}
