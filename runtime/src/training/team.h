//===- team.h - A training on several ranks ---------------------*- C -*-===//
//
// Every rank runs the same loop. The first one leads: it alone writes the log,
// the checkpoints and messages to users, and reads the checkpoint that a
// training continues from, so that the others need no access to its folder.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRAINING_TEAM_H
#define HFTA_SRC_TRAINING_TEAM_H

#include "data/dataset.h"
#include "hfta/trainer.h"
#include "schedule/workload.h"

typedef struct hfta_team {
  hfta_communicator *communicator;
  bool stops; ///< a rank has asked to stop before the last step
  hfta_posted *asked;
  int64_t wishes[HFTA_MAX_RANKS];
  uint64_t offsets[HFTA_MAX_RANKS + 1];
} hfta_team;

bool hfta_team_leads(const hfta_team *self);
bool hfta_team_is_alone(const hfta_team *self);

/// Compares the options that decide how long to train, when to save, and which
/// copies run: HFTA_USAGE, on all ranks, if a rank's differ from the first
/// one's.
hfta_status hfta_team_compare(hfta_team *self,
                              const hfta_train_options *options,
                              const hfta_instance *instance,
                              int64_t total_steps, hfta_error *error);

/// Compares the numbers of samples: HFTA_USAGE, on all ranks, if the data of
/// one rank hold more or fewer samples than the first one's.
hfta_status hfta_compare_samples(hfta_communicator *communicator,
                                 const hfta_dataset *dataset,
                                 hfta_error *error);

/// Before a step: sends the others whether this rank wants to stop. After it,
/// hear returns the same answer on all ranks. The messages travel during the
/// step.
hfta_status hfta_team_ask(hfta_team *self, bool wish, hfta_error *error);
/// Receives these messages. Returns `status`, the step's, if it is a failure;
/// the messages have ended all the same.
hfta_status hfta_team_hear(hfta_team *self, hfta_status status,
                           hfta_error *error);

/// Returns when all ranks have called it.
hfta_status hfta_team_meet(hfta_team *self, hfta_error *error);

#endif // HFTA_SRC_TRAINING_TEAM_H
