//===- command_train.c - The command train --------------------------------===//

#include "checkpoint/replaces.h"
#include "command_line/train.h"
#include "system/interrupt.h"
#include "training/log_file.h"

#include <string.h>

/// Refuses options that have no meaning for a search, where they are given for
/// it alone. Returns -1, or the exit code after an error message.
static int refuse_in_search(const hfta_invocation *invocation,
                            const hfta_train_options *train) {
  if (hfta_is_of_all_jobs(invocation) || !invocation->program->search)
    return -1;
  const char *saves = train->every ? "--every" : train->keep ? "--keep" : NULL;
  if (saves)
    return hfta_report_usage(invocation,
                             "option '%s': '%s' is a search, which saves its "
                             "trials after each evaluation",
                             saves, invocation->program->name);
  return train->log_every
             ? hfta_report_usage(invocation,
                                 "option '--log-every': '%s' is a search, "
                                 "whose steps aren't logged",
                                 invocation->program->name)
             : -1;
}

/// Returns an option that would have no effect in a replay; NULL if there is
/// none.
static const char *find_unused(const hfta_train_arguments *arguments) {
  const hfta_train_options *train = &arguments->options;
  return arguments->replay < 0 ? NULL
         : arguments->trials   ? "--trials"
         : arguments->control  ? "--control"
         : train->epochs       ? "--epochs"
         : train->minutes      ? "--minutes"
         : train->log_path     ? "--log"
         : train->tensorboard  ? "--tensorboard"
                               : NULL;
}

/// Checks the options of searches. Returns -1, or the exit code after an error
/// message.
static int check_search(const hfta_invocation *invocation,
                        const hfta_train_arguments *arguments) {
  const hfta_train_options *train = &arguments->options;
  const char *needs_search = arguments->replay >= 0  ? "--replay"
                             : arguments->trials > 0 ? "--trials"
                             : arguments->control    ? "--control"
                                                     : NULL;
  if (arguments->replay >= 0 && !train->checkpoint)
    return hfta_report_usage(invocation,
                             "option '--replay' needs --checkpoint DIR");
  if (arguments->replay >= 0 && (train->resume || train->overwrite))
    return hfta_report_usage(invocation,
                             "option '--replay' changes nothing in the folder: "
                             "leave '%s' out",
                             train->resume ? "--resume" : "--overwrite");
  if (arguments->replay_fold >= 0 && arguments->replay < 0)
    return hfta_report_usage(invocation, "option '--fold' needs '--replay K'");
  const char *unused = find_unused(arguments);
  if (unused)
    return hfta_report_usage(
        invocation, "option '%s' has no effect with '--replay'", unused);
  if (needs_search && hfta_is_of_all_jobs(invocation))
    return hfta_report_nameless(invocation, needs_search);
  return needs_search && !invocation->program->search
             ? hfta_report_usage(invocation, "option '%s': '%s' has no search",
                                 needs_search, invocation->program->name)
             : refuse_in_search(invocation, train);
}

/// Checks that options which exclude or need each other are given properly.
/// Returns -1, or the exit code after an error message.
static int check(const hfta_invocation *invocation,
                 const hfta_train_arguments *arguments) {
  const hfta_train_options *train = &arguments->options;
  const char *seatless = arguments->scheduler  ? "--scheduler"
                         : arguments->workload ? "--workload"
                                               : NULL;
  if (seatless && arguments->seats == 0)
    return hfta_report_usage(invocation, "option '%s' needs --seats P",
                             seatless);
  if (arguments->seats > 0 && invocation->job)
    return hfta_report_usage(
        invocation, "option '--seats' is for all jobs: leave out '--job'");
  if (arguments->seats > 0 && arguments->only && invocation->program_count == 1)
    return hfta_report_usage(invocation,
                             "option '--only': with '--seats' all copies run");
  if (arguments->seats > 0 && train->trace_steps)
    return hfta_report_usage(invocation,
                             "option '--trace-steps': with '--seats' a trace "
                             "has all steps");
  if (train->epochs && train->steps)
    return hfta_report_usage(invocation,
                             "give '--epochs' or '--steps', not both");
  if (train->resume && train->overwrite)
    return hfta_report_usage(invocation,
                             "give '--resume' or '--overwrite', not both");
  const char *lonely = train->every       ? "--every"
                       : train->keep      ? "--keep"
                       : train->resume    ? "--resume"
                       : train->overwrite ? "--overwrite"
                                          : NULL;
  if (lonely && !train->checkpoint)
    return hfta_report_usage(invocation, "option '%s' needs --checkpoint DIR",
                             lonely);
  return hfta_check_trace(invocation, train->trace_path, train->trace_steps);
}

