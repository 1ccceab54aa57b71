//===- broadcasts.h - What some replicas give others ------------*- C -*-===//
//
// Who gives what to whom follows from the command, the replicas of the stage
// and the ranks that share them, so that each rank knows its own messages and
// nothing is asked for.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_BROADCASTS_H
#define HFTA_SRC_SCHEDULE_BROADCASTS_H

#include "schedule/exchange.h"
#include "schedule/share.h"

struct hfta_worker;

/// The rank that gives a rank the bytes of an HFTA_COMMAND_BROADCAST; -1: it
/// gets none.
int hfta_broadcast_source(const hfta_stage *stage, int ranks, int rank,
                          const hfta_command *command);

/// The messages of one command: of each copy that lives, where there is a place
/// for each, to or from each peer.
typedef struct hfta_broadcast {
  const hfta_command *command;
  char what[64];
  bool sends;
  int *peers;
  int peer_count;
  hfta_message *messages; ///< room for those of all copies
  hfta_exchange exchange;
} hfta_broadcast;

/// One for each command of the worker's schedules in which it has a part.
typedef struct hfta_broadcasts {
  hfta_broadcast *all;
  uint32_t count;
} hfta_broadcasts;

/// After the worker has its memory and its communicator.
hfta_status hfta_broadcasts_create(struct hfta_worker *worker);
void hfta_broadcasts_destroy(hfta_broadcasts *self);

/// Gives the device the work of an HFTA_COMMAND_BROADCAST for these copies.
void hfta_broadcasts_give(struct hfta_worker *worker,
                          const hfta_command *command, const int32_t *copies,
                          int64_t copy_count);

#endif // HFTA_SRC_SCHEDULE_BROADCASTS_H
