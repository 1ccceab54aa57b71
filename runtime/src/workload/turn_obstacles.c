//===- turn_obstacles.c - What needs all copies at once -------------------===//

#include "program/command_records.h"
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
  if (hfta_command_is(command, HFTA_COMMAND_IS_FOR_ALL))
    return "messages between workers";
  const hfta_task *task = hfta_command_has(command, HFTA_FIELD_TASK)
                              ? &program->tasks[command->subject]
                              : NULL;
  return task && is_common(program, task) ? task->name : NULL;
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
