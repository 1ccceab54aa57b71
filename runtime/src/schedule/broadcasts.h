//===- broadcasts.h - Broadcasts from some replicas to others -----*- C -*-===//
//
// The command, the replicas of the stage and the ranks that share them
// determine all senders and receivers, so that each rank knows its own messages
// without a request.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_BROADCASTS_H
#define HFTA_SRC_SCHEDULE_BROADCASTS_H

#include "schedule/exchange.h"
#include "schedule/share.h"

struct hfta_worker;

/// Returns the rank that sends a rank the bytes of an HFTA_COMMAND_BROADCAST;
/// -1: it receives none.
int hfta_broadcast_source(const hfta_stage *stage, int ranks, int rank,
                          const hfta_command *command);

/// The messages of one command: one to or from each peer; if there is a place
/// for each copy, one for each live copy.
typedef struct hfta_broadcast {
  const hfta_command *command;
  char what[64];
  bool sends;
  int *peers;
  int peer_count;
  hfta_message *messages; ///< room for messages of all copies
  hfta_exchange exchange;
} hfta_broadcast;

/// The worker's broadcasts: one for each command of its schedules in which it
/// takes part.
typedef struct hfta_broadcasts {
  hfta_broadcast *all;
  uint32_t count;
} hfta_broadcasts;

/// Makes the broadcasts, after the worker has its memory and its communicator.
hfta_status hfta_broadcasts_create(struct hfta_worker *worker);
void hfta_broadcasts_destroy(hfta_broadcasts *self);

/// Gives the device the messages of an HFTA_COMMAND_BROADCAST for these copies.
void hfta_broadcasts_give(struct hfta_worker *worker,
                          const hfta_command *command, const int32_t *copies,
                          int64_t copy_count);

#endif // HFTA_SRC_SCHEDULE_BROADCASTS_H
