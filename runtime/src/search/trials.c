//===- trials.c - Which trials of a search go on --------------------------===//

#include "search/trials.h"

#include "search/asha.h"
#include "search/trial_table.h"
#include "search/waves.h"
#include "system/extend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void hfta_trials_destroy(hfta_trials *self) {
  if (!self)
    return;
  free(self->levels);
  free(self->trials);
  free(self->decisions);
  free(self->scores);
  free(self->means);
  free(self->history);
  free(self->waves);
  free(self->workers);
  free(self->recorded);
  free(self->recorded_counts);
  free(self->recorded_ticks);
  free(self);
}

/// Allocates all arrays. Returns false if there isn't enough memory.
static bool allocate(hfta_trials *self) {
  size_t count = (size_t)self->count, rungs = (size_t)self->rungs;
  self->levels = calloc(rungs, sizeof(*self->levels));
  self->trials = calloc(count, sizeof(*self->trials));
  self->decisions = calloc(count * rungs, sizeof(*self->decisions));
  self->scores = calloc(count, sizeof(*self->scores));
  self->means = calloc(count, sizeof(*self->means));
  self->history = calloc(count * rungs, sizeof(*self->history));
  if (!self->levels || !self->trials || !self->decisions || !self->scores ||
      !self->means || !self->history)
    return false;
  if (self->rule.kind != HFTA_RULE_ASHA) {
    self->wave_count = hfta_rule_brackets(&self->rule);
    self->waves = calloc((size_t)self->wave_count, sizeof(*self->waves));
    return self->waves != NULL;
  }
  self->workers = calloc((size_t)self->rule.workers, sizeof(*self->workers));
  self->recorded = calloc(count * rungs, sizeof(*self->recorded));
  self->recorded_counts = calloc(rungs, sizeof(*self->recorded_counts));
  self->recorded_ticks = calloc(count * rungs, sizeof(*self->recorded_ticks));
  return self->workers && self->recorded && self->recorded_counts &&
         self->recorded_ticks;
}

hfta_status hfta_trials_create(const hfta_rule *rule,
                               const hfta_sampler *sampler, int64_t count,
                               hfta_trials **out, hfta_error *error) {
  *out = NULL;
  hfta_status status = hfta_rule_check(rule, count, error);
  if (!status && sampler)
    status = hfta_sampler_check_members(sampler, error);
  if (status)
    return status;
  if (sampler && sampler->kind == HFTA_SAMPLER_TPE &&
      sampler->direction != rule->direction)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "direction: expected the same one for the rule and for "
                     "tpe");
  hfta_trials *self = calloc(1, sizeof(*self));
  if (self) {
    self->rule = *rule;
    self->sampler =
        sampler ? *sampler : (hfta_sampler){.kind = HFTA_SAMPLER_RANDOM};
    self->count = count;
    self->rungs = hfta_rule_rungs(rule);
  }
  if (!self || !allocate(self)) {
    hfta_trials_destroy(self);
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory for the scores of %lld trials",
                     (long long)count);
  }
  for (int64_t i = 0; i < self->rungs; ++i)
    self->levels[i] = hfta_rule_level(rule, i);
  for (int64_t i = 0; i < count; ++i)
    self->trials[i] = (hfta_trial){.score = NAN, .donor = HFTA_NO_TRIAL};
  *out = self;
  if (rule->kind != HFTA_RULE_ASHA) {
    hfta_waves_begin(self);
    return HFTA_OK;
  }
  for (int64_t i = 0; i < rule->workers; ++i)
    self->workers[i].trial = HFTA_NO_TRIAL;
  for (int64_t i = 0; i < count * self->rungs; ++i)
    self->recorded_ticks[i] = -1;
  hfta_asha_advance(self);
  return HFTA_OK;
}

int64_t hfta_trials_count(const hfta_trials *self) { return self->count; }

/// Makes room for `count` trials and one more wave.
static bool make_room(hfta_trials *self, int64_t count) {
  int64_t old = self->count, rungs = self->rungs;
  void *more;
#define EXTEND(member, old_count, new_count)                                   \
  more =                                                                       \
      hfta_extend(self->member, old_count, new_count, sizeof(*self->member));  \
  if (!more)                                                                   \
    return false;                                                              \
  self->member = more;
  EXTEND(trials, old, count)
  EXTEND(scores, old, count)
  EXTEND(means, old, count)
  EXTEND(history, old * rungs, count * rungs)
  EXTEND(decisions, old * rungs, count * rungs)
  EXTEND(waves, self->wave_count, self->wave_count + 1)
#undef EXTEND
  return true;
}

