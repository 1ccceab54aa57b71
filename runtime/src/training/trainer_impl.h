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

/// What reads batches ahead for an instance.
typedef struct hfta_feeding {
  hfta_instance *instance;
  hfta_feed *feed;
  bool is_locked;    ///< the device copies fast from the feed's memory
  int64_t fed_steps; ///< up to which step, counted from 1, it has given batches
} hfta_feeding;

struct hfta_trainer_parts;

typedef struct hfta_trainer {
  hfta_instance *instance;
  const hfta_program *program;
  const hfta_train_options *options;
  hfta_train_result *result;
  hfta_dataset train;
  hfta_dataset test;
  bool evaluates;
  hfta_feeding feeding;
  struct hfta_trainer_parts *parts; ///< NULL: the instance has all copies
  hfta_folder_lock lock;            ///< of the checkpoints' folder
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
  double *losses;     ///< of each step of a window, if the program takes these
  double *loss_sums;  ///< since the epoch's begin
  double *rates;
  double *dampings;            ///< of a preconditioner; NULL: none
  hfta_update_report *reports; ///< of the last update
  double epoch_begin;
  hfta_error *error;
} hfta_trainer;

/// Checks the options, opens what is read and written, and loads the checkpoint
/// that the training goes on from. Nothing of an earlier training has been
/// touched yet.
hfta_status hfta_trainer_prepare(hfta_trainer *self);

/// Allocates what updates are to tell; false if there isn't enough memory.
bool hfta_trainer_follow_reports(hfta_trainer *self);

/// The dampings of the step that comes.
void hfta_trainer_take_dampings(hfta_trainer *self);

/// Takes what a step's update tells. Counts what a preconditioner has left as
/// it was, and logs it where there is something.
hfta_status hfta_trainer_take_reports(hfta_trainer *self, int64_t step);

/// Tells the user what is about to be done.
void hfta_trainer_announce(hfta_trainer *self);

/// Everything has been checked: from here on an earlier training's log and
/// checkpoints go, unless this one goes on from them.
hfta_status hfta_trainer_begin(hfta_trainer *self);

/// Goes on after a checkpoint that couldn't be removed whole.
void hfta_trainer_note_leftover(hfta_trainer *self);

/// Starts reading ahead, behind step number `first`, unless that goes on
/// already.
hfta_status hfta_trainer_start_feed(hfta_trainer *self, hfta_feeding *feeding,
                                    int64_t first);
void hfta_trainer_stop_feed(hfta_feeding *feeding);

/// Takes the batch of step number `step`, counted from 1, which the feed goes
/// back to if need be.
hfta_status hfta_trainer_take_batch(hfta_trainer *self, hfta_feeding *feeding,
                                    int64_t step, const void *const **inputs);

/// The rates and dampings of the step that comes.
hfta_status hfta_trainer_take_rates(hfta_trainer *self,
                                    hfta_instance *instance);

/// Takes the batch, rates and dampings of step number `step`, and offers the
/// instance the batch behind it. Until the step is done nothing can be saved.
hfta_status hfta_trainer_begin_step(hfta_trainer *self, int64_t step,
                                    const void *const **inputs);

/// This rank's own wish.
bool hfta_trainer_should_stop(const hfta_trainer *self);

/// The epoch, counted from 1, of a step.
int64_t hfta_trainer_epoch(const hfta_trainer *self, int64_t step);

/// Steps from one line of the log to the next one.
int64_t hfta_trainer_log_every(const hfta_trainer *self);

/// How many steps there are behind step number `step` up to the next one at
/// which something is written or evaluated, if copies go through them turn by
/// turn, or the device is given them ahead of time; 1: the next one is by
/// itself.
int64_t hfta_trainer_window_steps(const hfta_trainer *self, int64_t step);

/// The steps behind step number `*step` on a device that is given each while it
/// is at the one before; `*step` goes on to the last one that is done. They end
/// sooner if the training is to stop, or steps can't run ahead any more. Sets
/// `can_save`.
hfta_status hfta_trainer_run_ahead(hfta_trainer *self, int64_t steps,
                                   int64_t *step);

/// After step number `step`: sums, log and progress. Of steps that aren't the
/// last one up to a line of the log it can't fail.
hfta_status hfta_trainer_finish_step(hfta_trainer *self, int64_t step,
                                     const double *losses);

/// As many steps as are asked for, of which `losses` has each one's; fewer if
/// the training is to stop.
hfta_status hfta_trainer_run_window(hfta_trainer *self, int64_t *steps);

#endif // HFTA_SRC_TRAINING_TRAINER_IMPL_H
