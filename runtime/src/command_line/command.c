//===- command.c - Options and common parts of commands -------------------===//

#include "checkpoint/checkpoint_impl.h"
#include "command_line/jobs.h"
#include "command_line/seats.h"

#include "checkpoint/averages.h"
#include "hfta/device.h"
#include "progress/screen.h"
#include "system/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Help
//===----------------------------------------------------------------------===//

/// Returns whether an option is accepted and listed in the help: not if it
/// can't apply. If the command is for all of several jobs, an option applies if
/// it applies to one of them.
static bool is_offered(const hfta_invocation *invocation,
                       const hfta_option *option) {
  if (option->is_of_seats && !hfta_takes_seats(invocation))
    return false;
  if (option->is_of_search && !hfta_has_search(invocation))
    return false;
  if (option->averages) {
    bool any = false;
    for (int64_t i = 0; i < invocation->program_count; ++i)
      any |= hfta_program_averages(invocation->programs[i]);
    return any;
  }
  if (!option->spills)
    return true;
  const hfta_search *search = invocation->program->search;
  bool spills = false;
  for (int64_t i = 0; i < (search ? search->array_count : 1); ++i)
    spills |= hfta_program_spills(invocation->arrays[i]);
  if (spills)
    return true;
  for (int64_t i = 0; i < invocation->program_count; ++i)
    spills |= hfta_program_spills(invocation->programs[i]);
  return spills && hfta_is_of_all_jobs(invocation);
}

static void print_option(const char *name, const char *argument,
                         const char *help) {
  enum { COLUMN = 26 };
  char left[128];
  snprintf(left, sizeof(left), "%s%s%s", name, argument ? " " : "",
           argument ? argument : "");
  printf("  %-*s ", COLUMN - 3, left);
  if (strlen(left) > COLUMN - 3)
    printf("\n%*s", COLUMN, "");
  for (const char *at = help; *at; ++at)
    if (*at == '\n')
      printf("\n%*s", COLUMN, "");
    else
      putchar(*at);
  putchar('\n');
}

/// Returns the entry of arguments that no option's name precedes, or NULL.
static const hfta_option *find_operand(const hfta_option *options,
                                       size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (options[i].is_operand)
      return &options[i];
  return NULL;
}

static void print_help(const hfta_invocation *invocation, const char *summary,
                       const hfta_option *options, size_t count) {
  printf("usage: %s %s [options]", invocation->binary, invocation->command);
  const hfta_option *operand = find_operand(options, count);
  if (operand)
    printf(operand->required ? " %s%s" : " [%s%s]", operand->name,
           operand->list ? "..." : "");
  printf("\n\n%s\n\noptions:\n", summary);
  bool has_jobs = invocation->program_count > 1;
  if (has_jobs)
    print_option("--job", "NAME", invocation->job_help);
  for (size_t i = 0; i < count; ++i)
    if (is_offered(invocation, &options[i]))
      print_option(options[i].name, options[i].argument, options[i].help);
  print_option("--help", NULL, "print this help");
  if (has_jobs)
    printf("\njobs: %s\n", hfta_name_jobs(invocation).text);
}

