//===- instance_tensor.c - Access to an instance's tensors ----------------===//

#include "schedule/instance_impl.h"

#include <math.h>
#include <string.h>

char *hfta_instance_address(const hfta_instance *instance, uint32_t tensor,
                            int64_t copy) {
  const hfta_tensor *entry = &instance->program->tensors[tensor];
  char *base = instance->memory[entry->segment].bases[0];
  return base + entry->offset + entry->copy_stride * (uint64_t)copy;
}

hfta_status hfta_instance_read(hfta_instance *instance, uint32_t tensor,
                               int64_t copy, uint64_t offset, void *to,
                               uint64_t bytes) {
  return instance->device->functions->copy_out(
      instance->device, 0, to,
      hfta_instance_address(instance, tensor, copy) + offset, bytes,
      &instance->error);
}

hfta_status hfta_instance_write(hfta_instance *instance, uint32_t tensor,
                                int64_t copy, uint64_t offset, const void *from,
                                uint64_t bytes) {
  return instance->device->functions->copy_in(
      instance->device, 0,
      hfta_instance_address(instance, tensor, copy) + offset, from, bytes,
      &instance->error);
}

hfta_status hfta_instance_write_real(hfta_instance *instance, uint32_t tensor,
                                     int64_t copy, double value) {
  if (tensor == UINT32_MAX)
    return HFTA_OK;
  float single = (float)value;
  bool narrow = instance->program->tensors[tensor].type == HFTA_F32;
  return narrow ? hfta_instance_write(instance, tensor, copy, 0, &single,
                                      sizeof(single))
                : hfta_instance_write(instance, tensor, copy, 0, &value,
                                      sizeof(value));
}

hfta_status hfta_instance_write_integer(hfta_instance *instance,
                                        uint32_t tensor, int64_t copy,
                                        int64_t value) {
  if (tensor == UINT32_MAX)
    return HFTA_OK;
  return hfta_instance_write(instance, tensor, copy, 0, &value, sizeof(value));
}

hfta_status hfta_instance_read_real(hfta_instance *instance, uint32_t tensor,
                                    int64_t copy, double *out) {
  *out = NAN;
  if (tensor == UINT32_MAX)
    return HFTA_OK;
  if (instance->program->tensors[tensor].type == HFTA_F64)
    return hfta_instance_read(instance, tensor, copy, 0, out, sizeof(*out));
  float single = NAN;
  hfta_status status =
      hfta_instance_read(instance, tensor, copy, 0, &single, sizeof(single));
  *out = (double)single;
  return status;
}

hfta_status hfta_instance_clear(hfta_instance *instance, uint32_t tensor) {
  if (tensor == UINT32_MAX)
    return HFTA_OK;
  hfta_status status = HFTA_OK;
  const hfta_program *program = instance->program;
  for (int64_t copy = 0; copy < program->copies && status == HFTA_OK; ++copy)
    status = instance->device->functions->fill_zero(
        instance->device, 0, hfta_instance_address(instance, tensor, copy),
        program->tensors[tensor].bytes, &instance->error);
  return status;
}

hfta_status hfta_instance_tensor(hfta_instance *instance, int64_t copy,
                                 const char *name, hfta_tensor_info *out) {
  const hfta_program *program = instance->program;
  memset(out, 0, sizeof(*out));
  if (copy < 0 || copy >= program->copies)
    return hfta_fail(&instance->error, HFTA_USAGE,
                     "copy %lld: there are copies 0 to %lld", (long long)copy,
                     (long long)program->copies - 1);
  uint32_t index = hfta_program_find_tensor(program, copy, name);
  if (index == UINT32_MAX)
    return hfta_fail(&instance->error, HFTA_USAGE,
                     "no tensor of copy %lld is named '%s'", (long long)copy,
                     name);
  const hfta_tensor *tensor = &program->tensors[index];
  if (instance->memory[tensor->segment].bytes <
      program->segments[tensor->segment].bytes)
    return hfta_fail(&instance->error, HFTA_USAGE,
                     "tensor '%s' isn't kept: copies take turns in its memory",
                     name);
  out->name = tensor->name;
  out->shape = tensor->shape;
  out->rank = tensor->rank;
  out->type = tensor->type;
  out->bytes = tensor->bytes;
  if (tensor->bytes > 0)
    out->data = instance->device->functions->host_address(
        instance->device, hfta_instance_address(instance, index, copy));
  return HFTA_OK;
}
