//===- command.h - Commands and their options -------------------*- C -*-===//

#ifndef HFTA_SRC_COMMANDS_COMMAND_H
#define HFTA_SRC_COMMANDS_COMMAND_H

#include "hfta/store.h"
#include "schedule/workload.h"

#include <stdio.h>

enum { HFTA_MAX_LIST = 64, HFTA_MAX_OPTIONS = 32 };

/// How this process stands to the others that a launcher has started.
typedef struct hfta_rank_state {
  hfta_communicator *communicator; ///< NULL: not looked for
  double timeout;                  ///< seconds without progress; 0: the default
  bool is_silent; ///< another one says what is wrong with the arguments
} hfta_rank_state;

/// What a command is called with.
typedef struct hfta_invocation {
  const hfta_program *const *programs; ///< all of the binary's, one a job
  int64_t program_count;
  const hfta_program *program; ///< the job's at hand; the first one before
  const char *job; ///< its name, where there are several; NULL: none was named
  bool tells_job;  ///< messages say which job they are about
  const char *job_help; ///< what `--job` does for the command
  const char *binary;   ///< the last part of argv[0]
  const char *command;  ///< "train"
  int argc;             ///< of what follows the command
  char **argv;
  hfta_rank_state *ranks;
  struct hfta_screen *screen; ///< where other jobs show progress meanwhile;
                              ///< NULL: nobody does
} hfta_invocation;

/// Values of an option that may be given several times.
typedef struct hfta_list {
  const char *values[HFTA_MAX_LIST];
  int count;
} hfta_list;

/// One option and where its value goes: exactly one of the pointers is set.
typedef struct hfta_option {
  const char *name;     ///< "--epochs"
  const char *argument; ///< "N"; NULL: a switch
  const char *help;     ///< lines after the first are indented like it
  bool *flag;
  const char **text;
  int64_t *integer; ///< from `minimum` to `maximum`
  hfta_list *list;
  int64_t minimum;
  int64_t maximum;
  bool required;
  bool spills;      ///< only of programs that need a store
  bool is_of_seats; ///< only where hfta_takes_seats
} hfta_option;

/// Where a program that spills does so.
typedef struct hfta_spill_arguments {
  const char *directory;
  int64_t io_threads;
  const char *checkpoint; ///< folder whose disk serves where nobody names one
} hfta_spill_arguments;

/// Options of the commands that make an instance.
#define HFTA_OPTION_THREADS(target)                                            \
  {.name = "--threads",                                                        \
   .argument = "N",                                                            \
   .help = "CPU threads, 1 to 256 (default: one a processor, fewer where\n"    \
           "a control group grants less time, or where several ranks\n"        \
           "share the host); results don't depend on it",                      \
   .integer = (target),                                                        \
   .minimum = 1,                                                               \
   .maximum = 256}
#define HFTA_OPTION_SPILL_DIR(target)                                          \
  {.name = "--spill-dir",                                                      \
   .argument = "DIR",                                                          \
   .help = "where the file of what doesn't fit into memory lies, on a disk\n"  \
           "(default: the job's folder for it, else --checkpoint's, else\n"    \
           "here)",                                                            \
   .text = &(target)->directory,                                               \
   .spills = true}
#define HFTA_OPTION_IO_THREADS(target)                                         \
  {.name = "--io-threads",                                                     \
   .argument = "N",                                                            \
   .help = "threads that read and write it, 1 to 16 (default: 2)",             \
   .integer = &(target)->io_threads,                                           \
   .minimum = 1,                                                               \
   .maximum = HFTA_STORE_THREADS,                                              \
   .spills = true}
/// What the program was compiled for, of `invocation`.
#define HFTA_OPTION_DEVICE(target)                                             \
  {.name = "--device",                                                         \
   .argument = "DEVICE",                                                       \
   .help = invocation->program->images                                         \
               ? "where to compute: cuda:0, which is the default, or cuda:K"   \
               : "where to compute: cpu, which is the default",                \
   .text = (target)}
#define HFTA_OPTION_DATA(target)                                               \
  {.name = "--data",                                                           \
   .argument = "DIR",                                                          \
   .help = "where the job's relative paths begin (default: here)",             \
   .text = (target)}
