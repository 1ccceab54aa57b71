//===- plan_work.c - The work of tasks by the compiler's plan -------------===//

#include "command_line/bench/plan_work.h"

#include <stdlib.h>
#include <string.h>

/// Returns the entry in `all` of the task of this name, or NULL.
static hfta_task_work *find_work(const hfta_program *program, const char *name,
                                 hfta_task_work *all) {
  for (uint32_t i = 0; i < program->task_count; ++i)
    if (strcmp(program->tasks[i].name, name) == 0)
      return &all[i];
  return NULL;
}

/// Reads a list of numbers, whose begin has been read.
static bool read_list(hfta_json_reader *reader, hfta_work_list *out) {
  hfta_json_event event;
  while ((event = hfta_json_next(reader)) == HFTA_JSON_INTEGER ||
         event == HFTA_JSON_NUMBER) {
    // The capacity is the next power of two.
    if ((out->count & (out->count - 1)) == 0) {
      size_t capacity = out->count ? 2 * (size_t)out->count : 1;
      double *grown = realloc(out->numbers, capacity * sizeof(double));
      if (!grown)
        return false;
      out->numbers = grown;
    }
    out->numbers[out->count++] = reader->number;
  }
  return event == HFTA_JSON_END_ARRAY;
}

static void free_lists(hfta_task_work *work) {
  free(work->launch_flops.numbers);
  free(work->launch_bytes.numbers);
  work->launch_flops = work->launch_bytes = (hfta_work_list){NULL, 0};
}

/// Keeps the work that was read of the task of this name, if there is one.
static void keep_work(const hfta_program *program, hfta_task_work *into,
                      hfta_task_work *read, hfta_task_work *all) {
  if (!into)
    return free_lists(read);
  free_lists(into);
  *into = *read;
  uint32_t launches = program->tasks[into - all].launch_count;
  if (into->launch_flops.count != launches ||
      into->launch_bytes.count != launches)
    free_lists(into);
}

/// Reads one object of the plan's list of tasks, whose begin has been read.
/// Returns false if it is malformed.
static bool read_task(const hfta_program *program, hfta_json_reader *reader,
                      hfta_task_work *all) {
  hfta_task_work read = {0};
  hfta_task_work *into = NULL;
  bool ok = true;
  hfta_json_event event;
  while (ok && (event = hfta_json_next(reader)) == HFTA_JSON_KEY) {
    bool is_flops = strcmp(reader->string, "flops") == 0;
    bool is_bytes = strncmp(reader->string, "bytes_", 6) == 0;
    bool is_name = strcmp(reader->string, "name") == 0;
    hfta_work_list *list =
        strcmp(reader->string, "launch_flops") == 0   ? &read.launch_flops
        : strcmp(reader->string, "launch_bytes") == 0 ? &read.launch_bytes
                                                      : NULL;
    event = hfta_json_next(reader);
    if (is_flops)
      read.flops = reader->number;
    else if (is_bytes)
      read.bytes += reader->number;
    else if (is_name && event == HFTA_JSON_STRING)
      into = find_work(program, reader->string, all);
    else if (list && event == HFTA_JSON_BEGIN_ARRAY)
      ok = read_list(reader, list);
    else
      ok = hfta_json_skip(reader, event);
  }
  keep_work(program, into, &read, all);
  return ok && event == HFTA_JSON_END_OBJECT;
}

hfta_json_event hfta_plan_find(const hfta_program *program, const char *key,
                               hfta_json_reader *reader) {
  const char *text = program->plan_json ? program->plan_json : "";
  hfta_json_read(reader, text, strlen(text));
  if (hfta_json_next(reader) != HFTA_JSON_BEGIN_OBJECT)
    return HFTA_JSON_ERROR;
  while (hfta_json_next(reader) == HFTA_JSON_KEY) {
    bool is_found = strcmp(reader->string, key) == 0;
    hfta_json_event event = hfta_json_next(reader);
    if (is_found)
      return event;
    if (!hfta_json_skip(reader, event))
      break;
  }
  return HFTA_JSON_ERROR;
}

hfta_status hfta_plan_read_work(const hfta_program *program,
                                hfta_task_work **out, hfta_error *error) {
  *out = NULL;
  hfta_task_work *all = calloc((size_t)program->task_count + 1, sizeof(*all));
  if (!all)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for a table");
  hfta_json_reader reader;
  hfta_json_event event = hfta_plan_find(program, "tasks", &reader);
  bool ok = event == HFTA_JSON_BEGIN_ARRAY;
  while (ok && (event = hfta_json_next(&reader)) == HFTA_JSON_BEGIN_OBJECT)
    ok = read_task(program, &reader, all);
  hfta_json_read_end(&reader);
  if (ok && event == HFTA_JSON_END_ARRAY)
    *out = all;
  else
    hfta_plan_work_free(program, all);
  return HFTA_OK;
}

void hfta_plan_work_free(const hfta_program *program, hfta_task_work *all) {
  for (uint32_t i = 0; all && i < program->task_count; ++i)
    free_lists(&all[i]);
  free(all);
}

size_t hfta_part_length(const hfta_task *task) {
  return strcspn(task->name, ".");
}

bool hfta_have_one_part(const hfta_task *a, const hfta_task *b) {
  size_t length = hfta_part_length(a);
  return length == hfta_part_length(b) &&
         strncmp(a->name, b->name, length) == 0;
}
