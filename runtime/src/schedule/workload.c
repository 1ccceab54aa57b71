//===- workload.c - Memory that tasks and copies need ---------------------===//

#include "schedule/workload.h"

hfta_workload hfta_workload_of_all(const hfta_program *program) {
  return (hfta_workload){UINT32_MAX, 0, program->copies};
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

static bool runs(const hfta_workload *workload, const hfta_task *task) {
  return task->kind == HFTA_TASK_INIT || (workload->kinds >> task->kind & 1);
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

bool hfta_workload_needs(const hfta_program *program,
                         const hfta_workload *workload, uint32_t segment) {
  switch (program->segments[segment].role) {
  case HFTA_SEGMENT_GRADIENTS:
  case HFTA_SEGMENT_OPTIMIZER_STATE:
  case HFTA_SEGMENT_SAVED:
  case HFTA_SEGMENT_CUT:
  case HFTA_SEGMENT_WORKSPACE:
    break;
  default:
    return true;
  }
  for (uint32_t i = 0; i < program->task_count; ++i)
    if (runs(workload, &program->tasks[i]) &&
        uses_segment(&program->tasks[i], segment))
      return true;
  // Checkpoints hold the state of whatever is trained.
  return workload->kinds == UINT32_MAX;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

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

int64_t hfta_workload_copies_at_once(const hfta_program *program,
                                     const hfta_workload *workload,
                                     int threads) {
  if (!steps_by_copies(program))
    return workload->copies;
  int64_t each = program->copy_threads;
  int64_t count = (threads + each - 1) / each;
  return count < workload->copies ? count : workload->copies;
}

int64_t hfta_program_copies_at_once(const hfta_program *program, int threads) {
  hfta_workload all = hfta_workload_of_all(program);
  return hfta_workload_copies_at_once(program, &all, threads);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

uint64_t hfta_workload_segment_bytes(const hfta_program *program,
                                     const hfta_workload *workload,
                                     uint32_t index, int threads) {
  const hfta_segment *segment = &program->segments[index];
  // Gradients may have to wait for an update.
  if (segment->copy_bytes == 0 || segment->role == HFTA_SEGMENT_GRADIENTS)
    return segment->bytes;
  for (uint32_t i = 0; i < program->task_count; ++i) {
    const hfta_task *task = &program->tasks[i];
    if (runs(workload, task) && !(task->flags & HFTA_TASK_BY_COPIES) &&
        uses_segment(task, index))
      return segment->bytes;
  }
  return segment->copy_bytes *
         (uint64_t)hfta_workload_copies_at_once(program, workload, threads);
}

uint64_t hfta_program_segment_bytes(const hfta_program *program, uint32_t index,
                                    int threads) {
  hfta_workload all = hfta_workload_of_all(program);
  return hfta_workload_segment_bytes(program, &all, index, threads);
}

/// Whether `init` can be run for some copies.
static bool starts_by_copies(const hfta_program *program) {
  for (uint32_t i = 0; i < program->task_count; ++i)
    if (program->tasks[i].kind == HFTA_TASK_INIT &&
        !(program->tasks[i].flags & HFTA_TASK_BY_COPIES))
      return false;
  return true;
}

/// Bytes of a segment's named tensors that the workload's copies have.
static uint64_t tensor_bytes(const hfta_program *program,
                             const hfta_workload *workload, uint32_t segment) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < program->tensor_count; ++i) {
    const hfta_tensor *tensor = &program->tensors[i];
    if (tensor->segment != segment)
      continue;
    bool one = tensor->copy_stride == 0;
    bytes += tensor->bytes * (one ? 1 : (uint64_t)workload->copies);
  }
  return bytes;
}

/// Bytes that are touched, of all instances of a segment.
static uint64_t touched_bytes(const hfta_program *program,
                              const hfta_workload *workload, uint32_t index,
                              int threads) {
  const hfta_segment *segment = &program->segments[index];
  if (segment->role == HFTA_SEGMENT_SCRATCH ||
      !hfta_workload_needs(program, workload, index))
    return 0;
  bool is_weights = segment->role == HFTA_SEGMENT_PARAMETERS ||
                    segment->role == HFTA_SEGMENT_STATISTICS;
  if (is_weights && workload->copies < program->copies &&
      starts_by_copies(program))
    return tensor_bytes(program, workload, index);
  return hfta_workload_segment_bytes(program, workload, index, threads) *
         (segment->instances ? segment->instances : 1);
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

/// Batches of data are read one ahead of the one in use.
static uint64_t prefetch_bytes(const hfta_program *program,
                               const hfta_workload *workload) {
  uint32_t readers = 1u << HFTA_TASK_FORWARD | 1u << HFTA_TASK_EVALUATE;
  uint64_t bytes = 0;
  for (uint32_t i = 0;
       workload->kinds & readers && i < program->data_field_count; ++i)
    bytes += 2 * program->tensors[program->data_fields[i].tensor].bytes *
             (uint64_t)program->micro_batches;
  return bytes;
}

hfta_memory_plan hfta_workload_memory(const hfta_program *program,
                                      const hfta_workload *workload,
                                      int threads) {
  hfta_memory_plan plan = {0};
  for (uint32_t i = 0; i < program->segment_count; ++i)
    *plan_entry(&plan, program->segments[i].role) +=
        touched_bytes(program, workload, i, threads);
  plan.scratch = hfta_program_scratch_bytes(program) * (uint64_t)threads;
  plan.prefetch = prefetch_bytes(program, workload);
  plan.peak = plan.parameters + plan.gradients + plan.optimizer_state +
              plan.statistics + plan.activations + plan.workspace +
              plan.input_output + plan.prefetch + plan.scratch;
  return plan;
}

hfta_memory_plan hfta_program_memory(const hfta_program *program, int threads) {
  hfta_workload all = hfta_workload_of_all(program);
  return hfta_workload_memory(program, &all, threads);
}
