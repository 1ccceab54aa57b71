//===- ranks.h - Commands that run on several ranks -------------*- C -*-===//
//
// mpirun starts the same command several times. Until the ranks have found each
// other only the first one speaks; from then on hfta_report ends all of them
// with one message.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMANDS_RANKS_H
#define HFTA_SRC_COMMANDS_RANKS_H

#include "commands/command.h"

/// Values of the options about ranks.
typedef struct hfta_rank_arguments {
  const char *ranks;
  const char *library;
  int64_t timeout;
} hfta_rank_arguments;

#define HFTA_OPTION_RANKS(target)                                              \
  {.name = "--ranks",                                                          \
   .argument = "auto|1",                                                       \
   .help = "1: by itself, though mpirun has started several (default: auto)",  \
   .text = &(target)->ranks}
#define HFTA_OPTION_MPI(target)                                                \
  {.name = "--mpi",                                                            \
   .argument = "LIBRARY",                                                      \
   .help = "Open MPI's library (default: libmpi.so.40)",                       \
   .text = &(target)->library}
#define HFTA_OPTION_RANK_TIMEOUT(target)                                       \
  {.name = "--rank-timeout",                                                   \
   .argument = "S",                                                            \
   .help = "seconds that a rank may be without progress (default: 120)",       \
   .integer = &(target)->timeout,                                              \
   .minimum = 1,                                                               \
   .maximum = 1000000}

/// "rank 3 (stage 1, replica 0)"; where there is one stage "rank 3 (replica
/// 3)", by the first one that it has.
typedef struct hfta_rank_name {
  char text[192];
} hfta_rank_name;
hfta_rank_name hfta_name_rank(const hfta_program *program, int rank, int ranks);

/// Before options are read: from here on the ranks' first one alone speaks.
void hfta_expect_ranks(const hfta_invocation *invocation);

/// Finds the other ranks that the launcher has started, if there are and if the
/// command is to run with them. `invocation->ranks->communicator` is then that
/// of all of them, else this process' own. Returns -1, or the exit code after a
/// message.
int hfta_join_ranks(const hfta_invocation *invocation,
                    const hfta_rank_arguments *arguments);

/// NULL-safe: also where hfta_join_ranks wasn't called.
void hfta_leave_ranks(const hfta_invocation *invocation);

/// Whether this process is the one that prints results.
bool hfta_is_first_rank(const hfta_invocation *invocation);

#endif // HFTA_SRC_COMMANDS_RANKS_H
