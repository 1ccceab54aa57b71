//===- copy_tensors.c - Tensors of one copy in the host's memory ----------===//

#include "instance/copy_tensors.h"

#include "instance/instance_impl.h"

bool hfta_tensor_is_own(const hfta_tensor *tensor, uint32_t flag,
                        int64_t copy) {
  return (tensor->flags & flag) != 0 &&
         (tensor->flags & HFTA_TENSOR_SHARED) == 0 && tensor->bytes > 0 &&
         hfta_tensor_is_of(tensor, copy);
}

uint32_t hfta_copy_tensors_next(const hfta_instance *instance, uint32_t flag,
                                uint32_t index, int64_t copy) {
  const hfta_program *program = instance->program;
  for (; index < program->tensor_count; ++index) {
    const hfta_tensor *tensor = &program->tensors[index];
    if (hfta_tensor_is_own(tensor, flag, copy) &&
        hfta_instance_find_worker(instance, tensor->segment))
      break;
  }
  return index;
}

uint64_t hfta_copy_tensors_bytes(const hfta_instance *instance, uint32_t flag,
                                 int64_t copy) {
  const hfta_program *program = instance->program;
  uint64_t bytes = 0;
  for (uint32_t i = hfta_copy_tensors_next(instance, flag, 0, copy);
       i < program->tensor_count;
       i = hfta_copy_tensors_next(instance, flag, i + 1, copy))
    bytes += program->tensors[i].bytes;
  return bytes;
}

hfta_status hfta_copy_tensors_read(hfta_instance *instance, uint32_t flag,
                                   int64_t copy, void *memory) {
  const hfta_program *program = instance->program;
  char *at = memory;
  hfta_status status = HFTA_OK;
  for (uint32_t i = hfta_copy_tensors_next(instance, flag, 0, copy);
       i < program->tensor_count && status == HFTA_OK;
       i = hfta_copy_tensors_next(instance, flag, i + 1, copy)) {
    uint64_t bytes = program->tensors[i].bytes;
    status = hfta_instance_read(instance, i, copy, 0, at, bytes);
    at += bytes;
  }
  return status;
}

hfta_status hfta_copy_tensors_write(hfta_instance *instance, uint32_t flag,
                                    int64_t copy, const void *memory) {
  const hfta_program *program = instance->program;
  const char *at = memory;
  hfta_status status = HFTA_OK;
  for (uint32_t i = hfta_copy_tensors_next(instance, flag, 0, copy);
       i < program->tensor_count && status == HFTA_OK;
       i = hfta_copy_tensors_next(instance, flag, i + 1, copy)) {
    uint64_t bytes = program->tensors[i].bytes;
    status = hfta_instance_write(instance, i, copy, 0, at, bytes);
    at += bytes;
  }
  return status;
}

const hfta_tensor *hfta_find_shared_state(const hfta_program *program,
                                          uint32_t flag) {
  for (uint32_t i = 0; i < program->tensor_count; ++i) {
    const hfta_tensor *tensor = &program->tensors[i];
    bool is_parameter =
        program->segments[tensor->segment].role == HFTA_SEGMENT_PARAMETERS;
    if ((tensor->flags & flag) && (tensor->flags & HFTA_TENSOR_SHARED) &&
        !is_parameter)
      return tensor;
  }
  return NULL;
}
