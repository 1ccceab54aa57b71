//===- trial_arguments.h - Options that choose a trial ------------*- C -*-===//

#ifndef HFTA_SRC_COMMAND_LINE_TRIALS_TRIAL_ARGUMENTS_H
#define HFTA_SRC_COMMAND_LINE_TRIALS_TRIAL_ARGUMENTS_H

#include "command_line/command.h"

/// Options by which commands choose a trial of a search's folder.
typedef struct hfta_trial_arguments {
  bool best;
  int64_t trial; ///< -1: not given
  int64_t fold;  ///< -1: not given
} hfta_trial_arguments;

#define HFTA_NO_TRIAL_ARGUMENTS {false, -1, -1}

#define HFTA_OPTION_BEST(target)                                               \
  {.name = "--best",                                                           \
   .help = "take the best trial of the search in --checkpoint DIR",            \
   .flag = &(target)->best,                                                    \
   .is_of_search = true}
#define HFTA_OPTION_TRIAL(target)                                              \
  {.name = "--trial",                                                          \
   .argument = "K",                                                            \
   .help = "take trial K of the search in --checkpoint DIR",                   \
   .integer = &(target)->trial,                                                \
   .minimum = 0,                                                               \
   .maximum = INT32_MAX,                                                       \
   .is_of_search = true}
#define HFTA_OPTION_FOLD(target)                                               \
  {.name = "--fold",                                                           \
   .argument = "J",                                                            \
   .help = "take the model of fold J, for a trial with folds",                 \
   .integer = &(target)->fold,                                                 \
   .minimum = 0,                                                               \
   .maximum = INT32_MAX,                                                       \
   .is_of_search = true}

/// Returns whether a trial is chosen.
bool hfta_chooses_trial(const hfta_trial_arguments *arguments);

/// Checks the options. A program with a search and a folder needs one of --best
/// and --trial, as its checkpoint has trials instead of copies. Returns -1, or
/// the exit code after an error message.
int hfta_check_trial(const hfta_invocation *invocation,
                     const hfta_trial_arguments *arguments,
                     const char *checkpoint);

/// Checks the option --average. Returns -1, or the exit code after an error
/// message.
int hfta_check_average(const hfta_invocation *invocation,
                       const hfta_trial_arguments *chosen,
                       const char *checkpoint);

/// Opens an instance, and loads the weights of the chosen trial into a copy or,
/// if none is chosen, the copy's own of a checkpoint, unless that is NULL. The
/// caller destroys `*out`, also after a failure. Returns -1, or the exit code
/// after an error message.
int hfta_open_copy(const hfta_invocation *invocation,
                   const hfta_trial_arguments *arguments,
                   const hfta_workload *workload, int64_t threads,
                   const char *device, const char *checkpoint,
                   const hfta_spill_arguments *spill, int64_t copy,
                   hfta_instance **out);

#endif // HFTA_SRC_COMMAND_LINE_TRIALS_TRIAL_ARGUMENTS_H
