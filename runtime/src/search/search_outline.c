//===- search_outline.c - What a search will do ---------------------------===//

#include "hfta/search_outline.h"

#include "search/rule.h"
#include "search/sampler.h"

#include <stddef.h>

static hfta_search_space space_of(const hfta_search *search) {
  return (hfta_search_space){search->settings, search->setting_count};
}

hfta_status hfta_search_check_settings(const hfta_search *search,
                                       hfta_error *error) {
  hfta_search_space space = space_of(search);
  return hfta_space_check(&space, error);
}

/// Returns the number of hyperband's trials; 0 if its numbers aren't valid.
static int64_t trials_of_hyperband(const hfta_rule *rule) {
  // Halving has the same parameters, but takes any number of trials.
  hfta_rule alike = *rule;
  alike.kind = HFTA_RULE_HALVING;
  hfta_error ignored;
  return hfta_rule_check(&alike, 1, &ignored) ? 0 : hfta_rule_trials(rule);
}

int64_t hfta_search_own_trials(const hfta_search *search) {
  hfta_search_space space = space_of(search);
  if (search->sampler.kind == HFTA_SAMPLER_GRID)
    return hfta_grid_trials(&space);
  return search->rule.kind == HFTA_RULE_HYPERBAND
             ? trials_of_hyperband(&search->rule)
             : 0;
}

/// Checks that the rule doesn't change a packed setting of a trial.
static hfta_status check_packed(const hfta_search *search, hfta_error *error) {
  for (int64_t i = 0; i < search->setting_count; ++i)
    if (search->settings[i].is_packed &&
        search->rule.kind == HFTA_RULE_POPULATION)
      return hfta_fail(error, HFTA_UNSUPPORTED,
                       "%s: 'pbt' changes settings of a trial while that is "
                       "trained, but programs hold this one as a constant",
                       search->settings[i].name);
  return HFTA_OK;
}

hfta_status hfta_search_check(const hfta_search *search, hfta_error *error) {
  hfta_search_space space = space_of(search);
  hfta_status status = hfta_space_check(&space, error);
  if (!status)
    status = check_packed(search, error);
  if (!status)
    status = hfta_rule_check(&search->rule, search->trials, error);
  return status ? status
                : hfta_sampler_check(&search->sampler, &space, search->trials,
                                     error);
}

void hfta_search_measure(const hfta_search *search, hfta_search_size *out) {
  hfta_rule_size size = hfta_rule_count(&search->rule, search->trials);
  *out = (hfta_search_size){
      .brackets = size.brackets,
      .rungs = size.rungs,
      .is_uneven = size.is_uneven,
      .least_units = size.least_units,
      .most_units = size.most_units,
      .full_units = search->trials * search->rule.units,
      .held = size.held,
  };
}

int64_t hfta_search_level(const hfta_search *search, int64_t rung) {
  return hfta_rule_level(&search->rule, rung);
}

hfta_status hfta_search_example(const hfta_search *search, int64_t trial,
                                double *values, hfta_error *error) {
  hfta_search_space space = space_of(search);
  hfta_sampler sampler = search->sampler;
  if (sampler.kind == HFTA_SAMPLER_TPE)
    sampler.kind = HFTA_SAMPLER_RANDOM;
  return hfta_sampler_draw(&sampler, &space, trial, NULL, values, error);
}
