//===- trial_table.h - The state of a search's trials -----------*- C -*-===//
//
// The memory that hfta_trials consists of; waves.c and asha.c change it.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SEARCH_TRIAL_TABLE_H
#define HFTA_SRC_SEARCH_TRIAL_TABLE_H

#include "search/trials.h"

typedef struct hfta_trial {
  hfta_trial_state state;
  int64_t bracket;
  int64_t first_rung;  ///< the rung of its first leg
  int64_t begin_level; ///< units of the state that it begins with
  int64_t rung;        ///< the rung of its leg, or of its last score if it has
                       ///< no leg
  bool has_score;      ///< whether it has a score at that rung
  int64_t level;       ///< level of its last score; 0: it has none
  double score;        ///< its last score
  double sum;          ///< sum of all its scores
  int64_t evaluated;   ///< number of all its scores
  int64_t beaten;      ///< number of trials that precede it at its rung so far
  int64_t order; ///< the lowest order is taken first, then the lowest trial
  int64_t donor, round; ///< as in hfta_leg
  int64_t tick;         ///< asha: the virtual time when its leg begins
  int64_t begin;        ///< asha: the virtual time when its first leg begins
} hfta_trial;

/// A bracket's progress in waves.
typedef struct hfta_wave {
  int64_t first, count; ///< its trials
  int64_t rung;         ///< the rung of its trials' legs
  int64_t entrants;     ///< number of trials that reach it
  int64_t missing;      ///< number of those that have no score there yet
} hfta_wave;

/// A virtual worker of asha.
typedef struct hfta_virtual_worker {
  int64_t trial; ///< the trial that it trains, or HFTA_NO_TRIAL
  int64_t end;   ///< the virtual time when it has done so
} hfta_virtual_worker;

struct hfta_trials {
  hfta_rule rule;
  hfta_sampler sampler;
  int64_t count, rungs;
  int64_t *levels; ///< for each rung
  hfta_trial *trials;
  hfta_decision *decisions;
  int64_t decision_count;
  hfta_score *scores, *means; ///< scratch memory, for all trials
  double *history; ///< scores of each trial, with a place for each rung

  hfta_wave *waves; ///< for each bracket; NULL for asha
  int64_t wave_count;

  hfta_virtual_worker *workers; ///< NULL except for asha
  hfta_score *recorded; ///< asha: scores of each rung, sorted, `count` places
                        ///< for each
  int64_t *recorded_counts;
  int64_t *recorded_ticks; ///< asha: when each trial's score of each rung was
                           ///< recorded; -1: not yet
  int64_t tick;            ///< asha: the virtual time
  int64_t next_trial;      ///< asha: the next trial that begins
  int64_t issued;          ///< asha: number of legs so far
};

/// Returns whether a trial has ended.
bool hfta_trial_has_ended(const hfta_trial *trial);

/// Sets the state of a trial that a decision is about, unless it has ended.
/// Returns whether it goes on.
bool hfta_trial_apply(hfta_trial *trial, const hfta_decision *decision);

#endif // HFTA_SRC_SEARCH_TRIAL_TABLE_H