/// Checks that options for a single job aren't used for several jobs, and that
/// seats aren't used with several ranks. Returns -1, or the exit code after an
/// error message.
static int check_jobs(const hfta_invocation *invocation,
                      const hfta_train_arguments *arguments, bool is_alone) {
  bool traces = arguments->options.trace_path && arguments->seats == 0;
  const char *lonely = arguments->only ? "option '--only'"
                       : traces        ? "option '--trace' without '--seats'"
                       : !is_alone     ? "a training on several ranks"
                                       : NULL;
  if (lonely && hfta_is_of_all_jobs(invocation))
    return hfta_report_nameless(invocation, lonely);
  return arguments->seats > 0 && !is_alone
             ? hfta_report_usage(
                   invocation, "option '--seats' needs a training on one rank")
             : -1;
}

/// Checks that an output of the whole command replaces no data file and no
/// checkpoint of any job. `path` may be NULL.
static hfta_status check_output(const hfta_invocation *invocation,
                                const hfta_train_options *train,
                                const char *path, hfta_error *error) {
  hfta_status status = HFTA_OK;
  for (int64_t i = 0;
       path && i < invocation->program_count && status == HFTA_OK; ++i) {
    const hfta_program *program = invocation->programs[i];
    hfta_path own;
    const char *folder;
    status =
        hfta_refuse_to_replace_data(path, program, train->data_root, error);
    if (status == HFTA_OK)
      status = hfta_find_job_folder(invocation, program, train->checkpoint,
                                    &own, &folder, error);
    if (status == HFTA_OK)
      status = hfta_refuse_to_replace_checkpoint(path, folder, error);
  }
  return status;
}

/// Checks that log, trace and workload file replace no input, and that they are
/// different files. Returns -1, or the exit code after an error message.
static int check_outputs(const hfta_invocation *invocation,
                         const hfta_train_arguments *arguments) {
  const hfta_train_options *train = &arguments->options;
  const char *const paths[] = {train->log_path, train->trace_path,
                               arguments->workload};
  static const char *const names[] = {"log", "trace", "workload"};
  hfta_error error;
  hfta_status status = HFTA_OK;
  for (int i = 0; i < 3 && status == HFTA_OK; ++i) {
    status = check_output(invocation, train, paths[i], &error);
    if (status == HFTA_OK && paths[i] && i > 0)
      status = hfta_refuse_to_replace_program(paths[i], &error);
    for (int j = 0; j < i && status == HFTA_OK; ++j)
      status = hfta_refuse_to_write_twice(paths[i], names[j], paths[j], &error);
  }
  return status == HFTA_OK ? -1
                           : hfta_report(invocation, status, error.message);
}

