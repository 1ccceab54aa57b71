//===- command.h - Options and common parts of commands -----------*- C -*-===//

#ifndef HFTA_SRC_COMMAND_LINE_COMMAND_H
#define HFTA_SRC_COMMAND_LINE_COMMAND_H

#include "device/target.h"
#include "hfta/store.h"
#include "instance/instance_facts.h"
#include "schedule/create.h"
#include "workload/workload.h"

#include <stdio.h>

/// The most values of a hfta_list, and the most options of a command.
enum { HFTA_MAX_LIST = 64, HFTA_MAX_OPTIONS = 32 };

/// This process among the ranks that a launcher has started.
typedef struct hfta_rank_state {
  hfta_communicator *communicator; ///< NULL until hfta_join_ranks
  double timeout; ///< the seconds without progress after which a rank counts as
                  ///< lost; 0: the default
  bool is_silent; ///< errors in the arguments aren't printed, as another rank
                  ///< prints them
} hfta_rank_state;

/// The command line, and the job that the command works on.
typedef struct hfta_invocation {
  /// The programs of all jobs: of several arrays of a search, the first one.
  const hfta_program *const *programs;
  int64_t program_count;
  /// All programs of the binary.
  const hfta_program *const *all_programs;
  /// The current job's program; at first the first one.
  const hfta_program *program;
  /// The programs of the arrays of the current job's search; without a search,
  /// or with a single array, the program alone.
  const hfta_program *const *arrays;
  const char *job; ///< the current job's name; NULL if the binary has one job
                   ///< or none was named
  bool tells_job;  ///< whether messages begin with the job's name
  /// The text of --help for the option --job of this command.
  const char *job_help;
  const char *binary;  ///< the binary's name: the last part of argv[0]
  const char *command; ///< the command's name, such as "train"
  int argc;            ///< the number of arguments after the command
  char **argv;
  hfta_rank_state *ranks;
  /// Whether weights are loaded from the running averages in checkpoints.
  bool loads_averages;
  /// Shows the progress of simultaneous jobs; NULL: none are.
  struct hfta_screen *screen;
} hfta_invocation;

/// The values of an option that may be given several times, in order.
typedef struct hfta_list {
  const char *values[HFTA_MAX_LIST];
  int count;
} hfta_list;

/// An option, and where its value is stored: one of `flag`, `text`, `integer`
/// and `list` is set, which also determines its type.
typedef struct hfta_option {
  /// With its dashes, such as "--epochs"; of an operand, the argument's name in
  /// --help, such as "LOG".
  const char *name;
  /// The value's name in --help, such as "N"; NULL for a switch.
  const char *argument;
  const char *help; ///< the text in --help; lines are separated by '\n' and get
                    ///< indented
  bool *flag;
  const char **text;
  int64_t *integer; ///< the value is from `minimum` to `maximum`
  hfta_list *list;
  int64_t minimum;
  int64_t maximum;
  bool required;
  /// Whether the value is an argument without an option's name before it, a
  /// file for example; a command has at most one such entry.
  bool is_operand;
  bool spills;       ///< offered only by programs that spill to a store
  bool is_of_seats;  ///< offered only if hfta_takes_seats
  bool is_of_search; ///< offered only if a job has a search
  bool averages;     ///< offered only if a job has averages of weights
} hfta_option;

/// The values of options about the store of a program that spills.
typedef struct hfta_spill_arguments {
  const char *directory;
  int64_t io_threads;
  const char *checkpoint; ///< the folder of checkpoints, near which to spill if
                          ///< `directory` is NULL
} hfta_spill_arguments;

/// Options of commands that open an instance; `target` is the address of the
/// value, or of the hfta_spill_arguments.
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
/// The option for the device. Its help depends on the target of the program of
/// a variable `invocation`.
#define HFTA_OPTION_DEVICE(target)                                             \
  {.name = "--device",                                                         \
   .argument = "DEVICE",                                                       \
   .help = hfta_target_of(invocation->program)->device_help,                   \
   .text = (target)}
#define HFTA_OPTION_DATA(target)                                               \
  {.name = "--data",                                                           \
   .argument = "DIR",                                                          \
   .help = "folder in which the job's relative paths begin (default: "         \
           "the\ncurrent folder)",                                             \
   .text = (target)}
#define HFTA_OPTION_AVERAGE(target)                                            \
  {.name = "--average",                                                        \
   .help = "use the running averages of the weights that the checkpoint "      \
           "holds",                                                            \
   .flag = (target),                                                           \
   .averages = true}
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

/// Parses the command's arguments by a table of options, and stores their
/// values. Returns -1 if the command may go on. Otherwise returns the exit
/// code, after an error message, or after --help was printed, whose text
/// consists of `summary` and the table.
int hfta_parse_options(const hfta_invocation *invocation, const char *summary,
                       const hfta_option *options, size_t count);

/// Returns whether the arguments contain --help or -h.
bool hfta_asks_for_help(const hfta_invocation *invocation);

/// Checks that `--trace-steps` (0: not given) comes with `--trace`. Returns -1,
/// or the exit code after an error message.
int hfta_check_trace(const hfta_invocation *invocation, const char *path,
                     int64_t steps);

