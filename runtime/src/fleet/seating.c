//===- seating.c - Decides which model sits at which seat -----------------===//

#include "fleet/seating.h"

#include <math.h>
#include <stdlib.h>

/// Limits after which the timed steps and seconds are halved, so that later
/// steps weigh more in the mean.
enum { FORGOTTEN_STEPS = 16 };
static const double FORGOTTEN_SECONDS = 4.0;

const char *hfta_scheduler_name(hfta_scheduler scheduler) {
  static const char *const names[] = {"lrtf",   "fifo",  "srtf",
                                      "random", "exact", "model_parallel"};
  return names[scheduler];
}

hfta_status hfta_seating_create(hfta_scheduler scheduler, int64_t models,
                                int64_t seats, int places, hfta_seating *out,
                                hfta_error *error) {
  *out = (hfta_seating){.scheduler = scheduler,
                        .model_count = models,
                        .seat_count = seats,
                        .places = places,
                        .random = 1};
  out->models = calloc((size_t)models, sizeof(*out->models));
  out->seats = calloc((size_t)seats, sizeof(*out->seats));
  if (!out->models || !out->seats) {
    hfta_seating_destroy(out);
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory for %lld models on %lld seats",
                     (long long)models, (long long)seats);
  }
  for (int64_t i = 0; i < models; ++i)
    out->models[i] = (hfta_model_seating){
        .steps_left = -1, .step_seconds = NAN, .seat = HFTA_NOBODY};
  for (int64_t i = 0; i < seats; ++i)
    for (int place = 0; place < HFTA_SEAT_PLACES; ++place)
      out->seats[i].models[place] = out->seats[i].last[place] = HFTA_NOBODY;
  return HFTA_OK;
}

void hfta_seating_destroy(hfta_seating *self) {
  free(self->models);
  free(self->seats);
  self->models = NULL;
  self->seats = NULL;
}

//===----------------------------------------------------------------------===//
// Order of models
//===----------------------------------------------------------------------===//

double hfta_model_remaining(const hfta_model_seating *model) {
  if (model->state == HFTA_MODEL_GONE || model->steps_left == 0)
    return 0.0;
  return isnan(model->step_seconds) || model->steps_left < 0
             ? INFINITY
             : (double)model->steps_left * model->step_seconds;
}

/// Returns a rank; the model with the highest rank comes next. If models are
/// ordered by remaining time, one without a timed step comes first, so that it
/// gets timed.
static double rank_of(const hfta_seating *self, int64_t model) {
  const hfta_model_seating *row = &self->models[model];
  double remaining = hfta_model_remaining(row);
  switch (self->scheduler) {
  case HFTA_SCHEDULER_LRTF:
  case HFTA_SCHEDULER_EXACT:
    return remaining;
  case HFTA_SCHEDULER_SRTF:
    return isinf(remaining) ? 0.0 : -remaining;
  case HFTA_SCHEDULER_RANDOM:
    return row->draw;
  default:
    return -(double)model;
  }
}

/// Returns the next pseudo-random number, by Xorshift64* (Vigna, 2016) with a
/// fixed seed.
static double draw(hfta_seating *self) {
  self->random ^= self->random >> 12;
  self->random ^= self->random << 25;
  self->random ^= self->random >> 27;
  return (double)(self->random * 2685821657736338717u >> 11);
}

/// Returns the expected seconds of a model's remaining steps; 0 if unknown.
static double expected_of(const hfta_model_seating *model) {
  return model->steps_left < 0
             ? 0.0
             : (double)model->steps_left * model->expected_seconds;
}

/// Returns whether one model comes before another. If ranks are equal, as
/// between models without timed steps, the model with the longer expected time
/// comes first; for SRTF, the one with the shorter time.
static bool goes_before(const hfta_seating *self, int64_t one, int64_t other) {
  double ranks[] = {rank_of(self, one), rank_of(self, other)};
  if (ranks[0] != ranks[1])
    return ranks[0] > ranks[1];
  double difference =
      expected_of(&self->models[one]) - expected_of(&self->models[other]);
  switch (self->scheduler) {
  case HFTA_SCHEDULER_LRTF:
  case HFTA_SCHEDULER_EXACT:
    return difference > 0;
  case HFTA_SCHEDULER_SRTF:
    return difference < 0;
  default:
    return false;
  }
}

