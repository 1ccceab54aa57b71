//===- train_search.h - Trains a job with a search ----------------*- C -*-===//

#ifndef HFTA_SRC_COMMAND_LINE_TRIALS_TRAIN_SEARCH_H
#define HFTA_SRC_COMMAND_LINE_TRIALS_TRAIN_SEARCH_H

#include "command_line/train.h"
#include "instance/instance_facts.h"

/// The argument of hfta_open_search_array.
typedef struct hfta_array_opener {
  const hfta_invocation *invocation;
  const hfta_train_arguments *arguments;
  hfta_instance **instance; ///< the one that is open
} hfta_array_opener;

/// Opens an instance of one of the arrays of the current job's search
/// (hfta_open_array); `argument` is a hfta_array_opener.
hfta_status hfta_open_search_array(void *argument, int64_t array,
                                   hfta_instance **out, hfta_error *error);

/// Trains the trials of an opened instance's search, and prints their table.
/// `*instance` may be replaced by that of another array. Returns the exit code.
int hfta_train_search(const hfta_invocation *invocation,
                      const hfta_train_arguments *arguments,
                      hfta_instance **instance);

/// Trains trial `arguments->replay` of a saved search alone, and says whether
/// it becomes what it became in the search. Returns the exit code. As above.
int hfta_replay_trial(const hfta_invocation *invocation,
                      const hfta_train_arguments *arguments,
                      hfta_instance **instance);

/// The command `trials`: prints how a saved search stands. Returns the exit
/// code.
int hfta_list_trials(const hfta_invocation *invocation);

#endif // HFTA_SRC_COMMAND_LINE_TRIALS_TRAIN_SEARCH_H
