//===- costs.c - Measured times of tasks, from a file ---------------------===//

#include "device/cpu/costs.h"

#include "hfta/json.h"
#include "hfta/program_queries.h"
#include "program/command_records.h"
#include "system/file.h"

#include <math.h>
#include <string.h>

/// The state of reading a file of times.
typedef struct costs {
  const char *path;
  const hfta_program *program;
  double *seconds; ///< for each task its time; NaN if the file doesn't have the
                   ///< task
  hfta_json_reader reader;
  hfta_error *error;
} costs;

static hfta_status fail_to_parse(costs *self) {
  return hfta_fail(self->error, HFTA_INVALID_INPUT, "'%s': at byte %zu: %s",
                   self->path, self->reader.offset,
                   self->reader.problem ? self->reader.problem
                                        : "expected an object with the key "
                                          "'tasks', as bench --phases --json "
                                          "prints it");
}

static hfta_status note_task(costs *self, const char *name, double runs,
                             double seconds) {
  bool ok = runs > 0.0 && isfinite(runs) && seconds >= 0.0 &&
            isfinite(seconds / runs);
  if (!ok)
    return hfta_fail(self->error, HFTA_INVALID_INPUT,
                     "'%s': task '%s': expected more than 0 runs and seconds "
                     "of at least 0",
                     self->path, name);
  for (uint32_t i = 0; i < self->program->task_count; ++i)
    if (strcmp(self->program->tasks[i].name, name) == 0)
      self->seconds[i] = seconds / runs;
  return HFTA_OK;
}

/// Reads one entry of the list of tasks. The reader is behind the beginning of
/// the entry's object.
static hfta_status read_task(costs *self) {
  hfta_json_reader *reader = &self->reader;
  char name[256] = "";
  double runs = NAN, seconds = NAN;
  hfta_json_event event;
  while ((event = hfta_json_next(reader)) == HFTA_JSON_KEY) {
    double *number = strcmp(reader->string, "runs") == 0      ? &runs
                     : strcmp(reader->string, "seconds") == 0 ? &seconds
                                                              : NULL;
    bool is_name = strcmp(reader->string, "name") == 0;
    event = hfta_json_next(reader);
    if (is_name && event == HFTA_JSON_STRING)
      snprintf(name, sizeof(name), "%s", reader->string);
    else if (number &&
             (event == HFTA_JSON_NUMBER || event == HFTA_JSON_INTEGER))
      *number = reader->number;
    else if (!hfta_json_skip(reader, event))
      return fail_to_parse(self);
  }
  if (event != HFTA_JSON_END_OBJECT)
    return fail_to_parse(self);
  return note_task(self, name, runs, seconds);
}

static hfta_status read_tasks(costs *self) {
  hfta_status status = HFTA_OK;
  hfta_json_event event;
  while ((event = hfta_json_next(&self->reader)) == HFTA_JSON_BEGIN_OBJECT &&
         status == HFTA_OK)
    status = read_task(self);
  if (status == HFTA_OK && event != HFTA_JSON_END_ARRAY)
    return fail_to_parse(self);
  return status;
}

static hfta_status read_file(costs *self) {
  hfta_json_reader *reader = &self->reader;
  bool has_tasks = false;
  if (hfta_json_next(reader) != HFTA_JSON_BEGIN_OBJECT)
    return fail_to_parse(self);
  hfta_json_event event;
  while ((event = hfta_json_next(reader)) == HFTA_JSON_KEY) {
    bool is_tasks = strcmp(reader->string, "tasks") == 0;
    event = hfta_json_next(reader);
    hfta_status status = HFTA_OK;
    if (is_tasks && event == HFTA_JSON_BEGIN_ARRAY) {
      has_tasks = true;
      status = read_tasks(self);
    } else if (!hfta_json_skip(reader, event)) {
      status = fail_to_parse(self);
    }
    if (status != HFTA_OK)
      return status;
  }
  bool is_whole =
      event == HFTA_JSON_END_OBJECT && hfta_json_next(reader) == HFTA_JSON_END;
  return is_whole && has_tasks ? HFTA_OK : fail_to_parse(self);
}

static hfta_status check_schedule(costs *self, const hfta_schedule *schedule) {
  for (uint32_t i = 0; i < schedule->command_count; ++i) {
    const hfta_command *command = &schedule->commands[i];
    if (hfta_command_has(command, HFTA_FIELD_TASK) &&
        isnan(self->seconds[command->subject]))
      return hfta_fail(self->error, HFTA_INVALID_INPUT,
                       "'%s' has no time of task '%s'", self->path,
                       self->program->tasks[command->subject].name);
  }
  return HFTA_OK;
}

/// Checks that the file has a time for every task of the step, or of an
/// inference if the program doesn't train. Sets the times of other missing
/// tasks to 0.
static hfta_status check_tasks(costs *self) {
  const hfta_program *program = self->program;
  const char *name = hfta_program_trains(program) ? "step" : "infer";
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < program->schedule_count && status == HFTA_OK; ++i)
    if (strcmp(program->schedules[i].name, name) == 0)
      status = check_schedule(self, &program->schedules[i]);
  if (status != HFTA_OK)
    return status;
  for (uint32_t i = 0; i < program->task_count; ++i)
    if (isnan(self->seconds[i]))
      self->seconds[i] = 0.0;
  return HFTA_OK;
}

hfta_status hfta_costs_read(const char *path, const hfta_program *program,
                            double *seconds, hfta_error *error) {
  hfta_mapping mapping;
  hfta_status status = hfta_mapping_open(path, &mapping, error);
  if (status != HFTA_OK)
    return status;
  costs self = {
      .path = path, .program = program, .seconds = seconds, .error = error};
  for (uint32_t i = 0; i < program->task_count; ++i)
    seconds[i] = NAN;
  hfta_json_read(&self.reader, (const char *)mapping.bytes, mapping.size);
  status = read_file(&self);
  hfta_json_read_end(&self.reader);
  hfta_mapping_close(&mapping);
  return status == HFTA_OK ? check_tasks(&self) : status;
}
