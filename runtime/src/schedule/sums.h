//===- sums.h - Sums and gathers across ranks in a schedule -------*- C -*-===//
//
// Implements an all-reduce: each rank adds its share of the blocks of a
// command's bytes. It receives all groups' sums that it doesn't have, adds them
// in an order that depends only on the number of groups, and sends the result
// to all others. Each rank sends and receives as much as in a ring all-reduce,
// but in two steps. The values that each micro-batch leaves for running
// statistics are simply gathered by all.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_SUMS_H
#define HFTA_SRC_SCHEDULE_SUMS_H

#include "schedule/exchange.h"

struct hfta_worker;

/// The messages of one command.
typedef struct hfta_sum_messages {
  const hfta_command *command;
  char what[64];
  hfta_message *messages;
  hfta_exchange exchange; ///< exchanges the groups' sums, or gathers
  hfta_exchange gifts;    ///< sends the results of the addition
} hfta_sum_messages;

/// The messages of each all-reduce and all-gather in the schedules for which
/// the worker has memory; none if there is one rank.
typedef struct hfta_sums {
  hfta_sum_messages *all;
  uint32_t count;
} hfta_sums;

/// Plans the messages, after the worker has its memory and its communicator.
hfta_status hfta_sums_create(struct hfta_worker *worker);
void hfta_sums_destroy(hfta_sums *self);

/// Returns the most bytes of one group's sums that a rank receives in a
/// command.
uint64_t hfta_sums_received_bytes(const hfta_program *program,
                                  const hfta_schedule *schedule,
                                  const hfta_command *command, int ranks);

/// Gives the device the work of an HFTA_COMMAND_ALL_REDUCE; nothing if the
/// worker has no memory for the sums. A segment that isn't resident must have
/// its place.
void hfta_sums_add_up(struct hfta_worker *worker, const hfta_schedule *schedule,
                      const hfta_command *command);

/// Gives the device the work of an HFTA_COMMAND_ALL_GATHER.
void hfta_sums_gather(struct hfta_worker *worker, const hfta_command *command);

/// Gives the device the work of an HFTA_COMMAND_TAKE_GROUP, for these copies.
void hfta_sums_take(struct hfta_worker *worker, const hfta_command *command,
                    const int32_t *copies, int64_t copy_count);

#endif // HFTA_SRC_SCHEDULE_SUMS_H
