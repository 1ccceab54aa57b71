//===- decide.h - Who goes on at a level ------------------------*- C -*-===//
//
// The rules as pure functions: from the scores of all trials that have reached
// a level, they decide which of these trials go on. All scores of the level are
// there before anything is decided. If trials were judged one by one, the first
// ones would be judged by fewer scores than the others.
//
// A trial whose score isn't finite never goes on, but counts among the trials
// that have reached the level.
//
// Threads: functions only change what their caller gives them.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SEARCH_DECIDE_H
#define HFTA_SRC_SEARCH_DECIDE_H

#include "search/rule.h"

typedef enum hfta_verdict {
  HFTA_VERDICT_GOES_ON,
  HFTA_VERDICT_DROPPED,   ///< others are better
  HFTA_VERDICT_FAILED,    ///< its score isn't finite
  HFTA_VERDICT_REPLACED,  ///< population: it goes on with another one's state
  HFTA_VERDICT_COMPLETE,  ///< it has reached the last level
  HFTA_VERDICT_WITHDRAWN, ///< it has been stopped by hand since
  HFTA_VERDICT_COUNT
} hfta_verdict;

/// Returns a verdict's name, such as "goes on"; it is static.
const char *hfta_verdict_name(hfta_verdict verdict);

/// A decision about a trial at a level, and its reason.
typedef struct hfta_decision {
  int64_t trial;
  int64_t level; ///< units after which it was decided
  hfta_verdict verdict;
  double score;
  int64_t rank; ///< the trial's rank among those that have reached the level,
                ///< from 0, the best
  int64_t compared; ///< number of these trials
  int64_t kept;     ///< how many of these may go on; at the last level: all
  /// The trial against which this one has been judged, and its value; number
  /// HFTA_NO_TRIAL: none. Halving: the last of those that go on; for the last
  /// of these itself, the next one, which it has beaten. Percentile: the trial
  /// whose running mean is the bound, and that mean. Replaced: the donor.
  int64_t rival;
  double bound;
} hfta_decision;

/// Decides by successive halving: the best hfta_rule_kept(count) go on. Sorts
/// the scores, and writes a decision for each, in that order.
void hfta_decide_halving(const hfta_rule *rule, int64_t level,
                         hfta_score *scores, int64_t count,
                         hfta_decision *decisions);

/// Decides by the running means of the scores at all levels so far, which are
/// `means`, in any order: the bound is the mean of rank ceil(percentile / 100 *
/// count) from the best, counted from 1. It is some trial's mean, never one
/// between two of them. Trials go on unless their score is strictly worse; the
/// best trial always goes on if its score is finite. Sorts scores and means,
/// and writes a decision for each score, in that order.
void hfta_decide_percentile(const hfta_rule *rule, int64_t level,
                            hfta_score *scores, hfta_score *means,
                            int64_t count, hfta_decision *decisions);

/// Decides for trials that go on whatever their scores are: at the last level
/// of any rule, where they are complete, and at the levels of a rule without
/// decisions. Sorts the scores, and writes a decision for each, in that order.
void hfta_decide_all(const hfta_rule *rule, int64_t level, hfta_score *scores,
                     int64_t count, hfta_decision *decisions);

#endif // HFTA_SRC_SEARCH_DECIDE_H
