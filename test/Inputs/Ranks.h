//===- Ranks.h - What the modes of the test program share -----------------===//

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

/// Ends the process with a message if something isn't as it should be.
#define EXPECT(condition)                                                      \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);  \
      exit(99);                                                                \
    }                                                                          \
  } while (0)

/// The number that an argument is.
double ranks_number(const ranks_arguments *arguments, int index);

/// Ends the process if it fails.
hfta_communicator *ranks_open(double timeout);

/// Posts one message, to be waited for.
hfta_posted *ranks_post(hfta_communicator *communicator, const char *what,
                        int tag, int peer, bool sends, void *memory,
                        uint64_t bytes);

/// Ends the process if it fails.
void ranks_wait(hfta_communicator *communicator, hfta_posted *posted);

/// Waits; where that fails it ends all ranks as a program does.
void ranks_wait_or_fail(hfta_communicator *communicator, hfta_posted *posted);

/// Ends all ranks as a program does.
void ranks_fail(hfta_communicator *communicator, hfta_status code,
                const char *message) HFTA_NORETURN;

/// Random messages between all ranks, of tags less than 3, which all draw
/// alike.
void ranks_exchange(hfta_communicator *communicator, uint64_t seed);

/// Numbers are added up by an exchange and a gather of pieces.
void ranks_sum_pieces(hfta_communicator *communicator, int tag);

/// Broadcasts, and all that ranks agree on.
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
