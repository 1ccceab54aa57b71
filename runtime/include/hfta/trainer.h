//===- trainer.h - The training loop ----------------------------*- C -*-===//
//
// Data, shuffling, schedules, evaluation, log, progress and checkpoints around
// an instance: what the command `train` of a training binary does, for programs
// of their own too.
//
// Threads: one call at a time an instance; the call starts a thread that reads
// ahead, and joins it. It prints progress to standard error if asked to and
// nothing else. A copy whose loss isn't finite goes on and touches no other.
//===----------------------------------------------------------------------===//

#ifndef HFTA_TRAINER_H
#define HFTA_TRAINER_H

#include "hfta/instance.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HFTA_DEFAULT_LOG_EVERY 50
#define HFTA_DEFAULT_TRACE_STEPS 5

/// An instance for some of a program's copies, which steps beside others of its
/// program.
typedef struct hfta_train_part {
  hfta_instance *instance;
  struct hfta_fleet_model *model;
} hfta_train_part;

/// All zero means defaults. Strings are borrowed during the call.
typedef struct hfta_train_options {
  const char *data_root;  ///< of relative paths; NULL: the current folder
  int64_t epochs;         ///< total, resumed ones included; 0: not given
  int64_t steps;          ///< total, resumed ones included; 0: not given
  const char *log_path;   ///< NULL: no log
  int64_t log_every;      ///< steps; 0: HFTA_DEFAULT_LOG_EVERY
  const char *checkpoint; ///< folder; NULL: no checkpoints
  int64_t every;          ///< steps between checkpoints; 0: at the end only
  int64_t keep;           ///< newest checkpoints that stay; 0: all
  bool resume;            ///< go on from the folder's newest checkpoint
  bool overwrite;         ///< remove the folder's checkpoints before the first
                          ///< step; without one of the two there may be none
  const char *trace_path; ///< NULL: no trace
  int64_t trace_steps;    ///< of this run's first; 0: HFTA_DEFAULT_TRACE_STEPS
  const char *job; ///< a name that each event of the log has; NULL: none.
                   ///< Other jobs' lines of a log that is resumed then stay
  struct hfta_log_file *log_file; ///< that of `log_path`, borrowed, which other
                                  ///< trainings write to as well; NULL: it is
                                  ///< opened for this one alone
  struct hfta_fleet_model *model; ///< of several trainings that take turns at
                                  ///< seats; NULL: it has all to itself
  /// The instances that are trained together, of which the first one stands for
  /// all (schedule/parts.h): each goes through a number of steps by itself,
  /// with a thread and a seat of its own, between which all are at the same
  /// step. Borrowed; NULL: the instance has all copies.
  const hfta_train_part *parts;
  int64_t part_count;
  bool progress;
  /// Where trainings of one process that run at the same time show their
  /// progress together, and this one's place there. Borrowed; NULL: standard
  /// error is for this one alone.
  struct hfta_screen *screen;
  int64_t screen_block;
  /// Asked after every step and while it evaluates; NULL: never stops early.
  bool (*should_stop)(void *argument);
  void *should_stop_argument;
} hfta_train_options;

/// What came out. Arrays have one value a copy and belong to the result, until
/// hfta_train_result_free.
typedef struct hfta_train_result {
  bool interrupted;     ///< should_stop said so
  bool saved;           ///< the checkpoint folder holds step `steps`
  int64_t steps;        ///< done in total
  double *train_losses; ///< mean over the last epoch
  double *eval_losses;  ///< NULL: not evaluated
  double *eval_metrics; ///< NULL: no metric
  /// Of this run, all its steps together; NULL: no preconditioner.
  double *skipped_statistics;
  double *retried_inverses;
  double *kept_inverses;
} hfta_train_result;

/// Trains a new instance to the end that the options, or else the program,
/// give. Fills `*result` in any case. Until it returns, no other training and
/// no hfta_instance_save may use the checkpoint folder, and no other training
/// the log: they fail with HFTA_INVALID_INPUT. Data that change or a log that
/// can't be written end it with a failure after a checkpoint was saved.
hfta_status hfta_train(hfta_instance *instance,
                       const hfta_train_options *options,
                       hfta_train_result *result);

void hfta_train_result_free(hfta_train_result *result);

/// Loss and metric of each copy over all of the test data; NULL is allowed.
hfta_status hfta_evaluate_all(hfta_instance *instance, const char *data_root,
                              double *losses, double *metrics);

#ifdef __cplusplus
}
#endif

#endif // HFTA_TRAINER_H
