//===- space.c - The settings that a search varies ------------------------===//

#include "search/space.h"

#include "search/draw.h"
#include "system/portable_math.h"

#include <math.h>

/// The largest whole number of a setting, such that all up to it are doubles,
/// also with a half added.
static const double MOST_WHOLE = 0x1p51;

/// The least width of a range that isn't one of logarithms, such that quotients
/// by parts of it are finite.
static const double LEAST_WIDTH = 0x1p-1000;

/// The most values that a setting may have, with which a number of 53 bits
/// still chooses among all of them with nearly equal shares.
static const double MOST_VALUES = 0x1p31;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static bool is_log(const hfta_search_setting *setting) {
  return setting->distribution == HFTA_LOG_UNIFORM ||
         setting->distribution == HFTA_LOG_INTEGERS;
}

static bool is_whole(double value) {
  return fabs(value) <= MOST_WHOLE && floor(value) == value;
}

static hfta_status check_integers(const hfta_search_setting *setting,
                                  hfta_error *error) {
  if (!is_whole(setting->low) || !is_whole(setting->high) ||
      !is_whole(setting->step))
    return hfta_fail(
        error, HFTA_INVALID_INPUT,
        "%s: expected whole numbers up to 2^51, got %g to %g, step %g",
        setting->name, setting->low, setting->high, setting->step);
  if (is_log(setting) && setting->low < 1.0)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "%s: expected at least 1 for a logarithm, got %g",
                     setting->name, setting->low);
  return HFTA_OK;
}

static hfta_status check_step(const hfta_search_setting *setting,
                              hfta_error *error) {
  if (!isfinite(setting->step) || setting->step < 0.0)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "%s: expected a step above 0, got %g", setting->name,
                     setting->step);
  if (setting->step > 0.0 && is_log(setting))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "%s: a step has no meaning for a logarithm",
                     setting->name);
  double step = setting->distribution == HFTA_INTEGERS && setting->step == 0.0
                    ? 1.0
                    : setting->step;
  if (step > 0.0 && !((setting->high - setting->low) / step < MOST_VALUES))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "%s: expected fewer than 2^31 values", setting->name);
  if (step > 0.0 && hfta_setting_values(setting) < 2)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "%s: expected a step of at most %g, got %g", setting->name,
                     setting->high - setting->low, step);
  return HFTA_OK;
}

/// Returns how far the numbers reach beyond a setting's range that are rounded
/// to its ends, before the logarithm is taken.
static double margin_of(const hfta_search_setting *setting) {
  return setting->distribution == HFTA_LOG_INTEGERS ? 0.5 : 0.0;
}

/// Checks that a range that isn't empty has enough numbers inside.
static hfta_status check_width(const hfta_search_setting *setting,
                               hfta_error *error) {
  double margin = margin_of(setting);
  if (!is_log(setting) && setting->high - setting->low < LEAST_WIDTH)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "%s: expected a range that is wider than 1e-301, got %g "
                     "to %g",
                     setting->name, setting->low, setting->high);
  if (is_log(setting) && !(hfta_portable_log(setting->high + margin) >
                           hfta_portable_log(setting->low - margin)))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "%s: expected ends whose logarithms differ, got %g to %g",
                     setting->name, setting->low, setting->high);
  return HFTA_OK;
}

static hfta_status check_range(const hfta_search_setting *setting,
                               hfta_error *error) {
  if (!isfinite(setting->high - setting->low) || setting->low >= setting->high)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "%s: expected a range of finite numbers, the smaller one "
                     "first, got %g to %g",
                     setting->name, setting->low, setting->high);
  if (is_log(setting) && !(setting->low >= 0x1p-1022))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "%s: expected numbers above 0 for a logarithm, got %g",
                     setting->name, setting->low);
  if (setting->distribution == HFTA_INTEGERS ||
      setting->distribution == HFTA_LOG_INTEGERS) {
    hfta_status status = check_integers(setting, error);
    if (status)
      return status;
  }
  hfta_status status = check_width(setting, error);
  return status ? status : check_step(setting, error);
}

static hfta_status check_choices(const hfta_search_setting *setting,
                                 hfta_error *error) {
  if (setting->choice_count < 1)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "%s: expected at least one choice", setting->name);
  for (int64_t i = 0; i < setting->choice_count; ++i)
    if (!isfinite(setting->choices[i]))
      return hfta_fail(error, HFTA_INVALID_INPUT,
                       "%s: expected finite numbers, got %g", setting->name,
                       setting->choices[i]);
  return HFTA_OK;
}

/// Returns whether two choices of a leader, and of all that are zipped with it,
/// are equal.
static bool are_equal(const hfta_search_space *space, int64_t leader,
                      int64_t one, int64_t other) {
  for (int64_t i = leader; i < space->count; ++i) {
    const double *choices = space->settings[i].choices;
    if (hfta_space_leader(space, i) == leader && choices[one] != choices[other])
      return false;
  }
  return true;
}

/// Checks that the choices of a leader, and of all that are zipped with it,
/// differ.
static hfta_status check_differ(const hfta_search_space *space, int64_t leader,
                                hfta_error *error) {
  const hfta_search_setting *setting = &space->settings[leader];
  for (int64_t i = 0; i < setting->choice_count; ++i)
    for (int64_t j = 0; j < i; ++j)
      if (are_equal(space, leader, i, j))
        return hfta_fail(error, HFTA_INVALID_INPUT,
                         "%s: expected different choices, got %g twice",
                         setting->name, setting->choices[i]);
  return HFTA_OK;
}

