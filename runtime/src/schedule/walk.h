//===- walk.h - The host's position in a schedule -----------------*- C -*-===//

#ifndef HFTA_SRC_SCHEDULE_WALK_H
#define HFTA_SRC_SCHEDULE_WALK_H

#include "instance/instance_impl.h"
#include "schedule/run.h"

/// The position of the host in a schedule, whose commands it issues one by one.
typedef struct hfta_walk {
  hfta_worker *worker;
  const hfta_schedule_call *call;
  const hfta_schedule *schedule;
  int64_t turn; ///< copies per turn where the schedule leaves the number to the
                ///< host
  uint64_t turn_copies;  ///< copies per turn if the schedule gives the number
                         ///< and a turn is current; else 0
  int64_t micro_batches; ///< number of the worker's micro-batches in the call
  int64_t micro_batch; ///< index of the current micro-batch among the worker's
  int64_t number;      ///< number of the current micro-batch in the step
  bool is_repeated;    ///< whether a micro-batch is current
  /// Whether the current micro-batch is one of the worker's own.
  bool has_place;
  const int32_t *copies; ///< copies of the current turn, or those that an EVERY
                         ///< has chosen from them
  const int32_t *slabs;  ///< positions of the chosen copies in the turn; NULL:
                         ///< none were chosen
  int64_t copy_count;
  int64_t first; ///< position of the first of `copies` among the live ones,
                 ///< unless an EVERY has chosen them
  int64_t begin; ///< the value of `first` at the beginning of the call
} hfta_walk;

// Each issues commands of one kind at the host's position: hfta_issue_run,
// hfta_issue_transfer and so on, one for each record of hfta/commands.h.
#define HFTA_COMMAND(identifier, word, number, flags, queue, ...)              \
  void hfta_issue_##word(const hfta_walk *self, const hfta_command *command);
HFTA_COMMANDS
#undef HFTA_COMMAND

#endif // HFTA_SRC_SCHEDULE_WALK_H
