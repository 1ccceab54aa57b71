//===- program.c - Facts about a program's table --------------------------===//

#include "hfta/instance.h"

#include <string.h>

bool hfta_program_has_task(const hfta_program *program, hfta_task_kind kind) {
  for (uint32_t i = 0; i < program->task_count; ++i)
    if (program->tasks[i].kind == (uint32_t)kind)
      return true;
  return false;
}

int64_t hfta_program_micro_batch(const hfta_program *program) {
  return program->batch / program->micro_batches;
}

uint64_t hfta_program_norm_count(const hfta_program *program) {
  if (program->roles.norm == UINT32_MAX)
    return 0;
  const hfta_tensor *norm = &program->tensors[program->roles.norm];
  if (norm->rank > 0)
    return norm->bytes / sizeof(double);
  uint64_t trained = 0;
  for (uint32_t i = 0; i < program->tensor_count; ++i)
    trained += (program->tensors[i].flags & HFTA_TENSOR_TRAINED) != 0;
  return trained;
}

double hfta_program_hyper_parameter(const hfta_program *program,
                                    const char *name, int64_t copy,
                                    double otherwise) {
  for (uint32_t i = 0; i < program->hyper_parameter_count; ++i)
    if (strcmp(program->hyper_parameters[i].name, name) == 0)
      return program->hyper_parameters[i].values[copy];
  return otherwise;
}

bool hfta_tensor_is_of(const hfta_tensor *tensor, int64_t copy) {
  return tensor->copy < 0 || tensor->copy == copy;
}

const hfta_model *hfta_program_model(const hfta_program *program,
                                     int64_t copy) {
  return &program->models[program->model_of_copy[copy]];
}

uint32_t hfta_program_find_tensor(const hfta_program *program, int64_t copy,
                                  const char *name) {
  for (uint32_t i = 0; i < program->tensor_count; ++i)
    if (hfta_tensor_is_of(&program->tensors[i], copy) &&
        strcmp(program->tensors[i].name, name) == 0)
      return i;
  return UINT32_MAX;
}

uint64_t hfta_program_scratch_bytes(const hfta_program *program) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < program->segment_count; ++i) {
    const hfta_segment *segment = &program->segments[i];
    if (segment->role == HFTA_SEGMENT_SCRATCH && segment->bytes > bytes)
      bytes = segment->bytes;
  }
  return bytes;
}
