//===- workload.c - The work of an instance, and its memory ---------------===//

#include "workload/workload.h"

#include "program/command_records.h"
#include "program/fetches.h"
#include "workload/share.h"

#include <string.h>

hfta_workload hfta_workload_of_all(const hfta_program *program) {
  return (hfta_workload){
      .is_all = true, .copies = program->copies, .stage = -1, .ranks = 1};
}

hfta_workload hfta_workload_of(const char *schedule, int64_t first_copy,
                               int64_t copies) {
  return (hfta_workload){.schedule = schedule,
                         .first_copy = first_copy,
                         .copies = copies,
                         .stage = -1,
                         .ranks = 1};
}

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

bool hfta_workload_has_stages(const hfta_program *program,
                              const hfta_workload *workload) {
  if (program->stage_count == 1 || workload->is_all)
    return program->stage_count > 1;
  return workload->schedule &&
         hfta_program_find_stage_schedule(program, workload->schedule, 0);
}

uint32_t hfta_workload_worker_count(const hfta_program *program,
                                    const hfta_workload *workload) {
  if (!hfta_workload_has_stages(program, workload))
    return 1;
  return (uint32_t)hfta_rank_worker_count(program, workload->ranks,
                                          workload->rank);
}

hfta_workload hfta_workload_of_worker(const hfta_program *program,
                                      const hfta_workload *workload,
                                      uint32_t index) {
  hfta_workload own = *workload;
  if (!hfta_workload_has_stages(program, workload))
    return own;
  int64_t number =
      hfta_rank_worker(program, workload->ranks, workload->rank, index);
  own.stage = 0;
  while (number >= program->stages[own.stage].replicas)
    number -= program->stages[own.stage++].replicas;
  own.rank = (int)number;
  own.ranks = (int)program->stages[own.stage].replicas;
  return own;
}

/// The value of hfta_workload.rank that stands for all ranks of a stage.
enum { ANY_RANK = -1 };

