//===- team.h - A training on several ranks ---------------------*- C -*-===//
//
// The ranks of a training. All ranks run the same loop. The first rank leads:
// only it writes the log, checkpoints and messages to users, and reads the
// checkpoint that a training continues from. So the other ranks need no access
// to the checkpoint's folder.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRAINING_TEAM_H
#define HFTA_SRC_TRAINING_TEAM_H

#include "data/dataset.h"
#include "hfta/trainer.h"
#include "workload/workload.h"

typedef struct hfta_team {
  hfta_communicator *communicator;
  bool stops; ///< whether any rank has asked to stop before the last step
  hfta_posted *asked;             ///< the messages of hfta_team_ask, in flight
  int64_t wishes[HFTA_MAX_RANKS]; ///< for each rank, whether it wants to stop
  uint64_t offsets[HFTA_MAX_RANKS + 1]; ///< for each rank, the offset of its
                                        ///< wish in bytes
} hfta_team;

/// Returns whether this rank is the first one.
bool hfta_team_leads(const hfta_team *self);
/// Returns whether there is only one rank.
bool hfta_team_is_alone(const hfta_team *self);

/// Compares the options that decide how long to train, when to save, and which
/// copies run. Fails with HFTA_USAGE, on all ranks, if those of some rank
/// differ from the first rank's.
hfta_status hfta_team_compare(hfta_team *self,
                              const hfta_train_options *options,
                              const hfta_instance *instance,
                              int64_t total_steps, hfta_error *error);

/// Compares the numbers of samples. Fails with HFTA_USAGE, on all ranks, if the
/// data of some rank have more or fewer samples than the first rank's.
hfta_status hfta_compare_samples(hfta_communicator *communicator,
                                 const hfta_dataset *dataset,
                                 hfta_error *error);

/// Begins, before a step, to tell all ranks whether this rank wants to stop.
/// The messages are in flight during the step; each call must be followed by
/// one of hfta_team_hear.
hfta_status hfta_team_ask(hfta_team *self, bool wish, hfta_error *error);
/// Waits, after the step, for the messages of hfta_team_ask, and sets `stops`
/// to the same value on all ranks. `status` is that of the step. Returns
/// `status` if it is a failure, else the status of the messages.
hfta_status hfta_team_hear(hfta_team *self, hfta_status status,
                           hfta_error *error);

/// A barrier: returns when all ranks have called it.
hfta_status hfta_team_meet(hfta_team *self, hfta_error *error);

#endif // HFTA_SRC_TRAINING_TEAM_H
