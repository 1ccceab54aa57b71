//===- main.c - The command line of a compiled program --------------------===//

#include "hfta/main.h"
#include "hfta/abi.h"

#include "command_line/jobs.h"
#include "command_line/seats.h"
#include "command_line/trials/search_commands.h"
#include "data/division.h"
#include "system/fault.h"
#include "system/path.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/// A command of the binary.
typedef struct command {
  const char *name;
  const char *synopsis;
  const char *summary;
  int (*run)(const hfta_invocation *invocation);
  /// Whether the program has what the command needs; NULL: it always has.
  bool (*is_possible)(const hfta_program *program);
  const char *job_help;  ///< the help text of --job; NULL: with several jobs,
                         ///< one must be named
  const char *of_seats;  ///< a synopsis of options that need seats, or NULL
  const char *of_search; ///< a synopsis of options that need a search, or NULL
} command;

static bool can_train(const hfta_program *program) {
  return hfta_program_trains(program) &&
         hfta_dataset_exists(program, HFTA_SPLIT_TRAIN);
}

static bool can_evaluate(const hfta_program *program) {
  return hfta_program_evaluates(program) &&
         (hfta_dataset_exists(program, HFTA_SPLIT_TEST) ||
          hfta_program_validates(program));
}

static bool can_export(const hfta_program *program) {
  for (int64_t copy = 0; copy < program->copies; ++copy)
    if (hfta_program_model(program, copy)->export_template.header)
      return true;
  return false;
}

static int list_trials(const hfta_invocation *invocation) {
  const hfta_program *program = invocation->program;
  if (!program->search)
    return hfta_report_usage(invocation, "'%s' has no search", program->name);
  return program->search->commands->list(invocation);
}

static bool has_search(const hfta_program *program) {
  return program->search != NULL;
}

static const command commands[] = {
    {"train",
     "[--data DIR] [--epochs N | --steps N] [--minutes M]\n"
     "           [--log FILE.jsonl] [--log-every N] [--tensorboard DIR]\n"
     "           [--checkpoint DIR [--every N] [--keep N]]\n"
     "           [--resume | --overwrite] [--only K,K] [--threads N]\n"
     "           [--device DEVICE] [--ranks auto|1] [--mpi LIBRARY]\n"
     "           [--rank-timeout S] [--no-progress]\n"
     "           [--trace FILE.json [--trace-steps N]]",
     "train the copies", hfta_command_train, can_train,
     "train only this job (default: all, one after the other)",
     "[--seats P [--scheduler NAME] [--workload FILE.json]]",
     "[--trials N] [--control SOCKET | --replay K [--fold J]]"},
    {"eval",
     "[--data DIR] [--validation] [--checkpoint DIR] [--threads N]\n"
     "           [--device DEVICE] [--ranks auto|1] [--mpi LIBRARY]\n"
     "           [--rank-timeout S]",
     "evaluate the copies on the test data: loss and metric", hfta_command_eval,
     can_evaluate, NULL, NULL, "[--best | --trial K] [--fold J]"},
    {"export", "--copy K -o FILE.onnx [--checkpoint DIR]",
     "write one copy as an ONNX model", hfta_command_export, can_export, NULL,
     NULL, "(--best | --trial K) [--fold J], in place of --copy K"},
    {"run",
     "--input NAME=FILE.npy ... --output DIR [--copy K]\n"
     "           [--checkpoint DIR] [--threads N] [--device DEVICE]",
     "apply one copy to arrays, and write NAME.npy for each output",
     hfta_command_run, NULL, NULL, NULL,
     "[--best | --trial K] [--fold J], in place of --copy K"},
    {"info", "[--json | --schedule] [--threads N]",
     "copies, parameters, memory plan and tasks", hfta_command_info, NULL,
     "describe this job (default: list the jobs)", "[--seats P] [--data DIR]",
     NULL},
    {"trials", "--checkpoint DIR [--json]",
     "how a search stands: trials, scores and decisions", list_trials,
     has_search, NULL, NULL, NULL},
    {"report", "LOG... [-o FILE.html] [--info FILE.json] [--trace FILE.json]",
     "write a page that shows logs", hfta_command_report, can_train,
     "show only this job (default: all of the logs)", NULL, NULL},
    {"log", "LOG... (--csv [-o FILE] | --tensorboard DIR | --optuna FILE)",
     "write logs in the forms of other tools", hfta_command_log, can_train,
     "convert only this job (default: all of the logs)", NULL, NULL},
    {"bench",
     "[--steps N] [--json] [--phases] [--kernels] [--only K,K]\n"
     "           [--threads N] [--device DEVICE]\n"
     "           [--ranks auto|1] [--mpi LIBRARY] [--rank-timeout S]\n"
     "           [--trace FILE.json [--trace-steps N]]",
     "time steps on synthetic data in memory", hfta_command_bench, NULL, NULL,
     NULL, NULL},
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(*commands) };

