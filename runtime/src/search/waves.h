//===- waves.h - Rules that decide level by level ---------------*- C -*-===//
//
// Each bracket proceeds from rung to rung. At a rung, all its trials that are
// left are trained, in any order, before those that go on are chosen.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SEARCH_WAVES_H
#define HFTA_SRC_SEARCH_WAVES_H

#include "search/trial_table.h"

/// Lets the trials of all brackets wait for their first legs.
void hfta_waves_begin(hfta_trials *self);

/// Lets the last `count` trials wait for their first legs, to a rung, as a wave
/// of their own. There is room for one more wave.
void hfta_waves_add(hfta_trials *self, int64_t count, int64_t rung);

/// Takes note of the score that a trial has got.
void hfta_waves_record(hfta_trials *self, int64_t trial);

/// Takes note that a trial has been withdrawn; `had_score`: at its rung.
void hfta_waves_withdraw(hfta_trials *self, int64_t trial, bool had_score);

#endif // HFTA_SRC_SEARCH_WAVES_H
