//===- trainer_impl.h - A training that runs --------------------*- C -*-===//

#ifndef HFTA_SRC_TRAINING_TRAINER_IMPL_H
#define HFTA_SRC_TRAINING_TRAINER_IMPL_H

#include "checkpoint/checkpoint_impl.h"
#include "data/dataset.h"
#include "data/feed.h"
#include "hfta/trainer.h"
#include "trace/trace.h"
#include "training/log.h"
#include "training/progress.h"
#include "training/team.h"

typedef struct hfta_trainer {
  hfta_instance *instance;
  const hfta_program *program;
  const hfta_train_options *options;
  hfta_train_result *result;
  hfta_dataset train;
  hfta_dataset test;
  bool evaluates;
  hfta_feed *feed;
  hfta_folder_lock lock; ///< of the checkpoints' folder
  hfta_log *log;
  hfta_trace *trace;
  hfta_progress progress;
  hfta_team team;
  int64_t steps_per_epoch;
  int64_t first_step; ///< steps done before this run
  int64_t total_steps;
  int64_t saved_step; ///< the last checkpoint's, -1: none
  bool can_save;      ///< the instance stands between two steps
  hfta_error failure; ///< after which the training goes on to a step that all
                      ///< ranks save; code HFTA_OK: none
  double *losses;
  double *loss_sums; ///< since the epoch's begin
  double *rates;
  double *dampings; ///< of a preconditioner; NULL: none
  hfta_curvature *curvatures;
  double epoch_begin;
  hfta_error *error;
} hfta_trainer;

/// Checks the options, opens what is read and written, and loads the checkpoint
/// that the training goes on from. Nothing of an earlier training has been
/// touched yet.
hfta_status hfta_trainer_prepare(hfta_trainer *self);

/// Allocates what a program with a preconditioner needs for its numbers; false
/// if there isn't enough memory.
bool hfta_trainer_follow_curvature(hfta_trainer *self);

/// The dampings of the step that comes.
void hfta_trainer_take_dampings(hfta_trainer *self);

/// Counts what a step has left as it was, and logs it where there is something.
hfta_status hfta_trainer_count_curvature(hfta_trainer *self, int64_t step);

/// Tells the user what is about to be done.
void hfta_trainer_announce(hfta_trainer *self);

/// Everything has been checked: from here on an earlier training's log and
/// checkpoints go, unless this one goes on from them.
hfta_status hfta_trainer_begin(hfta_trainer *self);

/// Goes on after a checkpoint that couldn't be removed whole.
void hfta_trainer_note_leftover(hfta_trainer *self);

/// Starts reading ahead unless that goes on already.
hfta_status hfta_trainer_start_feed(hfta_trainer *self, int64_t first);

#endif // HFTA_SRC_TRAINING_TRAINER_IMPL_H