static int parse(const hfta_invocation *invocation, hfta_train_arguments *out) {
  hfta_train_options *train = &out->options;
  const hfta_option options[] = {
      HFTA_OPTION_DATA(&train->data_root),
      {.name = "--epochs",
       .argument = "N",
       .help = "train N epochs in total (default: the job's)",
       .integer = &train->epochs,
       .minimum = 1,
       .maximum = INT64_MAX},
      {.name = "--steps",
       .argument = "N",
       .help = "train N steps in total, with those of resumed runs",
       .integer = &train->steps,
       .minimum = 1,
       .maximum = INT64_MAX},
      {.name = "--trials",
       .argument = "N",
       .help = "train N trials (default: the job's)",
       .integer = &out->trials,
       .minimum = 1,
       .maximum = INT32_MAX,
       .is_of_search = true},
      {.name = "--control",
       .argument = "SOCKET",
       .help = "take requests as lines of JSON from a Unix socket, or '-' for\n"
               "standard input and output, while the search runs",
       .text = &out->control,
       .is_of_search = true},
      {.name = "--replay",
       .argument = "K",
       .help = "train trial K of the search in --checkpoint DIR alone, and\n"
               "compare what it becomes; nothing in DIR is changed",
       .integer = &out->replay,
       .minimum = 0,
       .maximum = INT32_MAX,
       .is_of_search = true},
      {.name = "--fold",
       .argument = "J",
       .help = "with --replay: train it on fold J (default: 0)",
       .integer = &out->replay_fold,
       .minimum = 0,
       .maximum = INT32_MAX,
       .is_of_search = true},
      {.name = "--minutes",
       .argument = "M",
       .help = "end after M minutes in total, with those of resumed runs",
       .integer = &train->minutes,
       .minimum = 1,
       .maximum = 1000000000},
      {.name = "--log",
       .argument = "FILE.jsonl",
       .help = "write metrics as JSON lines",
       .text = &train->log_path},
      {.name = "--log-every",
       .argument = "N",
       .help = "log every N steps, and the first and last (default: 50)",
       .integer = &train->log_every,
       .minimum = 1,
       .maximum = INT64_MAX},
      {.name = "--tensorboard",
       .argument = "DIR",
       .help = invocation->program_count > 1
                   ? "write files for TensorBoard to DIR/JOB, as often as the "
                     "log"
                   : "write files for TensorBoard to DIR, as often as the log",
       .text = &train->tensorboard},
      {.name = "--checkpoint",
       .argument = "DIR",
       .help = invocation->program_count > 1
                   ? "save DIR/JOB/step-... at the end and on Ctrl-C"
                   : "save DIR/step-... at the end and on Ctrl-C",
       .text = &train->checkpoint},
      {.name = "--every",
       .argument = "N",
       .help = "also save every N steps",
       .integer = &train->every,
       .minimum = 1,
       .maximum = INT64_MAX},
      {.name = "--keep",
       .argument = "N",
       .help = "remove all but the newest N checkpoints",
       .integer = &train->keep,
       .minimum = 1,
       .maximum = INT64_MAX},
      {.name = "--resume",
       .help = "continue from DIR's newest checkpoint, if there is one, "
               "and\nappend to the log",
       .flag = &train->resume},
      {.name = "--overwrite",
       .help = "remove the checkpoints that DIR holds before the first step",
       .flag = &train->overwrite},
      HFTA_OPTION_TRACE(&train->trace_path),
      HFTA_OPTION_TRACE_STEPS(&train->trace_steps),
      HFTA_OPTION_ONLY(&out->only),
      {.name = "--seats",
       .argument = "P",
       .help =
           "train P jobs, or groups of copies, at the same time; if there\nare "
           "more, they take turns. Each seat has an equal number of\nthreads",
       .integer = &out->seats,
       .minimum = 1,
       .maximum = HFTA_MAX_THREADS,
       .is_of_seats = true},
      {.name = "--scheduler",
       .argument = "NAME",
       .help = "rule for the next job at a seat: lrtf (default), the job\nof "
               "longest remaining time; fifo, srtf, random, exact "
               "or\nmodel_parallel",
       .text = &out->scheduler,
       .is_of_seats = true},
      {.name = "--workload",
       .argument = "FILE.json",
       .help = "write the measured times of steps, for 'hftac --simulate'",
       .text = &out->workload,
       .is_of_seats = true},
      HFTA_OPTION_THREADS(&out->threads),
      HFTA_OPTION_SPILL_DIR(&out->spill),
      HFTA_OPTION_IO_THREADS(&out->spill),
      HFTA_OPTION_DEVICE(&out->device),
      HFTA_OPTION_RANKS(&out->ranks),
      HFTA_OPTION_MPI(&out->ranks),
      HFTA_OPTION_RANK_TIMEOUT(&out->ranks),
      {.name = "--no-progress",
       .help = "print errors and the final table only",
       .flag = &out->no_progress},
  };
  int code = hfta_parse_options(
      invocation,
      "Trains the copies, then prints a table with one line per copy.", options,
      sizeof(options) / sizeof(*options));
  if (code < 0)
    code = check_search(invocation, out);
  return code >= 0 ? code : check(invocation, out);
}