/// Returns a workload that stands for all workers of a stage; the workload
/// itself if it isn't divided into stages.
static hfta_workload of_stage(const hfta_program *program,
                              const hfta_workload *workload, uint32_t stage) {
  hfta_workload own = *workload;
  if (hfta_workload_has_stages(program, workload)) {
    own.stage = (int32_t)stage;
    own.rank = ANY_RANK;
    own.ranks = (int)program->stages[stage].replicas;
  }
  return own;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

/// A predicate on a command, with a segment (or a data field) as its argument.
typedef bool (*command_question)(const hfta_program *program,
                                 const hfta_command *command, uint32_t segment);

bool hfta_workload_runs(const hfta_program *program,
                        const hfta_workload *workload, uint32_t schedule) {
  const hfta_schedule *own = &program->schedules[schedule];
  return own->stage == workload->stage &&
         (workload->is_all || strcmp(own->name, "initialize") == 0 ||
          (workload->schedule && strcmp(own->name, workload->schedule) == 0));
}

/// Returns whether the workload's rank has one of a set of replicas.
static bool has_replica(const hfta_program *program,
                        const hfta_workload *workload,
                        const hfta_replicas *replicas) {
  hfta_stage stage = hfta_program_stage(program, workload->stage);
  return workload->rank == ANY_RANK ||
         hfta_rank_first_of(&stage, workload->ranks, workload->rank,
                            replicas) >= 0;
}

/// Returns the index of the next command, from `index` on, that isn't in the
/// body of an ONLY for other replicas; the number of commands if there is none.
static uint32_t find_own(const hfta_program *program,
                         const hfta_workload *workload,
                         const hfta_schedule *schedule, uint32_t index) {
  const hfta_command *commands = schedule->commands;
  while (index < schedule->command_count &&
         commands[index].kind == HFTA_COMMAND_ONLY &&
         !has_replica(program, workload, &commands[index].replicas))
    index += 1 + commands[index].length;
  return index;
}

/// A position among the commands of the schedules that a workload runs.
typedef struct {
  uint32_t schedule, command;
} cursor;

/// Returns the next command that the workload's rank runs; NULL after the last
/// one. The cursor begins as zeros.
static const hfta_command *next_own(const hfta_program *program,
                                    const hfta_workload *workload, cursor *at) {
  for (; at->schedule < program->schedule_count;
       *at = (cursor){at->schedule + 1, 0}) {
    const hfta_schedule *schedule = &program->schedules[at->schedule];
    if (!hfta_workload_runs(program, workload, at->schedule))
      continue;
    uint32_t index = find_own(program, workload, schedule, at->command);
    if (index >= schedule->command_count)
      continue;
    at->command = index + 1;
    return &schedule->commands[index];
  }
  return NULL;
}

/// Returns whether a predicate holds for some command that the workload's rank
/// runs.
static bool some_command(const hfta_program *program,
                         const hfta_workload *workload,
                         command_question question, uint32_t segment) {
  const hfta_command *command;
  for (cursor at = {0}; (command = next_own(program, workload, &at));)
    if (question(program, command, segment))
      return true;
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

/// Returns whether a command runs a task that reads or writes the segment.
static bool uses_segment(const hfta_program *program,
                         const hfta_command *command, uint32_t segment) {
  return hfta_command_has(command, HFTA_FIELD_TASK) &&
         task_uses(&program->tasks[command->subject], segment);
}

/// Returns whether a command uses the segment in any way.
static bool touches_segment(const hfta_program *program,
                            const hfta_command *command, uint32_t segment) {
  return uses_segment(program, command, segment) ||
         hfta_command_names_segment(command, segment);
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
  return hfta_command_reads(command, HFTA_SPACE_FIELD);
}

static bool reads_field(const hfta_program *program,
                        const hfta_command *command, uint32_t field) {
  return reads_data(program, command, field) && command->from.index == field;
}

bool hfta_workload_needs(const hfta_program *program,
                         const hfta_workload *workload, uint32_t segment) {
  uint32_t role = program->segments[segment].role;
  const hfta_replicas *holders = &program->segments[segment].holders;
  if (role == HFTA_SEGMENT_RECEIVED && workload->ranks == 1)
    return false;
  if (holders->count > 0 && !has_replica(program, workload, holders))
    return false;
  if (workload->stage >= 0)
    return some_command(program, workload, touches_segment, segment);
  switch (role) {
  case HFTA_SEGMENT_GRADIENTS:
  case HFTA_SEGMENT_OPTIMIZER_STATE:
  case HFTA_SEGMENT_CURVATURE:
  case HFTA_SEGMENT_MOMENTS:
  case HFTA_SEGMENT_SAVED:
  case HFTA_SEGMENT_CUT:
  case HFTA_SEGMENT_EXCHANGE:
  case HFTA_SEGMENT_WORKSPACE:
  case HFTA_SEGMENT_RECEIVED:
    break;
  default:
    return true;
  }
  // A workload of all schedules needs these segments in any case, since
  // checkpoints hold the state of all that is trained.
  return workload->is_all ||
         some_command(program, workload, uses_segment, segment);
}

bool hfta_workload_runs_by_copies(const hfta_program *program,
                                  const hfta_workload *workload) {
  bool by_copies = true;
  uint32_t stages =
      hfta_workload_has_stages(program, workload) ? program->stage_count : 1;
  for (uint32_t i = 0; i < stages; ++i) {
    hfta_workload own = of_stage(program, workload, i);
    by_copies &= !some_command(program, &own, needs_all_copies, 0);
  }
  return by_copies;
}

/// Returns whether the rank has the worker that computes a micro-batch for a
/// stage.
static bool has_micro_batch(const hfta_program *program,
                            const hfta_workload *workload, int32_t stage,
                            int64_t micro_batch) {
  const hfta_stage *own = &program->stages[stage];
  int64_t worker = hfta_first_worker(program, stage) +
                   micro_batch % own->groups % own->replicas;
  return hfta_rank_of_worker(program, workload->ranks, worker) ==
         workload->rank;
}

bool hfta_workload_reads_data(const hfta_program *program,
                              const hfta_workload *workload) {
  return some_command(program, workload, reads_data, 0);
}

bool hfta_workload_reads(const hfta_program *program,
                         const hfta_workload *workload, uint32_t field,
                         int64_t micro_batch) {
  if (!hfta_workload_has_stages(program, workload)) {
    hfta_stage all = hfta_program_stage(program, -1);
    return hfta_rank_of_group(&all, workload->ranks,
                              micro_batch % all.groups) == workload->rank;
  }
  for (uint32_t i = 0; i < program->stage_count; ++i) {
    hfta_workload own = of_stage(program, workload, i);
    if (has_micro_batch(program, workload, own.stage, micro_batch) &&
        some_command(program, &own, reads_field, field))
      return true;
  }
  return false;
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
    if (hfta_workload_runs(program, workload, s) &&
        hfta_schedule_takes_turns(&program->schedules[s]))
      return true;
  return false;
}

/// Returns whether the body of a REPEAT over turns runs tasks. Other bodies
/// only move data.
static bool runs_tasks(const hfta_command *turns) {
  for (uint32_t i = 1; i <= turns->length; ++i)
    if (turns[i].kind == HFTA_COMMAND_RUN)
      return true;
  return false;
}

/// Returns the most copies of a turn that runs tasks: the number that the
/// schedule gives, else one per thread.
static uint64_t widest_turn(const hfta_program *program,
                            const hfta_workload *workload, int threads) {
  uint64_t most = 0;
  const hfta_command *command;
  for (cursor at = {0}; (command = next_own(program, workload, &at));) {
    if (command->kind != HFTA_COMMAND_REPEAT ||
        command->subject != HFTA_REPEAT_TURNS || !runs_tasks(command))
      continue;
    uint64_t copies = command->bytes ? command->bytes : (uint64_t)threads;
    most = copies > most ? copies : most;
  }
  return most;
}

int64_t hfta_workload_copies_at_once(const hfta_program *program,
                                     const hfta_workload *workload,
                                     int threads) {
  int64_t copies = hfta_workload_most_copies(workload);
  if (!takes_turns(program, workload))
    return copies;
  uint64_t most = widest_turn(program, workload, threads);
  return most < (uint64_t)copies ? (int64_t)most : copies;
}

int64_t hfta_program_copies_at_once(const hfta_program *program, int threads) {
  hfta_workload all = hfta_workload_of_all(program);
  int64_t most = 0;
  for (uint32_t i = 0; i < program->stage_count; ++i) {
    hfta_workload own = of_stage(program, &all, i);
    int64_t count = hfta_workload_copies_at_once(program, &own, threads);
    most = count > most ? count : most;
  }
  return most;
}

/// Returns whether each copy has its own slab of the segment: if the segment
/// holds resident state, or a schedule of the workload keeps it.
static bool keeps_slabs(const hfta_program *program,
                        const hfta_workload *workload, uint32_t segment) {
  const hfta_segment *row = &program->segments[segment];
  if (hfta_segment_is_state(row) && row->residency == HFTA_RESIDENT)
    return true;
  for (uint32_t s = 0; s < program->schedule_count; ++s)
    for (uint32_t i = 0; hfta_workload_runs(program, workload, s) &&
                         i < program->schedules[s].keep_count;
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
// Segments that aren't resident
//===----------------------------------------------------------------------===//

uint64_t hfta_workload_arena_bytes(const hfta_program *program,
                                   const hfta_workload *workload) {
  uint64_t most = 0;
  for (uint32_t s = 0; s < program->schedule_count; ++s) {
    const hfta_schedule *schedule = &program->schedules[s];
    for (uint32_t i = 0; hfta_workload_runs(program, workload, s) &&
                         i < schedule->command_count;
         ++i) {
      if (schedule->commands[i].kind != HFTA_COMMAND_FETCH)
        continue;
      uint64_t end = hfta_fetch_end(program, schedule, &schedule->commands[i]);
      most = end > most ? end : most;
    }
  }
  return most;
}

hfta_spilled_extents hfta_workload_spills(const hfta_program *program,
                                          const hfta_workload *workload,
                                          uint64_t *out) {
  hfta_spilled_extents all = {0, 0};
  for (uint32_t i = 0; i < program->segment_count; ++i) {
    const hfta_segment *segment = &program->segments[i];
    if (segment->residency != HFTA_SPILLED ||
        !hfta_workload_needs(program, workload, i))
      continue;
    uint64_t unit = segment->copy_bytes ? segment->copy_bytes : segment->bytes;
    uint64_t instances = hfta_workload_instances(program, workload, i);
    uint64_t copies = segment->copy_bytes ? (uint64_t)program->copies : 1;
    uint64_t own = segment->copy_bytes ? (uint64_t)workload->copies : 1;
    uint64_t first = segment->copy_bytes ? (uint64_t)workload->first_copy : 0;
    for (uint64_t j = 0; out && j < instances * copies; ++j)
      out[all.count + j] = j % copies - first < own ? unit : 0;
    all.count += instances * copies;
    all.bytes += instances * own * unit;
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Returns how many bytes of a workspace a task uses: those that the task
/// states, else all of its `all` bytes; 0 if it doesn't use the workspace.
static uint64_t task_reach(const hfta_task *task, uint32_t segment,
                           uint64_t all) {
  if (!task_uses(task, segment))
    return 0;
  for (uint32_t i = 0; i < task->workspace_count; ++i)
    if (task->workspaces[i].segment == segment)
      return task->workspaces[i].bytes;
  return all;
}

/// Returns the most bytes of one group's sums that any of `ranks` ranks
/// receives in an ALL_REDUCE: those of the largest share, as instance/sums.c
/// shares out whole blocks.
static uint64_t largest_share(const hfta_program *program,
                              const hfta_schedule *schedule,
                              const hfta_command *command, int ranks) {
  uint64_t bytes = hfta_reduced_bytes(program, schedule, command);
  uint64_t block = command->to.copy_stride, blocks = bytes / block;
  return (blocks + (uint64_t)ranks - 1) / (uint64_t)ranks * block;
}

/// Returns the most bytes of one group's sums that a rank receives into a
/// segment in an ALL_REDUCE.
static uint64_t received_bytes(const hfta_program *program,
                               const hfta_workload *workload, uint32_t index) {
  uint64_t most = 0;
  for (uint32_t s = 0; s < program->schedule_count; ++s)
    for (uint32_t i = 0; hfta_workload_runs(program, workload, s) &&
                         i < program->schedules[s].command_count;
         ++i) {
      const hfta_command *command = &program->schedules[s].commands[i];
      if (command->kind != HFTA_COMMAND_ALL_REDUCE ||
          command->from.index != index)
        continue;
      uint64_t bytes = largest_share(program, &program->schedules[s], command,
                                     workload->ranks);
      most = bytes > most ? bytes : most;
    }
  return most;
}

/// Returns how many bytes of a segment, or of each of its slabs, the workload
/// uses: all of them, except in workspaces, which have room for the program's
/// largest task, and in memory for received sums.
static uint64_t workload_reach(const hfta_program *program,
                               const hfta_workload *workload, uint32_t index) {
  const hfta_segment *segment = &program->segments[index];
  uint64_t all = segment->copy_bytes ? segment->copy_bytes : segment->bytes;
  uint64_t most = 0;
  if (segment->role == HFTA_SEGMENT_RECEIVED)
    return received_bytes(program, workload, index);
  if (segment->role != HFTA_SEGMENT_WORKSPACE)
    return all;
  const hfta_command *command;
  for (cursor at = {0}; (command = next_own(program, workload, &at));) {
    if (command->kind != HFTA_COMMAND_RUN)
      continue;
    uint64_t reach = task_reach(&program->tasks[command->subject], index, all);
    most = reach > most ? reach : most;
  }
  return most;
}

/// Computes the size from the slabs that the workload has. The distance between
/// slabs is the same for all workloads of a program, but the last slab may be
/// shorter.
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
  if (workload->slabs > 0 && slabs > (uint64_t)workload->slabs)
    slabs = (uint64_t)workload->slabs;
  return (slabs - 1) * segment->copy_bytes + reach;
}

uint64_t hfta_program_segment_bytes(const hfta_program *program, uint32_t index,
                                    int threads) {
  hfta_workload all = hfta_workload_of_all(program);
  int32_t of = program->segments[index].stage;
  uint64_t most = 0;
  for (uint32_t stage = 0; stage < program->stage_count; ++stage) {
    if (of >= 0 && (uint32_t)of != stage)
      continue;
    hfta_workload own = of_stage(program, &all, stage);
    uint64_t bytes = hfta_workload_segment_bytes(program, &own, index, threads);
    most = bytes > most ? bytes : most;
  }
  return most;
}

uint32_t hfta_workload_instances(const hfta_program *program,
                                 const hfta_workload *workload,
                                 uint32_t index) {
  const hfta_segment *segment = &program->segments[index];
  uint32_t all = segment->instances ? segment->instances : 1;
  hfta_stage stage = hfta_program_stage(program, workload->stage);
  int64_t own = hfta_rank_groups(&stage, workload->ranks, workload->rank);
  switch (segment->role) {
  case HFTA_SEGMENT_GRADIENTS:
  case HFTA_SEGMENT_MOMENTS:
  case HFTA_SEGMENT_RESULTS:
    break;
  case HFTA_SEGMENT_RECEIVED:
    own = stage.groups - own;
    break;
  case HFTA_SEGMENT_SCALARS:
  case HFTA_SEGMENT_EXCHANGE: // every rank needs those of all micro-batches
    return all;
  case HFTA_SEGMENT_INPUT: // one more, for the micro-batch that is copied ahead
    own = 1 + hfta_rank_micro_batches(program, &stage, workload->ranks,
                                      workload->rank);
    break;
  default:
    own = hfta_rank_micro_batches(program, &stage, workload->ranks,
                                  workload->rank);
    break;
  }
  return own < all ? (uint32_t)own : all;
}
