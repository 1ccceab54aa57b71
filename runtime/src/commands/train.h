//===- train.h - The command train, job by job ------------------*- C -*-===//

#ifndef HFTA_SRC_COMMANDS_TRAIN_H
#define HFTA_SRC_COMMANDS_TRAIN_H

#include "commands/jobs.h"
#include "commands/ranks.h"
#include "fleet/fleet.h"
#include "hfta/trainer.h"

typedef struct hfta_train_arguments {
  hfta_train_options options;
  /// For a job of several parts, which train independently at seats: the copies
  /// and the model of each part; borrowed.
  const hfta_fleet_training *trainings;
  hfta_fleet_model *const *models;
  int64_t part_count; ///< 0 or 1: the job isn't divided
  int64_t threads;
  int64_t seats;         ///< 0: not given
  const char *scheduler; ///< NULL: not given
  const char *workload;  ///< file for the times of steps; NULL: none
  const char *device;
  const char *only;
  hfta_spill_arguments spill;
  hfta_rank_arguments ranks;
  bool no_progress;
  bool *has_printed; ///< whether results of a job were printed. If jobs run at
                     ///< the same time, only the holder of the invocation's
                     ///< screen may use it
} hfta_train_arguments;

/// Trains the current job and prints its results; if `options.model` is set, at
/// the seats that the model gets. Returns the exit code.
int hfta_train_job(const hfta_invocation *invocation,
                   const hfta_train_arguments *arguments);

/// Trains all jobs at the same time, at `seats` seats. A failure doesn't stop
/// the others. The exit code is the first failure's in the order of the jobs,
/// or that of the signal that has stopped them all.
int hfta_train_fleet(const hfta_invocation *invocation,
                     const hfta_train_arguments *arguments);

#endif // HFTA_SRC_COMMANDS_TRAIN_H
