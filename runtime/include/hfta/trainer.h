//===- trainer.h - The training loop ----------------------------*- C -*-===//
//
// The training loop around an instance: data, shuffling, schedules, evaluation,
// log, progress and checkpoints. It implements the command `train` of training
// binaries; other programs may call it too.
//
// Threads: one call at a time per instance. The call starts a thread that reads
// data ahead, and joins it. If asked to, it prints progress to standard error;
// it prints nothing else. A copy whose loss isn't finite goes on, and affects
// no other copy.
//===----------------------------------------------------------------------===//

#ifndef HFTA_TRAINER_H
#define HFTA_TRAINER_H

#include "hfta/instance.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The default number of steps between entries of the log.
#define HFTA_DEFAULT_LOG_EVERY 50

/// A part: an instance for some of a program's copies, which is trained
/// together with the instances for the other copies.
typedef struct hfta_train_part {
  hfta_instance *instance;
  struct hfta_fleet_model *model;
} hfta_train_part;

/// Options of hfta_train; all zero means the defaults. Strings are borrowed
/// during the call.
typedef struct hfta_train_options {
  const char *data_root; ///< folder of relative data paths; NULL: the current
                         ///< folder
  /// Total number of epochs, those before a resume included; 0: not given.
  int64_t epochs;
  int64_t steps; ///< total number of steps, those before a resume included; 0:
                 ///< not given
  /// The most minutes that are spent computing, those before a resume included;
  /// 0: the program's limit, if it has one.
  int64_t minutes;
  const char *log_path; ///< path of the log; NULL: no log
  int64_t log_every;    ///< steps between entries of the log; 0:
                        ///< HFTA_DEFAULT_LOG_EVERY
  /// Folder of files for TensorBoard, which is created; NULL: none are written.
  const char *tensorboard;
  const char *checkpoint; ///< folder of the checkpoints; NULL: none are saved
  /// Number of steps between checkpoints; 0: only one, at the end.
  int64_t every;
  int64_t keep;   ///< number of newest checkpoints to keep; 0: all
  bool resume;    ///< go on from the folder's newest checkpoint
  bool overwrite; ///< remove the folder's checkpoints before the first step;
                  ///< without `resume` or `overwrite` the folder must have none
  /// Path of a trace of the first steps; NULL: no trace.
  const char *trace_path;
  int64_t trace_steps; ///< number of this run's first steps to trace; 0: 5
  /// The job's name, for each event in the log; NULL: none. When the training
  /// is resumed, other jobs' lines stay in the log.
  const char *job;
  /// The log of `log_path`, already open, which several trainings write;
  /// borrowed; NULL: this training opens the log for itself.
  struct hfta_log_file *log_file;
  /// State shared by the trainings that take turns at seats; NULL: this
  /// training runs alone.
  struct hfta_fleet_model *model;
  /// The instances that are trained together; the first one represents all of
  /// them (instance/parts.h). Each runs several steps on its own, with its own
  /// thread and seat; then all are at the same step again. Borrowed; NULL: the
  /// instance has all copies.
  const hfta_train_part *parts;
  int64_t part_count;
  bool progress; ///< whether to print progress to standard error
  /// The display on which simultaneous trainings of one process show their
  /// progress together; `screen_block` is the number of this training's place
  /// on it. Borrowed; NULL: no other training uses standard error.
  struct hfta_screen *screen;
  int64_t screen_block;
  /// A function that is called after every step and during evaluation; if it
  /// returns true, the training stops early. NULL: it is never stopped.
  bool (*should_stop)(void *argument);
  void *should_stop_argument;
} hfta_train_options;

/// The result of a training. Its arrays have one value per copy and are freed
/// by hfta_train_result_free.
typedef struct hfta_train_result {
  bool interrupted; ///< should_stop returned true
  bool out_of_time; ///< the limit of minutes was reached before the last step
  double minutes;   ///< this limit; 0: none
  bool saved;       ///< the checkpoint folder has a checkpoint of step `steps`
  int64_t steps;    ///< total number of steps done
  double *train_losses; ///< mean losses over the last epoch
  /// Mean losses and metrics over the validation data, by the last evaluation;
  /// NULL: not evaluated, or no metric. Losses of an evaluation are one value
  /// per copy, then those of each of hfta_program.loss_terms. Metrics are one
  /// value per copy for each of hfta_program.metrics, then the counts of those
  /// that are matrices (hfta_program_metric_values).
  double *validation_losses, *validation_metrics;
  /// With `keep best`, the step of each copy's best weights, 0 if it has none,
  /// so that its last ones count; and what these weights reach on the
  /// validation data. NULL: no `keep best`, or the training isn't complete.
  int64_t *best_steps;
  double *best_losses, *best_metrics;
  /// Mean losses and metrics over the test data, with `keep best` those of the
  /// best weights; NULL: not evaluated, or no metric.
  double *eval_losses, *eval_metrics;
  /// Mean losses and metrics of the running averages of weights on the
  /// validation data and on the test data; NULL: the program has no averages,
  /// not evaluated, or no metric.
  double *average_validation_losses, *average_validation_metrics;
  double *average_eval_losses, *average_eval_metrics;
  /// The number of statistics that were skipped because they weren't finite,
  /// over all steps of this run; NULL: no preconditioner. The next two arrays
  /// count a preconditioner's inverses (hfta_update_report) in the same way.
  double *skipped_statistics;
  double *retried_inverses;
  double *kept_inverses;
} hfta_train_result;

/// Trains a new instance until the number of steps or epochs that the options
/// set, or else the program. Fills `*result` in any case. Until the call
/// returns, the checkpoint folder and the log are locked: another training, or
/// hfta_instance_save, fails with HFTA_INVALID_INPUT if it uses them. If the
/// data files change or the log can't be written, a checkpoint is saved before
/// the call fails.
hfta_status hfta_train(hfta_instance *instance,
                       const hfta_train_options *options,
                       hfta_train_result *result);

/// Frees the arrays of a result.
void hfta_train_result_free(hfta_train_result *result);

/// Computes each copy's mean loss and metrics over all test data. `losses`
/// receive one value per copy, and `metrics` one value per copy for each of
/// hfta_program.metrics; either may be NULL. HFTA_USAGE if the
/// program was compiled without test data.
hfta_status hfta_evaluate_all(hfta_instance *instance, const char *data_root,
                              double *losses, double *metrics);

/// Does the same with the validation data: files, or the samples that training
/// leaves out. HFTA_USAGE if the program has no validation data, or folds,
/// which have different ones.
hfta_status hfta_evaluate_validation(hfta_instance *instance,
                                     const char *data_root, double *losses,
                                     double *metrics);

#ifdef __cplusplus
}
#endif

#endif // HFTA_TRAINER_H
