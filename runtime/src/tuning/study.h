//===- study.h - The state of a search --------------------------*- C -*-===//
//
// A study knows the trials of a search, the settings and scores that they have
// so far, and what the rule has decided. It says which runs are to be trained
// next, and is told how they were evaluated. It trains nothing itself, so that
// a journal alone is enough to find out how a search stands.
//
// A run is one training: of a trial or, with cross-validation, of a trial on
// one of the folds. A trial's score is the mean of its runs'.
//
// Everything that a study says depends on nothing but the program and the
// evaluations: not on the order in which runs are trained, nor on how many at a
// time.
//
// Threads: one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_TUNING_STUDY_H
#define HFTA_SRC_TUNING_STUDY_H

#include "search/trials.h"
#include "tuning/facts.h"
#include "tuning/held_state.h"
#include "tuning/journal.h"

/// One training of a trial.
typedef struct hfta_run {
  int64_t trial, fold;
  hfta_evaluated *evaluations; ///< in ascending order of epochs
  int64_t evaluation_count;
  int64_t seen; ///< how many of these `best` and `patience` include
  hfta_best best;
  hfta_patience patience;
  bool has_ended; ///< it isn't trained any more: its score isn't finite, or
                  ///< hasn't improved for as long as the job waits
  hfta_held_state *held;      ///< its last state in memory; NULL: none
  hfta_held_state *best_held; ///< its state at the best evaluation; NULL: none
  /// The number of the run whose state after `origin_steps` steps it has taken
  /// over last; -1: it began with initial weights.
  int64_t origin, origin_steps;
  int64_t begin_epoch; ///< epochs that state had
  int64_t *files;      ///< the steps of its state files, ascending
  int64_t file_count;
  int64_t best_file; ///< the step of the file of its best state; -1: none
} hfta_run;

/// From an epoch on, a trial has other settings.
typedef struct hfta_lineage {
  int64_t epoch;  ///< epochs that were done before, from 0
  int64_t donor;  ///< the trial whose state it has taken over: itself, if only
                  ///< the settings are others; HFTA_NO_TRIAL: initial weights
  double *values; ///< one for each setting of the space
} hfta_lineage;

typedef struct hfta_study_trial {
  hfta_lineage *lineage; ///< the last entry has its present settings
  int64_t lineage_count; ///< 0: its settings haven't been drawn yet
  bool is_paused;        ///< whether its runs aren't trained for now
  bool has_leg;          ///< whether `leg` is being trained
  int64_t array; ///< the array that trains it; 0 before settings are drawn
  hfta_leg leg;
} hfta_study_trial;

typedef struct hfta_study {
  const hfta_program *program; ///< the first array's
  /// The programs of all arrays, borrowed; NULL if there is only one.
  const hfta_program *const *arrays;
  hfta_search_space space;
  hfta_sampler sampler;
  hfta_rule rule;
  hfta_validation validation;
  int64_t first_trials;   ///< number of trials before any were added
  int64_t sampled_trials; ///< number of trials whose settings the sampler draws
  int64_t trial_count, fold_count;
  int64_t steps_per_epoch[HFTA_MOST_ARRAYS]; ///< each array's
  hfta_trials *trials;
  hfta_study_trial *rows;
  hfta_run *runs;        ///< `fold_count` for each trial
  hfta_journal *journal; ///< borrowed
  int64_t
      decided; ///< number of the decisions that have been taken into account
  hfta_observation *observations; ///< scratch memory, one per trial
} hfta_study;

/// Begins a study of the search of these arrays' programs, which must live as
/// long if there are several; their number is the first one's. `*out` is NULL
/// after a failure, else the caller releases it by hfta_study_destroy. Fails
/// with HFTA_INVALID_INPUT or HFTA_USAGE if the search can't be run.
hfta_status hfta_study_create(const hfta_program *const *arrays,
                              const hfta_facts_of_run *run,
                              hfta_journal *journal, hfta_study **out,
                              hfta_error *error);
void hfta_study_destroy(hfta_study *self);

/// Notes which array trains a trial, whose settings are known.
void hfta_study_find_array(hfta_study *self, int64_t trial);

/// Returns the steps that a trial has done after `epochs` epochs, in its array.
int64_t hfta_study_steps(const hfta_study *self, int64_t trial, int64_t epochs);

