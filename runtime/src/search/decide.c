//===- decide.c - Who goes on at a level ----------------------------------===//

#include "search/decide.h"

#include <math.h>

const char *hfta_verdict_name(hfta_verdict verdict) {
  static const char *const names[] = {"goes on",  "dropped",  "failed",
                                      "replaced", "complete", "withdrawn"};
  _Static_assert(sizeof(names) / sizeof(names[0]) == HFTA_VERDICT_COUNT,
                 "a name for each verdict");
  return names[verdict];
}

/// Sorts scores and writes a decision for each, without a rival: trials whose
/// score isn't finite fail, the others go on.
static void rank(const hfta_rule *rule, int64_t level, hfta_score *scores,
                 int64_t count, int64_t kept, hfta_decision *decisions) {
  hfta_scores_sort(rule->direction, scores, count);
  for (int64_t i = 0; i < count; ++i)
    decisions[i] = (hfta_decision){.trial = scores[i].trial,
                                   .level = level,
                                   .verdict = isfinite(scores[i].value)
                                                  ? HFTA_VERDICT_GOES_ON
                                                  : HFTA_VERDICT_FAILED,
                                   .score = scores[i].value,
                                   .rank = i,
                                   .compared = count,
                                   .kept = kept,
                                   .rival = HFTA_NO_TRIAL,
                                   .bound = NAN};
}

void hfta_decide_all(const hfta_rule *rule, int64_t level, hfta_score *scores,
                     int64_t count, hfta_decision *decisions) {
  rank(rule, level, scores, count, count, decisions);
  for (int64_t i = 0; i < count && level >= rule->units; ++i)
    if (decisions[i].verdict == HFTA_VERDICT_GOES_ON)
      decisions[i].verdict = HFTA_VERDICT_COMPLETE;
}

void hfta_decide_halving(const hfta_rule *rule, int64_t level,
                         hfta_score *scores, int64_t count,
                         hfta_decision *decisions) {
  int64_t kept = hfta_rule_kept(rule, count);
  rank(rule, level, scores, count, kept, decisions);
  for (int64_t i = 0; i < count; ++i) {
    if (i >= kept && decisions[i].verdict == HFTA_VERDICT_GOES_ON)
      decisions[i].verdict = HFTA_VERDICT_DROPPED;
    int64_t rival = i == kept - 1 ? kept : kept - 1;
    if (rival >= count)
      continue;
    decisions[i].rival = scores[rival].trial;
    decisions[i].bound = scores[rival].value;
  }
}

/// Returns ceil(percentile / 100 * count), at least 1 and at most count,
/// without the error of the division.
static int64_t rank_of_percentile(double percentile, int64_t count) {
  double wanted = percentile * (double)count;
  int64_t place = (int64_t)(wanted / 100.0);
  while ((double)place * 100.0 < wanted)
    ++place;
  return place < 1 ? 1 : place > count ? count : place;
}

void hfta_decide_percentile(const hfta_rule *rule, int64_t level,
                            hfta_score *scores, hfta_score *means,
                            int64_t count, hfta_decision *decisions) {
  if (count == 0)
    return;
  hfta_scores_sort(rule->direction, means, count);
  hfta_score bound = means[rank_of_percentile(rule->percentile, count) - 1];
  rank(rule, level, scores, count, count, decisions);
  int64_t kept = 0;
  for (int64_t i = 0; i < count; ++i) {
    decisions[i].rival = bound.trial;
    decisions[i].bound = bound.value;
    // Where all curves get worse, each score is worse than its running mean.
    if (i > 0 &&
        hfta_score_is_better(rule->direction, bound.value, scores[i].value) &&
        decisions[i].verdict == HFTA_VERDICT_GOES_ON)
      decisions[i].verdict = HFTA_VERDICT_DROPPED;
    kept += decisions[i].verdict == HFTA_VERDICT_GOES_ON;
  }
  for (int64_t i = 0; i < count; ++i)
    decisions[i].kept = kept;
}
