//===- train.h - The command train, job by job ------------------*- C -*-===//

#ifndef HFTA_SRC_COMMANDS_TRAIN_H
#define HFTA_SRC_COMMANDS_TRAIN_H

#include "commands/jobs.h"
#include "commands/ranks.h"
#include "fleet/fleet.h"
#include "hfta/trainer.h"

typedef struct hfta_train_arguments {
  hfta_train_options options;
  /// Of a job of several parts, which train at seats each by itself: what each
  /// trains, and as which model; borrowed.
  const hfta_fleet_training *trainings;
  hfta_fleet_model *const *models;
  int64_t part_count; ///< 0 or 1: the job is one
  int64_t threads;
  int64_t seats;         ///< 0: not given
  const char *scheduler; ///< NULL: not given
  const char *workload;  ///< where what steps took goes; NULL: nowhere
  const char *device;
  const char *only;
  hfta_spill_arguments spill;
  hfta_rank_arguments ranks;
  bool no_progress;
  bool *has_printed; ///< results of a job; of several at the same time whoever
                     ///< prints on the invocation's screen may touch it
} hfta_train_arguments;

/// The job at hand, from the beginning to its results; where `options.model` is
/// set, at the seats that this gets. Returns the exit code.
int hfta_train_job(const hfta_invocation *invocation,
                   const hfta_train_arguments *arguments);

/// All jobs at the same time, at `seats` seats. Who fails doesn't keep the
/// others. The exit code is the first failure's in the order of the jobs, or
/// that of the signal which has ended it all.
int hfta_train_fleet(const hfta_invocation *invocation,
                     const hfta_train_arguments *arguments);

#endif // HFTA_SRC_COMMANDS_TRAIN_H
