//===- broadcasts.h - Broadcasts from some replicas to others -----*- C -*-===//
//
// Plans and posts the messages of HFTA_COMMAND_BROADCAST. Senders and receivers
// follow from the command, the stage's replicas and the ranks that share them.
// So each rank knows its own messages without asking others.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_INSTANCE_BROADCASTS_H
#define HFTA_SRC_INSTANCE_BROADCASTS_H

#include "instance/exchange.h"
#include "workload/share.h"

struct hfta_worker;

/// Returns the rank from which `rank` receives the bytes of an
/// HFTA_COMMAND_BROADCAST; -1 if it receives none, because it has no receiver,
/// or has one of the senders itself.
int hfta_broadcast_source(const hfta_stage *stage, int ranks, int rank,
                          const hfta_command *command);

/// The messages of one broadcast command: to each peer, or from each, one
/// message; or one for each live copy, if the command's place is one per copy.
typedef struct hfta_broadcast {
  const hfta_command *command;
  char what[64]; ///< the label's text in messages
  bool sends;    ///< whether the rank sends; otherwise it receives
  int *peers;    ///< the ranks to or from which it has messages
  int peer_count;
  hfta_message *messages; ///< has room for the messages of all copies
  hfta_exchange exchange;
} hfta_broadcast;

/// A worker's broadcasts: one for each broadcast command of its schedules for
/// whose segment it has memory.
typedef struct hfta_broadcasts {
  hfta_broadcast *all;
  uint32_t count;
} hfta_broadcasts;

/// Plans the broadcasts, after the worker has its memory and its communicator.
/// HFTA_UNSUPPORTED without enough memory.
hfta_status hfta_broadcasts_create(struct hfta_worker *worker);
void hfta_broadcasts_destroy(hfta_broadcasts *self);

/// Makes the command's queue exchange the messages of an
/// HFTA_COMMAND_BROADCAST, for these copies.
void hfta_broadcasts_give(struct hfta_worker *worker,
                          const hfta_command *command, const int32_t *copies,
                          int64_t copy_count);

#endif // HFTA_SRC_INSTANCE_BROADCASTS_H
