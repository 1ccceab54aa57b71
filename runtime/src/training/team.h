//===- team.h - A training on several ranks ---------------------*- C -*-===//
//
// Every rank goes through the same loop. The first one leads: it alone writes
// the log, the checkpoints and what users see, and reads the checkpoint that a
// training goes on from; so that the others need no folder in common with it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TRAINING_TEAM_H
#define HFTA_SRC_TRAINING_TEAM_H

#include "data/dataset.h"
#include "hfta/trainer.h"
#include "schedule/workload.h"

typedef struct hfta_team {
  hfta_communicator *communicator;
  bool stops; ///< some rank has asked for it before the last step
  hfta_posted *asked;
  int64_t wishes[HFTA_MAX_RANKS];
  uint64_t offsets[HFTA_MAX_RANKS + 1];
} hfta_team;

bool hfta_team_leads(const hfta_team *self);
bool hfta_team_is_alone(const hfta_team *self);

/// HFTA_USAGE, on all ranks, if one has other options than the first: what
/// decides how long to train, when to save, and which copies run.
hfta_status hfta_team_compare(hfta_team *self,
                              const hfta_train_options *options,
                              const hfta_instance *instance,
                              int64_t total_steps, hfta_error *error);

/// HFTA_USAGE, on all ranks, if the data of one hold more or fewer samples than
/// those of the first.
hfta_status hfta_compare_samples(hfta_communicator *communicator,
                                 const hfta_dataset *dataset,
                                 hfta_error *error);

/// Before a step: tells the others whether this rank would stop. After it: what
/// they all know, the same on each. The messages are on their way meanwhile.
hfta_status hfta_team_ask(hfta_team *self, bool wish, hfta_error *error);
/// Returns `status`, that of the step, if it is a failure: the messages have
/// ended all the same.
hfta_status hfta_team_hear(hfta_team *self, hfta_status status,
                           hfta_error *error);

/// Returns when all ranks have come here.
hfta_status hfta_team_meet(hfta_team *self, hfta_error *error);

#endif // HFTA_SRC_TRAINING_TEAM_H
