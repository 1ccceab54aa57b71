//===- Ranks.h - Functions and modes of the test program `ranks` ----------===//

#ifndef HFTA_TEST_RANKS_H
#define HFTA_TEST_RANKS_H

#include "hfta/communicator.h"

#include <stdio.h>
#include <stdlib.h>

/// The command's arguments after the name of the mode.
typedef struct ranks_arguments {
  int count;
  char **values;
} ranks_arguments;

/// Ends the process with a message and exit code 99 if a condition doesn't
/// hold.
#define EXPECT(condition)                                                      \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);  \
      exit(99);                                                                \
    }                                                                          \
  } while (0)

/// Returns the argument at this index as a number.
double ranks_number(const ranks_arguments *arguments, int index);

/// Opens a communicator with a timeout in seconds. If that fails, ends the
/// process with a message and the status as exit code.
hfta_communicator *ranks_open(double timeout);

/// Posts one message to (`sends`) or from a peer. `what` names it in errors.
/// The caller must wait for the result later.
hfta_posted *ranks_post(hfta_communicator *communicator, const char *what,
                        int tag, int peer, bool sends, void *memory,
                        uint64_t bytes);

/// Waits for a posted message. If that fails, ends this process with exit code
/// 99.
void ranks_wait(hfta_communicator *communicator, hfta_posted *posted);

/// Waits for a posted message. If that fails, calls ranks_fail with the error.
void ranks_wait_or_fail(hfta_communicator *communicator, hfta_posted *posted);

/// Reports an error and ends all ranks with this exit code, as a compiled
/// program does after an error.
void ranks_fail(hfta_communicator *communicator, hfta_status code,
                const char *message) HFTA_NORETURN;

/// Exchanges random messages between all ranks, with the tags 0, 1 and 2. All
/// ranks must pass the same seed, so that they draw the same messages.
void ranks_exchange(hfta_communicator *communicator, uint64_t seed);

/// Adds up numbers across ranks by a reduce-scatter and an all-gather, and
/// checks the sums.
void ranks_sum_pieces(hfta_communicator *communicator, int tag);

/// Checks broadcasts, maxima and comparisons across ranks.
void ranks_agree(hfta_communicator *communicator);

// The modes of the program; Ranks.c lists their names.
void ranks_posts(const ranks_arguments *arguments);
void ranks_collectives(const ranks_arguments *arguments);
void ranks_large(const ranks_arguments *arguments);
void ranks_kill(const ranks_arguments *arguments);
void ranks_stop(const ranks_arguments *arguments);
void ranks_slow(const ranks_arguments *arguments);
void ranks_slow_circle(const ranks_arguments *arguments);
void ranks_end(const ranks_arguments *arguments);
void ranks_ended(const ranks_arguments *arguments);
void ranks_deadlock(const ranks_arguments *arguments);
void ranks_absent(const ranks_arguments *arguments);
void ranks_fail_at_once(const ranks_arguments *arguments);
void ranks_own(const ranks_arguments *arguments);
void ranks_lengths(const ranks_arguments *arguments);
void ranks_embedded(const ranks_arguments *arguments);
void ranks_launched(const ranks_arguments *arguments);
void ranks_workers(const ranks_arguments *arguments);
void ranks_gives_up(const ranks_arguments *arguments);
void ranks_lost(const ranks_arguments *arguments);

#endif // HFTA_TEST_RANKS_H
