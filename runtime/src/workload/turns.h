//===- turns.h - The number of copies in a turn -------------------*- C -*-===//
//
// Copies go through a schedule in turns. With one copy per thread, no thread
// waits for another. With fewer copies, several threads work on one copy's
// kernels, and the data of a turn are more likely to fit into a cache that all
// threads share. Which is faster doesn't follow from sizes alone, so the first
// calls of a schedule try several widths (numbers of copies in a turn). All
// widths give the same bytes.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_WORKLOAD_TURNS_H
#define HFTA_SRC_WORKLOAD_TURNS_H

#include <stdbool.h>
#include <stdint.h>

//===----------------------------------------------------------------------===//
// The width of turns within a call
//===----------------------------------------------------------------------===//

/// The search for the fastest width of a schedule's turns. It reads no clock:
/// its owner reports the duration of each call.
typedef struct hfta_turns {
  int64_t most;        ///< the largest width, with which the search begins
  int64_t width;       ///< width of turns in the next call
  int64_t best;        ///< the fastest width so far
  double best_seconds; ///< duration of the fastest call with `best`
  double seconds;  ///< duration of the fastest call with `width`, the first one
                   ///< not counted
  int64_t calls;   ///< number of calls with `width` in the search, or since the
                   ///< search has ended
  int64_t pause;   ///< number of calls after a search until the next one
  bool is_settled; ///< the search has ended
} hfta_turns;

/// Begins a search, which tries the widths most, most / 2, ..., 1, until one
/// isn't faster than the one before. For each width a few calls are timed, but
/// not the first one, during which caches still hold another width's data. As
/// measurements may be disturbed, the search is repeated after many calls, then
/// after twice as many, and so on.
void hfta_turns_begin(hfta_turns *self, int64_t most);

/// Fixes the width without a search.
void hfta_turns_fix(hfta_turns *self, int64_t width);

/// Reports how many seconds the last call took, with turns of `self->width`.
/// The width of the next call may then change.
void hfta_turns_took(hfta_turns *self, double seconds);

//===----------------------------------------------------------------------===//
// Turns of several calls
//===----------------------------------------------------------------------===//

/// A turn: some of the live copies, which run steps together on a device
/// without room for all copies. There are as few turns as possible, all of the
/// same width; a single turn if all copies fit.
typedef struct hfta_turn {
  int64_t first;  ///< position of the turn's first copy among the live copies
  int64_t copies; ///< number of its copies; the last turn may have fewer than
                  ///< the others
} hfta_turn;

/// Return the number of turns in which `copies` copies run if there is room for
/// `most` of them at a time (0: for all), and turn `number` of them.
int64_t hfta_turn_count(int64_t copies, int64_t most);
hfta_turn hfta_find_turn(int64_t copies, int64_t most, int64_t number);

#endif // HFTA_SRC_WORKLOAD_TURNS_H
