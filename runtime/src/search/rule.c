//===- rule.c - Which trials a rule plans ---------------------------------===//

#include "search/rule.h"

#include <math.h>

/// The largest numbers of units and trials, with which no product or sum here
/// overflows.
enum { MOST_UNITS = 1000000000, MOST_TRIALS = 100000 };

/// The most scores of all trials at all levels: more decisions would need
/// gigabytes.
enum { MOST_SCORES = 20000000 };

/// Returns whether the rule divides trials into rungs by `eta`.
static bool has_rungs(const hfta_rule *rule) {
  return rule->kind == HFTA_RULE_HALVING || rule->kind == HFTA_RULE_HYPERBAND ||
         rule->kind == HFTA_RULE_ASHA;
}

static int64_t largest(int64_t one, int64_t other) {
  return one > other ? one : other;
}

static hfta_status check_range(const char *name, int64_t value, int64_t least,
                               int64_t most, hfta_error *error) {
  if (value >= least && value <= most)
    return HFTA_OK;
  return hfta_fail(error, HFTA_INVALID_INPUT,
                   "%s: expected %lld to %lld, got %lld", name,
                   (long long)least, (long long)most, (long long)value);
}

static hfta_status check_rungs(const hfta_rule *rule, int64_t trials,
                               hfta_error *error) {
  hfta_status status = check_range("grace", rule->grace, 1, rule->units, error);
  if (!status)
    status = check_range("eta", rule->eta, 2, MOST_TRIALS, error);
  if (!status && rule->kind == HFTA_RULE_ASHA)
    status = check_range("workers", rule->workers, 1, MOST_TRIALS, error);
  if (status || rule->kind != HFTA_RULE_HYPERBAND)
    return status;
  int64_t own = hfta_rule_trials(rule);
  if (own > MOST_TRIALS)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "hyperband: expected at most %d trials, got %lld",
                     MOST_TRIALS, (long long)own);
  if (own != trials)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "trials: hyperband has %lld, got %lld", (long long)own,
                     (long long)trials);
  return HFTA_OK;
}

static hfta_status check_population(const hfta_rule *rule, hfta_error *error) {
  if (!(rule->quantile > 0.0 && rule->quantile <= 0.5))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "quantile: expected a number above 0, at most 0.5, got %g",
                     rule->quantile);
  if (!(rule->resample >= 0.0 && rule->resample <= 1.0))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "resample: expected a number from 0 to 1, got %g",
                     rule->resample);
  if (!(rule->factors[0] > 0.0 && rule->factors[0] < 1.0) ||
      !(rule->factors[1] > 1.0 && isfinite(rule->factors[1])))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "factors: expected one from 0 to 1, and one above 1, got "
                     "%g and %g",
                     rule->factors[0], rule->factors[1]);
  return HFTA_OK;
}

static hfta_status check_percentile(const hfta_rule *rule, hfta_error *error) {
  hfta_status status = check_range("grace", rule->grace, 1, rule->units, error);
  if (!status && !(rule->percentile > 0.0 && rule->percentile <= 100.0))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "percentile: expected a number above 0, at most 100, "
                     "got %g",
                     rule->percentile);
  return status;
}

static hfta_status check_scores(const hfta_rule *rule, int64_t trials,
                                hfta_error *error) {
  int64_t rungs = hfta_rule_rungs(rule);
  if (rungs > MOST_SCORES / trials)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "levels: expected at most %d scores, got %lld levels of "
                     "%lld trials",
                     MOST_SCORES, (long long)rungs, (long long)trials);
  return HFTA_OK;
}

hfta_status hfta_rule_check(const hfta_rule *rule, int64_t trials,
                            hfta_error *error) {
  hfta_status status = check_range("kind", rule->kind, HFTA_RULE_NONE,
                                   HFTA_RULE_POPULATION, error);
  if (!status)
    status = check_range("direction", rule->direction, HFTA_MINIMIZE,
                         HFTA_MAXIMIZE, error);
  if (!status)
    status = check_range("units", rule->units, 1, MOST_UNITS, error);
  if (!status)
    status = check_range("trials", trials, 1, MOST_TRIALS, error);
  if (status || rule->kind == HFTA_RULE_NONE)
    return status;
  if (has_rungs(rule))
    status = check_rungs(rule, trials, error);
  else
    status = check_range("every", rule->every, 1, rule->units, error);
  if (!status && rule->kind == HFTA_RULE_POPULATION)
    status = check_population(rule, error);
  if (!status && rule->kind == HFTA_RULE_PERCENTILE)
    status = check_percentile(rule, error);
  return status ? status : check_scores(rule, trials, error);
}

/// Returns which multiple of `every` is the first level of a rule that decides
/// at such multiples.
static int64_t first_multiple(const hfta_rule *rule) {
  if (rule->kind == HFTA_RULE_POPULATION)
    return 1;
  return (rule->grace + rule->every - 1) / rule->every;
}

int64_t hfta_rule_rungs(const hfta_rule *rule) {
  int64_t rungs = 1;
  if (rule->kind == HFTA_RULE_NONE)
    return rungs;
  if (has_rungs(rule)) {
    for (int64_t level = rule->grace; level < rule->units; level *= rule->eta)
      ++rungs;
    return rungs;
  }
  int64_t last = (rule->units - 1) / rule->every;
  return largest(last - first_multiple(rule) + 1, 0) + 1;
}

