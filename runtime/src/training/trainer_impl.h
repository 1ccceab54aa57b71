//===- trainer_impl.h - The state of a running training -----------*- C -*-===//

#ifndef HFTA_SRC_TRAINING_TRAINER_IMPL_H
#define HFTA_SRC_TRAINING_TRAINER_IMPL_H

#include "checkpoint/averages.h"
#include "checkpoint/checkpoint_impl.h"
#include "data/division.h"
#include "data/feed.h"
#include "hfta/trainer.h"
#include "progress/progress.h"
#include "trace/trace.h"
#include "training/log.h"
#include "training/plateaus.h"
#include "training/standings.h"
#include "training/team.h"

/// A thread that reads batches ahead for an instance.
typedef struct hfta_feeding {
  hfta_instance *instance;
  hfta_feed *feed;
  bool is_locked; ///< whether the feed's memory is page-locked (pinned), which
                  ///< makes copies to a device fast
  int64_t fed_steps; ///< number of the step whose batch was taken last, counted
                     ///< from 1
} hfta_feeding;

struct hfta_trainer_parts;

typedef struct hfta_trainer {
  hfta_instance *instance;
  const hfta_program *program;
  const hfta_train_options *options;
  hfta_train_result *result;
  hfta_training_data data;
  hfta_dataset test;
  bool tests;     ///< whether `test` is evaluated
  bool validates; ///< whether `data.validation` is evaluated
  hfta_feeding feeding;
  struct hfta_trainer_parts *parts; ///< instances that train together; NULL:
                                    ///< `instance` has all copies
  hfta_folder_lock lock;            ///< lock of the checkpoints' folder
  hfta_log *log;
  hfta_trace *trace; ///< NULL: nothing is traced
  hfta_progress progress;
  hfta_team team;
  int64_t steps_per_epoch;
  int64_t first_step;  ///< steps done before this run
  int64_t total_steps; ///< steps at the end of the training
  int64_t saved_step;  ///< step of the last checkpoint; -1: none
  bool can_save; ///< whether the instance is between two steps, so that it can
                 ///< be saved
  hfta_error failure; ///< a postponed failure: the training runs on until a
                      ///< step at which all ranks save; code HFTA_OK: none
  double *losses; ///< one per copy, for one step or for each step of a window
  hfta_epoch_losses *epoch_losses; ///< one per copy
  double *rates; ///< the learning rates of the next or last step, one per copy
  /// The numbers of the next or last step that follow schedules: for each of
  /// hfta_program.scheduled_numbers, one per copy.
  double *scheduled;
  hfta_update_report *reports; ///< the reports of the last update, one per copy
  double *terms; ///< terms of the loss in the last step: for each term one
                 ///< number per copy
  hfta_standings standings; ///< open if `follows`
  hfta_plateaus plateaus;
  bool follows;           ///< whether there is patience, a limit of minutes,
                          ///< `keeps_best`, or a schedule `plateau`
  bool keeps_best;        ///< whether each copy's best weights are kept
  hfta_best_weights best; ///< open if `keeps_best`
  hfta_averages averages; ///< open if the program has averages of either kind
  bool *chosen;           ///< the copies that this run trains
  bool *runs;     ///< those of them that train in the present epoch, as their
                  ///< patience hasn't ended
  double minutes; ///< limit of the time spent computing; 0: none
  double clock;   ///< time (hfta_now) from which this run's time counts
  double epoch_begin; ///< time (hfta_now) at which the epoch or this run began
  hfta_error *error;  ///< the instance's error
} hfta_trainer;

/// Checks the options, opens inputs and outputs, and loads the checkpoint from
/// which the training continues. Doesn't change files of an earlier training
/// yet.
hfta_status hfta_trainer_prepare(hfta_trainer *self);

/// Returns whether the job has a preconditioner, whose updates leave reports.
bool hfta_trainer_preconditions(const hfta_trainer *self);

/// Allocates the arrays for scheduled numbers and reports. Returns false if
/// there isn't enough memory.
bool hfta_trainer_follow_reports(hfta_trainer *self);

/// Sets `scheduled` to the numbers of the instance's next step.
void hfta_trainer_take_scheduled(hfta_trainer *self,
                                 const hfta_instance *instance);

/// Sets `reports` to those of step number `step`. Adds up how often a
/// preconditioner has skipped, retried or kept something, and logs it if it
/// has.
hfta_status hfta_trainer_take_reports(hfta_trainer *self, int64_t step);

/// Shows the user what the training is about to do, and warnings about its
/// data.
void hfta_trainer_announce(hfta_trainer *self);

/// Begins the training, after all checks. Removes an earlier training's log
/// lines and checkpoints, unless this training continues from them.
hfta_status hfta_trainer_begin(hfta_trainer *self);

/// Shows a note that a checkpoint couldn't be removed completely. The training
/// continues.
void hfta_trainer_note_leftover(hfta_trainer *self);

/// Starts the thread that reads batches, unless it is running. The first batch
/// is that of the step after step number `first`.
hfta_status hfta_trainer_start_feed(hfta_trainer *self, hfta_feeding *feeding,
                                    int64_t first);
/// Stops the thread that reads batches, if it is running.
void hfta_trainer_stop_feed(hfta_feeding *feeding);

/// Gets the batch of step number `step`, counted from 1: one pointer per data
/// field. If the feed is at another step, it is restarted.
hfta_status hfta_trainer_take_batch(hfta_trainer *self, hfta_feeding *feeding,
                                    int64_t step, const void *const **inputs);

/// Sets `rates` and `scheduled` to those of the instance's next step.
hfta_status hfta_trainer_take_rates(hfta_trainer *self,
                                    hfta_instance *instance);

