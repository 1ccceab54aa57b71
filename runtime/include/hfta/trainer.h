//===- trainer.h - The training loop ----------------------------*- C -*-===//
//
// Data, shuffling, schedules, evaluation, log, progress and checkpoints around
// an instance: the implementation of a training binary's command `train`, for
// other programs too.
//
// Threads: one call at a time per instance; the call starts a thread that reads
// data ahead, and joins it. It prints progress to standard error if asked to,
// and nothing else. A copy whose loss isn't finite goes on and affects no other
// copy.
//===----------------------------------------------------------------------===//

#ifndef HFTA_TRAINER_H
#define HFTA_TRAINER_H

#include "hfta/instance.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HFTA_DEFAULT_LOG_EVERY 50
#define HFTA_DEFAULT_TRACE_STEPS 5

/// An instance for some of a program's copies, which is trained together with
/// other instances of the program.
typedef struct hfta_train_part {
  hfta_instance *instance;
  struct hfta_fleet_model *model;
} hfta_train_part;

/// Options of hfta_train; all zero means the defaults. Strings are borrowed
/// during the call.
typedef struct hfta_train_options {
  const char *data_root;  ///< folder of relative data paths; NULL: the current
                          ///< folder
  int64_t epochs;         ///< total, resumed ones included; 0: not given
  int64_t steps;          ///< total, resumed ones included; 0: not given
  const char *log_path;   ///< NULL: no log
  int64_t log_every;      ///< steps; 0: HFTA_DEFAULT_LOG_EVERY
  const char *checkpoint; ///< folder; NULL: no checkpoints
  int64_t every;          ///< steps between checkpoints; 0: only one, at the
                          ///< end
  int64_t keep;           ///< number of newest checkpoints to keep; 0: all
  bool resume;            ///< go on from the folder's newest checkpoint
  bool overwrite;         ///< remove the folder's checkpoints before the first
                          ///< step; without `resume` or `overwrite` there may
                          ///< be none
  const char *trace_path; ///< NULL: no trace
  int64_t trace_steps;    ///< number of this run's first steps to trace; 0:
                          ///< HFTA_DEFAULT_TRACE_STEPS
  const char *job; ///< the job's name, in each event of the log; NULL: none.
                   ///< When a log is resumed, other jobs' lines stay
  struct hfta_log_file *log_file; ///< the open log of `log_path`, borrowed, to
                                  ///< which other trainings write as well;
                                  ///< NULL: it is opened for this training
                                  ///< alone
  struct hfta_fleet_model *model; ///< shared by several trainings that take
                                  ///< turns at seats; NULL: this training runs
                                  ///< alone
  /// Instances that are trained together; the first one represents all of them
  /// (schedule/parts.h). Each runs several steps independently, with a thread
  /// and a seat of its own; between these runs all are at the same step.
  /// Borrowed; NULL: the instance has all copies.
  const hfta_train_part *parts;
  int64_t part_count;
  bool progress;
  /// The display on which simultaneous trainings of one process show their
  /// progress together; `screen_block` is this training's place on it.
  /// Borrowed; NULL: only this training uses standard error.
  struct hfta_screen *screen;
  int64_t screen_block;
  /// Called after every step and during evaluation; true stops the training
  /// early. NULL: it is never stopped.
  bool (*should_stop)(void *argument);
  void *should_stop_argument;
} hfta_train_options;

/// The result of a training. Arrays have one value per copy and belong to the
/// result, until hfta_train_result_free.
typedef struct hfta_train_result {
  bool interrupted;     ///< should_stop returned true
  bool saved;           ///< the checkpoint folder holds step `steps`
  int64_t steps;        ///< total number of steps done
  double *train_losses; ///< mean over the last epoch
  double *eval_losses;  ///< NULL: not evaluated
  double *eval_metrics; ///< NULL: no metric
  /// Statistics that weren't finite and were skipped, over all steps of this
  /// run; NULL: no preconditioner.
  double *skipped_statistics;
  double *retried_inverses;
  double *kept_inverses;
} hfta_train_result;

/// Trains a new instance to the end that the options, or else the program, set.
/// Fills `*result` in any case. Until it returns, no other training and no
/// hfta_instance_save may use the checkpoint folder, and no other training the
/// log: they fail with HFTA_INVALID_INPUT. If the data change or the log can't
/// be written, it saves a checkpoint and then fails.
hfta_status hfta_train(hfta_instance *instance,
                       const hfta_train_options *options,
                       hfta_train_result *result);

void hfta_train_result_free(hfta_train_result *result);

/// Computes the loss and metric of each copy over all of the test data; either
/// may be NULL.
hfta_status hfta_evaluate_all(hfta_instance *instance, const char *data_root,
                              double *losses, double *metrics);

#ifdef __cplusplus
}
#endif

#endif // HFTA_TRAINER_H
