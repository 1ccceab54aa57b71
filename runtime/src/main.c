//===- main.c - The command line of a compiled program --------------------===//

#include "hfta/main.h"

#include "command.h"
#include "fault.h"
#include "path.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#ifndef HFTA_VERSION
#define HFTA_VERSION "0.1.0"
#endif

typedef struct command {
  const char *name;
  const char *synopsis;
  const char *summary;
  int (*run)(const hfta_invocation *invocation);
} command;

static const command commands[] = {
    {"train",
     "[--data DIR] [--epochs N | --steps N] [--log FILE.jsonl]\n"
     "           [--log-every N] [--checkpoint DIR [--every N] [--keep N]]\n"
     "           [--resume | --overwrite] [--threads N] [--device cpu|cuda:K] "
     "[--no-progress]",
     "train all copies", hfta_command_train},
    {"eval",
     "[--data DIR] [--checkpoint DIR] [--threads N] [--device cpu|cuda:K]",
     "loss and metric on the test data", hfta_command_eval},
    {"export", "--copy K -o FILE.onnx [--checkpoint DIR]",
     "write one copy as an ONNX model", hfta_command_export},
    {"run",
     "--input NAME=FILE.npy ... --output DIR [--copy K]\n"
     "           [--checkpoint DIR] [--threads N] [--device cpu|cuda:K]",
     "apply one copy to arrays, and write NAME.npy for each output",
     hfta_command_run},
    {"info", "[--json] [--threads N]",
     "copies, parameters, memory plan and tasks", hfta_command_info},
    {"bench",
     "[--steps N] [--json] [--phases] [--threads N]\n"
     "           [--device cpu|cuda:K]",
     "time steps on synthetic data in memory", hfta_command_bench},
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(*commands) };

static void print_help(FILE *file, const hfta_program *program,
                       const char *binary) {
  fprintf(file,
          "usage: %s COMMAND [options]\n\n"
          "'%s': %lld copies, compiled by hftac.\n\ncommands:\n",
          binary, program->name, (long long)program->copies);
  for (int i = 0; i < COMMAND_COUNT; ++i)
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
          "  70   internal error\n"
          "  130  stopped by Ctrl-C (128 + the signal's number)\n",
          binary);
}

/// What was printed must have reached its reader.
static int flush_output(const hfta_invocation *invocation, int code) {
  errno = 0;
  if (fflush(stdout) == 0 && !ferror(stdout))
    return code;
  char message[256];
  snprintf(message, sizeof(message), "cannot write to standard output: %s",
           strerror(errno ? errno : EIO));
  return code == 0 ? hfta_report(invocation, HFTA_CANNOT_WRITE, message) : code;
}

int hfta_main(const hfta_program *program, int argc, char **argv) {
  const char *binary = argc > 0 ? hfta_path_name(argv[0]) : program->name;
  hfta_invocation invocation = {program, binary, "", argc - 2, argv + 2};
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
           HFTA_ABI_VERSION);
    return flush_output(&invocation, HFTA_OK);
  }
  invocation.command = name;
  for (int i = 0; i < COMMAND_COUNT; ++i)
    if (strcmp(commands[i].name, name) == 0)
      return flush_output(&invocation, commands[i].run(&invocation));
  fprintf(stderr,
          "%s: error: unknown %s '%s': expected train, eval, export, run, "
          "info or bench\n%s: note: '%s --help' explains them\n",
          binary, name[0] == '-' ? "option" : "command", name, binary, binary);
  return HFTA_USAGE;
}
