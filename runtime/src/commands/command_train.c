//===- command_train.c - train --------------------------------------------===//

#include "checkpoint/replaces.h"
#include "commands/jobs.h"
#include "commands/ranks.h"
#include "commands/table.h"
#include "hfta/checkpoint.h"
#include "hfta/trainer.h"
#include "system/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct train_arguments {
  hfta_train_options options;
  int64_t threads;
  const char *device;
  const char *only;
  hfta_spill_arguments spill;
  hfta_rank_arguments ranks;
  bool no_progress;
  bool has_printed; ///< results of a job
} train_arguments;

/// Options that exclude or need each other.
static int check(const hfta_invocation *invocation,
                 const hfta_train_options *train) {
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

/// What is of one job alone.
static int check_jobs(const hfta_invocation *invocation,
                      const train_arguments *arguments, bool is_alone) {
  const char *lonely = arguments->only                 ? "option '--only'"
                       : arguments->options.trace_path ? "option '--trace'"
                       : !is_alone ? "a training on several ranks"
                                   : NULL;
  return lonely && hfta_is_of_all_jobs(invocation)
             ? hfta_report_nameless(invocation, lonely)
             : -1;
}

/// A job's log replaces no file that another job reads.
static int check_log(const hfta_invocation *invocation,
                     const hfta_train_options *train) {
  const char *log = train->log_path;
  hfta_status status = HFTA_OK;
  hfta_error error;
  for (int64_t i = 0; log && i < invocation->program_count && status == HFTA_OK;
       ++i) {
    const hfta_program *program = invocation->programs[i];
    hfta_path path;
    const char *folder;
    status =
        hfta_refuse_to_replace_data(log, program, train->data_root, &error);
    if (status == HFTA_OK)
      status = hfta_find_job_folder(invocation, program, train->checkpoint,
                                    &path, &folder, &error);
    if (status == HFTA_OK)
      status = hfta_refuse_to_replace_checkpoint(log, folder, &error);
  }
  return status == HFTA_OK ? -1
                           : hfta_report(invocation, status, error.message);
}

static int parse(const hfta_invocation *invocation, train_arguments *out) {
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
       .help = "train N steps in total, resumed ones included",
       .integer = &train->steps,
       .minimum = 1,
       .maximum = INT64_MAX},
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
       .help = "go on from DIR's newest checkpoint, if there is one, and\n"
               "with the log",
       .flag = &train->resume},
      {.name = "--overwrite",
       .help = "remove the checkpoints that DIR holds before the first step",
       .flag = &train->overwrite},
      HFTA_OPTION_TRACE(&train->trace_path),
      HFTA_OPTION_TRACE_STEPS(&train->trace_steps),
      HFTA_OPTION_ONLY(&out->only),
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
      "Trains the copies, then prints a table with one line a copy.", options,
      sizeof(options) / sizeof(*options));
  return code >= 0 ? code : check(invocation, train);
}

static void print_interrupted(const hfta_invocation *invocation,
                              const train_arguments *arguments,
                              const hfta_train_result *result) {
  char name[HFTA_CHECKPOINT_NAME_BYTES];
  if (result->saved)
    fprintf(stderr, "%s: stopped after step %lld; saved %s/%s\n",
            invocation->binary, (long long)result->steps,
            arguments->options.checkpoint,
            hfta_checkpoint_name(result->steps, name));
  else
    fprintf(stderr,
            "%s: stopped after step %lld; nothing saved: no "
            "--checkpoint was given\n",
            invocation->binary, (long long)result->steps);
}

/// After a failure: the checkpoint that was saved nevertheless.
static void print_saved(const hfta_invocation *invocation,
                        const train_arguments *arguments,
                        const hfta_train_result *result) {
  char name[HFTA_CHECKPOINT_NAME_BYTES];
  fprintf(stderr, "%s: note: saved %s/%s\n", invocation->binary,
          arguments->options.checkpoint,
          hfta_checkpoint_name(result->steps, name));
}

/// Who reads the results may be gone: that ends a program with SIGPIPE, unless
/// it is ignored.
static int finish_output(const hfta_invocation *invocation,
                         hfta_interrupt *interrupt) {
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout))
    return HFTA_OK;
  if (atomic_load(&interrupt->signal) == SIGPIPE)
    return 128 + SIGPIPE;
  return hfta_report_output(invocation);
}

