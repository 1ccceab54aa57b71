//===- messages.h - Messages between workers of different stages --*- C -*-===//
//
// The bytes of a place in a segment go from the worker that has written them to
// the workers of another stage that read them, to the same place there. The
// place of a micro-batch is one message, to the replica that has the
// micro-batch; a place that belongs to no micro-batch goes to each replica of
// the other stage, from one sender each.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_MESSAGES_H
#define HFTA_SRC_SCHEDULE_MESSAGES_H

#include "schedule/exchange.h"

struct hfta_worker;

/// The messages of one command.
typedef struct hfta_stage_messages {
  const hfta_command *command;
  hfta_message *messages;
  size_t exchange_count;
  hfta_exchange *exchanges; ///< one for each of the worker's micro-batches;
                            ///< only one for a command that runs once
} hfta_stage_messages;

/// The messages of all send and receive commands of the worker.
typedef struct hfta_messages {
  hfta_stage_messages *all;
  uint32_t count;
} hfta_messages;

/// Plans the messages, after the worker has its memory and its communicators.
hfta_status hfta_messages_create(struct hfta_worker *worker);
void hfta_messages_destroy(hfta_messages *self);

/// Whether the post is one of these messages.
bool hfta_messages_have(const hfta_messages *self, const hfta_post *post);

/// Gives the device the messages of an HFTA_COMMAND_SEND or _RECEIVE. `place`
/// is the position of the micro-batch among those of the worker; 0 for a
/// command that runs once.
void hfta_messages_give(struct hfta_worker *worker, const hfta_command *command,
                        int64_t place);

#endif // HFTA_SRC_SCHEDULE_MESSAGES_H
