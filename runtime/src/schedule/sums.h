//===- sums.h - What ranks exchange within a schedule -----------*- C -*-===//
//
// Each rank adds up its share of the blocks of a command's bytes: it receives
// the sums of all groups that it doesn't have, adds in the order that the
// number of groups decides, and sends what it gets to all others. That is as
// much as a ring of ranks sends and receives, in two steps. What each
// micro-batch leaves for running statistics simply goes to all.
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
  hfta_exchange exchange; ///< of the groups' sums, or of what is gathered
  hfta_exchange gifts;    ///< of what was added up
} hfta_sum_messages;

/// One for each command that all ranks of a stage give together, of the
/// schedules for which the worker has memory; none where there is one rank.
typedef struct hfta_sums {
  hfta_sum_messages *all;
  uint32_t count;
} hfta_sums;

/// After the worker has its memory and its communicator.
hfta_status hfta_sums_create(struct hfta_worker *worker);
void hfta_sums_destroy(hfta_sums *self);

/// Bytes of one group's sums that a rank receives at most by a command.
uint64_t hfta_sums_received_bytes(const hfta_program *program,
                                  const hfta_schedule *schedule,
                                  const hfta_command *command, int ranks);

/// Gives the device the work of an HFTA_COMMAND_ALL_REDUCE. Nothing if the
/// worker has no memory for the sums. What isn't resident has its place.
void hfta_sums_add_up(struct hfta_worker *worker, const hfta_schedule *schedule,
                      const hfta_command *command);

/// The same of an HFTA_COMMAND_ALL_GATHER.
void hfta_sums_gather(struct hfta_worker *worker, const hfta_command *command);

/// The same of an HFTA_COMMAND_TAKE_GROUP, for these copies.
void hfta_sums_take(struct hfta_worker *worker, const hfta_command *command,
                    const int32_t *copies, int64_t copy_count);

#endif // HFTA_SRC_SCHEDULE_SUMS_H