int64_t hfta_rule_level(const hfta_rule *rule, int64_t rung) {
  if (rung == hfta_rule_rungs(rule) - 1)
    return rule->units;
  if (!has_rungs(rule))
    return (first_multiple(rule) + rung) * rule->every;
  int64_t level = rule->grace;
  for (int64_t i = 0; i < rung; ++i)
    level *= rule->eta;
  return level;
}

int64_t hfta_rule_brackets(const hfta_rule *rule) {
  if (rule->kind != HFTA_RULE_HYPERBAND)
    return 1;
  int64_t brackets = 0;
  for (int64_t level = rule->grace; level <= rule->units; level *= rule->eta)
    ++brackets;
  return brackets;
}

/// Returns the trials of a bracket of Hyperband, ceil((smax + 1) eta^s / (s +
/// 1)), where smax + 1 is the number of brackets, and s that of those behind
/// this one.
static int64_t hyperband_trials(const hfta_rule *rule, int64_t bracket) {
  int64_t brackets = hfta_rule_brackets(rule), own = brackets - bracket;
  int64_t power = 1;
  for (int64_t i = 1; i < own; ++i)
    power *= rule->eta;
  return (brackets * power + own - 1) / own;
}

hfta_bracket hfta_rule_bracket(const hfta_rule *rule, int64_t trials,
                               int64_t bracket) {
  hfta_bracket out = {.trials = trials, .rungs = hfta_rule_rungs(rule)};
  if (rule->kind != HFTA_RULE_HYPERBAND)
    return out;
  for (int64_t i = 0; i < bracket; ++i)
    out.first_trial += hyperband_trials(rule, i);
  out.trials = hyperband_trials(rule, bracket);
  out.first_rung = bracket;
  out.rungs -= bracket;
  return out;
}

int64_t hfta_rule_trials(const hfta_rule *rule) {
  if (rule->kind != HFTA_RULE_HYPERBAND)
    return 0;
  int64_t trials = 0;
  for (int64_t i = 0; i < hfta_rule_brackets(rule); ++i)
    trials += hyperband_trials(rule, i);
  return trials;
}

int64_t hfta_rule_kept(const hfta_rule *rule, int64_t trials) {
  return has_rungs(rule) ? largest(trials / rule->eta, 1) : trials;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Returns the units of a bracket's trials.
static int64_t units_of(const hfta_rule *rule, hfta_bracket bracket) {
  int64_t units = 0, before = 0, trials = bracket.trials;
  for (int64_t i = 0; i < bracket.rungs; ++i) {
    int64_t level = hfta_rule_level(rule, bracket.first_rung + i);
    units += trials * (level - before);
    trials = hfta_rule_kept(rule, trials);
    before = level;
  }
  return units;
}

/// Returns the most units of asha. If each trial is better than all before it,
/// each goes on as soon as a level has the scores of `eta` trials.
static int64_t most_units_of_asha(const hfta_rule *rule, int64_t trials) {
  int64_t units = 0, before = 0;
  for (int64_t i = 0; i < hfta_rule_rungs(rule); ++i) {
    int64_t level = hfta_rule_level(rule, i);
    units += trials * (level - before);
    trials = largest(trials - rule->eta + 1, 1);
    before = level;
  }
  return units;
}

/// Returns the most states that are held. Where the rule keeps a known number
/// of a rung's trials, those that as many others have beaten are dropped at
/// once. A bracket holds most after its first rung; brackets may get there at
/// the same time.
static int64_t most_held(const hfta_rule *rule, int64_t trials) {
  int64_t rungs = hfta_rule_rungs(rule), held = 0;
  if (rungs == 1 && rule->kind != HFTA_RULE_ASHA)
    return 0;
  switch (rule->kind) {
  case HFTA_RULE_NONE:
    return 0;
  case HFTA_RULE_HALVING:
  case HFTA_RULE_HYPERBAND:
    for (int64_t i = 0; i < hfta_rule_brackets(rule); ++i) {
      hfta_bracket bracket = hfta_rule_bracket(rule, trials, i);
      if (bracket.rungs > 1)
        held += hfta_rule_kept(rule, bracket.trials);
    }
    return held;
  case HFTA_RULE_ASHA:
    // A worker holds one state besides: of a trial that waits for its leg, or
    // whose score virtual time hasn't reached yet.
    held = (rungs - 1) * hfta_rule_kept(rule, trials) + rule->workers;
    return held < trials ? held : trials;
  case HFTA_RULE_PERCENTILE:
  case HFTA_RULE_POPULATION:
    return trials;
  }
  return trials;
}

hfta_rule_size hfta_rule_count(const hfta_rule *rule, int64_t trials) {
  hfta_rule_size size = {.trials = trials,
                         .brackets = hfta_rule_brackets(rule),
                         .rungs = hfta_rule_rungs(rule),
                         .held = most_held(rule, trials)};
  if (has_rungs(rule) && size.rungs > 1)
    size.is_uneven =
        hfta_rule_level(rule, size.rungs - 2) * rule->eta != rule->units;
  for (int64_t i = 0; i < size.brackets; ++i)
    size.least_units += units_of(rule, hfta_rule_bracket(rule, trials, i));
  size.most_units = size.least_units;
  if (rule->kind == HFTA_RULE_ASHA)
    size.most_units = most_units_of_asha(rule, trials);
  if (rule->kind == HFTA_RULE_PERCENTILE)
    size.least_units = trials * hfta_rule_level(rule, 0);
  return size;
}
