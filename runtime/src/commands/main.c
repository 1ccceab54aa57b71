//===- main.c - The command line of a compiled program --------------------===//

#include "hfta/main.h"
#include "hfta/abi.h"

#include "commands/command.h"
#include "data/dataset.h"
#include "system/fault.h"
#include "system/path.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

typedef struct command {
  const char *name;
  const char *synopsis;
  const char *summary;
  int (*run)(const hfta_invocation *invocation);
  bool (*is_possible)(const hfta_program *program); ///< NULL: it always is
} command;

static bool can_train(const hfta_program *program) {
  return hfta_program_trains(program) &&
         hfta_dataset_exists(program, HFTA_SPLIT_TRAIN);
}

static bool can_evaluate(const hfta_program *program) {
  return hfta_program_evaluates(program) &&
         hfta_dataset_exists(program, HFTA_SPLIT_TEST);
}

static bool can_export(const hfta_program *program) {
  for (int64_t copy = 0; copy < program->copies; ++copy)
    if (hfta_program_model(program, copy)->export_template.header)
      return true;
  return false;
}

static const command commands[] = {
    {"train",
     "[--data DIR] [--epochs N | --steps N] [--log FILE.jsonl]\n"
     "           [--log-every N] [--checkpoint DIR [--every N] [--keep N]]\n"
     "           [--resume | --overwrite] [--only K,K] [--threads N]\n"
     "           [--device cpu] [--ranks auto|1] [--mpi LIBRARY]\n"
     "           [--rank-timeout S] [--no-progress]\n"
     "           [--trace FILE.json [--trace-steps N]]",
     "train the copies", hfta_command_train, can_train},
    {"eval",
     "[--data DIR] [--checkpoint DIR] [--threads N] [--device cpu]\n"
     "           [--ranks auto|1] [--mpi LIBRARY] [--rank-timeout S]",
     "loss and metric on the test data", hfta_command_eval, can_evaluate},
    {"export", "--copy K -o FILE.onnx [--checkpoint DIR]",
     "write one copy as an ONNX model", hfta_command_export, can_export},
    {"run",
     "--input NAME=FILE.npy ... --output DIR [--copy K]\n"
     "           [--checkpoint DIR] [--threads N] [--device cpu]",
     "apply one copy to arrays, and write NAME.npy for each output",
     hfta_command_run, NULL},
    {"info", "[--json | --schedule] [--threads N]",
     "copies, parameters, memory plan and tasks", hfta_command_info, NULL},
    {"bench",
     "[--steps N] [--json] [--phases] [--only K,K]\n"
     "           [--threads N] [--device cpu|paced:COSTS.json]\n"
     "           [--ranks auto|1] [--mpi LIBRARY] [--rank-timeout S]\n"
     "           [--trace FILE.json [--trace-steps N]]",
     "time steps on synthetic data in memory", hfta_command_bench, NULL},
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(*commands) };

static bool is_possible(const command *one, const hfta_program *program) {
  return !one->is_possible || one->is_possible(program);
}

/// Only of the commands that this program can do.
static void print_help(FILE *file, const hfta_program *program,
                       const char *binary) {
  fprintf(file,
          "usage: %s COMMAND [options]\n\n"
          "'%s': %lld copies, compiled by hftac.\n\ncommands:\n",
          binary, program->name, (long long)program->copies);
  for (int i = 0; i < COMMAND_COUNT; ++i)
    if (is_possible(&commands[i], program))
      fprintf(file, "  %-8s %s\n           %s\n", commands[i].name,
              commands[i].synopsis, commands[i].summary);
  fprintf(file,
          "\n'%s COMMAND --help' explains a command's options.\n"
          "--help and --version may stand in place of a command.\n\n"
          "exit codes:\n"
          "  0    done\n"
          "  1    the input is wrong\n"
          "  2    wrong usage\n"
          "  3    unsupported here\n"
          "  4    cannot write\n"
          "  5    a rank was lost\n"
          "  70   internal error\n"
          "  130  stopped by Ctrl-C (128 + the signal's number)\n",
          binary);
}

/// What was printed must have reached its reader.
static int flush_output(const hfta_invocation *invocation, int code) {
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout))
    return code;
  return code == 0 ? hfta_report_output(invocation) : code;
}

int hfta_main(const hfta_program *program, int argc, char **argv) {
  const char *binary = argc > 0 ? hfta_path_name(argv[0]) : program->name;
  hfta_rank_state ranks = {NULL, 0.0, false};
  hfta_invocation invocation = {program,  binary,   "",
                                argc - 2, argv + 2, &ranks};
  if (argc < 2) {
    hfta_report(&invocation, HFTA_USAGE, "no command is given");
    print_help(stderr, program, binary);
    return HFTA_USAGE;
  }
  // A limit on file sizes is then an error like a full disk.
  signal(SIGXFSZ, SIG_IGN);
  hfta_fault_install();
  const char *name = argv[1];
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
    print_help(stdout, program, binary);
    return flush_output(&invocation, HFTA_OK);
  }
  if (strcmp(name, "--version") == 0) {
    printf("%s (Hfta %s, ABI %u)\n", program->name, HFTA_VERSION,
           hfta_abi_version());
    return flush_output(&invocation, HFTA_OK);
  }
  invocation.command = name;
  for (int i = 0; i < COMMAND_COUNT; ++i)
    if (strcmp(commands[i].name, name) == 0)
      return flush_output(&invocation, commands[i].run(&invocation));
  fprintf(stderr, "%s: error: unknown %s '%s': expected ", binary,
          name[0] == '-' ? "option" : "command", name);
  for (int i = 0; i < COMMAND_COUNT; ++i)
    if (is_possible(&commands[i], program))
      fprintf(stderr, "%s%s", commands[i].name,
              i + 1 == COMMAND_COUNT   ? "\n"
              : i + 2 == COMMAND_COUNT ? " or "
                                       : ", ");
  fprintf(stderr, "%s: note: '%s --help' explains them\n", binary, binary);
  return HFTA_USAGE;
}
