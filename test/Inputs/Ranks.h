//===- Ranks.h - The common parts of the test program's modes -------------===//

#ifndef HFTA_TEST_RANKS_H
#define HFTA_TEST_RANKS_H

#include "hfta/communicator.h"

#include <stdio.h>
#include <stdlib.h>

/// The arguments after the mode's name.
typedef struct ranks_arguments {
  int count;
  char **values;
} ranks_arguments;

/// Ends the process with a message if a condition doesn't hold.
#define EXPECT(condition)                                                      \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);  \
      exit(99);                                                                \
    }                                                                          \
  } while (0)

/// Returns an argument as a number.
double ranks_number(const ranks_arguments *arguments, int index);

/// Opens a communicator; ends the process if that fails.
hfta_communicator *ranks_open(double timeout);

/// Posts one message, for which the caller waits later.
hfta_posted *ranks_post(hfta_communicator *communicator, const char *what,
                        int tag, int peer, bool sends, void *memory,
                        uint64_t bytes);

/// Waits for a message; ends the process if that fails.
void ranks_wait(hfta_communicator *communicator, hfta_posted *posted);

/// Waits for a message; if that fails, ends all ranks as a program does.
void ranks_wait_or_fail(hfta_communicator *communicator, hfta_posted *posted);

/// Ends all ranks as a program does.
void ranks_fail(hfta_communicator *communicator, hfta_status code,
                const char *message) HFTA_NORETURN;

/// Exchanges random messages between all ranks, with tags less than 3; all
/// ranks draw the same ones.
void ranks_exchange(hfta_communicator *communicator, uint64_t seed);

/// Sums numbers by a reduce-scatter and an all-gather of pieces.
void ranks_sum_pieces(hfta_communicator *communicator, int tag);

/// Checks broadcasts, and all operations by which ranks agree.
void ranks_agree(hfta_communicator *communicator);

// Modes.
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