/// Returns the waiting model that comes next, or HFTA_NOBODY. If `is_beside`,
/// only a second place is free, which only models that spill can use.
static int64_t find_next(const hfta_seating *self, bool is_beside) {
  int64_t best = HFTA_NOBODY;
  for (int64_t i = 0; i < self->model_count; ++i) {
    const hfta_model_seating *row = &self->models[i];
    if (row->state != HFTA_MODEL_WAITS || (is_beside && !row->spills))
      continue;
    if (best == HFTA_NOBODY || goes_before(self, i, best))
      best = i;
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Seats
//===----------------------------------------------------------------------===//

static int64_t first_of(const hfta_seat_state *seat) {
  return seat->models[seat->first];
}

static int64_t second_of(const hfta_seat_state *seat) {
  return seat->models[!seat->first];
}

static bool is_empty(const hfta_seat_state *seat) {
  return first_of(seat) == HFTA_NOBODY;
}

static int64_t count_empty(const hfta_seating *self) {
  int64_t count = 0;
  for (int64_t i = 0; i < self->seat_count; ++i)
    count += is_empty(&self->seats[i]);
  return count;
}

/// Returns an empty seat for a model: one whose arena may still hold the
/// model's data, else the first one.
static int64_t find_seat(const hfta_seating *self, int64_t model) {
  int64_t found = HFTA_NOBODY;
  for (int64_t i = 0; i < self->seat_count; ++i) {
    const hfta_seat_state *seat = &self->seats[i];
    if (!is_empty(seat))
      continue;
    if (seat->last[0] == model || seat->last[1] == model)
      return i;
    if (found == HFTA_NOBODY)
      found = i;
  }
  return found;
}

static void sit(hfta_seating *self, int64_t model, int64_t index, int place,
                double now) {
  hfta_seat_state *seat = &self->seats[index];
  hfta_model_seating *row = &self->models[model];
  seat->models[place] = model;
  row->state = HFTA_MODEL_SITS;
  row->seat = index;
  row->place = place;
  row->since = row->unit = now;
  int64_t other = seat->models[!place];
  row->has_shared = other != HFTA_NOBODY;
  if (other != HFTA_NOBODY)
    self->models[other].has_shared = true;
  if (self->seated)
    self->seated(self->argument, model);
}

/// Assigns free seats and places to waiting models.
static void dispatch(hfta_seating *self, double now) {
  int64_t empty = count_empty(self);
  if (self->scheduler == HFTA_SCHEDULER_MODEL_PARALLEL)
    empty = empty == self->seat_count;
  for (; empty > 0; --empty) {
    int64_t model = find_next(self, false);
    if (model == HFTA_NOBODY)
      return;
    int64_t index = find_seat(self, model);
    hfta_seat_state *seat = &self->seats[index];
    seat->first = self->places > 1 && seat->last[1] == model;
    sit(self, model, index, seat->first, now);
  }
  bool takes_second =
      self->places > 1 && self->scheduler != HFTA_SCHEDULER_MODEL_PARALLEL;
  for (int64_t i = 0; i < self->seat_count && takes_second; ++i) {
    hfta_seat_state *seat = &self->seats[i];
    if (is_empty(seat) || second_of(seat) != HFTA_NOBODY)
      continue;
    int64_t model = find_next(self, true);
    if (model == HFTA_NOBODY)
      return;
    sit(self, model, i, !seat->first, now);
  }
}

/// Empties the model's place. A model in the seat's other place then gets
/// priority.
static void vacate(hfta_seating *self, int64_t model, double now) {
  hfta_model_seating *row = &self->models[model];
  hfta_seat_state *seat = &self->seats[row->seat];
  seat->models[row->place] = HFTA_NOBODY;
  seat->last[row->place] = model;
  int64_t other = seat->models[!row->place];
  bool was_first = seat->first == row->place;
  row->seat = HFTA_NOBODY;
  if (!was_first || other == HFTA_NOBODY)
    return;
  seat->first = self->models[other].place;
  self->models[other].has_shared = true;
  self->models[other].since = self->models[other].unit = now;
  if (self->promoted)
    self->promoted(self->argument, other);
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

void hfta_seating_wait(hfta_seating *self, int64_t model, double now) {
  hfta_model_seating *row = &self->models[model];
  row->state = HFTA_MODEL_WAITS;
  row->draw = draw(self);
  dispatch(self, now);
}

void hfta_seating_leave(hfta_seating *self, int64_t model, bool is_gone,
                        double now) {
  hfta_model_seating *row = &self->models[model];
  bool sat = row->state == HFTA_MODEL_SITS;
  row->state = is_gone ? HFTA_MODEL_GONE : HFTA_MODEL_AWAY;
  if (!sat)
    return;
  vacate(self, model, now);
  dispatch(self, now);
}

/// Updates the time of a step: the mean of the timed steps. Later steps weigh
/// more, since other processes may have begun to use memory and disk meanwhile.
static void note_time(hfta_model_seating *row, int64_t steps, double seconds) {
  if (isnan(row->step_seconds)) {
    row->step_seconds = seconds / (double)steps;
    return;
  }
  if (row->timed_steps >= FORGOTTEN_STEPS &&
      row->timed_seconds >= FORGOTTEN_SECONDS) {
    row->timed_steps /= 2;
    row->timed_seconds /= 2;
  }
  row->timed_steps += (double)steps;
  row->timed_seconds += seconds;
  row->step_seconds = row->timed_seconds / row->timed_steps;
}

static void note_steps(hfta_model_seating *row, int64_t steps, double computed,
                       double now, bool is_first) {
  bool is_shared = row->has_shared && !isnan(computed);
  double seconds = is_shared ? computed : now - row->since;
  // A model without priority has also waited for the one with priority, so its
  // elapsed time doesn't count.
  bool counts = is_first || is_shared;
  if (counts || row->timed_steps == 0)
    note_time(row, steps, seconds);
  if (!counts)
    return;
  row->all_seconds += seconds;
  row->all_steps += steps;
}

/// Returns whether all models would end later if `next` waited for another unit
/// of `model`. In that case `next` must compute without a pause from now until
/// the end. If models are exchanged only then, no schedule is shorter, as with
/// McNaughton's rule (1959), and exchanges are rare.
static bool must_sit(const hfta_seating *self, int64_t next, int64_t model) {
  double remaining = hfta_model_remaining(&self->models[next]);
  double unit = self->models[model].step_seconds;
  unit = unit > HFTA_UNIT_SECONDS ? unit : HFTA_UNIT_SECONDS;
  return isinf(remaining) || remaining + unit >= hfta_seating_bound(self);
}

/// Returns by how many seconds a model's remaining time may be below that of
/// the next model before it loses its seat. This is 1/32 of the remaining time
/// of the whole seating, so that models aren't exchanged all the time but still
/// end together. For a model that spills it is at least one step, since an
/// exchange costs it reads from the store.
static double patience_of(const hfta_seating *self,
                          const hfta_model_seating *row) {
  if (self->scheduler != HFTA_SCHEDULER_LRTF || isnan(row->step_seconds))
    return 0.0;
  double left = hfta_seating_bound(self) / 32;
  double step = row->spills ? row->step_seconds : 0.0;
  return isinf(left) || left < step ? step : left;
}

/// Returns whether the model should lose its place, because another model that
/// could take the place comes before it.
static bool is_overtaken(const hfta_seating *self, int64_t model) {
  const hfta_model_seating *row = &self->models[model];
  const hfta_seat_state *seat = &self->seats[row->seat];
  bool is_first = seat->first == row->place;
  int64_t next = find_next(self, !is_first);
  int64_t second = is_first ? second_of(seat) : HFTA_NOBODY;
  if (second != HFTA_NOBODY &&
      (next == HFTA_NOBODY || rank_of(self, second) > rank_of(self, next)))
    next = second;
  if (next == HFTA_NOBODY ||
      !(rank_of(self, next) > rank_of(self, model) + patience_of(self, row)))
    return false;
  return self->scheduler != HFTA_SCHEDULER_EXACT || must_sit(self, next, model);
}

bool hfta_seating_pass(hfta_seating *self, int64_t model, int64_t steps,
                       double computed, double now) {
  hfta_model_seating *row = &self->models[model];
  const hfta_seat_state *seat = &self->seats[row->seat];
  bool is_first = seat->first == row->place;
  bool is_new = row->timed_steps == 0;
  if (steps > 0) {
    note_steps(row, steps, computed, now, is_first);
    if (row->steps_left > 0)
      row->steps_left -= steps < row->steps_left ? steps : row->steps_left;
  }
  row->since = now;
  row->has_shared = second_of(seat) != HFTA_NOBODY && !is_empty(seat);
  row->draw = draw(self);
  // Two models at one seat part if another seat is empty: separately, both are
  // faster.
  bool can_part = self->scheduler != HFTA_SCHEDULER_MODEL_PARALLEL &&
                  !is_empty(seat) && second_of(seat) != HFTA_NOBODY &&
                  count_empty(self) > 0;
  bool is_done = is_new || now - row->unit >= HFTA_UNIT_SECONDS;
  if (!can_part && !(is_done && is_overtaken(self, model)))
    return true;
  hfta_seating_leave(self, model, false, now);
  return false;
}

//===----------------------------------------------------------------------===//
// Forecasts
//===----------------------------------------------------------------------===//

double hfta_seating_bound(const hfta_seating *self) {
  double longest = 0.0, all = 0.0;
  for (int64_t i = 0; i < self->model_count; ++i) {
    double remaining = hfta_model_remaining(&self->models[i]);
    longest = remaining > longest ? remaining : longest;
    all += remaining;
  }
  double share = all / (double)self->seat_count;
  return longest > share ? longest : share;
}

/// Copies the seating; in the copy, all models that are away and have steps
/// left wait for a seat. Returns false if there isn't enough memory.
static bool copy_seating(const hfta_seating *self, hfta_seating *out) {
  hfta_error error;
  if (hfta_seating_create(self->scheduler, self->model_count, self->seat_count,
                          self->places, out, &error) != HFTA_OK)
    return false;
  out->random = self->random;
  for (int64_t i = 0; i < self->seat_count; ++i)
    out->seats[i] = self->seats[i];
  for (int64_t i = 0; i < self->model_count; ++i) {
    hfta_model_seating *row = &out->models[i];
    *row = self->models[i];
    row->since = row->unit = 0.0;
    if (row->steps_left == 0)
      row->step_seconds = 0.0;
    if (row->state == HFTA_MODEL_AWAY && row->steps_left > 0)
      row->state = HFTA_MODEL_WAITS;
  }
  return true;
}

/// Returns the number of steps of the model's next unit, which lasts at least
/// `seconds` unless the model ends.
static int64_t steps_of_unit(const hfta_model_seating *model, double seconds) {
  double steps = ceil(seconds / model->step_seconds);
  if (steps >= (double)model->steps_left)
    return model->steps_left;
  return steps >= 1.0 ? (int64_t)steps : 1;
}

/// Returns the model that ends its unit first, among those with priority at
/// their seats, and sets `*time` to that end. Returns HFTA_NOBODY if all seats
/// are empty.
static int64_t find_end(const hfta_seating *self, double unit, double *time) {
  int64_t found = HFTA_NOBODY;
  for (int64_t i = 0; i < self->seat_count; ++i) {
    int64_t model = first_of(&self->seats[i]);
    if (model == HFTA_NOBODY)
      continue;
    const hfta_model_seating *row = &self->models[model];
    double end =
        row->since + row->step_seconds * (double)steps_of_unit(row, unit);
    if (found != HFTA_NOBODY && end >= *time)
      continue;
    found = model;
    *time = end;
  }
  return found;
}

double hfta_seating_forecast(const hfta_seating *self) {
  // The most units that are simulated for one model.
  enum { UNITS = 4096 };
  double bound = hfta_seating_bound(self), now = 0.0, unit = bound / UNITS;
  hfta_seating copy;
  if (isinf(bound) || !copy_seating(self, &copy))
    return NAN;
  unit = unit > HFTA_UNIT_SECONDS ? unit : HFTA_UNIT_SECONDS;
  dispatch(&copy, now);
  int64_t model;
  while ((model = find_end(&copy, unit, &now)) != HFTA_NOBODY) {
    hfta_model_seating *row = &copy.models[model];
    bool stays =
        hfta_seating_pass(&copy, model, steps_of_unit(row, unit), NAN, now);
    if (row->steps_left == 0)
      hfta_seating_leave(&copy, model, true, now);
    else if (!stays)
      hfta_seating_wait(&copy, model, now);
  }
  hfta_seating_destroy(&copy);
  return now;
}