bool hfta_asks_for_help(const hfta_invocation *invocation) {
  for (int i = 0; i < invocation->argc; ++i)
    if (strcmp(invocation->argv[i], "--help") == 0 ||
        strcmp(invocation->argv[i], "-h") == 0)
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// Returns the offered option whose name is the first `length` characters of
/// `text`, or NULL.
static const hfta_option *find_option(const hfta_invocation *invocation,
                                      const hfta_option *options, size_t count,
                                      const char *text, size_t length) {
  for (size_t i = 0; i < count; ++i)
    if (!options[i].is_operand && is_offered(invocation, &options[i]) &&
        strlen(options[i].name) == length &&
        strncmp(options[i].name, text, length) == 0)
      return &options[i];
  return NULL;
}

/// Parses and stores an integer in the option's range. Returns -1, or the exit
/// code after an error message.
static int read_integer(const hfta_invocation *invocation,
                        const hfta_option *option, const char *text) {
  char *end;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  bool digits = *text >= '0' && *text <= '9';
  if (!digits || *end != '\0' || errno != 0 || value < option->minimum ||
      value > option->maximum) {
    if (option->maximum == INT64_MAX)
      return hfta_report_usage(invocation,
                               "option '%s': '%s' is not a whole number of at "
                               "least %lld",
                               option->name, text, (long long)option->minimum);
    return hfta_report_usage(
        invocation, "option '%s': '%s' is not a whole number from %lld to %lld",
        option->name, text, (long long)option->minimum,
        (long long)option->maximum);
  }
  *option->integer = value;
  return -1;
}

/// Returns how messages name an entry, before its name in quotes.
static const char *kind_of(const hfta_option *option) {
  return option->is_operand ? "argument " : "option ";
}

/// Stores an option's value. Returns -1, or the exit code after an error
/// message.
static int read_value(const hfta_invocation *invocation,
                      const hfta_option *option, const char *value) {
  if (option->integer)
    return read_integer(invocation, option, value);
  if (*value == '\0')
    return hfta_report_usage(invocation, "%s'%s': the value is empty",
                             kind_of(option), option->name);
  if (option->text) {
    *option->text = value;
    return -1;
  }
  if (option->list->count == HFTA_MAX_LIST)
    return hfta_report_usage(invocation, "%s'%s' is given more than %d times",
                             kind_of(option), option->name, HFTA_MAX_LIST);
  option->list->values[option->list->count++] = value;
  return -1;
}

/// Stores an argument that is no option's. Returns -1, or the exit code after
/// an error message.
static int read_operand(const hfta_invocation *invocation,
                        const hfta_option *options, size_t count, bool *given,
                        const char *text) {
  const hfta_option *operand = find_operand(options, count);
  if (!operand || (given[operand - options] && !operand->list))
    return hfta_report_usage(invocation, "unexpected argument '%s'", text);
  given[operand - options] = true;
  return read_value(invocation, operand, text);
}

/// Parses the argument argv[*at], and the next one if it is the option's value;
/// then advances `*at` to it. `given` tells which options were given before.
/// Returns -1, or the exit code after an error message.
static int read_option(const hfta_invocation *invocation,
                       const hfta_option *options, size_t count, bool *given,
                       int *at) {
  const char *text = invocation->argv[*at];
  if (text[0] != '-' || text[1] == '\0')
    return read_operand(invocation, options, count, given, text);
  size_t length = strcspn(text, "=");
  const hfta_option *option =
      find_option(invocation, options, count, text, length);
  if (!option)
    return hfta_report_usage(invocation, "unknown option '%.*s'", (int)length,
                             text);
  if (given[option - options] && !option->list)
    return hfta_report_usage(invocation, "option '%s' is given twice",
                             option->name);
  given[option - options] = true;
  const char *value = text[length] == '=' ? text + length + 1 : NULL;
  if (option->flag) {
    if (value)
      return hfta_report_usage(invocation, "option '%s' takes no value",
                               option->name);
    *option->flag = true;
    return -1;
  }
  if (!value && *at + 1 < invocation->argc)
    value = invocation->argv[++*at];
  if (!value)
    return hfta_report_usage(invocation, "option '%s' needs a value: %s %s",
                             option->name, option->name, option->argument);
  return read_value(invocation, option, value);
}

int hfta_parse_options(const hfta_invocation *invocation, const char *summary,
                       const hfta_option *options, size_t count) {
  if (hfta_asks_for_help(invocation)) {
    print_help(invocation, summary, options, count);
    return HFTA_OK;
  }
  bool given[HFTA_MAX_OPTIONS] = {false};
  for (int i = 0; i < invocation->argc; ++i) {
    int code = read_option(invocation, options, count, given, &i);
    if (code >= 0)
      return code;
  }
  for (size_t i = 0; i < count; ++i)
    if (options[i].required && !given[i])
      return hfta_report_usage(invocation, "'%s' needs %s%s%s",
                               invocation->command, options[i].name,
                               options[i].argument ? " " : "",
                               options[i].argument ? options[i].argument : "");
  return -1;
}

int hfta_check_trace(const hfta_invocation *invocation, const char *path,
                     int64_t steps) {
  if (path || steps == 0)
    return -1;
  return hfta_report_usage(invocation,
                           "option '--trace-steps' needs --trace FILE.json");
}

//===----------------------------------------------------------------------===//
// Instances
//===----------------------------------------------------------------------===//

/// Returns in `*out` the folder, or its nearest parent that exists; "" for the
/// working folder.
static hfta_status find_folder(hfta_path *out, const char *path,
                               hfta_error *error) {
  hfta_status status = hfta_path_format(out, error, "%s", path);
  while (status == HFTA_OK && *out->text && !hfta_path_is_folder(out->text)) {
    char *slash = strrchr(out->text, '/');
    if (slash)
      slash[slash == out->text] = '\0';
    else
      *out->text = '\0';
  }
  return status;
}

/// Finds the folder to which the program spills: that of --spill-dir, else the
/// job's own (`*out` is NULL then), else the folder of checkpoints or an
/// existing parent of it.
static hfta_status find_spill(const hfta_program *program,
                              const hfta_spill_arguments *spill,
                              hfta_path *path, const char **out,
                              hfta_error *error) {
  bool has_own = program->spill_directory && *program->spill_directory;
  *out = spill->directory;
  if (spill->directory || has_own || !spill->checkpoint)
    return HFTA_OK;
  *out = path->text;
  return find_folder(path, spill->checkpoint, error);
}

hfta_status hfta_create_instance(const hfta_invocation *invocation,
                                 const hfta_program *program,
                                 const hfta_workload *workload, int64_t threads,
                                 const char *device,
                                 const hfta_spill_arguments *spill,
                                 hfta_instance **out, hfta_error *error) {
  hfta_path path;
  const char *directory;
  // The options ask for one rank: a command that runs on several ranks passes
  // their communicator in the workload.
  hfta_status status = find_spill(program, spill, &path, &directory, error);
  if (status != HFTA_OK)
    return status;
  hfta_options options = {.threads = (int32_t)threads,
                          .ranks = HFTA_RANKS_ONE,
                          .device = device,
                          .rank_timeout = invocation->ranks->timeout,
                          .spill_directory = directory,
                          .io_threads = (int32_t)spill->io_threads,
                          .store = getenv("HFTA_STORE"),
                          .error = error};
  hfta_workload own = *workload;
  own.takes_turns = true;
  return hfta_instance_create_for(program, &own, &options, out);
}

int hfta_open_instance(const hfta_invocation *invocation,
                       const hfta_workload *workload, int64_t threads,
                       const char *device, const hfta_spill_arguments *spill,
                       hfta_instance **out) {
  hfta_error error;
  const hfta_program *program = invocation->program;
  if (program->memory_threads > 0 && threads > program->memory_threads)
    return hfta_report_usage(
        invocation,
        "option '--threads': the job plans memory for at most %lld, got %lld",
        (long long)program->memory_threads, (long long)threads);
  const hfta_device_functions *kind = device ? hfta_device_find(device) : NULL;
  if (kind && kind->takes_file && strcmp(invocation->command, "bench") != 0)
    return hfta_report_usage(
        invocation, "device '%s' runs no tasks: it is for 'bench'", kind->kind);
  hfta_status status = hfta_create_instance(
      invocation, program, workload, threads, device, spill, out, &error);
  if (status != HFTA_OK)
    return hfta_report(invocation, status, error.message);
  if (invocation->loads_averages)
    hfta_instance_load_averages(*out);
  const char *note = hfta_instance_store_note(*out);
  if (note && !invocation->ranks->is_silent) {
    hfta_screen_begin_output(invocation->screen);
    fprintf(stderr, "%s: note: %s\n", invocation->binary, note);
    hfta_screen_end_output(invocation->screen);
  }
  return -1;
}

int hfta_load_weights(const hfta_invocation *invocation,
                      hfta_instance *instance, const char *checkpoint,
                      int64_t *best_steps) {
  const hfta_program *program = invocation->program;
  memset(best_steps, 0, sizeof(*best_steps) * (size_t)program->copies);
  if (!checkpoint)
    return -1;
  hfta_instance_add_offsets(instance);
  hfta_status status =
      program->validation.keeps_best && !invocation->loads_averages
          ? hfta_checkpoint_load_best(instance, checkpoint, best_steps)
          : hfta_instance_load(instance, checkpoint);
  return status == HFTA_OK
             ? -1
             : hfta_report(invocation, status, hfta_instance_message(instance));
}

int hfta_load_copy(const hfta_invocation *invocation, hfta_instance *instance,
                   const char *checkpoint, int64_t copy) {
  size_t copies = (size_t)invocation->program->copies;
  int64_t *best_steps = calloc(copies, sizeof(*best_steps));
  if (!best_steps)
    return hfta_report(invocation, HFTA_UNSUPPORTED,
                       "not enough memory to load a checkpoint");
  int code = hfta_load_weights(invocation, instance, checkpoint, best_steps);
  if (code < 0 && best_steps[copy] > 0)
    fprintf(stderr, "%s: copy %lld has its best weights, those of step %lld\n",
            invocation->binary, (long long)copy, (long long)best_steps[copy]);
  free(best_steps);
  return code;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static int compare_copies(const void *a, const void *b) {
  int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
  return (left > right) - (left < right);
}

/// Parses numbers below `most`, separated by commas, into `copies`, which has
/// room for `most`. Returns their count, or -1 if the list is malformed or too
/// long.
static int64_t read_copies(const char *text, int32_t *copies, int64_t most) {
  int64_t count = 0;
  for (;;) {
    char *end;
    if (*text < '0' || *text > '9')
      return -1;
    errno = 0;
    long copy = strtol(text, &end, 10);
    if (errno != 0 || copy >= most || count == most)
      return -1;
    copies[count++] = (int32_t)copy;
    if (*end == '\0')
      return count;
    if (*end != ',')
      return -1;
    text = end + 1;
  }
}

int hfta_choose_copies(const hfta_invocation *invocation, const char *only,
                       hfta_instance *instance) {
  if (!only)
    return -1;
  int64_t most = invocation->program->copies;
  int32_t *copies = calloc((size_t)most, sizeof(*copies));
  if (!copies)
    return hfta_report(invocation, HFTA_UNSUPPORTED,
                       "not enough memory for a list of copies");
  int64_t count = read_copies(only, copies, most);
  if (count > 0)
    qsort(copies, (size_t)count, sizeof(*copies), compare_copies);
  bool twice = false;
  for (int64_t i = 1; i < count; ++i)
    twice |= copies[i] == copies[i - 1];
  hfta_status status = HFTA_USAGE;
  if (count > 0 && !twice)
    status = hfta_instance_set_live(instance, copies, count);
  free(copies);
  if (status == HFTA_OK)
    return -1;
  return hfta_report_usage(invocation,
                           "option '--only' needs different copies' numbers "
                           "from 0 to %lld, as in 0,%lld; got '%s'",
                           (long long)most - 1, (long long)most - 1, only);
}
