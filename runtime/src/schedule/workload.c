//===- workload.c - Memory that tasks and copies need ---------------------===//

#include "schedule/workload.h"

#include "schedule/share.h"
#include "schedule/sums.h"

#include <string.h>

hfta_workload hfta_workload_of_all(const hfta_program *program) {
  return (hfta_workload){UINT32_MAX, 0, program->copies, 0, 1, NULL};
}

hfta_workload hfta_workload_of(const hfta_program *program,
                               const char *schedule, int64_t first_copy,
                               int64_t copies) {
  hfta_workload workload = {0, first_copy, copies, 0, 1, NULL};
  for (uint32_t i = 0; schedule && i < program->schedule_count; ++i)
    if (strcmp(program->schedules[i].name, schedule) == 0)
      workload.schedules |= 1u << i;
  return workload;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// Asked of each command of the workload's schedules.
typedef bool (*command_question)(const hfta_program *program,
                                 const hfta_command *command, uint32_t segment);

static bool runs(const hfta_program *program, const hfta_workload *workload,
                 uint32_t schedule) {
  return (workload->schedules >> schedule & 1) ||
         strcmp(program->schedules[schedule].name, "initialize") == 0;
}

/// Whether the answer is yes for some command.
static bool some_command(const hfta_program *program,
                         const hfta_workload *workload,
                         command_question question, uint32_t segment) {
  for (uint32_t s = 0; s < program->schedule_count; ++s) {
    const hfta_schedule *schedule = &program->schedules[s];
    for (uint32_t i = 0;
         runs(program, workload, s) && i < schedule->command_count; ++i)
      if (question(program, &schedule->commands[i], segment))
        return true;
  }
  return false;
}

static bool task_uses(const hfta_task *task, uint32_t segment) {
  for (uint32_t i = 0; i < task->read_count; ++i)
    if (task->reads[i] == segment)
      return true;
  for (uint32_t i = 0; i < task->write_count; ++i)
    if (task->writes[i] == segment)
      return true;
  return false;
}

static bool uses_segment(const hfta_program *program,
                         const hfta_command *command, uint32_t segment) {
  return (command->kind == HFTA_COMMAND_RUN ||
          command->kind == HFTA_COMMAND_ALL_REDUCE) &&
         task_uses(&program->tasks[command->subject], segment);
}

static bool needs_all_copies(const hfta_program *program,
                             const hfta_command *command, uint32_t segment) {
  (void)segment;
  return command->kind == HFTA_COMMAND_RUN &&
         !(program->tasks[command->subject].flags & HFTA_TASK_BY_COPIES);
}

static bool reads_data(const hfta_program *program, const hfta_command *command,
                       uint32_t segment) {
  (void)program, (void)segment;
  return command->kind == HFTA_COMMAND_TRANSFER &&
         command->from.space == HFTA_SPACE_FIELD;
}

bool hfta_workload_needs(const hfta_program *program,
                         const hfta_workload *workload, uint32_t segment) {
  switch (program->segments[segment].role) {
  case HFTA_SEGMENT_GRADIENTS:
  case HFTA_SEGMENT_OPTIMIZER_STATE:
  case HFTA_SEGMENT_SAVED:
  case HFTA_SEGMENT_CUT:
  case HFTA_SEGMENT_EXCHANGE:
  case HFTA_SEGMENT_WORKSPACE:
    break;
  case HFTA_SEGMENT_RECEIVED:
    if (workload->ranks == 1)
      return false;
    break;
  default:
    return true;
  }
  // Checkpoints hold the state of whatever is trained.
  return workload->schedules == UINT32_MAX ||
         some_command(program, workload, uses_segment, segment);
}

bool hfta_workload_runs_by_copies(const hfta_program *program,
                                  const hfta_workload *workload) {
  return !some_command(program, workload, needs_all_copies, 0);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

bool hfta_schedule_takes_turns(const hfta_schedule *schedule) {
  for (uint32_t i = 0; i < schedule->command_count; ++i)
    if (schedule->commands[i].kind == HFTA_COMMAND_REPEAT &&
        schedule->commands[i].subject == HFTA_REPEAT_TURNS)
      return true;
  return false;
}

static bool takes_turns(const hfta_program *program,
                        const hfta_workload *workload) {
  for (uint32_t s = 0; s < program->schedule_count; ++s)
    if (runs(program, workload, s) &&
        hfta_schedule_takes_turns(&program->schedules[s]))
      return true;
  return false;
}

int64_t hfta_workload_copies_at_once(const hfta_program *program,
                                     const hfta_workload *workload,
                                     int threads) {
  if (!takes_turns(program, workload))
    return workload->copies;
  return threads < workload->copies ? threads : workload->copies;
}

int64_t hfta_program_copies_at_once(const hfta_program *program, int threads) {
  hfta_workload all = hfta_workload_of_all(program);
  return hfta_workload_copies_at_once(program, &all, threads);
}

/// Whether each copy has a slab of its own.
static bool keeps_slabs(const hfta_program *program,
                        const hfta_workload *workload, uint32_t segment) {
  for (uint32_t s = 0; s < program->schedule_count; ++s)
    for (uint32_t i = 0;
         runs(program, workload, s) && i < program->schedules[s].keep_count;
         ++i)
      if (program->schedules[s].keeps[i] == segment)
        return true;
  return false;
}

bool hfta_workload_shares_slabs(const hfta_program *program,
                                const hfta_workload *workload,
                                uint32_t segment) {
  return program->segments[segment].copy_bytes != 0 &&
         !keeps_slabs(program, workload, segment) &&
         takes_turns(program, workload);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// How far a task reaches into a workspace, of which there are `all` bytes.
static uint64_t task_reach(const hfta_task *task, uint32_t segment,
                           uint64_t all) {
  if (!task_uses(task, segment))
    return 0;
  for (uint32_t i = 0; i < task->workspace_count; ++i)
    if (task->workspaces[i].segment == segment)
      return task->workspaces[i].bytes;
  return all;
}

/// The most that a rank receives of one group's sums at a time.
static uint64_t received_bytes(const hfta_program *program,
                               const hfta_workload *workload, uint32_t index) {
  uint64_t most = 0;
  for (uint32_t s = 0; s < program->schedule_count; ++s)
    for (uint32_t i = 0;
         runs(program, workload, s) && i < program->schedules[s].command_count;
         ++i) {
      const hfta_command *command = &program->schedules[s].commands[i];
      if (command->kind != HFTA_COMMAND_ALL_REDUCE ||
          command->from.index != index)
        continue;
      uint64_t bytes = hfta_sums_received_bytes(command, workload->ranks);
      most = bytes > most ? bytes : most;
    }
  return most;
}

/// How far the workload's tasks reach into a segment, or into its slabs: all of
/// it, but for workspaces, which have room for the largest task of all.
static uint64_t workload_reach(const hfta_program *program,
                               const hfta_workload *workload, uint32_t index) {
  const hfta_segment *segment = &program->segments[index];
  uint64_t all = segment->copy_bytes ? segment->copy_bytes : segment->bytes;
  uint64_t most = 0;
  if (segment->role == HFTA_SEGMENT_RECEIVED)
    return received_bytes(program, workload, index);
  if (segment->role != HFTA_SEGMENT_WORKSPACE)
    return all;
  for (uint32_t s = 0; s < program->schedule_count; ++s)
    for (uint32_t i = 0;
         runs(program, workload, s) && i < program->schedules[s].command_count;
         ++i) {
      const hfta_command *command = &program->schedules[s].commands[i];
      if (command->kind != HFTA_COMMAND_RUN)
        continue;
      uint64_t reach =
          task_reach(&program->tasks[command->subject], index, all);
      most = reach > most ? reach : most;
    }
  return most;
}

/// Slabs lie as far apart for all workloads; the last one may be shorter.
uint64_t hfta_workload_segment_bytes(const hfta_program *program,
                                     const hfta_workload *workload,
                                     uint32_t index, int threads) {
  const hfta_segment *segment = &program->segments[index];
  uint64_t reach = workload_reach(program, workload, index);
  if (segment->copy_bytes == 0 || reach == 0)
    return reach;
  uint64_t slabs =
      keeps_slabs(program, workload, index)
          ? segment->bytes / segment->copy_bytes
          : (uint64_t)hfta_workload_copies_at_once(program, workload, threads);
  return (slabs - 1) * segment->copy_bytes + reach;
}

uint64_t hfta_program_segment_bytes(const hfta_program *program, uint32_t index,
                                    int threads) {
  hfta_workload all = hfta_workload_of_all(program);
  return hfta_workload_segment_bytes(program, &all, index, threads);
}

uint32_t hfta_workload_instances(const hfta_program *program,
                                 const hfta_workload *workload,
                                 uint32_t index) {
  const hfta_segment *segment = &program->segments[index];
  uint32_t all = segment->instances ? segment->instances : 1;
  int64_t own = hfta_rank_groups(program, workload->ranks, workload->rank);
  switch (segment->role) {
  case HFTA_SEGMENT_GRADIENTS:
  case HFTA_SEGMENT_RESULTS:
    break;
  case HFTA_SEGMENT_RECEIVED:
    own = program->stages->groups - own;
    break;
  case HFTA_SEGMENT_SCALARS:
  case HFTA_SEGMENT_EXCHANGE: // of all ranks' micro-batches
    return all;
  case HFTA_SEGMENT_INPUT: // and one on its way
    own = 1 + hfta_rank_micro_batches(program, workload->ranks, workload->rank);
    break;
  default:
    own = hfta_rank_micro_batches(program, workload->ranks, workload->rank);
    break;
  }
  return own < all ? (uint32_t)own : all;
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
  if (is_weights && workload->copies < program->copies)
    return tensor_bytes(program, workload, index);
  return hfta_workload_segment_bytes(program, workload, index, threads) *
         hfta_workload_instances(program, workload, index);
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
  case HFTA_SEGMENT_EXCHANGE:
    return &plan->activations;
  case HFTA_SEGMENT_WORKSPACE:
    return &plan->workspace;
  default:
    return &plan->input_output;
  }
}

/// Batches of data are read two ahead of the one in use: one of them is on its
/// way to the device.
static uint64_t prefetch_bytes(const hfta_program *program,
                               const hfta_workload *workload) {
  uint64_t bytes = 0;
  bool reads = some_command(program, workload, reads_data, 0);
  int64_t own =
      hfta_rank_micro_batches(program, workload->ranks, workload->rank);
  for (uint32_t i = 0; reads && i < program->data_field_count; ++i)
    bytes += 3 * program->tensors[program->data_fields[i].tensor].bytes *
             (uint64_t)own;
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