/// Returns whether the command is possible for at least one job.
static bool is_possible(const command *one, const hfta_invocation *invocation) {
  bool is = !one->is_possible;
  for (int64_t i = 0; i < invocation->program_count && !is; ++i)
    is = one->is_possible(invocation->programs[i]);
  return is;
}

/// Prints how many copies a job has.
static void print_copies(FILE *file, const hfta_program *program) {
  if (program->search && program->search->array_count > 1)
    fprintf(file, "a search in %lld arrays of copies",
            (long long)program->search->array_count);
  else
    fprintf(file, "%lld copies", (long long)program->copies);
}

static void print_jobs(FILE *file, const hfta_invocation *invocation) {
  const hfta_program *const *programs = invocation->programs;
  if (invocation->program_count == 1) {
    fprintf(file, "'%s': ", programs[0]->name);
    print_copies(file, programs[0]);
    fprintf(file, ", compiled by hftac.\n");
    return;
  }
  fprintf(file, "%lld jobs, compiled by hftac:\n",
          (long long)invocation->program_count);
  for (int64_t i = 0; i < invocation->program_count; ++i) {
    fprintf(file, "  %-8s ", programs[i]->name);
    print_copies(file, programs[i]);
    fprintf(file, "\n");
  }
}

/// Prints the help, with the commands that are possible for this binary.
static void print_help(FILE *file, const hfta_invocation *invocation) {
  const char *binary = invocation->binary;
  fprintf(file, "usage: %s COMMAND [options]\n\n", binary);
  print_jobs(file, invocation);
  fprintf(file, "\ncommands:\n");
  for (int i = 0; i < COMMAND_COUNT; ++i) {
    const char *job = invocation->program_count == 1 ? ""
                      : commands[i].job_help         ? "[--job NAME] "
                                                     : "--job NAME ";
    if (!is_possible(&commands[i], invocation))
      continue;
    fprintf(file, "  %-8s %s%s\n", commands[i].name, job, commands[i].synopsis);
    if (commands[i].of_seats && hfta_takes_seats(invocation))
      fprintf(file, "           %s\n", commands[i].of_seats);
    if (commands[i].of_search && hfta_has_search(invocation))
      fprintf(file, "           %s\n", commands[i].of_search);
    fprintf(file, "           %s\n", commands[i].summary);
  }
  fprintf(file,
          "\n'%s COMMAND --help' explains a command's options.\n"
          "--help and --version may stand in place of a command.\n\n"
          "exit codes:\n"
          "  0    done\n"
          "  1    the input is wrong\n"
          "  2    wrong usage\n"
          "  3    not supported, or not enough memory\n"
          "  4    cannot write\n"
          "  5    a rank was lost\n"
          "  70   internal error\n"
          "  130  stopped by Ctrl-C (128 + the signal's number)\n",
          binary);
}

/// Checks that everything was written to standard output. Returns `code`, or
/// the exit code of that failure if `code` is 0.
static int flush_output(const hfta_invocation *invocation, int code) {
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout))
    return code;
  return code == 0 ? hfta_report_output(invocation) : code;
}

/// Runs a command for the job that the arguments name, if they name one.
static int run(const command *one, hfta_invocation *invocation) {
  invocation->job_help = one->job_help ? one->job_help : "the job";
  int code = hfta_take_job(invocation);
  if (code < 0 && !one->job_help && hfta_is_of_all_jobs(invocation) &&
      !hfta_asks_for_help(invocation)) {
    char what[32];
    snprintf(what, sizeof(what), "'%s'", one->name);
    code = hfta_report_nameless(invocation, what);
  }
  return code < 0 ? one->run(invocation) : code;
}

static void print_versions(const hfta_invocation *invocation) {
  for (int64_t i = 0; i < invocation->program_count; ++i)
    printf("%s (Hfta %s, ABI %u)\n", invocation->programs[i]->name,
           HFTA_VERSION, hfta_abi_version());
}

