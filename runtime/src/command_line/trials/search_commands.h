//===- search_commands.h - The commands of programs with a search -*- C -*-===//
//
// The rest of the command line reaches the code for searches by the table
// hfta_search.commands alone, so that a program without a search isn't linked
// with it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMAND_LINE_TRIALS_SEARCH_COMMANDS_H
#define HFTA_SRC_COMMAND_LINE_TRIALS_SEARCH_COMMANDS_H

#include "command_line/train.h"
#include "command_line/trials/trial_arguments.h"
#include "hfta/json.h"

struct hfta_search_commands {
  /// Trains the trials of an opened instance's search, and prints their table.
  /// If the search has several arrays, `*instance` is of the first one, and may
  /// be replaced by that of another one. Returns the exit code.
  int (*train)(const hfta_invocation *invocation,
               const hfta_train_arguments *arguments, hfta_instance **instance);

  /// Trains trial `arguments->replay` of a saved search alone, and says whether
  /// it becomes what it became in the search. Returns the exit code. As above.
  int (*replay)(const hfta_invocation *invocation,
                const hfta_train_arguments *arguments,
                hfta_instance **instance);

  /// The command `trials`.
  int (*list)(const hfta_invocation *invocation);

  /// Makes the program of the array that has trained the chosen trial of a
  /// folder the current one. Returns -1, or the exit code after an error
  /// message.
  int (*choose)(hfta_invocation *invocation,
                const hfta_trial_arguments *arguments, const char *folder);

  /// Loads the weights by which the chosen trial of a folder is judged into a
  /// copy, and sets `*trial` to its number. Returns -1, or the exit code after
  /// an error message.
  int (*load)(const hfta_invocation *invocation,
              const hfta_trial_arguments *arguments, const char *folder,
              hfta_instance *instance, int64_t copy, int64_t *trial);

  /// Prints two or more lines about the search of these arrays' programs.
  void (*print)(FILE *file, const hfta_program *const *arrays);

  /// Writes the key "search" and its object.
  void (*put)(hfta_json_writer *writer, const hfta_program *const *arrays);
};

extern const struct hfta_search_commands hfta_search_commands;

#endif // HFTA_SRC_COMMAND_LINE_TRIALS_SEARCH_COMMANDS_H