/// Takes legs, draws settings, and records scores, as far as the evaluations
/// go. Says all of it to the journal.
hfta_status hfta_study_advance(hfta_study *self, hfta_error *error);

/// Returns whether nothing is left to be trained.
bool hfta_study_is_over(const hfta_study *self);

/// Returns the number of the next run, from `run` on, that is to be trained
/// now; -1 if there is none. Called after hfta_study_advance.
int64_t hfta_study_next_run(const hfta_study *self, int64_t run);

/// Returns the last epoch after which a run was evaluated; 0: none.
int64_t hfta_study_last_epoch(const hfta_run *run);

/// Returns the epochs of the state from which a run has to go on: those of its
/// last evaluation, or those of a state that it has taken over since.
int64_t hfta_study_done_epoch(const hfta_run *run);

/// Returns the first epoch after `epoch` after which the run is to be
/// evaluated: the end of its leg, or earlier. The run has a leg.
int64_t hfta_study_next_epoch(const hfta_study *self, int64_t run,
                              int64_t epoch);

/// Makes room for trials that have been added to `trials`.
hfta_status hfta_study_grow(hfta_study *self, hfta_error *error);

/// Appends an entry to a trial's lineage, with room for its settings. Returns
/// NULL if there isn't enough memory.
hfta_lineage *hfta_study_append_lineage(hfta_study *self, int64_t trial);

/// Adds an evaluation that the journal has already.
hfta_status hfta_study_enter(hfta_study *self, const hfta_evaluated *value,
                             hfta_error *error);

/// Adds evaluations of runs of one fold after the same epoch, and appends them
/// to the journal as one line.
hfta_status hfta_study_add(hfta_study *self, const hfta_evaluated *values,
                           int64_t count, hfta_error *error);

/// Returns the number that an evaluation is judged by: the loss or, if that is
/// finite and the job says so, the metric or the score from outside, which is
/// NaN until it is told.
double hfta_study_value(const hfta_study *self, const hfta_evaluated *value);

/// Returns the number of trials whose settings the sampler `external` waits
/// for.
int64_t hfta_study_unknown_trials(const hfta_study *self);

/// Returns whether a trial waits for a score from outside.
bool hfta_study_awaits_score(const hfta_study *self, int64_t trial);

/// Returns the evaluation of a trial after `epoch` epochs, of a search without
/// folds; NULL if there is none.
hfta_evaluated *hfta_study_find_evaluation(const hfta_study *self,
                                           int64_t trial, int64_t epoch);

/// Returns a trial's present settings; NULL if they haven't been drawn.
const double *hfta_study_values(const hfta_study *self, int64_t trial);

/// Returns the settings with which a trial was trained in the epoch that ends
/// after `epoch` epochs. It has been evaluated.
const double *hfta_study_values_at(const hfta_study *self, int64_t trial,
                                   int64_t epoch);

/// Finds how a trial came to its state after `epoch` epochs: entry i of
/// `lineage` holds from its epoch up to that of entry i + 1 or, the last one,
/// up to `epoch`. They are of the trial itself and of those whose states it has
/// taken over. Returns the number of entries, at most `most`, of which there
/// are more if it returns `most` + 1.
int64_t hfta_study_trace(const hfta_study *self, int64_t trial, int64_t epoch,
                         const hfta_lineage **lineage, int64_t most);

/// Returns whether a trial takes part in the search no more.
bool hfta_study_has_ended(const hfta_study *self, int64_t trial);

/// Returns the bytes of all states in memory; one that several runs share
/// counts for each.
uint64_t hfta_study_held_bytes(const hfta_study *self);

/// Returns the trial that is the best so far, or HFTA_NO_TRIAL.
int64_t hfta_study_best(const hfta_study *self);

/// Returns the evaluation that decides a run's score so far: the best one with
/// `keep best`, else the last one; NULL if there is none.
const hfta_evaluated *hfta_study_scored(const hfta_study *self, int64_t run);

/// Returns whether a trial has a score, be it finite or not.
bool hfta_study_has_score(const hfta_study *self, int64_t trial);

/// Returns the name of the number that trials are judged by.
const char *hfta_study_score_name(const hfta_study *self);

/// Returns the mean over a trial's folds of the number that it is judged by, so
/// far; NaN if a run hasn't been evaluated.
double hfta_study_score(const hfta_study *self, int64_t trial);

#endif // HFTA_SRC_TUNING_STUDY_H