static int report_unknown(const hfta_invocation *invocation) {
  const char *binary = invocation->binary, *name = invocation->command;
  fprintf(stderr, "%s: error: unknown %s '%s': expected ", binary,
          name[0] == '-' ? "option" : "command", name);
  int last = COMMAND_COUNT - 1;
  while (last > 0 && !is_possible(&commands[last], invocation))
    --last;
  int before = last - 1;
  while (before > 0 && !is_possible(&commands[before], invocation))
    --before;
  for (int i = 0; i <= last; ++i)
    if (is_possible(&commands[i], invocation))
      fprintf(stderr, "%s%s", commands[i].name,
              i == last     ? "\n"
              : i == before ? " or "
                            : ", ");
  fprintf(stderr, "%s: note: '%s --help' explains them\n", binary, binary);
  return HFTA_USAGE;
}

/// Returns whether the arrays of program i's search are next to each other.
static bool has_its_arrays(const hfta_invocation *invocation, int64_t i) {
  const hfta_search *search = invocation->programs[i]->search;
  if (!search)
    return true;
  int64_t first = i - search->array;
  bool has = search->array >= 0 && search->array < search->array_count &&
             search->array_count <= HFTA_MOST_ARRAYS && first >= 0 &&
             first + search->array_count <= invocation->program_count;
  for (int64_t j = 0; has && j < search->array_count; ++j) {
    const hfta_search *other = invocation->programs[first + j]->search;
    has = other && other->array == j &&
          other->array_count == search->array_count &&
          other->setting_count == search->setting_count;
  }
  return has;
}

/// Checks that this runtime knows what the programs are, before anything else
/// is read from them.
static hfta_status check_programs(const hfta_invocation *invocation,
                                  hfta_error *error) {
  hfta_status status = HFTA_OK;
  for (int64_t i = 0; i < invocation->program_count && status == HFTA_OK; ++i)
    status = hfta_target_check(invocation->programs[i], error);
  for (int64_t i = 0; i < invocation->program_count && status == HFTA_OK; ++i)
    if (!has_its_arrays(invocation, i))
      status = hfta_fail(error, HFTA_INTERNAL,
                         "the arrays of the search '%s' aren't complete",
                         invocation->programs[i]->name);
  return status;
}

/// Runs the command line, after the programs have been checked.
static int run_command_line(hfta_invocation *invocation, int argc,
                            char **argv) {
  if (argc < 2) {
    hfta_report(invocation, HFTA_USAGE, "no command is given");
    print_help(stderr, invocation);
    return HFTA_USAGE;
  }
  // Writing beyond a limit on file sizes is then an error, like a full disk,
  // instead of ending the process.
  signal(SIGXFSZ, SIG_IGN);
  hfta_fault_install();
  const char *name = argv[1];
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
    print_help(stdout, invocation);
    return flush_output(invocation, HFTA_OK);
  }
  if (strcmp(name, "--version") == 0) {
    print_versions(invocation);
    return flush_output(invocation, HFTA_OK);
  }
  invocation->command = name;
  for (int i = 0; i < COMMAND_COUNT; ++i)
    if (strcmp(commands[i].name, name) == 0)
      return flush_output(invocation, run(&commands[i], invocation));
  return report_unknown(invocation);
}

int hfta_main(const hfta_program *const *programs, int64_t count, int argc,
              char **argv) {
  hfta_rank_state ranks = {NULL, 0.0, false};
  hfta_invocation invocation = {.programs = programs,
                                .all_programs = programs,
                                .program_count = count,
                                .program = programs[0],
                                .binary = argc > 0 ? hfta_path_name(argv[0])
                                                   : programs[0]->name,
                                .command = "",
                                .argc = argc - 2,
                                .argv = argv + 2,
                                .ranks = &ranks};
  hfta_error error;
  hfta_status status = check_programs(&invocation, &error);
  if (status != HFTA_OK)
    return hfta_report(&invocation, status, error.message);
  int64_t jobs;
  const hfta_program **list = hfta_job_programs(programs, count, &jobs);
  if (!list)
    return hfta_report(&invocation, HFTA_UNSUPPORTED,
                       "not enough memory for a list of jobs");
  invocation.programs = list;
  invocation.program_count = jobs;
  hfta_set_program(&invocation, list[0]);
  int code = run_command_line(&invocation, argc, argv);
  free(list);
  return code;
}
