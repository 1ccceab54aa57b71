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

void hfta_decide_population(const hfta_rule *rule, int64_t round, int64_t level,
                            hfta_score *scores, int64_t count,
                            hfta_decision *decisions) {
  hfta_decide_all(rule, level, scores, count, decisions);
  if (level >= rule->units)
    return;
  int64_t replaced = hfta_population_replaced(rule, count), donors = 0;
  while (donors < replaced && isfinite(scores[donors].value))
    ++donors;
  for (int64_t i = 0; i < count && donors > 0; ++i) {
    decisions[i].kept = count - replaced;
    // A trial that isn't finite can't go on as it is, whatever its rank.
    if (i < count - replaced && isfinite(scores[i].value))
      continue;
    double fraction =
        hfta_draw(rule->seed, HFTA_DRAW_DONOR, scores[i].trial, 0, round);
    hfta_score donor = scores[hfta_part_of_fraction(fraction, donors)];
    if (!hfta_score_is_better(rule->direction, donor.value, scores[i].value))
      continue;
    decisions[i].verdict = HFTA_VERDICT_REPLACED;
    decisions[i].rival = donor.trial;
    decisions[i].bound = donor.value;
  }
}

/// Returns a value that one of the factors leads to: the larger one if `up`.
static double move(const hfta_rule *rule, const hfta_search_setting *setting,
                   double value, bool up) {
  double moved = hfta_setting_clamp(setting, value * rule->factors[up]);
  bool is_continuous = hfta_setting_values(setting) == 0 &&
                       setting->distribution != HFTA_LOG_INTEGERS;
  if (moved != value || is_continuous)
    return moved;
  // The factor wasn't large enough to reach the next integer.
  double step = setting->step == 0.0 ? 1.0 : setting->step;
  return hfta_setting_clamp(setting, up ? value + step : value - step);
}

/// Perturbs the settings of a leader. The factors are the other ones if
/// `reversed`.
static void perturb(const hfta_rule *rule, const hfta_search_space *space,
                    int64_t leader, int64_t round, int64_t trial, bool reversed,
                    double *values) {
  const hfta_search_setting *setting = &space->settings[leader];
  if (hfta_draw(rule->seed, HFTA_DRAW_RESAMPLE, trial, leader, round) <
      rule->resample) {
    double fraction =
        hfta_draw(rule->seed, HFTA_DRAW_ANEW, trial, leader, round);
    hfta_space_place(space, leader, fraction, values);
    return;
  }
  bool up =
      hfta_draw(rule->seed, HFTA_DRAW_FACTOR, trial, leader, round) >= 0.5;
  up ^= reversed;
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
  bool changed = false;
  for (int attempt = 0; attempt < 2 && !changed; ++attempt)
    for (int64_t i = 0; i < space->count; ++i) {
      if (hfta_space_leader(space, i) != i)
        continue;
      double before = values[i];
      int64_t choice = hfta_space_choice(space, i, values);
      perturb(rule, space, i, round, trial, attempt > 0, values);
      changed |=
          values[i] != before || hfta_space_choice(space, i, values) != choice;
    }
}