/// Returns the first rung whose level is above `from`; the number of rungs if
/// there is none.
static int64_t rung_above(const hfta_trials *self, int64_t from) {
  int64_t rung = 0;
  while (rung < self->rungs && self->levels[rung] <= from)
    ++rung;
  return rung;
}

hfta_status hfta_trials_check_added(const hfta_trials *self, int64_t count,
                                    int64_t from, hfta_error *error) {
  if (self->rule.kind == HFTA_RULE_ASHA ||
      self->rule.kind == HFTA_RULE_POPULATION)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "trials can't be added to a search by %s, which compares "
                     "all of its trials",
                     self->rule.kind == HFTA_RULE_ASHA ? "asha" : "pbt");
  if (rung_above(self, from) == self->rungs)
    return hfta_fail(
        error, HFTA_INVALID_INPUT,
        "a trial of %lld epochs has no level left: the last one is "
        "%lld",
        (long long)from, (long long)self->levels[self->rungs - 1]);
  if (count < 1 || count > INT32_MAX)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "expected from 1 to %d trials to add, got %lld", INT32_MAX,
                     (long long)count);
  return hfta_rule_check(&self->rule, self->count + count, error);
}

hfta_status hfta_trials_add(hfta_trials *self, int64_t count, int64_t from,
                            hfta_error *error) {
  hfta_status status = hfta_trials_check_added(self, count, from, error);
  if (status != HFTA_OK)
    return status;
  if (!make_room(self, self->count + count))
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory for the scores of %lld trials",
                     (long long)(self->count + count));
  for (int64_t i = 0; i < count; ++i)
    self->trials[self->count + i] =
        (hfta_trial){.score = NAN, .donor = HFTA_NO_TRIAL, .begin_level = from};
  self->count += count;
  hfta_waves_add(self, count, rung_above(self, from));
  return HFTA_OK;
}

//===----------------------------------------------------------------------===//
// Legs and scores
//===----------------------------------------------------------------------===//

/// Returns whether the settings of a trial that waits for its first leg can be
/// drawn. In waves, each trial of earlier generations must have got as far as
/// this leg, or have ended.
static bool can_draw(const hfta_trials *self, int64_t number) {
  if (!self->waves)
    return true;
  int64_t level = self->levels[self->trials[number].rung];
  int64_t needs = hfta_sampler_needs(&self->sampler, number);
  for (int64_t i = 0; i < needs; ++i)
    if (self->trials[i].level < level &&
        !hfta_trial_has_ended(&self->trials[i]))
      return false;
  return true;
}

bool hfta_trials_take(hfta_trials *self, hfta_leg *out) {
  int64_t found = HFTA_NO_TRIAL, blocked = -1;
  for (int64_t i = 0; i < self->count; ++i) {
    const hfta_trial *trial = &self->trials[i];
    bool begins = trial->level == 0 && trial->begin_level == 0;
    if (trial->state != HFTA_TRIAL_WAITS ||
        (found != HFTA_NO_TRIAL && trial->order >= self->trials[found].order) ||
        (begins && trial->order == blocked))
      continue;
    // If one can't be drawn, none that follows it to the same level can be.
    if (begins && !can_draw(self, i))
      blocked = trial->order;
    else
      found = i;
  }
  if (found == HFTA_NO_TRIAL)
    return false;
  hfta_trial *trial = &self->trials[found];
  trial->state = HFTA_TRIAL_RUNS;
  *out =
      (hfta_leg){.trial = found,
                 .from = trial->level > 0 ? trial->level : trial->begin_level,
                 .to = self->levels[trial->rung],
                 .donor = trial->donor,
                 .round = trial->round,
                 .tick = trial->tick};
  return true;
}

/// Returns the observation of a trial of an earlier generation: in waves, at
/// the deepest level up to the given rung.
static hfta_observation observe_in_waves(const hfta_trials *self,
                                         int64_t number, int64_t rung) {
  const hfta_trial *trial = &self->trials[number];
  if (trial->level <= self->levels[rung])
    return (hfta_observation){.level = trial->level, .score = trial->score};
  return (hfta_observation){.level = self->levels[rung],
                            .score =
                                self->history[number * self->rungs + rung]};
}

