//===- command.h - Commands and their options -------------------*- C -*-===//

#ifndef HFTA_SRC_COMMANDS_COMMAND_H
#define HFTA_SRC_COMMANDS_COMMAND_H

#include "hfta/store.h"
#include "schedule/workload.h"

#include <stdio.h>

enum { HFTA_MAX_LIST = 64, HFTA_MAX_OPTIONS = 32 };

/// The relation of this process to the other ranks that a launcher has started.
typedef struct hfta_rank_state {
  hfta_communicator *communicator; ///< NULL: the ranks haven't connected
  double timeout;                  ///< seconds without progress; 0: the default
  bool is_silent; ///< another rank reports errors in the arguments
} hfta_rank_state;

/// The context of a command.
typedef struct hfta_invocation {
  const hfta_program *const *programs; ///< all programs of the binary, one per
                                       ///< job
  int64_t program_count;
  const hfta_program *program; ///< the current job's; at first the first one
  const char *job; ///< name of the current one of several jobs; NULL: none was
                   ///< named
  bool tells_job;  ///< messages name the job that they are about
  const char *job_help; ///< help text of `--job` for the command
  const char *binary;   ///< the last part of argv[0]
  const char *command;  ///< "train"
  int argc;             ///< number of arguments after the command
  char **argv;
  hfta_rank_state *ranks;
  struct hfta_screen *screen; ///< the screen on which simultaneous jobs show
                              ///< progress; NULL: there is none
} hfta_invocation;

/// The values of an option that may be given several times.
typedef struct hfta_list {
  const char *values[HFTA_MAX_LIST];
  int count;
} hfta_list;

/// One option and the place for its value: exactly one of the pointers is set.
typedef struct hfta_option {
  const char *name;     ///< "--epochs"
  const char *argument; ///< "N"; NULL: a switch
  const char *help;     ///< lines after the first are indented like it
  bool *flag;
  const char **text;
  int64_t *integer; ///< must be from `minimum` to `maximum`
  hfta_list *list;
  int64_t minimum;
  int64_t maximum;
  bool required;
  bool spills;      ///< applies only to programs that need a store
  bool is_of_seats; ///< applies only if hfta_takes_seats
} hfta_option;

/// The options about the store of a program that spills.
typedef struct hfta_spill_arguments {
  const char *directory;
  int64_t io_threads;
  const char *checkpoint; ///< folder whose disk is used if no directory is
                          ///< given
} hfta_spill_arguments;

/// Options of the commands that make an instance.
#define HFTA_OPTION_THREADS(target)                                            \
  {.name = "--threads",                                                        \
   .argument = "N",                                                            \
   .help = "CPU threads, 1 to 256 (default: one per processor,\nfewer "        \
           "if a control group grants less time or if several ranks\nshare "   \
           "the host); results don't depend on their number",                  \
   .integer = (target),                                                        \
   .minimum = 1,                                                               \
   .maximum = 256}
#define HFTA_OPTION_SPILL_DIR(target)                                          \
  {.name = "--spill-dir",                                                      \
   .argument = "DIR",                                                          \
   .help = "folder on a disk for the file of data that don't fit "             \
           "into\nmemory (default: the job's folder for it, else that "        \
           "of\n--checkpoint, else the current folder)",                       \
   .text = &(target)->directory,                                               \
   .spills = true}
#define HFTA_OPTION_IO_THREADS(target)                                         \
  {.name = "--io-threads",                                                     \
   .argument = "N",                                                            \
   .help = "threads that read and write that file, 1 to 16 (default: 2)",      \
   .integer = &(target)->io_threads,                                           \
   .minimum = 1,                                                               \
   .maximum = HFTA_STORE_THREADS,                                              \
   .spills = true}
/// The option for the device, described by the kind that the program of
/// `invocation` was compiled for.
#define HFTA_OPTION_DEVICE(target)                                             \
  {.name = "--device",                                                         \
   .argument = "DEVICE",                                                       \
   .help = invocation->program->images                                         \
               ? "device to compute on: cuda:0 (default) or cuda:K"            \
               : "device to compute on: cpu (default)",                        \
   .text = (target)}
#define HFTA_OPTION_DATA(target)                                               \
  {.name = "--data",                                                           \
   .argument = "DIR",                                                          \
   .help = "folder in which the job's relative paths begin (default: "         \
           "the\ncurrent folder)",                                             \
   .text = (target)}
