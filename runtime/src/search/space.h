//===- space.h - The settings that a search varies --------------*- C -*-===//
//
// A search space is a list of settings, each with the distribution of its
// values. A trial's settings are an array of doubles, one for each setting of
// the space, in its order.
//
// Settings with the same `zip` are lists of choices of equal length that are
// drawn together: all have their first choice, or all their second, and so on.
// The first of them is called their leader; it is a dimension of the space, and
// the others are not. Any other setting is its own leader.
//
// Threads: functions only change what their caller gives them.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SEARCH_SPACE_H
#define HFTA_SRC_SEARCH_SPACE_H

#include "hfta/search.h"
#include "hfta/status.h"

#include <stdbool.h>

typedef struct hfta_search_space {
  const hfta_search_setting *settings; ///< borrowed
  int64_t count;                       ///< number of settings
} hfta_search_space;

/// Checks a space. Returns HFTA_INVALID_INPUT with the setting's name if a
/// range is empty, has only one value or too few doubles, or doesn't fit its
/// distribution, if choices aren't all different, or if zipped settings aren't
/// choices of equal length.
hfta_status hfta_space_check(const hfta_search_space *space, hfta_error *error);

// All that follows is for spaces that have been checked.

/// Returns the number of a setting's leader.
int64_t hfta_space_leader(const hfta_search_space *space, int64_t setting);

/// Returns which dimension of the space a leader is, counted from 0.
int64_t hfta_space_dimension(const hfta_search_space *space, int64_t leader);

/// Returns the number of the space's dimensions.
int64_t hfta_space_dimensions(const hfta_search_space *space);

/// Returns the number of a setting's values, if these are choices, or lie on a
/// grid; 0: they don't.
int64_t hfta_setting_values(const hfta_search_setting *setting);

/// Returns value number `index` of a setting that has a number of values.
double hfta_setting_value(const hfta_search_setting *setting, int64_t index);

/// Returns the value at a place from 0 (inclusive) to 1 (exclusive) of a
/// setting's distribution. It is never outside of the setting's range.
double hfta_setting_at(const hfta_search_setting *setting, double fraction);

/// Returns the value of a setting's range that is nearest to `value`; on its
/// grid, if it has one; for NaN, it is the lowest. For choices, it is `value`
/// itself.
double hfta_setting_clamp(const hfta_search_setting *setting, double value);

/// Returns which choice the settings in `values` have for a leader and all that
/// are zipped with it, or -1 if these values aren't choices.
int64_t hfta_space_choice(const hfta_search_space *space, int64_t leader,
                          const double *values);

/// Gives a leader that is a choice, and all that are zipped with it, choice
/// number `choice`.
void hfta_space_choose(const hfta_search_space *space, int64_t leader,
                       int64_t choice, double *values);

/// Gives a leader, and all that are zipped with it, the values at a place of
/// their distribution.
void hfta_space_place(const hfta_search_space *space, int64_t leader,
                      double fraction, double *values);

#endif // HFTA_SRC_SEARCH_SPACE_H
