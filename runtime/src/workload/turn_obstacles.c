//===- turn_obstacles.c - What needs all copies at once -------------------===//

#include "workload/workload.h"

#include <string.h>

/// Returns whether a launch writes state that several copies share. If copies
/// took turns, each turn would write it again.
static bool writes_shared_state(const hfta_program *program,
                                const hfta_launch *launch) {
  for (uint32_t i = 0; i < launch->binding_count; ++i) {
    const hfta_binding *binding = &launch->bindings[i];
    if (hfta_segment_is_state(&program->segments[binding->segment]) &&
        (binding->access & HFTA_ACCESS_WRITE) && binding->copy_stride == 0 &&
        launch->copy < 0)
      return true;
  }
  return false;
}

/// Returns whether a task can't run for some copies at a time.
static bool is_common(const hfta_program *program, const hfta_task *task) {
  bool found = !(task->flags & HFTA_TASK_BY_COPIES);
  for (uint32_t i = 0; i < task->launch_count && !found; ++i)
    found = writes_shared_state(program, &task->launches[i]);
  return found;
}

/// Returns the name of whatever in a command needs all copies at once: the
/// task's name, or other words; NULL if there is nothing.
static const char *find_common(const hfta_program *program,
                               const hfta_command *command) {
  switch ((hfta_command_kind)command->kind) {
  case HFTA_COMMAND_RUN:
    return is_common(program, &program->tasks[command->subject])
               ? program->tasks[command->subject].name
               : NULL;
  case HFTA_COMMAND_ALL_REDUCE:
  case HFTA_COMMAND_ALL_GATHER:
  case HFTA_COMMAND_BROADCAST:
  case HFTA_COMMAND_TAKE_GROUP:
  case HFTA_COMMAND_SEND:
  case HFTA_COMMAND_RECEIVE:
    return "messages between workers";
  case HFTA_COMMAND_TRANSFER:
  case HFTA_COMMAND_FILL:
  case HFTA_COMMAND_RECORD:
  case HFTA_COMMAND_AWAIT:
  case HFTA_COMMAND_REPEAT:
  case HFTA_COMMAND_EVERY:
  case HFTA_COMMAND_ACTIONS:
  case HFTA_COMMAND_CASE:
  case HFTA_COMMAND_ONLY:
  case HFTA_COMMAND_FETCH:
  case HFTA_COMMAND_EVICT:
  case HFTA_COMMAND_DROP:
    break;
  }
  return NULL;
}

/// Searches all schedules of the workload except `initialize`: initial values
/// that copies share may be computed again in each turn.
const char *hfta_workload_find_common(const hfta_program *program,
                                      const hfta_workload *workload) {
  const char *found = NULL;
  for (uint32_t s = 0; s < program->schedule_count && !found; ++s) {
    const hfta_schedule *schedule = &program->schedules[s];
    bool is_meant = hfta_workload_runs(program, workload, s) &&
                    strcmp(schedule->name, "initialize") != 0;
    for (uint32_t i = 0; is_meant && i < schedule->command_count && !found; ++i)
      found = find_common(program, &schedule->commands[i]);
  }
  return found;
}