/// Gets the batch and scheduled numbers of step number `step`, and offers the
/// next batch to the instance. Sets `can_save` to false, since nothing can be
/// saved until the step is done.
hfta_status hfta_trainer_begin_step(hfta_trainer *self, int64_t step,
                                    const void *const **inputs);

/// Returns whether the caller has asked for the training to stop.
bool hfta_trainer_is_asked_to_stop(const hfta_trainer *self);

/// Returns whether this rank wants to stop: its caller has asked for it, the
/// limit of minutes is reached, or a failure was postponed.
bool hfta_trainer_should_stop(const hfta_trainer *self);

/// Returns whether the limit of minutes is reached.
bool hfta_trainer_is_out_of_time(const hfta_trainer *self);

/// Returns whether nothing is left to train after step number `step`: it is the
/// last one, or the patience of all copies has ended.
bool hfta_trainer_is_complete(const hfta_trainer *self, int64_t step);

/// Checks that patience, a limit of minutes and `keep best` are possible, and
/// allocates what they need.
hfta_status hfta_trainer_open_standings(hfta_trainer *self);

/// Sets `runs` to the copies whose patience hasn't ended before step number
/// `step`.
void hfta_trainer_find_runs(hfta_trainer *self, int64_t step);

/// Does so, and lets these copies run. If there are none, the instance's copies
/// stay as they are.
hfta_status hfta_trainer_choose_running(hfta_trainer *self, int64_t step);

/// Lets all copies run that this run trains, as for evaluations at its end.
hfta_status hfta_trainer_choose_all(hfta_trainer *self);

/// Returns whether an evaluation of the validation data is due after a step, by
/// the number of its epoch.
bool hfta_trainer_is_due(const hfta_trainer *self, int64_t step);

/// Writes the standings into a checkpoint (hfta_checkpoint_addition).
hfta_status hfta_trainer_save_standings(void *argument, const char *folder,
                                        hfta_error *error);

/// Notes the scores of an evaluation of the validation data after step number
/// `step`, which ends copies' patience. Keeps the weights of copies whose
/// scores are their best ones.
hfta_status hfta_trainer_note_scores(hfta_trainer *self, int64_t step);

/// Allocates room for best weights if the job keeps them.
hfta_status hfta_trainer_open_best(hfta_trainer *self);

/// Checks that the best weights of the checkpoint that was loaded are those
/// that its standings tell of.
hfta_status hfta_trainer_check_best(hfta_trainer *self);

/// Calls `evaluate` while the instance has each copy's best weights, if it has
/// any; then the instance gets those of its last step back. Sets
/// `result->best_steps`.
hfta_status hfta_trainer_with_best(hfta_trainer *self,
                                   hfta_status (*evaluate)(hfta_trainer *self,
                                                           bool *stopped),
                                   bool *stopped);

/// Tells the user of which steps the weights are that have been tested.
void hfta_trainer_announce_best(hfta_trainer *self);

/// Handles the status of writing to the log. If the log is a pipe without a
/// reader, the training stops as for the signal SIGPIPE, unless that is
/// ignored. If other ranks are needed to save, they are asked to stop, and the
/// failure is postponed until the checkpoint is saved.
hfta_status hfta_trainer_after_logging(hfta_trainer *self, hfta_status status);

/// Returns the epoch, counted from 1, of step number `step`.
int64_t hfta_trainer_epoch(const hfta_trainer *self, int64_t step);

/// Returns the number of steps between two lines of the log.
int64_t hfta_trainer_log_every(const hfta_trainer *self);

/// Returns how many steps to run together after step number `step`. This is
/// more than 1 only if copies run several steps turn by turn, or the device
/// gets steps ahead of time. The steps end at the next one after which
/// something is logged, saved or evaluated.
int64_t hfta_trainer_window_steps(const hfta_trainer *self, int64_t step);

/// Runs up to `steps` steps after step number `*step`, on a device that is
/// given each step while it runs the previous one. `*step` becomes the number
/// of the last step done. Ends early if the training is to stop or steps can't
/// run ahead any more. Sets `can_save`.
hfta_status hfta_trainer_run_ahead(hfta_trainer *self, int64_t steps,
                                   int64_t *step);

/// Adds the losses of step number `step`, one per copy, to the sums of its
/// epoch.
void hfta_trainer_add_losses(hfta_trainer *self, int64_t step,
                             const double *losses);

/// Updates sums, log and progress after step number `step`. Fails only if
/// writing to the log fails.
hfta_status hfta_trainer_finish_step(hfta_trainer *self, int64_t step,
                                     const double *losses);

/// Computes the mean of each copy's losses since the beginning of the epoch.
void hfta_trainer_find_train_losses(hfta_trainer *self);

/// Evaluates what is due, writes the epoch event if `log`, and shows progress,
/// after step number `step`, the last one of an epoch or of the training.
hfta_status hfta_trainer_finish_epoch(hfta_trainer *self, int64_t step,
                                      bool log);

/// Evaluates after the last step of an earlier run, if that run was interrupted
/// before it logged the evaluation, or if the training is already complete, so
/// that its results are returned.
hfta_status hfta_trainer_finish_earlier_epoch(hfta_trainer *self);

/// Runs `*steps` steps turn by turn; `*steps` becomes the number of steps done,
/// which is lower if the training is to stop. `self->losses` receives the
/// losses of each step.
hfta_status hfta_trainer_run_window(hfta_trainer *self, int64_t *steps);

#endif // HFTA_SRC_TRAINING_TRAINER_IMPL_H
