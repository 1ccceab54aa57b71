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

/// The thread that reads batches ahead for an instance, and its state.
typedef struct hfta_feeding {
  hfta_instance *instance;
  hfta_feed *feed;
  bool is_locked;    ///< the feed's memory is page-locked, so that copies are
                     ///< fast
  int64_t fed_steps; ///< number of the last step, from 1, whose batch it has
                     ///< given
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
  hfta_folder_lock lock;            ///< on the checkpoints' folder
  hfta_log *log;
  hfta_trace *trace;
  hfta_progress progress;
  hfta_team team;
  int64_t steps_per_epoch;
  int64_t first_step; ///< steps done before this run
  int64_t total_steps;
  int64_t saved_step; ///< step of the last checkpoint, -1: none
  bool can_save;      ///< the instance is between two steps
  hfta_error failure; ///< a failure after which the training runs on to a step
                      ///< that all ranks save; code HFTA_OK: none
  double *losses;     ///< for each step of a window, if the program takes
                      ///< windows
  double *loss_sums;  ///< since the epoch began
  double *rates;
  double *dampings;            ///< a preconditioner's dampings; NULL: none
  hfta_update_report *reports; ///< reports of the last update
  double epoch_begin;
  hfta_error *error;
} hfta_trainer;

/// Checks the options, opens inputs and outputs, and loads the checkpoint from
/// which the training continues. An earlier training's files aren't changed
/// yet.
hfta_status hfta_trainer_prepare(hfta_trainer *self);

/// Allocates memory for updates' reports; false if there isn't enough memory.
bool hfta_trainer_follow_reports(hfta_trainer *self);

/// Gets the dampings of the next step.
void hfta_trainer_take_dampings(hfta_trainer *self);

/// Gets the reports of a step's update. Counts what a preconditioner has
/// skipped, retried or kept, and logs it unless it is nothing.
hfta_status hfta_trainer_take_reports(hfta_trainer *self, int64_t step);

/// Shows the user what the training is about to do.
void hfta_trainer_announce(hfta_trainer *self);

/// Begins the training after all checks: from here on an earlier training's log
/// and checkpoints are removed, unless this one continues from them.
hfta_status hfta_trainer_begin(hfta_trainer *self);

/// Notes that a checkpoint couldn't be removed completely, and continues.
void hfta_trainer_note_leftover(hfta_trainer *self);

/// Starts reading ahead, after step number `first`, unless that is the feed's
/// position already.
hfta_status hfta_trainer_start_feed(hfta_trainer *self, hfta_feeding *feeding,
                                    int64_t first);
void hfta_trainer_stop_feed(hfta_feeding *feeding);

/// Gets the batch of step number `step`, counted from 1; the feed is moved back
/// for it if necessary.
hfta_status hfta_trainer_take_batch(hfta_trainer *self, hfta_feeding *feeding,
                                    int64_t step, const void *const **inputs);

/// Gets the rates and dampings of the next step.
hfta_status hfta_trainer_take_rates(hfta_trainer *self,
                                    hfta_instance *instance);

/// Gets the batch, rates and dampings of step number `step`, and offers the
/// next batch to the instance. Until the step is done nothing can be saved.
hfta_status hfta_trainer_begin_step(hfta_trainer *self, int64_t step,
                                    const void *const **inputs);

/// Whether this rank itself wants to stop.
bool hfta_trainer_should_stop(const hfta_trainer *self);

/// Returns the epoch, counted from 1, of a step.
int64_t hfta_trainer_epoch(const hfta_trainer *self, int64_t step);

/// Returns the number of steps from one line of the log to the next.
int64_t hfta_trainer_log_every(const hfta_trainer *self);

/// Returns the number of steps after step number `step` up to the next one at
/// which something is written or evaluated, if copies run steps turn by turn,
/// or the device gets steps ahead of time; 1: the next step runs alone.
int64_t hfta_trainer_window_steps(const hfta_trainer *self, int64_t step);

/// Runs steps after step number `*step` on a device that gets each while it
/// still runs the previous one; `*step` becomes the last one that is done. They
/// end early if the training is to stop, or steps can't run ahead any more.
/// Sets `can_save`.
hfta_status hfta_trainer_run_ahead(hfta_trainer *self, int64_t steps,
                                   int64_t *step);

/// Adds the losses of step number `step` to their sums since the beginning of
/// the epoch.
void hfta_trainer_add_losses(hfta_trainer *self, int64_t step,
                             const double *losses);

/// Updates sums, log and progress after step number `step`. It can't fail
/// except for a step that is logged.
hfta_status hfta_trainer_finish_step(hfta_trainer *self, int64_t step,
                                     const double *losses);

/// Runs `*steps` steps, which becomes fewer if the training is to stop;
/// `losses` receives each step's losses.
hfta_status hfta_trainer_run_window(hfta_trainer *self, int64_t *steps);

#endif // HFTA_SRC_TRAINING_TRAINER_IMPL_H
