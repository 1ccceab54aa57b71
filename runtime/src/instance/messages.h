//===- messages.h - Messages between workers of different stages --*- C -*-===//
//
// Plans and posts the messages of HFTA_COMMAND_SEND and _RECEIVE: the bytes of
// a place in a segment go from the worker that has written them to the workers
// of another stage that read them, into the same place. A micro-batch's bytes
// are one message, to the replica that has the micro-batch. Bytes that belong
// to no micro-batch go to each replica of the other stage, which receives them
// from one sender.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_INSTANCE_MESSAGES_H
#define HFTA_SRC_INSTANCE_MESSAGES_H

#include "instance/exchange.h"

struct hfta_worker;

/// The messages of one SEND or RECEIVE.
typedef struct hfta_stage_messages {
  const hfta_command *command;
  hfta_message *messages; ///< the messages of all exchanges
  size_t exchange_count;
  /// One for each of the worker's micro-batches, in their order; a single one
  /// for a command that runs once.
  hfta_exchange *exchanges;
} hfta_stage_messages;

/// The messages of all SENDs and RECEIVEs of a worker's schedules.
typedef struct hfta_messages {
  hfta_stage_messages *all;
  uint32_t count;
} hfta_messages;

/// Plans the messages, after the worker has its memory and its communicators.
/// HFTA_UNSUPPORTED without enough memory.
hfta_status hfta_messages_create(struct hfta_worker *worker);
void hfta_messages_destroy(hfta_messages *self);

/// Returns whether `post` is a post of these messages.
bool hfta_messages_have(const hfta_messages *self, const hfta_post *post);

/// Makes the command's queue exchange the messages of an HFTA_COMMAND_SEND or
/// _RECEIVE. `place` is the micro-batch's position among those of the worker; 0
/// for a command that runs once.
void hfta_messages_give(struct hfta_worker *worker, const hfta_command *command,
                        int64_t place);

#endif // HFTA_SRC_INSTANCE_MESSAGES_H
