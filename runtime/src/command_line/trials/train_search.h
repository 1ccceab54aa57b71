//===- train_search.h - Trains a job with a search ----------------*- C -*-===//

#ifndef HFTA_SRC_COMMAND_LINE_TRIALS_TRAIN_SEARCH_H
#define HFTA_SRC_COMMAND_LINE_TRIALS_TRAIN_SEARCH_H

#include "command_line/train.h"

/// Trains the trials of an opened instance's search, and prints their table.
/// Returns the exit code.
int hfta_train_search(const hfta_invocation *invocation,
                      const hfta_train_arguments *arguments,
                      hfta_instance *instance);

/// Trains trial `arguments->replay` of a saved search alone, and says whether
/// it becomes what it became in the search. Returns the exit code.
int hfta_replay_trial(const hfta_invocation *invocation,
                      const hfta_train_arguments *arguments,
                      hfta_instance *instance);

/// The command `trials`: prints how a saved search stands. Returns the exit
/// code.
int hfta_list_trials(const hfta_invocation *invocation);

#endif // HFTA_SRC_COMMAND_LINE_TRIALS_TRAIN_SEARCH_H
