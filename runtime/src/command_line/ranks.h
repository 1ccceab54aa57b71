//===- ranks.h - Commands that run on several ranks -------------*- C -*-===//
//
// A launcher such as mpirun starts the same command on every rank. Until the
// ranks are connected, each of them checks the arguments, but only rank 0
// prints errors. After that an error on any rank is printed once, and
// hfta_report ends all ranks.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_COMMAND_LINE_RANKS_H
#define HFTA_SRC_COMMAND_LINE_RANKS_H

#include "command_line/command.h"

/// The values of the options about ranks.
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

/// Silences all ranks except rank 0 until they are connected. Called before
/// options are parsed.
void hfta_expect_ranks(const hfta_invocation *invocation);

/// Connects this process to the other ranks that the launcher has started, if
/// there are any and `--ranks 1` wasn't given. Sets
/// `invocation->ranks->communicator` to that of all ranks, or to one of this
/// process alone. Returns -1, or the exit code after an error message. If it
/// isn't called, the process stays alone.
int hfta_join_ranks(const hfta_invocation *invocation,
                    const hfta_rank_arguments *arguments);

/// Closes the communicator; does nothing if there is none.
void hfta_leave_ranks(const hfta_invocation *invocation);

/// Returns whether this process prints the results.
bool hfta_is_first_rank(const hfta_invocation *invocation);

#endif // HFTA_SRC_COMMAND_LINE_RANKS_H