/// Returns the observation of a trial at a virtual time of asha.
static hfta_observation observe_at_tick(const hfta_trials *self, int64_t number,
                                        int64_t tick) {
  hfta_observation seen = {.score = NAN};
  for (int64_t rung = 0; rung < self->rungs; ++rung) {
    int64_t at = number * self->rungs + rung;
    if (self->recorded_ticks[at] < 0 || self->recorded_ticks[at] > tick)
      break;
    seen.level = self->levels[rung];
    seen.score = self->history[at];
  }
  return seen;
}

void hfta_trials_observe(const hfta_trials *self, int64_t number,
                         hfta_observation *observations) {
  const hfta_trial *trial = &self->trials[number];
  int64_t needs = hfta_sampler_needs(&self->sampler, number);
  for (int64_t i = 0; i < number; ++i) {
    hfta_observation seen = {.score = NAN};
    if (i < needs)
      seen = self->waves ? observe_in_waves(self, i, trial->first_rung)
                         : observe_at_tick(self, i, trial->begin);
    observations[i].level = seen.level;
    observations[i].score = seen.score;
  }
}

static bool is_trial(const hfta_trials *self, int64_t trial) {
  return trial >= 0 && trial < self->count;
}

hfta_status hfta_trials_record(hfta_trials *self, int64_t number, int64_t level,
                               double score, hfta_error *error) {
  hfta_trial *trial = is_trial(self, number) ? &self->trials[number] : NULL;
  if (!trial || trial->state != HFTA_TRIAL_RUNS ||
      level != self->levels[trial->rung])
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "trial %lld isn't being trained to level %lld",
                     (long long)number, (long long)level);
  trial->has_score = true;
  self->history[number * self->rungs + trial->rung] = score;
  trial->level = level;
  trial->score = score;
  trial->sum += score;
  ++trial->evaluated;
  if (self->waves) {
    hfta_waves_record(self, number);
    return HFTA_OK;
  }
  trial->state = HFTA_TRIAL_HELD;
  hfta_asha_advance(self);
  return HFTA_OK;
}

hfta_status hfta_trials_withdraw(hfta_trials *self, int64_t number,
                                 hfta_error *error) {
  hfta_trial *trial = is_trial(self, number) ? &self->trials[number] : NULL;
  if (!trial || hfta_trial_has_ended(trial))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "there is no trial %lld, or it has ended",
                     (long long)number);
  trial->state = HFTA_TRIAL_WITHDRAWN;
  if (self->waves)
    hfta_waves_withdraw(self, number, trial->has_score);
  else
    hfta_asha_advance(self);
  return HFTA_OK;
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

hfta_trial_state hfta_trials_state(const hfta_trials *self, int64_t trial) {
  return self->trials[trial].state;
}

bool hfta_trials_over(const hfta_trials *self) {
  for (int64_t i = 0; i < self->count; ++i)
    if (!hfta_trial_has_ended(&self->trials[i]))
      return false;
  return true;
}

const hfta_decision *hfta_trials_decisions(const hfta_trials *self,
                                           int64_t *count) {
  *count = self->decision_count;
  return self->decisions;
}

/// Appends the trials whose last score is at a level, and is finite or isn't,
/// to the ranking.
static int64_t append_level(const hfta_trials *self, int64_t level,
                            bool is_finite, int64_t *order, int64_t placed) {
  int64_t count = 0;
  for (int64_t i = 0; i < self->count; ++i) {
    const hfta_trial *trial = &self->trials[i];
    if (trial->level == level && !isfinite(trial->score) == !is_finite)
      self->scores[count++] = (hfta_score){i, trial->score};
  }
  hfta_scores_sort(self->rule.direction, self->scores, count);
  for (int64_t i = 0; i < count; ++i)
    order[placed++] = self->scores[i].trial;
  return placed;
}

void hfta_trials_rank(const hfta_trials *self, int64_t *order) {
  int64_t placed = 0;
  for (int64_t rung = self->rungs - 1; rung >= 0; --rung)
    placed = append_level(self, self->levels[rung], true, order, placed);
  for (int64_t rung = self->rungs - 1; rung >= 0; --rung)
    placed = append_level(self, self->levels[rung], false, order, placed);
  append_level(self, 0, false, order, placed);
}
