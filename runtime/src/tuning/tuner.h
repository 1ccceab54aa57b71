//===- tuner.h - Trains the trials of a search ------------------*- C -*-===//
//
// The training loop of a job with a search. The copies of the program are
// slots. A cohort is a group of runs that have done equally many steps on the
// same data: they are put into slots, are trained together with the same
// batches, and their states are taken out again. A run's bytes depend on
// nothing but its settings, its fold and its number of steps.
//
// Threads: one call at a time for an instance.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TUNING_TUNER_H
#define HFTA_SRC_TUNING_TUNER_H

#include "hfta/trainer.h"
#include "tuning/study.h"

/// Closes the instance that is open, and opens one of the program of another
/// array of the search, with the same communicator. `*out` becomes NULL after a
/// failure.
typedef hfta_status hfta_open_array(void *argument, int64_t array,
                                    hfta_instance **out, hfta_error *error);

typedef struct hfta_tuner_options {
  /// Folder, data, progress and stops, as for hfta_train. `epochs` is the
  /// length of a trial that goes all the way.
  const hfta_train_options *train;
  /// The programs of the search's arrays, which take turns; they must outlive
  /// the result. NULL: the instance's program is the only one.
  const hfta_program *const *arrays;
  hfta_open_array *open_array; ///< needed if there are several
  void *open_argument;         ///< the argument of open_array
  int64_t trials;              ///< number of trials; 0: the job's
  const char *control; ///< path of a socket for requests, or "-" for the
                       ///< standard streams; NULL: none (control.h, request.h)
} hfta_tuner_options;

typedef struct hfta_tuner_result {
  hfta_study *study; ///< how the search stands; NULL if it couldn't be begun
  bool interrupted;  ///< should_stop returned true
  bool stopped;   ///< it isn't over: for one of these reasons, by a request, or
                  ///< since all trials that are left are paused
  bool saved;     ///< the folder has all that has been trained
  double seconds; ///< time that has been spent computing, over all runs
  int64_t trained_steps; ///< steps that this call has trained, of all trials
  /// The means of loss and metric of the best trial's weights over the test
  /// data; NaN without test data, or if the search isn't over.
  double test_loss, test_metric;
  hfta_error error; ///< after a failure, since the instance may be gone then
} hfta_tuner_result;

/// Trains the trials of a program with a search until it is over, or is to
/// stop. Fills `*result` in any case. `instance` is of the first array; if
/// there are several, another one may be open afterwards. With a folder for
/// checkpoints, the search goes on from what the folder has if the options say
/// so.
hfta_status hfta_tune(hfta_instance *instance,
                      const hfta_tuner_options *options,
                      hfta_tuner_result *result);

/// The findings of a replay.
typedef struct hfta_replay_result {
  int64_t epochs; ///< epochs that were trained
  int64_t
      different_epoch; ///< the first epoch after which the validation loss
                       ///< or metric wasn't the journal's; 0: there was none
  bool has_file;       ///< whether the folder has a state after these epochs
  bool is_equal;       ///< whether that state was equal, byte for byte
  bool interrupted;    ///< should_stop returned true
  hfta_error error;    ///< as in hfta_tuner_result
} hfta_replay_result;

/// Trains one run of a saved search alone: from initial weights, by the lineage
/// of its trial, up to its last evaluation. Compares what comes out with the
/// search's folder, of which nothing is changed.
hfta_status hfta_replay(hfta_instance *instance,
                        const hfta_tuner_options *options, int64_t trial,
                        int64_t fold, hfta_replay_result *result);

/// Frees what a result has.
void hfta_tuner_result_free(hfta_tuner_result *result);

#endif // HFTA_SRC_TUNING_TUNER_H
