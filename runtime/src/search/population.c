//===- population.c - Population-based training ---------------------------===//

#include "search/population.h"

#include "search/draw.h"

#include <math.h>

int64_t hfta_population_replaced(const hfta_rule *rule, int64_t count) {
  // 0.29 * 100 is below 29 in doubles.
  const double tolerance = 1e-9;
  int64_t replaced = (int64_t)(rule->quantile * (double)count + tolerance);
  if (replaced < 1)
    replaced = 1;
  return replaced < count / 2 ? replaced : count / 2;
}

/// Returns the number of donors, which are the first ones of the sorted scores
/// of those that are left. The first one may be anywhere, since no other trial
/// that is left is better. A second one must not be among the trials that may
/// be replaced, which are those from rank `kept` on.
static int64_t count_donors(const hfta_rule *rule, const hfta_score *scores,
                            int64_t count, int64_t kept, const hfta_score *left,
                            int64_t left_count) {
  int64_t donors = 0;
  while (donors < count - kept && donors < left_count &&
         isfinite(left[donors].value) &&
         (donors == 0 ||
          hfta_score_precedes(rule->direction, left[donors], scores[kept])))
    ++donors;
  return donors;
}

void hfta_decide_population(const hfta_rule *rule, int64_t round, int64_t level,
                            hfta_score *scores, int64_t count, hfta_score *left,
                            int64_t left_count, hfta_decision *decisions) {
  hfta_decide_all(rule, level, scores, count, decisions);
  if (level >= rule->units)
    return;
  int64_t kept = count - hfta_population_replaced(rule, count);
  hfta_scores_sort(rule->direction, left, left_count);
  int64_t donors = count_donors(rule, scores, count, kept, left, left_count);
  for (int64_t i = 0; i < count && donors > 0; ++i) {
    decisions[i].kept = kept;
    // A trial that isn't finite can't go on as it is, whatever its rank.
    if (i < kept && isfinite(scores[i].value))
      continue;
    double fraction =
        hfta_draw(rule->seed, HFTA_DRAW_DONOR, scores[i].trial, 0, round);
    hfta_score donor = left[hfta_part_of_fraction(fraction, donors)];
    if (!hfta_score_is_better(rule->direction, donor.value, scores[i].value))
      continue;
    decisions[i].verdict = HFTA_VERDICT_REPLACED;
    decisions[i].rival = donor.trial;
    decisions[i].bound = donor.value;
  }
}

/// Returns a value that one of the factors leads to: if `up`, the one that is
/// farther from 0. This is the larger one unless `value` is negative.
static double move(const hfta_rule *rule, const hfta_search_setting *setting,
                   double value, bool up) {
  double product = value * rule->factors[up];
  double moved = hfta_setting_clamp(setting, product);
  if (moved != value)
    return moved;
  bool is_continuous = hfta_setting_values(setting) == 0 &&
                       setting->distribution != HFTA_LOG_INTEGERS;
  if (is_continuous && product != value)
    return moved;
  // No factor moves 0: it moves by a share of the range. Else the factor wasn't
  // large enough to reach the next integer.
  double step = setting->step == 0.0 ? 1.0 : setting->step;
  if (is_continuous)
    step = (setting->high - setting->low) * fabs(rule->factors[up] - 1.0);
  bool is_larger = value < 0.0 ? !up : up;
  return hfta_setting_clamp(setting, is_larger ? value + step : value - step);
}

/// Perturbs the settings of a leader. In the first attempt, number 0, they may
/// be drawn anew; in the second one, the factors are the other ones.
static void perturb(const hfta_rule *rule, const hfta_search_space *space,
                    int64_t leader, int64_t round, int64_t trial, int attempt,
                    double *values) {
  const hfta_search_setting *setting = &space->settings[leader];
  if (attempt == 0 && hfta_draw(rule->seed, HFTA_DRAW_RESAMPLE, trial, leader,
                                round) < rule->resample) {
    double fraction =
        hfta_draw(rule->seed, HFTA_DRAW_ANEW, trial, leader, round);
    hfta_space_place(space, leader, fraction, values);
    return;
  }
  bool up =
      hfta_draw(rule->seed, HFTA_DRAW_FACTOR, trial, leader, round) >= 0.5;
  up ^= attempt == 1;
  if (setting->distribution != HFTA_CHOICE) {
    values[leader] = move(rule, setting, values[leader], up);
    return;
  }
  int64_t choice = hfta_space_choice(space, leader, values) + (up ? 1 : -1);
  if (choice >= 0 && choice < setting->choice_count)
    hfta_space_choose(space, leader, choice, values);
}

void hfta_population_perturb(const hfta_rule *rule,
                             const hfta_search_space *space, int64_t round,
                             int64_t trial, double *values) {
  enum { ATTEMPTS = 3 };
  bool changed = false;
  for (int attempt = 0; attempt < ATTEMPTS && !changed; ++attempt)
    for (int64_t i = 0; i < space->count; ++i) {
      if (hfta_space_leader(space, i) != i)
        continue;
      double before = values[i];
      int64_t choice = hfta_space_choice(space, i, values);
      perturb(rule, space, i, round, trial, attempt, values);
      changed |=
          values[i] != before || hfta_space_choice(space, i, values) != choice;
    }
}
