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

/// Whether copies may go through forward and backward in turn.
static bool steps_by_copies(const hfta_program *program) {
  for (uint32_t i = 0; i < program->task_count; ++i) {
    const hfta_task *task = &program->tasks[i];
    bool trains =
        task->kind >= HFTA_TASK_FORWARD && task->kind <= HFTA_TASK_UPDATE;
    if (trains && !(task->flags & HFTA_TASK_BY_COPIES))
      return false;
  }
  // With several micro-batches in flight, each copy's values wait.
  return program->copy_threads > 0 &&
         (program->micro_batches == 1 || !program->all_forwards_first);
}

int64_t hfta_program_copies_at_once(const hfta_program *program, int threads) {
  if (!steps_by_copies(program))
    return program->copies;
  int64_t each = program->copy_threads;
  int64_t count = (threads + each - 1) / each;
  return count < program->copies ? count : program->copies;
}

static bool uses_segment(const hfta_task *task, uint32_t segment) {
  for (uint32_t i = 0; i < task->read_count; ++i)
    if (task->reads[i] == segment)
      return true;
  for (uint32_t i = 0; i < task->write_count; ++i)
    if (task->writes[i] == segment)
      return true;
  return false;
}

uint64_t hfta_program_segment_bytes(const hfta_program *program, uint32_t index,
                                    int threads) {
  const hfta_segment *segment = &program->segments[index];
  // Gradients may have to wait for an update.
  if (segment->copy_bytes == 0 || segment->role == HFTA_SEGMENT_GRADIENTS)
    return segment->bytes;
  for (uint32_t i = 0; i < program->task_count; ++i) {
    const hfta_task *task = &program->tasks[i];
    if (!(task->flags & HFTA_TASK_BY_COPIES) && uses_segment(task, index))
      return segment->bytes;
  }
  return segment->copy_bytes *
         (uint64_t)hfta_program_copies_at_once(program, threads);
}

static uint64_t *plan_entry(hfta_memory_plan *plan, uint32_t role) {
  switch (role) {
  case HFTA_SEGMENT_CONSTANTS:
    return &plan->constants;
  case HFTA_SEGMENT_PARAMETERS:
    return &plan->parameters;
  case HFTA_SEGMENT_GRADIENTS:
    return &plan->gradients;
  case HFTA_SEGMENT_OPTIMIZER_STATE:
    return &plan->optimizer_state;
  case HFTA_SEGMENT_STATISTICS:
    return &plan->statistics;
  case HFTA_SEGMENT_SAVED:
  case HFTA_SEGMENT_CUT:
    return &plan->activations;
  case HFTA_SEGMENT_WORKSPACE:
    return &plan->workspace;
  default:
    return &plan->input_output;
  }
}

/// The trainer reads one batch ahead of the one in use.
static uint64_t prefetch_bytes(const hfta_program *program) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < program->data_field_count; ++i)
    bytes += 2 * program->tensors[program->data_fields[i].tensor].bytes *
             (uint64_t)program->micro_batches;
  return bytes;
}

hfta_memory_plan hfta_program_memory(const hfta_program *program, int threads) {
  hfta_memory_plan plan = {0};
  for (uint32_t i = 0; i < program->segment_count; ++i) {
    const hfta_segment *segment = &program->segments[i];
    if (segment->role != HFTA_SEGMENT_SCRATCH)
      *plan_entry(&plan, segment->role) +=
          hfta_program_segment_bytes(program, i, threads) *
          (segment->instances ? segment->instances : 1);
  }
  plan.scratch = hfta_program_scratch_bytes(program) * (uint64_t)threads;
  plan.prefetch = prefetch_bytes(program);
  plan.peak = plan.parameters + plan.gradients + plan.optimizer_state +
              plan.statistics + plan.activations + plan.workspace +
              plan.input_output + plan.prefetch + plan.scratch;
  return plan;
}
