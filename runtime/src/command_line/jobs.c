//===- jobs.c - Several jobs in one binary --------------------------------===//

#include "command_line/jobs.h"

#include "checkpoint/checkpoint_impl.h"
#include "command_line/ranks.h"

#include <stdlib.h>
#include <string.h>

hfta_job_names hfta_name_jobs(const hfta_invocation *invocation) {
  hfta_job_names names = {""};
  const size_t size = sizeof(names.text);
  size_t length = 0;
  for (int64_t i = 0; i < invocation->program_count; ++i) {
    const char *name = invocation->programs[i]->name;
    const char *comma = i > 0 ? ", " : "";
    // Leave room for ", ..." after this name.
    if (length + strlen(name) + 12 > size) {
      snprintf(names.text + length, size - length, "%s...", comma);
      break;
    }
    length += (size_t)snprintf(names.text + length, size - length, "%s'%s'",
                               comma, name);
  }
  return names;
}

bool hfta_is_of_all_jobs(const hfta_invocation *invocation) {
  return invocation->program_count > 1 && !invocation->job;
}

bool hfta_has_search(const hfta_invocation *invocation) {
  bool has = invocation->program->search != NULL;
  for (int64_t i = 0;
       hfta_is_of_all_jobs(invocation) && i < invocation->program_count; ++i)
    has |= invocation->programs[i]->search != NULL;
  return has;
}

const hfta_program **hfta_job_programs(const hfta_program *const *programs,
                                       int64_t count, int64_t *out_count) {
  const hfta_program **jobs = calloc((size_t)count, sizeof(*jobs));
  *out_count = 0;
  for (int64_t i = 0; jobs && i < count; ++i)
    if (!programs[i]->search || programs[i]->search->array == 0)
      jobs[(*out_count)++] = programs[i];
  return jobs;
}

void hfta_set_program(hfta_invocation *invocation,
                      const hfta_program *program) {
  const hfta_program *const *place = invocation->all_programs;
  while (*place != program)
    ++place;
  invocation->program = program;
  invocation->arrays = program->search ? place - program->search->array : place;
}

static void set_job(hfta_invocation *invocation, int64_t index) {
  hfta_set_program(invocation, invocation->programs[index]);
  invocation->job = invocation->program->name;
}

void hfta_go_on_to_job(hfta_invocation *invocation, int64_t index) {
  set_job(invocation, index);
  invocation->tells_job = true;
}

static int choose_job(hfta_invocation *invocation, const char *name) {
  for (int64_t i = 0; i < invocation->program_count; ++i)
    if (strcmp(invocation->programs[i]->name, name) == 0) {
      set_job(invocation, i);
      return -1;
    }
  hfta_expect_ranks(invocation);
  return hfta_report_usage(invocation,
                           "option '--job': no job is called '%.100s'; there "
                           "are %s",
                           name, hfta_name_jobs(invocation).text);
}

/// Returns whether an argument is `--job` or begins with `--job=`.
static bool is_job_option(const char *text) {
  const size_t length = strlen("--job");
  return strncmp(text, "--job", length) == 0 &&
         (text[length] == '\0' || text[length] == '=');
}

int hfta_take_job(hfta_invocation *invocation) {
  const char *name = NULL;
  int kept = 0;
  for (int i = 0; i < invocation->argc && invocation->program_count > 1; ++i) {
    const char *text = invocation->argv[i];
    if (!is_job_option(text)) {
      invocation->argv[kept++] = invocation->argv[i];
      continue;
    }
    const char *equal = strchr(text, '=');
    bool has_value = equal || i + 1 < invocation->argc;
    if (name || !has_value) {
      hfta_expect_ranks(invocation);
      return hfta_report_usage(invocation, "option '--job' %s",
                               name ? "is given twice"
                                    : "needs a value: --job NAME");
    }
    name = equal ? equal + 1 : invocation->argv[++i];
  }
  if (!name)
    return -1;
  invocation->argc = kept;
  return choose_job(invocation, name);
}

int hfta_report_nameless(const hfta_invocation *invocation, const char *what) {
  hfta_expect_ranks(invocation);
  return hfta_report_usage(invocation, "%s needs --job NAME: there are %s",
                           what, hfta_name_jobs(invocation).text);
}

hfta_status hfta_find_job_folder(const hfta_invocation *invocation,
                                 const hfta_program *program,
                                 const char *folder, hfta_path *path,
                                 const char **out, hfta_error *error) {
  *out = folder;
  if (!folder || invocation->program_count == 1)
    return HFTA_OK;
  *out = path->text;
  return hfta_path_format(path, error, "%s/%s", folder, program->name);
}

int hfta_choose_job_folder(const hfta_invocation *invocation, hfta_path *path,
                           const char **folder) {
  hfta_error error;
  hfta_status status = hfta_find_job_folder(invocation, invocation->program,
                                            *folder, path, folder, &error);
  return status == HFTA_OK ? -1
                           : hfta_report(invocation, status, error.message);
}

int hfta_choose_checkpoint(const hfta_invocation *invocation, hfta_path *path,
                           const char **folder) {
  if (*folder && hfta_checkpoint_step_of(*folder) >= 0)
    return -1;
  return hfta_choose_job_folder(invocation, path, folder);
}
