//===- train.h - Parts of the command train -----------------------*- C -*-===//

#ifndef HFTA_SRC_COMMAND_LINE_TRAIN_H
#define HFTA_SRC_COMMAND_LINE_TRAIN_H

#include "command_line/jobs.h"
#include "command_line/ranks.h"
#include "fleet/fleet.h"
#include "hfta/trainer.h"

/// The values of the command's options, and what a fleet adds for each job.
typedef struct hfta_train_arguments {
  hfta_train_options options;
  /// For a job that is divided into parts, which train independently at seats:
  /// the copies and the fleet's model of each part. Borrowed.
  const hfta_fleet_training *trainings;
  hfta_fleet_model *const *models;
  int64_t part_count;  ///< the number of parts; 0 or 1 if the job isn't divided
  int64_t trials;      ///< 0: not given
  const char *control; ///< NULL: not given
  int64_t replay;      ///< the trial that is trained alone; -1: not given
  int64_t replay_fold; ///< -1: not given
  int64_t threads;
  int64_t seats;         ///< 0: not given
  const char *scheduler; ///< NULL: not given
  const char *workload;  ///< the file for measured times of steps; NULL: none
  const char *device;
  const char *only;
  hfta_spill_arguments spill;
  hfta_rank_arguments ranks;
  bool no_progress;
  bool *has_printed; ///< whether the results of a job have been printed.
                     ///< Simultaneous jobs access it between
                     ///< hfta_screen_begin_output and hfta_screen_end_output
} hfta_train_arguments;

/// Trains the current job and prints its results. With `options.model` it
/// computes only while it has a seat of the fleet. Returns the exit code.
int hfta_train_job(const hfta_invocation *invocation,
                   const hfta_train_arguments *arguments);

/// Trains all jobs at the same time, at `arguments->seats` seats. A job's
/// failure doesn't stop the others. Returns the exit code of a job that a
/// signal has stopped, if there is one, else that of the first failed job in
/// their order.
int hfta_train_fleet(const hfta_invocation *invocation,
                     const hfta_train_arguments *arguments);

#endif // HFTA_SRC_COMMAND_LINE_TRAIN_H
