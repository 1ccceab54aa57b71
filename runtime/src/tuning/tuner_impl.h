//===- tuner_impl.h - The state of a running search -------------*- C -*-===//

#ifndef HFTA_SRC_TUNING_TUNER_IMPL_H
#define HFTA_SRC_TUNING_TUNER_IMPL_H

#include "checkpoint/averages.h"
#include "data/division.h"
#include "data/feed.h"
#include "instance/instance_impl.h"
#include "interchange/search_board.h"
#include "progress/progress.h"
#include "system/lock.h"
#include "training/log_file.h"
#include "training/team.h"
#include "tuning/control.h"
#include "tuning/tuner.h"

/// Runs that are trained together. Run number i is in slot i.
typedef struct hfta_cohort {
  int64_t *runs;
  int64_t count;
  int64_t steps; ///< steps that they have done
  int64_t fold;
  int64_t array; ///< the array in whose slots they are
  bool *leaves;  ///< which runs have left it
  int64_t left;  ///< how many
} hfta_cohort;

typedef struct hfta_tuner {
  /// The programs of the search's arrays, and which of them has the turn, with
  /// its instance and its program.
  const hfta_program *const *arrays;
  int64_t array;
  hfta_instance *instance;
  const hfta_program *program;
  const hfta_program *only; ///< `arrays` points to it if there is one array
  const hfta_tuner_options *options;
  hfta_tuner_result *result;
  hfta_study *study;
  hfta_journal *journal;
  const char *folder; ///< NULL: nothing is saved
  hfta_folder_lock lock;
  hfta_training_data data; ///< divided for `fold`
  int64_t fold;
  hfta_dataset test;
  bool has_test;
  hfta_averages averages; ///< open if optimizers average weights
  hfta_team team;
  hfta_progress progress;
  hfta_feed *feed;
  hfta_cohort cohort;
  hfta_epoch_losses *epoch_losses; ///< one per slot
  double *losses, *metrics;        ///< scratch memory, one per slot and metric
  int32_t *numbers;                ///< scratch memory, one per slot
  hfta_evaluated *evaluated;       ///< scratch memory, one per slot
  double begin;                    ///< time (hfta_now) at which this call began
  double seconds;                  ///< time spent before this call
  double most_seconds;             ///< 0: no limit
  bool stops;            ///< whether the search is to stop before its end
  hfta_control *control; ///< NULL: no client can send requests to this rank
  bool is_controlled;    ///< whether clients can, to the first rank
  bool is_held_open;     ///< whether the search waits for requests at its end
  struct hfta_log_file *log; ///< NULL: there is no log
  hfta_search_board *board;  ///< NULL: there are no files for TensorBoard
  size_t published; ///< bytes of the journal's new lines that clients have got
  int64_t steps_per_epoch[HFTA_MOST_ARRAYS]; ///< each array's, by the data
  hfta_error *error;                         ///< the instance's, or `own_error`
  hfta_error own_error;                      ///< why no instance is open
} hfta_tuner;

/// Makes the tuner of an open instance of the first array.
void hfta_tuner_init(hfta_tuner *self, hfta_instance *instance,
                     const hfta_tuner_options *options,
                     hfta_tuner_result *result);

/// Checks options, allocates memory, and opens the data.
hfta_status hfta_tuner_begin(hfta_tuner *self);

/// Opens the data for the program that has the turn.
hfta_status hfta_tuner_open_data(hfta_tuner *self);
void hfta_tuner_close_data(hfta_tuner *self);

/// Evaluates a data set into `losses` and `metrics`: the averages of weights,
/// where optimizers keep them. With `can_stop`, the user may stop it.
hfta_status hfta_tuner_evaluate(hfta_tuner *self, const hfta_dataset *dataset,
                                bool can_stop, bool *stopped);

/// Gives an array the turn: closes instance and data of the one that had it.
hfta_status hfta_tuner_use_array(hfta_tuner *self, int64_t array);
/// Opens data, folder and journal, and begins the study.
hfta_status hfta_tuner_prepare(hfta_tuner *self);
/// Releases what hfta_tuner_prepare has opened, also after a failure.
void hfta_tuner_close(hfta_tuner *self);

/// Divides the data for a fold, unless they are.
hfta_status hfta_tuner_divide(hfta_tuner *self, int64_t fold);

/// Returns the steps per epoch of the cohort's runs.
int64_t hfta_tuner_steps_per_epoch(const hfta_tuner *self);

/// Returns the time spent computing so far, in seconds.
double hfta_tuner_seconds(const hfta_tuner *self);

/// Reads the time that earlier runs have spent from the folder; 0 if it isn't
/// there.
void hfta_tuner_read_seconds(hfta_tuner *self);
/// Removes that time from the folder.
void hfta_tuner_forget_seconds(hfta_tuner *self);

/// Writes the time spent to the folder, if there is one.
hfta_status hfta_tuner_save_seconds(hfta_tuner *self);

/// Chooses the next runs that are trained together: the first one that waits,
/// and those that have done as many steps on the same data. Returns false if
/// none waits.
bool hfta_tuner_choose(hfta_tuner *self);

/// Trains the cohort until all its runs have left it, or the search is to stop.
hfta_status hfta_tuner_train_cohort(hfta_tuner *self);

/// Trains the cohort until `end` steps are done, or the search is to stop.
hfta_status hfta_tuner_run_steps(hfta_tuner *self, int64_t end);

/// Takes a slot's present state into memory, as that of its run.
hfta_status hfta_tuner_hold(hfta_tuner *self, int64_t slot);

/// Takes the states that the runs of a trial have in slots into memory.
hfta_status hfta_tuner_hold_trial(hfta_tuner *self, int64_t trial);

/// Gives a slot the settings `values`, one for each of the search's space.
hfta_status hfta_tuner_set_values(hfta_tuner *self, int64_t slot,
                                  const double *values);

/// Returns the step of the file that has a run's best state; -1 if the job
/// keeps none, or there is none yet.
int64_t hfta_tuner_best_file(const hfta_tuner *self, int64_t run);

/// Puts a run's state after `steps` steps into a slot.
hfta_status hfta_tuner_place(hfta_tuner *self, int64_t run, int64_t slot,
                             int64_t steps);

/// Returns the largest number of steps from which a run can go on.
int64_t hfta_tuner_begin_of(const hfta_tuner *self, int64_t run);

/// Puts the weights that a run is judged by, its best or last ones, into a
/// slot, with its trial's settings.
hfta_status hfta_tuner_place_judged(hfta_tuner *self, int64_t run,
                                    int64_t slot);

#endif // HFTA_SRC_TUNING_TUNER_IMPL_H