/// Trains the jobs one after another. A job's failure doesn't stop the others.
/// Returns the exit code of the first failed job, or that of the signal that
/// has stopped the command.
static int train_jobs(const hfta_invocation *invocation,
                      const hfta_train_arguments *arguments) {
  const hfta_interrupt *interrupt = arguments->options.should_stop_argument;
  hfta_invocation one = *invocation;
  int failure = HFTA_OK, code = HFTA_OK;
  for (int64_t i = 0; i < invocation->program_count; ++i) {
    int number = atomic_load(&interrupt->signal);
    hfta_go_on_to_job(&one, i);
    if (number != 0) {
      fprintf(stderr, "%s: stopped before job '%s'\n", one.binary, one.job);
      return 128 + number;
    }
    code = hfta_train_job(&one, arguments);
    if (failure == HFTA_OK)
      failure = code;
  }
  return code >= 128 ? code : failure;
}

/// Trains all jobs, at seats or one after another, with a common log.
static int train_all(const hfta_invocation *invocation,
                     hfta_train_arguments *arguments) {
  hfta_train_options *options = &arguments->options;
  hfta_error error;
  hfta_status status = HFTA_OK;
  if (options->log_path)
    status = hfta_log_file_open(options->log_path, options->resume,
                                &options->log_file, &error);
  if (status != HFTA_OK)
    return hfta_report(invocation, status, error.message);
  int code = arguments->seats > 0 ? hfta_train_fleet(invocation, arguments)
                                  : train_jobs(invocation, arguments);
  hfta_log_file_close(options->log_file);
  return code;
}

int hfta_command_train(const hfta_invocation *invocation) {
  bool has_printed = false;
  hfta_train_arguments arguments;
  memset(&arguments, 0, sizeof(arguments));
  arguments.has_printed = &has_printed;
  arguments.replay = arguments.replay_fold = -1;
  hfta_expect_ranks(invocation);
  int code = parse(invocation, &arguments);
  if (code >= 0)
    return code;
  if (!hfta_program_trains(invocation->program)) {
    char message[256];
    snprintf(message, sizeof(message),
             "'%s' was compiled for inference only: the job had no loss",
             invocation->program->name);
    return hfta_report(invocation, HFTA_USAGE, message);
  }
  hfta_launcher launcher;
  hfta_launcher_find(&launcher);
  bool is_alone = launcher.size == 1 ||
                  (arguments.ranks.ranks && *arguments.ranks.ranks == '1');
  code = check_jobs(invocation, &arguments, is_alone);
  if (code < 0 && (invocation->program_count > 1 || arguments.seats > 0))
    code = check_outputs(invocation, &arguments);
  if (code >= 0)
    return code;
  // Signals are handled before MPI is loaded, since threads that MPI starts
  // must inherit a mask that blocks them.
  hfta_interrupt interrupt;
  hfta_interrupt_begin(&interrupt, invocation->binary, !is_alone);
  arguments.options.progress = !arguments.no_progress;
  arguments.options.should_stop = hfta_interrupt_requested;
  arguments.options.should_stop_argument = &interrupt;
  code = hfta_is_of_all_jobs(invocation) || arguments.seats > 0
             ? train_all(invocation, &arguments)
             : hfta_train_job(invocation, &arguments);
  hfta_interrupt_end(&interrupt);
  return code;
}
