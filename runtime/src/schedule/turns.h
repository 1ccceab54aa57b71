//===- turns.h - The number of copies in a turn -------------------*- C -*-===//
//
// Copies go through a schedule in turns. With one copy per thread no thread
// waits for another; with fewer copies, threads share a copy's kernels, and the
// data of a turn's copies are more likely to fit into a cache that all threads
// share. Sizes alone don't show which is faster, so the first calls of a
// schedule try several widths. All widths give the same bytes.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_TURNS_H
#define HFTA_SRC_SCHEDULE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

/// The search for the fastest width of a schedule's turns. It reads no clock:
/// its owner reports how long each call took.
typedef struct hfta_turns {
  int64_t most;  ///< the widest turn, with which the search begins
  int64_t width; ///< width of the next call's turns
  int64_t best;  ///< the fastest width so far
  double best_seconds;
  double seconds;  ///< the fastest counted call with `width`
  int64_t calls;   ///< calls with `width` in this search, or since it has ended
  int64_t pause;   ///< calls until the next search
  bool is_settled; ///< the search has ended
} hfta_turns;

/// Begins a search, which tries the widths most, most / 2, … 1, until one isn't
/// faster than the one before. A few calls of each width count, except the
/// first one, in which the caches still hold another width's data. Since a
/// measurement may have been disturbed, the search is repeated after many
/// calls, and again after twice as many.
void hfta_turns_begin(hfta_turns *self, int64_t most);

/// Fixes the width; there is no search.
void hfta_turns_fix(hfta_turns *self, int64_t width);

/// Reports the seconds that a call with turns of self->width took.
void hfta_turns_took(hfta_turns *self, double seconds);

#endif // HFTA_SRC_SCHEDULE_TURNS_H
