//===- sums.h - Sums and gathers across ranks in a schedule -------*- C -*-===//
//
// Implements the commands ALL_REDUCE and ALL_GATHER. In an all-reduce, each
// rank adds up one share of the bytes (a reduce-scatter): it receives that
// share of the sums of all groups that it doesn't have, adds up all groups in
// an order that depends only on their number, and sends the result to all other
// ranks (an all-gather). If each rank has one group, it sends and receives as
// many bytes as in a ring all-reduce, but in two rounds. The all-gather
// distributes the values that each micro-batch leaves for running statistics.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_INSTANCE_SUMS_H
#define HFTA_SRC_INSTANCE_SUMS_H

#include "instance/exchange.h"

struct hfta_worker;

/// The messages of one ALL_REDUCE or ALL_GATHER.
typedef struct hfta_sum_messages {
  const hfta_command *command;
  char what[64];          ///< the label's text in messages
  hfta_message *messages; ///< the messages of both exchanges
  hfta_exchange exchange; ///< ALL_REDUCE: exchanges the sums of groups;
                          ///< ALL_GATHER: all of its messages
  hfta_exchange gifts;    ///< ALL_REDUCE: sends and receives the results
} hfta_sum_messages;

/// A worker's ALL_REDUCEs and ALL_GATHERs: one entry for each such command of
/// its schedules for whose segment it has memory; none if there is one rank.
typedef struct hfta_sums {
  hfta_sum_messages *all;
  uint32_t count;
} hfta_sums;

/// Plans the messages, after the worker has its memory and its communicator.
/// HFTA_UNSUPPORTED without enough memory.
hfta_status hfta_sums_create(struct hfta_worker *worker);
void hfta_sums_destroy(hfta_sums *self);

/// Issues the work of an HFTA_COMMAND_ALL_REDUCE: messages and additions;
/// nothing if the worker has no memory for the sums. The first instance gets
/// the sum of all groups, the others become zeros. A segment that isn't
/// resident must have its place in the arena.
void hfta_sums_add_up(struct hfta_worker *worker, const hfta_schedule *schedule,
                      const hfta_command *command);

/// Issues the messages of an HFTA_COMMAND_ALL_GATHER.
void hfta_sums_gather(struct hfta_worker *worker, const hfta_command *command);

/// Issues the work of an HFTA_COMMAND_TAKE_GROUP for these copies: the first
/// instance gets the sums of the group, or zeros if the rank doesn't have the
/// group; the others become zeros.
void hfta_sums_take(struct hfta_worker *worker, const hfta_command *command,
                    const int32_t *copies, int64_t copy_count);

#endif // HFTA_SRC_INSTANCE_SUMS_H
