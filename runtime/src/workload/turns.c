//===- turns.c - The number of copies in a turn ---------------------------===//

#include "workload/turns.h"

/// The number of timed calls for each width, and the number of calls until the
/// search is repeated for the first time.
enum { COUNTED_CALLS = 3, FIRST_PAUSE = 1024 };

/// A narrower turn is chosen only if it saves more than this fraction of the
/// time. A smaller gain may be noise, to which one copy per thread is less
/// sensitive.
static const double LEAST_GAIN = 0.03;

/// Begins a search with the largest width.
static void search(hfta_turns *self) {
  self->width = self->most;
  self->calls = 0;
  self->is_settled = self->most <= 1;
}

void hfta_turns_begin(hfta_turns *self, int64_t most) {
  *self = (hfta_turns){.most = most, .pause = FIRST_PAUSE};
  search(self);
}

void hfta_turns_fix(hfta_turns *self, int64_t width) {
  *self = (hfta_turns){
      .most = 1, .width = width, .best = width, .is_settled = true};
}

/// Ends the measurement of a width: goes on with the next one, or chooses the
/// best.
static void judge(hfta_turns *self) {
  bool is_faster = self->width == self->most ||
                   self->seconds < (1 - LEAST_GAIN) * self->best_seconds;
  if (is_faster) {
    self->best = self->width;
    self->best_seconds = self->seconds;
  }
  self->is_settled = !is_faster || self->width == 1;
  self->width = self->is_settled ? self->best : self->width / 2;
  self->calls = 0;
}

void hfta_turns_took(hfta_turns *self, double seconds) {
  if (self->most <= 1)
    return;
  ++self->calls;
  if (self->is_settled) {
    if (self->calls == self->pause) {
      self->pause *= 2;
      search(self);
    }
    return;
  }
  if (self->calls == 2 || seconds < self->seconds)
    self->seconds = seconds;
  if (self->calls == 1 + COUNTED_CALLS)
    judge(self);
}

int64_t hfta_turn_count(int64_t copies, int64_t most) {
  return most > 0 ? (copies + most - 1) / most : 1;
}

hfta_turn hfta_find_turn(int64_t copies, int64_t most, int64_t number) {
  int64_t count = hfta_turn_count(copies, most);
  int64_t each = (copies + count - 1) / count;
  int64_t first = number * each, left = copies - first;
  return (hfta_turn){.first = first, .copies = left < each ? left : each};
}
