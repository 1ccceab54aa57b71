//===- waves.c - Rules that decide level by level -------------------------===//

#include "search/waves.h"

#include "search/population.h"

#include <math.h>

/// Lets a trial wait for its leg to a rung.
static void await(hfta_trials *self, hfta_trial *trial, int64_t rung) {
  trial->state = HFTA_TRIAL_WAITS;
  trial->rung = rung;
  trial->has_score = false;
  trial->beaten = 0;
  trial->order = self->levels[rung];
}

/// Begins a wave of `count` trials from `first` on, with their legs to a rung.
static void begin(hfta_trials *self, int64_t number, int64_t first,
                  int64_t count, int64_t rung) {
  self->waves[number] = (hfta_wave){.first = first,
                                    .count = count,
                                    .rung = rung,
                                    .entrants = count,
                                    .missing = count};
  for (int64_t i = first; i < first + count; ++i) {
    self->trials[i].bracket = number;
    self->trials[i].first_rung = rung;
    await(self, &self->trials[i], rung);
  }
}

void hfta_waves_begin(hfta_trials *self) {
  for (int64_t i = 0; i < self->wave_count; ++i) {
    hfta_bracket bracket = hfta_rule_bracket(&self->rule, self->count, i);
    begin(self, i, bracket.first_trial, bracket.trials, bracket.first_rung);
  }
}

void hfta_waves_add(hfta_trials *self, int64_t count, int64_t rung) {
  begin(self, self->wave_count++, self->count - count, count, rung);
}

/// Collects the scores of a wave's rung, and the running means of these trials.
/// Returns their number.
static int64_t collect(hfta_trials *self, const hfta_wave *wave) {
  int64_t count = 0;
  for (int64_t i = wave->first; i < wave->first + wave->count; ++i) {
    const hfta_trial *trial = &self->trials[i];
    if (trial->rung != wave->rung || !trial->has_score)
      continue;
    self->scores[count] = (hfta_score){i, trial->score};
    self->means[count++] =
        (hfta_score){i, trial->sum / (double)trial->evaluated};
  }
  return count;
}

/// Collects, in the place of the running means, those of the scores whose
/// trials are left. Returns their number.
static int64_t collect_left(hfta_trials *self, int64_t count) {
  int64_t left = 0;
  for (int64_t i = 0; i < count; ++i)
    if (!hfta_trial_has_ended(&self->trials[self->scores[i].trial]))
      self->means[left++] = self->scores[i];
  return left;
}

/// Decides a wave's rung by the rule, and writes the decisions.
static void decide(hfta_trials *self, const hfta_wave *wave, int64_t count,
                   hfta_decision *decisions) {
  const hfta_rule *rule = &self->rule;
  int64_t level = self->levels[wave->rung];
  bool is_last = wave->rung == self->rungs - 1;
  hfta_rule_kind kind = is_last ? HFTA_RULE_NONE : rule->kind;
  switch (kind) {
  case HFTA_RULE_HALVING:
  case HFTA_RULE_HYPERBAND:
    hfta_decide_halving(rule, level, self->scores, count, decisions);
    return;
  case HFTA_RULE_PERCENTILE:
    hfta_decide_percentile(rule, level, self->scores, self->means, count,
                           decisions);
    return;
  case HFTA_RULE_POPULATION:
    hfta_decide_population(rule, wave->rung, level, self->scores, count,
                           self->means, collect_left(self, count), decisions);
    return;
  case HFTA_RULE_NONE:
  case HFTA_RULE_ASHA:
    hfta_decide_all(rule, level, self->scores, count, decisions);
    return;
  }
}

/// Ends a wave's rung: decides, and lets those that go on wait for their next
/// legs.
static void close_rung(hfta_trials *self, hfta_wave *wave) {
  hfta_decision *decisions = self->decisions + self->decision_count;
  int64_t count = collect(self, wave);
  decide(self, wave, count, decisions);
  self->decision_count += count;
  int64_t going = 0;
  for (int64_t i = 0; i < count; ++i) {
    hfta_decision *decision = &decisions[i];
    hfta_trial *trial = &self->trials[decision->trial];
    if (trial->state == HFTA_TRIAL_WITHDRAWN)
      decision->verdict = HFTA_VERDICT_WITHDRAWN;
    if (!hfta_trial_apply(trial, decision))
      continue;
    bool is_replaced = decision->verdict == HFTA_VERDICT_REPLACED;
    trial->donor = is_replaced ? decision->rival : HFTA_NO_TRIAL;
    trial->round = wave->rung;
    await(self, trial, wave->rung + 1);
    ++going;
  }
  wave->rung += going > 0;
  wave->entrants = wave->missing = going;
}

/// Counts, for the trials of a wave's rung, those that precede them, now that
/// one more has a score. Those that enough others precede can't go on any more.
static void drop_beaten(hfta_trials *self, const hfta_wave *wave,
                        int64_t number) {
  hfta_trial *newcomer = &self->trials[number];
  hfta_score score = {number, newcomer->score};
  int64_t kept = hfta_rule_kept(&self->rule, wave->entrants);
  for (int64_t i = wave->first; i < wave->first + wave->count; ++i) {
    hfta_trial *trial = &self->trials[i];
    if (i == number || trial->rung != wave->rung || !trial->has_score)
      continue;
    bool is_better = hfta_score_precedes(self->rule.direction, score,
                                         (hfta_score){i, trial->score});
    hfta_trial *beaten = is_better ? trial : newcomer;
    ++beaten->beaten;
    if (beaten->beaten >= kept && beaten->state == HFTA_TRIAL_HELD)
      beaten->state = HFTA_TRIAL_DROPPED;
  }
}

void hfta_waves_record(hfta_trials *self, int64_t number) {
  hfta_trial *trial = &self->trials[number];
  hfta_wave *wave = &self->waves[trial->bracket];
  bool is_last = trial->rung == self->rungs - 1;
  bool is_population = self->rule.kind == HFTA_RULE_POPULATION;
  trial->state = HFTA_TRIAL_HELD;
  if (is_last && isfinite(trial->score))
    trial->state = HFTA_TRIAL_COMPLETE;
  else if (!isfinite(trial->score) && (is_last || !is_population))
    trial->state = HFTA_TRIAL_FAILED;
  if (!is_last && (self->rule.kind == HFTA_RULE_HALVING ||
                   self->rule.kind == HFTA_RULE_HYPERBAND))
    drop_beaten(self, wave, number);
  if (--wave->missing == 0)
    close_rung(self, wave);
}

void hfta_waves_withdraw(hfta_trials *self, int64_t number, bool had_score) {
  hfta_wave *wave = &self->waves[self->trials[number].bracket];
  if (had_score)
    return;
  --wave->entrants;
  if (--wave->missing == 0)
    close_rung(self, wave);
}