/// Makes the instance run only the copies that `only`, the value of `--only`,
/// lists in any order; all if it is NULL. Returns -1, or the exit code after an
/// error message.
int hfta_choose_copies(const hfta_invocation *invocation, const char *only,
                       hfta_instance *instance);

/// Prints "BINARY: error: MESSAGE" to standard error and returns the status as
/// an exit code. If several ranks are connected, prints the rank's name too and
/// ends all ranks, so that it doesn't return. Prints nothing on a rank that is
/// silent.
int hfta_report(const hfta_invocation *invocation, hfta_status status,
                const char *message);

/// Reports that standard output can't be written; errno has the reason. Returns
/// the exit code.
int hfta_report_output(const hfta_invocation *invocation);

/// Reports an error in the arguments, and refers to --help. Returns the exit
/// code.
int hfta_report_usage(const hfta_invocation *invocation, const char *format,
                      ...) HFTA_PRINTF(2, 3);

/// Creates an instance for a workload, with initial weights. `threads` may be 0
/// and `device` NULL for the defaults. Returns -1 and sets `*out`, which the
/// caller destroys; or returns the exit code after an error message.
int hfta_open_instance(const hfta_invocation *invocation,
                       const hfta_workload *workload, int64_t threads,
                       const char *device, const hfta_spill_arguments *spill,
                       hfta_instance **out);

/// Loads the weights of a checkpoint, unless `checkpoint` is NULL: each copy's
/// best ones if the job keeps these, else its last ones. `best_steps` receives,
/// for each copy, the step of its best weights; 0 for a copy with others.
/// Returns -1, or the exit code after an error message.
int hfta_load_weights(const hfta_invocation *invocation,
                      hfta_instance *instance, const char *checkpoint,
                      int64_t *best_steps);

/// Does so for a command about one copy, and says so if it has its best
/// weights.
int hfta_load_copy(const hfta_invocation *invocation, hfta_instance *instance,
                   const char *checkpoint, int64_t copy);

/// Creates an instance of a program for a workload. Fills `*error` after a
/// failure.
hfta_status hfta_create_instance(const hfta_invocation *invocation,
                                 const hfta_program *program,
                                 const hfta_workload *workload, int64_t threads,
                                 const char *device,
                                 const hfta_spill_arguments *spill,
                                 hfta_instance **out, hfta_error *error);

/// The commands. Each runs to its end and returns the exit code.
int hfta_command_train(const hfta_invocation *invocation);
int hfta_command_eval(const hfta_invocation *invocation);
int hfta_command_export(const hfta_invocation *invocation);
int hfta_command_run(const hfta_invocation *invocation);
int hfta_command_info(const hfta_invocation *invocation);
int hfta_command_bench(const hfta_invocation *invocation);
int hfta_command_log(const hfta_invocation *invocation);
int hfta_command_report(const hfta_invocation *invocation);

/// Writes what `info --json` prints about a program or, if its search has
/// several arrays, about the first one of their programs.
hfta_status hfta_write_info_json(const hfta_program *const *arrays, int threads,
                                 FILE *file, hfta_error *error);

/// The number of elements in trained and in frozen parameters.
typedef struct hfta_parameter_count {
  int64_t trained;
  int64_t frozen;
} hfta_parameter_count;

/// Counts the parameters of one copy, including those that it shares with
/// others. Copies of different models may have different numbers.
hfta_parameter_count hfta_count_parameters(const hfta_program *program,
                                           int64_t copy);
/// Counts the parameters of all copies together; shared ones count once.
hfta_parameter_count hfta_count_all_parameters(const hfta_program *program);

/// The reason why a parameter is trained or frozen, in words.
typedef struct hfta_training_rule_words {
  const char *word; ///< for JSON
  const char *text; ///< for text, after "trained: " or "frozen: "
} hfta_training_rule_words;

/// Returns the words for an hfta_tensor.training_rule; "?" for unknown numbers.
hfta_training_rule_words hfta_describe_training_rule(uint32_t rule);

/// A node that has a mode, in words.
typedef struct hfta_modal_node_words {
  const char *kind; ///< for JSON, as "batch_norm"
  const char *one;  ///< for text, as "batch normalization"
  const char *rule; ///< for JSON
  const char *text; ///< why the node is in its mode, for text
  bool evaluation;  ///< whether training computes it in evaluation mode
} hfta_modal_node_words;

/// Returns the words for a node; "?" for unknown numbers.
hfta_modal_node_words hfta_describe_modal_node(const hfta_modal_node *node);

/// Returns the numbers `layer_decay`, one for each copy, by whose powers the
/// rates of layers are multiplied; NULL if the job has none.
const double *hfta_layer_decays(const hfta_program *program);

/// Returns whether a tensor is a parameter of the model, not a statistic or the
/// optimizer's state.
bool hfta_tensor_is_parameter(const hfta_program *program, uint32_t index);

/// Returns whether a tensor is state of a preconditioner (K-FAC).
bool hfta_tensor_is_curvature(const hfta_program *program, uint32_t index);

/// Returns the name of an hfta_segment_role, such as "parameters"; "?" for
/// unknown numbers.
const char *hfta_segment_role_name(uint32_t role);

#endif // HFTA_SRC_COMMAND_LINE_COMMAND_H
