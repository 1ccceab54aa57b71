//===- ranks.h - Commands that run on several ranks -------------*- C -*-===//
//
// mpirun starts the same command several times. Until the ranks are connected,
// only the first one prints; from then on hfta_report ends all of them with one
// message.
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
   .help = "1: run as one rank, even if mpirun has started "                   \
           "several\n(default: auto)",                                         \
   .text = &(target)->ranks}
#define HFTA_OPTION_MPI(target)                                                \
  {.name = "--mpi",                                                            \
   .argument = "LIBRARY",                                                      \
   .help = "Open MPI's library (default: libmpi.so.40)",                       \
   .text = &(target)->library}
#define HFTA_OPTION_RANK_TIMEOUT(target)                                       \
  {.name = "--rank-timeout",                                                   \
   .argument = "S",                                                            \
   .help = "end if a rank makes no progress for S seconds (default: 120)",     \
   .integer = &(target)->timeout,                                              \
   .minimum = 1,                                                               \
   .maximum = 1000000}

/// The name of a rank: "rank 3 (stage 1, replica 0)" or, in a program of one
/// stage, "rank 3 (replica 3)", by its first worker.
typedef struct hfta_rank_name {
  char text[192];
} hfta_rank_name;
hfta_rank_name hfta_name_rank(const hfta_program *program, int rank, int ranks);

/// Makes only the first rank print from now on; called before options are read.
void hfta_expect_ranks(const hfta_invocation *invocation);

/// Connects to the other ranks that the launcher has started, if there are any
/// and the command may run with them. `invocation->ranks->communicator` is then
/// that of all ranks, else this process's own. Returns -1, or the exit code
/// after a message.
int hfta_join_ranks(const hfta_invocation *invocation,
                    const hfta_rank_arguments *arguments);

/// Closes the communicator; does nothing if hfta_join_ranks wasn't called.
void hfta_leave_ranks(const hfta_invocation *invocation);

/// Whether this process is the one that prints results.
bool hfta_is_first_rank(const hfta_invocation *invocation);

#endif // HFTA_SRC_COMMANDS_RANKS_H
