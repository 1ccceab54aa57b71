//===- turns.h - How many copies make a turn --------------------*- C -*-===//
//
// Copies go through a schedule in turns. With a copy a thread no thread waits
// for another; with fewer, threads share a copy's kernels, and what the copies
// of a turn keep is more likely to fit into a cache that all threads share.
// Which of it takes less time can't be told from sizes, so that the first calls
// of a schedule try both. All of them give the same bytes.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SCHEDULE_TURNS_H
#define HFTA_SRC_SCHEDULE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

/// The search for the fastest width of a schedule's turns. It reads no clock:
/// its owner tells it what each call took.
typedef struct hfta_turns {
  int64_t most;  ///< the widest turn, which the search begins with
  int64_t width; ///< of the next call's turns
  int64_t best;  ///< the fastest width so far
  double best_seconds;
  double seconds;  ///< the fastest counted call of `width`
  int64_t calls;   ///< of `width` in this search, or since it has ended
  int64_t pause;   ///< calls until the next search
  bool is_settled; ///< no search goes on
} hfta_turns;

/// The search tries the widths most, most / 2, … 1, until one isn't faster than
/// the one before. Of each a few calls count, the first one doesn't: its caches
/// hold what turns of another width left there. As a moment may have been a bad
/// one to measure in, the search is repeated after many calls, and again after
/// twice as many.
void hfta_turns_begin(hfta_turns *self, int64_t most);

/// No search: turns always have this width.
void hfta_turns_fix(hfta_turns *self, int64_t width);

/// A call with turns of self->width took so long.
void hfta_turns_took(hfta_turns *self, double seconds);

#endif // HFTA_SRC_SCHEDULE_TURNS_H
