//===- messages.h - What workers of different stages exchange ---*- C -*-===//
//
// A place of a segment goes from the worker that has written it to those of
// another stage that read it, to the same place there. Of a micro-batch that is
// one message, to the replica that has the micro-batch; what belongs to none
// goes to each replica of the other stage, from one.
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
  hfta_exchange *exchanges; ///< one for each of the worker's micro-batches; of
                            ///< a command that is given once, one
} hfta_stage_messages;

/// Those of all commands that the worker gives.
typedef struct hfta_messages {
  hfta_stage_messages *all;
  uint32_t count;
} hfta_messages;

/// After the worker has its memory and its communicators.
hfta_status hfta_messages_create(struct hfta_worker *worker);
void hfta_messages_destroy(hfta_messages *self);

/// Whether the post is of one of them.
bool hfta_messages_have(const hfta_messages *self, const hfta_post *post);

/// Gives the device the work of an HFTA_COMMAND_SEND or _RECEIVE, for the
/// worker's micro-batch at `place` among its own; 0 where it is given once.
void hfta_messages_give(struct hfta_worker *worker, const hfta_command *command,
                        int64_t place);

#endif // HFTA_SRC_SCHEDULE_MESSAGES_H
