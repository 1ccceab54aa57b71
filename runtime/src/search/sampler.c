//===- sampler.c - What settings the trials of a search get ---------------===//

#include "search/sampler.h"

#include "search/draw.h"
#include "search/halton.h"
#include "search/sobol.h"
#include "search/tpe.h"

//===----------------------------------------------------------------------===//
// Grid
//===----------------------------------------------------------------------===//

int64_t hfta_grid_trials(const hfta_search_space *space) {
  const int64_t most = (int64_t)1 << 31;
  int64_t trials = 1;
  for (int64_t i = 0; i < space->count; ++i) {
    const hfta_search_setting *setting = &space->settings[i];
    if (setting->distribution != HFTA_CHOICE)
      return -1;
    if (hfta_space_leader(space, i) != i)
      continue;
    if (setting->choice_count > most / trials)
      return -1;
    trials *= setting->choice_count;
  }
  return trials;
}

static void draw_grid(const hfta_search_space *space, int64_t trial,
                      double *values) {
  for (int64_t i = space->count - 1; i >= 0; --i) {
    if (hfta_space_leader(space, i) != i)
      continue;
    int64_t choices = space->settings[i].choice_count;
    hfta_space_choose(space, i, trial % choices, values);
    trial /= choices;
  }
}

static hfta_status check_grid(const hfta_search_space *space, int64_t trials,
                              hfta_error *error) {
  for (int64_t i = 0; i < space->count; ++i)
    if (space->settings[i].distribution != HFTA_CHOICE)
      return hfta_fail(error, HFTA_INVALID_INPUT,
                       "%s: a grid needs a list of values, not a distribution",
                       space->settings[i].name);
  int64_t own = hfta_grid_trials(space);
  if (own < 0)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "grid: expected at most 2^31 combinations");
  if (own != trials)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "trials: grid has %lld, got %lld", (long long)own,
                     (long long)trials);
  return HFTA_OK;
}

//===----------------------------------------------------------------------===//
// All samplers
//===----------------------------------------------------------------------===//

static hfta_status check_number(const char *name, int64_t value, int64_t most,
                                hfta_error *error) {
  if (value >= 0 && value <= most)
    return HFTA_OK;
  return hfta_fail(error, HFTA_INVALID_INPUT,
                   "%s: expected 0 to %lld, got %lld", name, (long long)most,
                   (long long)value);
}

hfta_status hfta_sampler_check_members(const hfta_sampler *sampler,
                                       hfta_error *error) {
  hfta_status status =
      check_number("sampler", sampler->kind, HFTA_SAMPLER_EXTERNAL, error);
  if (status || sampler->kind != HFTA_SAMPLER_TPE)
    return status;
  if (sampler->startup < 1 || sampler->batch < 1)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "tpe: expected at least 1 for startup and batch, got "
                     "%lld and %lld",
                     (long long)sampler->startup, (long long)sampler->batch);
  return check_number("direction", sampler->direction, HFTA_MAXIMIZE, error);
}

hfta_status hfta_sampler_check(const hfta_sampler *sampler,
                               const hfta_search_space *space, int64_t trials,
                               hfta_error *error) {
  int64_t dimensions = hfta_space_dimensions(space);
  hfta_status status = hfta_sampler_check_members(sampler, error);
  if (status)
    return status;
  switch (sampler->kind) {
  case HFTA_SAMPLER_GRID:
    return check_grid(space, trials, error);
  case HFTA_SAMPLER_RANDOM:
  case HFTA_SAMPLER_TPE:
  case HFTA_SAMPLER_EXTERNAL:
    return HFTA_OK;
  case HFTA_SAMPLER_SOBOL:
  case HFTA_SAMPLER_HALTON:
    if (dimensions > HFTA_MOST_DIMENSIONS)
      return hfta_fail(error, HFTA_UNSUPPORTED,
                       "%s: expected at most %d settings, got %lld",
                       sampler->kind == HFTA_SAMPLER_SOBOL ? "sobol" : "halton",
                       HFTA_MOST_DIMENSIONS, (long long)dimensions);
    return HFTA_OK;
  }
  return HFTA_OK;
}

int64_t hfta_sampler_needs(const hfta_sampler *sampler, int64_t trial) {
  if (sampler->kind != HFTA_SAMPLER_TPE || trial < sampler->startup)
    return 0;
  return trial - (trial - sampler->startup) % sampler->batch;
}

/// Returns the place of a trial in a dimension's distribution.
static double fraction_of(const hfta_sampler *sampler, int64_t trial,
                          int64_t dimension) {
  switch (sampler->kind) {
  case HFTA_SAMPLER_SOBOL:
    return hfta_sobol_scrambled(sampler->seed, (uint32_t)trial, dimension);
  case HFTA_SAMPLER_HALTON:
    return hfta_halton_scrambled(sampler->seed, (uint32_t)trial, dimension);
  case HFTA_SAMPLER_GRID:
  case HFTA_SAMPLER_RANDOM:
  case HFTA_SAMPLER_TPE:
  case HFTA_SAMPLER_EXTERNAL:
    return hfta_draw(sampler->seed, HFTA_DRAW_SETTING, trial, dimension, 0);
  }
  return 0.0;
}

hfta_status hfta_sampler_draw(const hfta_sampler *sampler,
                              const hfta_search_space *space, int64_t trial,
                              const hfta_observation *observations,
                              double *values, hfta_error *error) {
  if (sampler->kind == HFTA_SAMPLER_GRID) {
    draw_grid(space, trial, values);
    return HFTA_OK;
  }
  if (hfta_sampler_needs(sampler, trial) > 0)
    return hfta_tpe_draw(sampler, space, trial,
                         hfta_sampler_needs(sampler, trial), observations,
                         values, error);
  for (int64_t i = 0, dimension = 0; i < space->count; ++i) {
    if (hfta_space_leader(space, i) != i)
      continue;
    hfta_space_place(space, i, fraction_of(sampler, trial, dimension), values);
    ++dimension;
  }
  return HFTA_OK;
}
