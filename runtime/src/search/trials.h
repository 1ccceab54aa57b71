//===- trials.h - Which trials of a search go on ----------------*- C -*-===//
//
// The decisions of a search over time. The training of a trial consists of
// legs, each from one level to the next one at which its rule decides. The
// caller takes legs, trains them, and records their scores; then more legs can
// be taken. Any number of legs may be trained at a time, and in any order:
// decisions depend on nothing but the rule, the number of trials and the
// scores. There are no threads and no clock in this room.
//
// - Halving, hyperband, percentile and population proceed in waves: a level is
//   decided when all trials that reach it have their scores.
// - Asha is asynchronous, but by virtual time (asha.h), not by the clock.
//
// A search can be resumed by recording the same scores again.
//
// Threads: calls for one hfta_trials must not overlap.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SEARCH_TRIALS_H
#define HFTA_SRC_SEARCH_TRIALS_H

#include "search/decide.h"
#include "search/sampler.h"

typedef struct hfta_trials hfta_trials;

/// A stretch of a trial's training.
typedef struct hfta_leg {
  int64_t trial;
  int64_t from; ///< units that the trial has done; 0: it begins
  int64_t to;   ///< units after which its score is recorded
  /// The population's trial whose state after `from` units this one begins
  /// with, as it has been replaced after round `round`; HFTA_NO_TRIAL: it
  /// begins with its own. The donor itself may be trained further before this
  /// leg is, so its state has to be copied once hfta_trials_decisions has the
  /// decision.
  int64_t donor;
  int64_t round;
  int64_t tick; ///< asha: the virtual time when it begins
} hfta_leg;

typedef enum hfta_trial_state {
  HFTA_TRIAL_AHEAD,    ///< asha: its first leg can't be taken yet
  HFTA_TRIAL_WAITS,    ///< its next leg can be taken
  HFTA_TRIAL_RUNS,     ///< its leg has been taken
  HFTA_TRIAL_HELD,     ///< it has a score and may go on: its state must be kept
  HFTA_TRIAL_DROPPED,  ///< it can't go on, so its state isn't needed any more
  HFTA_TRIAL_FAILED,   ///< its score isn't finite
  HFTA_TRIAL_COMPLETE, ///< it has reached the last level
  HFTA_TRIAL_WITHDRAWN
} hfta_trial_state;

/// Creates the trials of a search, numbered from 0, none of which has begun.
/// The sampler is the one that draws their settings; NULL: these don't depend
/// on scores. The caller must release the trials with hfta_trials_destroy.
/// Fails with HFTA_INVALID_INPUT if the rule or the sampler isn't valid
/// (hfta_rule_check, hfta_sampler_check_members) or if their directions differ,
/// with HFTA_UNSUPPORTED if there isn't enough memory.
hfta_status hfta_trials_create(const hfta_rule *rule,
                               const hfta_sampler *sampler, int64_t count,
                               hfta_trials **out, hfta_error *error);
void hfta_trials_destroy(hfta_trials *self);

/// Takes the next leg that can be trained: of the lowest level, then of the
/// lowest trial; for asha, the earliest. Returns false if there is none, since
/// legs are being trained whose scores decide, or the search is over.
///
/// Before a leg that begins a trial (`from` is 0) can be trained, the caller
/// must draw the trial's settings. In waves, a trial isn't taken until the
/// scores are there that the sampler must see.
bool hfta_trials_take(hfta_trials *self, hfta_leg *out);

/// Writes what a sampler must see of trials 0 to `trial` - 1 to draw the
/// settings of a trial whose first leg has been taken: to `level` and `score`
/// of each observation. These aren't always the last scores: they depend on
/// neither the order in which scores have been recorded nor on how many legs
/// are trained at a time. In waves, they are those at the deepest level that
/// the trial's first leg doesn't exceed, for asha those that are recorded when
/// it begins in virtual time.
void hfta_trials_observe(const hfta_trials *self, int64_t trial,
                         hfta_observation *observations);

/// Records the score of a trial whose leg to `level` has been taken. Fails with
/// HFTA_INVALID_INPUT if there is no such leg.
hfta_status hfta_trials_record(hfta_trials *self, int64_t trial, int64_t level,
                               double score, hfta_error *error);

/// Adds `count` trials, which are compared with each other only: a bracket of
/// their own. Their settings are the caller's to choose. They begin with states
/// of `from` units; 0: with initial weights. Their first leg ends at the first
/// level above. Pointers to decisions become invalid. Fails with
/// HFTA_UNSUPPORTED for asha and population, whose trials are all compared with
/// each other, with HFTA_INVALID_INPUT if there is no level above `from`.
hfta_status hfta_trials_add(hfta_trials *self, int64_t count, int64_t from,
                            hfta_error *error);

/// Checks whether trials can be added; fails as hfta_trials_add does.
hfta_status hfta_trials_check_added(const hfta_trials *self, int64_t count,
                                    int64_t from, hfta_error *error);

/// Returns the number of trials.
int64_t hfta_trials_count(const hfta_trials *self);

/// Stops a trial for good, which doesn't count any more at levels where it has
/// no score. Where it has one, it still counts, and its place is given to no
/// other trial: that may have been dropped already. It is no donor any more.
/// Fails with HFTA_INVALID_INPUT if the trial has ended.
hfta_status hfta_trials_withdraw(hfta_trials *self, int64_t trial,
                                 hfta_error *error);

hfta_trial_state hfta_trials_state(const hfta_trials *self, int64_t trial);

/// Returns whether all trials have ended.
bool hfta_trials_over(const hfta_trials *self);

/// Returns all decisions so far, and sets `*count` to their number. In waves, a
/// level's decisions appear together, the best trial first, once it has all its
/// scores; a trial may be dropped before, when its end is sure. The array is
/// the trials', and grows at its end.
const hfta_decision *hfta_trials_decisions(const hfta_trials *self,
                                           int64_t *count);

/// Writes the numbers of all trials to `order`, the best first: by the deepest
/// level with a score, then by the score there. Trials whose last score isn't
/// finite come after the others, those without a score last.
void hfta_trials_rank(const hfta_trials *self, int64_t *order);

#endif // HFTA_SRC_SEARCH_TRIALS_H