static int train(const hfta_invocation *invocation, train_arguments *arguments,
                 hfta_instance *instance) {
  hfta_train_result result;
  hfta_status status = hfta_train(instance, &arguments->options, &result);
  int code = (int)status;
  arguments->options.keeps_log |= result.logged;
  if (status != HFTA_OK) {
    bool has_saved = result.saved && hfta_is_first_rank(invocation);
    // One of several ranks doesn't come back from its report.
    bool is_alone = invocation->ranks->communicator->size == 1;
    if (has_saved && !is_alone)
      print_saved(invocation, arguments, &result);
    hfta_report(invocation, status, hfta_instance_message(instance));
    if (has_saved)
      print_saved(invocation, arguments, &result);
  } else if (result.interrupted) {
    hfta_interrupt *interrupt = arguments->options.should_stop_argument;
    if (hfta_is_first_rank(invocation))
      print_interrupted(invocation, arguments, &result);
    // The first one to leave with such a code ends the others.
    int64_t nothing = 0;
    (void)hfta_communicator_max(invocation->ranks->communicator,
                                "end of the training", &nothing,
                                hfta_instance_error(instance));
    // Of several ranks some may not have got it yet.
    int number = atomic_load(&interrupt->signal);
    code = 128 + (number ? number : SIGUSR1);
  } else if (hfta_is_first_rank(invocation)) {
    hfta_results results = {
        hfta_instance_live(instance), result.train_losses,
        result.eval_losses,           result.eval_metrics,
        result.skipped_statistics,    result.retried_inverses,
        result.kept_inverses};
    if (invocation->job)
      printf("%s%s\n", arguments->has_printed ? "\n" : "", invocation->job);
    arguments->has_printed = true;
    hfta_print_results(stdout, invocation->program, &results);
    code = finish_output(invocation, arguments->options.should_stop_argument);
  }
  hfta_train_result_free(&result);
  return code;
}

/// The job at hand, from the beginning to its results.
static int train_job(const hfta_invocation *invocation,
                     train_arguments *arguments) {
  const char *folder = arguments->options.checkpoint;
  hfta_path path;
  hfta_workload workload = hfta_workload_of_all(invocation->program);
  hfta_instance *instance = NULL;
  int code =
      hfta_choose_job_folder(invocation, &path, &arguments->options.checkpoint);
  arguments->spill.checkpoint = arguments->options.checkpoint;
  arguments->options.job = invocation->job;
  if (code < 0)
    code = hfta_join_ranks(invocation, &arguments->ranks);
  workload.communicator = invocation->ranks->communicator;
  if (code < 0)
    code = hfta_open_instance(invocation, &workload, arguments->threads,
                              arguments->device, NULL, &arguments->spill,
                              &instance);
  if (code < 0)
    code = hfta_choose_copies(invocation, arguments->only, instance);
  if (code < 0)
    code = train(invocation, arguments, instance);
  hfta_instance_destroy(instance);
  hfta_leave_ranks(invocation);
  arguments->options.checkpoint = folder;
  return code;
}

/// One job after the other. Who fails doesn't keep the others; the exit code is
/// the first failure's, or that of the signal which has ended it all.
static int train_jobs(const hfta_invocation *invocation,
                      train_arguments *arguments) {
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
    code = train_job(&one, arguments);
    if (failure == HFTA_OK)
      failure = code;
  }
  return code >= 128 ? code : failure;
}

/// A pipe's reader takes its end for that of the log: it has one between two
/// jobs, unless it stays open.
static int hold_pipe(const char *path) {
  struct stat info;
  bool is_pipe = path && stat(path, &info) == 0 && S_ISFIFO(info.st_mode);
  return is_pipe ? open(path, O_WRONLY | O_CLOEXEC) : -1;
}

static int train_all(const hfta_invocation *invocation,
                     train_arguments *arguments) {
  if (!hfta_is_of_all_jobs(invocation))
    return train_job(invocation, arguments);
  int pipe = hold_pipe(arguments->options.log_path);
  int code = train_jobs(invocation, arguments);
  if (pipe >= 0)
    close(pipe);
  return code;
}

int hfta_command_train(const hfta_invocation *invocation) {
  train_arguments arguments;
  memset(&arguments, 0, sizeof(arguments));
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
  if (code < 0 && invocation->program_count > 1)
    code = check_log(invocation, &arguments.options);
  if (code >= 0)
    return code;
  // MPI starts threads that must not take signals meant for ours.
  hfta_interrupt interrupt;
  hfta_interrupt_begin(&interrupt, invocation->binary, !is_alone);
  arguments.options.progress = !arguments.no_progress;
  arguments.options.should_stop = hfta_interrupt_requested;
  arguments.options.should_stop_argument = &interrupt;
  code = train_all(invocation, &arguments);
  hfta_interrupt_end(&interrupt);
  return code;
}
