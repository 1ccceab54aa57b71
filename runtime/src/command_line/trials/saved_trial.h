//===- saved_trial.h - Which trial of a saved search --------------*- C -*-===//

#ifndef HFTA_SRC_COMMAND_LINE_TRIALS_SAVED_TRIAL_H
#define HFTA_SRC_COMMAND_LINE_TRIALS_SAVED_TRIAL_H

#include "command_line/trials/trial_arguments.h"

/// Makes the program of the array that has trained the chosen trial of a folder
/// the current one. Returns -1, or the exit code after an error message.
int hfta_choose_array(hfta_invocation *invocation,
                      const hfta_trial_arguments *arguments,
                      const char *folder);

/// Loads the weights by which the chosen trial of a folder is judged into a
/// copy, and sets `*trial` to its number. Returns -1, or the exit code after an
/// error message.
int hfta_load_trial(const hfta_invocation *invocation,
                    const hfta_trial_arguments *arguments, const char *folder,
                    hfta_instance *instance, int64_t copy, int64_t *trial);

#endif // HFTA_SRC_COMMAND_LINE_TRIALS_SAVED_TRIAL_H