#define HFTA_OPTION_CHECKPOINT(target)                                         \
  {.name = "--checkpoint",                                                     \
   .argument = "DIR",                                                          \
   .help = invocation->program_count > 1                                       \
               ? "take the newest checkpoint in DIR/JOB, or DIR itself if "    \
                 "it\nis a step-... folder (default: initial weights)"         \
               : "take the newest checkpoint in DIR, or DIR itself if it is "  \
                 "a\nstep-... folder (default: initial weights)",              \
   .text = (target)}

#define HFTA_OPTION_TRACE(target)                                              \
  {.name = "--trace",                                                          \
   .argument = "FILE.json",                                                    \
   .help = "write what was done when, for chrome://tracing or Perfetto",       \
   .text = (target)}
#define HFTA_OPTION_TRACE_STEPS(target)                                        \
  {.name = "--trace-steps",                                                    \
   .argument = "N",                                                            \
   .help = "trace the first N steps of those that are run (default: 5)",       \
   .integer = (target),                                                        \
   .minimum = 1,                                                               \
   .maximum = INT64_MAX}
#define HFTA_OPTION_ONLY(target)                                               \
  {.name = "--only",                                                           \
   .argument = "K,K",                                                          \
   .help = "run these copies alone, by number; the others keep their state",   \
   .text = (target)}

/// Reads the options. `summary` and the table make the text of --help. Returns
/// -1 if the command goes on, else the exit code.
int hfta_parse_options(const hfta_invocation *invocation, const char *summary,
                       const hfta_option *options, size_t count);

/// Whether the arguments ask for the command's help.
bool hfta_asks_for_help(const hfta_invocation *invocation);

/// Whether `--trace-steps` has the `--trace` that it needs. Returns -1, or the
/// exit code after a message.
int hfta_check_trace(const hfta_invocation *invocation, const char *path,
                     int64_t steps);

/// Has the copies run that `--only` lists, in any order; NULL: all. Returns -1,
/// or the exit code after a message.
int hfta_choose_copies(const hfta_invocation *invocation, const char *only,
                       hfta_instance *instance);

/// Prints "BINARY: error: MESSAGE" and returns the status as an exit code. One
/// of several ranks says which it is, and ends all of them.
int hfta_report(const hfta_invocation *invocation, hfta_status status,
                const char *message);

/// The same for a standard output that can't be written; errno says why.
int hfta_report_output(const hfta_invocation *invocation);

/// The same for wrong usage, with a hint to --help.
int hfta_report_usage(const hfta_invocation *invocation, const char *format,
                      ...) HFTA_PRINTF(2, 3);

/// Makes an instance for a workload and loads a checkpoint if `checkpoint`
/// isn't NULL. Returns -1 on success, else the exit code, everything reported.
int hfta_open_instance(const hfta_invocation *invocation,
                       const hfta_workload *workload, int64_t threads,
                       const char *device, const char *checkpoint,
                       const hfta_spill_arguments *spill, hfta_instance **out);

int hfta_command_train(const hfta_invocation *invocation);
int hfta_command_eval(const hfta_invocation *invocation);
int hfta_command_export(const hfta_invocation *invocation);
int hfta_command_run(const hfta_invocation *invocation);
int hfta_command_info(const hfta_invocation *invocation);
int hfta_command_bench(const hfta_invocation *invocation);

/// The JSON form of `info`.
hfta_status hfta_write_info_json(const hfta_program *program, int threads,
                                 FILE *file, hfta_error *error);

/// Values in parameters that are trained and that aren't.
typedef struct hfta_parameter_count {
  int64_t trained;
  int64_t frozen;
} hfta_parameter_count;

/// Of copy `copy`, what it shares with others included; copies of different
/// models may have different numbers.
hfta_parameter_count hfta_count_parameters(const hfta_program *program,
                                           int64_t copy);
/// Of the array, what is shared counted once.
hfta_parameter_count hfta_count_all_parameters(const hfta_program *program);

/// Why a parameter is trained or not.
typedef struct hfta_training_rule_words {
  const char *word; ///< for machines
  const char *text; ///< what follows "trained: " or "frozen: "
} hfta_training_rule_words;

hfta_training_rule_words hfta_describe_training_rule(uint32_t rule);

/// Whether a tensor is a weight: of the model, not of the optimizer.
bool hfta_tensor_is_parameter(const hfta_program *program, uint32_t index);

/// Whether a tensor is a preconditioner's.
bool hfta_tensor_is_curvature(const hfta_program *program, uint32_t index);

/// "parameters", "saved" ...
const char *hfta_segment_role_name(uint32_t role);

#endif // HFTA_SRC_COMMANDS_COMMAND_H