#define HFTA_OPTION_CHECKPOINT(target)                                         \
  {.name = "--checkpoint",                                                     \
   .argument = "DIR",                                                          \
   .help = invocation->program_count > 1                                       \
               ? "load the newest checkpoint in DIR/JOB, or DIR itself if "    \
                 "it\nis a step-... folder (default: initial weights)"         \
               : "load the newest checkpoint in DIR, or DIR itself if it is "  \
                 "a\nstep-... folder (default: initial weights)",              \
   .text = (target)}

#define HFTA_OPTION_TRACE(target)                                              \
  {.name = "--trace",                                                          \
   .argument = "FILE.json",                                                    \
   .help = "write a trace of the run, for chrome://tracing or Perfetto",       \
   .text = (target)}
#define HFTA_OPTION_TRACE_STEPS(target)                                        \
  {.name = "--trace-steps",                                                    \
   .argument = "N",                                                            \
   .help = "trace the first N steps of this run (default: 5)",                 \
   .integer = (target),                                                        \
   .minimum = 1,                                                               \
   .maximum = INT64_MAX}
#define HFTA_OPTION_ONLY(target)                                               \
  {.name = "--only",                                                           \
   .argument = "K,K",                                                          \
   .help = "run only these copies, by number; the others keep their state",    \
   .text = (target)}

/// Reads the options. `summary` and the table are the text of --help. Returns
/// -1 if the command goes on, else the exit code.
int hfta_parse_options(const hfta_invocation *invocation, const char *summary,
                       const hfta_option *options, size_t count);

/// Whether the arguments ask for the command's help.
bool hfta_asks_for_help(const hfta_invocation *invocation);

/// Checks that `--trace-steps` comes with `--trace`. Returns -1, or the exit
/// code after a message.
int hfta_check_trace(const hfta_invocation *invocation, const char *path,
                     int64_t steps);

/// Makes the instance run only the copies that `--only` lists, in any order;
/// NULL: all. Returns -1, or the exit code after a message.
int hfta_choose_copies(const hfta_invocation *invocation, const char *only,
                       hfta_instance *instance);

/// Prints "BINARY: error: MESSAGE" and returns the status as an exit code. With
/// several ranks the message names the rank, and all ranks end.
int hfta_report(const hfta_invocation *invocation, hfta_status status,
                const char *message);

/// Reports that standard output can't be written; errno gives the reason.
int hfta_report_output(const hfta_invocation *invocation);

/// Reports wrong usage, with a hint to --help.
int hfta_report_usage(const hfta_invocation *invocation, const char *format,
                      ...) HFTA_PRINTF(2, 3);

/// Makes an instance for a workload and loads a checkpoint if `checkpoint`
/// isn't NULL. Returns -1 on success, else the exit code, after a report.
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

/// Writes the JSON form of `info`.
hfta_status hfta_write_info_json(const hfta_program *program, int threads,
                                 FILE *file, hfta_error *error);

/// The number of values in trained and in frozen parameters.
typedef struct hfta_parameter_count {
  int64_t trained;
  int64_t frozen;
} hfta_parameter_count;

/// Counts the parameters of copy `copy`, including shared ones; copies of
/// different models may have different numbers.
hfta_parameter_count hfta_count_parameters(const hfta_program *program,
                                           int64_t copy);
/// Counts the parameters of all copies; shared ones count once.
hfta_parameter_count hfta_count_all_parameters(const hfta_program *program);

/// The words for the reason why a parameter is trained or not.
typedef struct hfta_training_rule_words {
  const char *word; ///< for machines
  const char *text; ///< text after "trained: " or "frozen: "
} hfta_training_rule_words;

hfta_training_rule_words hfta_describe_training_rule(uint32_t rule);

/// Whether a tensor is a weight of the model, not state of the optimizer.
bool hfta_tensor_is_parameter(const hfta_program *program, uint32_t index);

/// Whether a tensor belongs to a preconditioner.
bool hfta_tensor_is_curvature(const hfta_program *program, uint32_t index);

/// Returns a role's name: "parameters", "saved" ...
const char *hfta_segment_role_name(uint32_t role);

#endif // HFTA_SRC_COMMANDS_COMMAND_H