hfta_status hfta_space_check(const hfta_search_space *space,
                             hfta_error *error) {
  for (int64_t i = 0; i < space->count; ++i) {
    const hfta_search_setting *setting = &space->settings[i];
    hfta_status status = setting->distribution == HFTA_CHOICE
                             ? check_choices(setting, error)
                             : check_range(setting, error);
    if (status)
      return status;
    const hfta_search_setting *leader =
        &space->settings[hfta_space_leader(space, i)];
    if (setting->zip != HFTA_NO_ZIP && setting->distribution != HFTA_CHOICE)
      return hfta_fail(error, HFTA_INVALID_INPUT,
                       "%s: only lists of choices can be zipped",
                       setting->name);
    if (leader->choice_count != setting->choice_count && leader != setting)
      return hfta_fail(error, HFTA_INVALID_INPUT,
                       "%s: expected %lld choices like %s, got %lld",
                       setting->name, (long long)leader->choice_count,
                       leader->name, (long long)setting->choice_count);
  }
  for (int64_t i = 0; i < space->count; ++i) {
    if (hfta_space_leader(space, i) != i ||
        space->settings[i].distribution != HFTA_CHOICE)
      continue;
    hfta_status status = check_differ(space, i, error);
    if (status)
      return status;
  }
  return HFTA_OK;
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

int64_t hfta_space_leader(const hfta_search_space *space, int64_t setting) {
  int64_t zip = space->settings[setting].zip;
  for (int64_t i = 0; i < setting && zip != HFTA_NO_ZIP; ++i)
    if (space->settings[i].zip == zip)
      return i;
  return setting;
}

int64_t hfta_space_dimension(const hfta_search_space *space, int64_t leader) {
  int64_t dimension = 0;
  for (int64_t i = 0; i < leader; ++i)
    dimension += hfta_space_leader(space, i) == i;
  return dimension;
}

int64_t hfta_space_dimensions(const hfta_search_space *space) {
  return hfta_space_dimension(space, space->count);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Returns the distance of a setting's values; 0: they don't lie on a grid.
static double step_of(const hfta_search_setting *setting) {
  return setting->distribution == HFTA_INTEGERS && setting->step == 0.0
             ? 1.0
             : setting->step;
}

static double clamp(const hfta_search_setting *setting, double value) {
  if (value > setting->high)
    return setting->high;
  return value >= setting->low ? value : setting->low; // also for NaN
}

int64_t hfta_setting_values(const hfta_search_setting *setting) {
  // Decimal steps aren't exact: 0.3 / 0.1 is below 3 in doubles. The error of
  // the quotient grows with it.
  const double tolerance = 1e-9, relative = 0x1p-51;
  if (setting->distribution == HFTA_CHOICE)
    return setting->choice_count;
  double step = step_of(setting);
  if (step == 0.0)
    return 0;
  double quotient = (setting->high - setting->low) / step;
  return 1 + (int64_t)(quotient + tolerance + quotient * relative);
}

double hfta_setting_value(const hfta_search_setting *setting, int64_t index) {
  if (setting->distribution == HFTA_CHOICE)
    return setting->choices[index];
  return clamp(setting, setting->low + (double)index * step_of(setting));
}

double hfta_setting_at(const hfta_search_setting *setting, double fraction) {
  int64_t values = hfta_setting_values(setting);
  if (values > 0)
    return hfta_setting_value(setting, hfta_part_of_fraction(fraction, values));
  if (setting->distribution == HFTA_UNIFORM)
    return clamp(setting,
                 setting->low + fraction * (setting->high - setting->low));
  // Each integer has the range of numbers that are rounded to it.
  double margin = margin_of(setting);
  double low = hfta_portable_log(setting->low - margin);
  double high = hfta_portable_log(setting->high + margin);
  double value = hfta_portable_exp(low + fraction * (high - low));
  return clamp(setting, margin > 0.0 ? floor(value + margin) : value);
}

double hfta_setting_clamp(const hfta_search_setting *setting, double value) {
  if (setting->distribution == HFTA_CHOICE)
    return value;
  value = clamp(setting, value);
  double step = step_of(setting);
  if (setting->distribution == HFTA_LOG_INTEGERS)
    return clamp(setting, floor(value + 0.5));
  if (step == 0.0)
    return value;
  int64_t index = (int64_t)floor((value - setting->low) / step + 0.5);
  int64_t last = hfta_setting_values(setting) - 1;
  return hfta_setting_value(setting, index < last ? index : last);
}

int64_t hfta_space_choice(const hfta_search_space *space, int64_t leader,
                          const double *values) {
  const hfta_search_setting *setting = &space->settings[leader];
  if (setting->distribution != HFTA_CHOICE)
    return -1;
  for (int64_t choice = 0; choice < setting->choice_count; ++choice) {
    bool agrees = true;
    for (int64_t i = leader; i < space->count && agrees; ++i)
      agrees = hfta_space_leader(space, i) != leader ||
               space->settings[i].choices[choice] == values[i];
    if (agrees)
      return choice;
  }
  return -1;
}

void hfta_space_choose(const hfta_search_space *space, int64_t leader,
                       int64_t choice, double *values) {
  for (int64_t i = leader; i < space->count; ++i)
    if (hfta_space_leader(space, i) == leader)
      values[i] = space->settings[i].choices[choice];
}

void hfta_space_place(const hfta_search_space *space, int64_t leader,
                      double fraction, double *values) {
  const hfta_search_setting *setting = &space->settings[leader];
  if (setting->distribution == HFTA_CHOICE)
    hfta_space_choose(space, leader,
                      hfta_part_of_fraction(fraction, setting->choice_count),
                      values);
  else
    values[leader] = hfta_setting_at(setting, fraction);
}
