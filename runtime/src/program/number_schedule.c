//===- number_schedule.c - Numbers that change from step to step ----------===//

#include "hfta/number_schedule.h"

#include "system/portable_math.h"

#include <math.h>

//===----------------------------------------------------------------------===//
// A step of a copy in a schedule
//===----------------------------------------------------------------------===//

typedef struct position {
  const hfta_number_schedule *schedule;
  int64_t copy;
  double past; ///< steps since the end of the warm-up
  double last; ///< in these units, the step in which the schedule ends if its
               ///< parameters don't say it
  double reached; ///< the factor of `plateau`
} position;

static double value_of(const double *values, int64_t copy, double otherwise) {
  return values ? values[copy] : otherwise;
}

/// Returns a parameter's value.
#define VALUE(self, name, otherwise)                                           \
  value_of((self)->schedule->name, (self)->copy, otherwise)

static bool has_option(const position *self, hfta_schedule_option option) {
  return (self->schedule->options & (uint32_t)option) != 0;
}

/// Returns the share of `length` that `past` steps are, at most 1. Where there
/// is no length, the share is 0 in its only step, and then 1.
static double share_of(double past, double length) {
  double share = length > 0 ? past / length : past;
  return share > 1.0 ? 1.0 : share;
}

/// Returns how much of the schedule is over, from 0 to 1.
static double share(const position *self) {
  return share_of(self->past, VALUE(self, length, self->last));
}

/// Returns the number of milestones that a step has reached.
static uint32_t count_reached(const hfta_number_schedule *schedule,
                              int64_t copy, double step) {
  uint32_t count = schedule->milestone_count, reached = 0;
  const double *own = schedule->milestones + count * (uint64_t)copy;
  while (reached < count && own[reached] <= step)
    ++reached;
  return reached;
}

/// Returns what falls from 1 to `minimum` while `fall` falls from 1 to 0.
static double above_minimum(const position *self, double fall) {
  double minimum = VALUE(self, minimum, 0.0);
  return minimum + (1.0 - minimum) * fall;
}

/// Returns what falls from 1 to 0 in half a period of a cosine.
static double cosine_fall(double share) {
  return (1.0 + hfta_portable_cos_pi(share)) / 2.0;
}

//===----------------------------------------------------------------------===//
// The factors of the rules
//===----------------------------------------------------------------------===//

static double constant(const position *self) {
  (void)self;
  return 1.0;
}

/// The powers and cosines of `step` and `cosine` are the C library's: trainings
/// have been saved that depend on their last bits.
static double step(const position *self) {
  double size = VALUE(self, step_size, 1.0);
  return pow(VALUE(self, gamma, 1.0),
             floor(self->past / (size > 0 ? size : 1.0)));
}

static double cosine(const position *self) {
  const double pi = 3.14159265358979323846;
  return above_minimum(self, (1.0 + cos(pi * share(self))) / 2.0);
}

static double multi_step(const position *self) {
  return hfta_portable_power(
      VALUE(self, gamma, 1.0),
      count_reached(self->schedule, self->copy, self->past));
}

static double exponential(const position *self) {
  return hfta_portable_power(VALUE(self, gamma, 1.0), self->past);
}

static double polynomial(const position *self) {
  return above_minimum(
      self, hfta_portable_power(1.0 - share(self), VALUE(self, power, 1.0)));
}

static double linear(const position *self) {
  double start = VALUE(self, start, 1.0), end = VALUE(self, end, 0.0);
  return start + (end - start) * share(self);
}

static double cosine_restarts(const position *self) {
  double period = VALUE(self, period, 1.0), growth = VALUE(self, growth, 1.0);
  double past = self->past;
  if (growth > 1.0)
    for (; past >= period; period *= growth)
      past -= period;
  else
    past = fmod(past, period);
  return above_minimum(self, cosine_fall(past / period));
}

/// PyTorch's phases: with T = `last` + 1 steps, the first one ends in step
/// rise * T - 1, a fraction that isn't rounded, and the second one of three
/// takes as long as the first.
static double one_cycle(const position *self) {
  double last = VALUE(self, length, self->last);
  double start = VALUE(self, start, 1.0);
  double top = VALUE(self, rise, 0.0) * (last + 1.0) - 1.0;
  if (top < 0.0)
    top = 0.0;
  double from = start, to = 1.0, begin = 0.0, end = top;
  if (self->past >= top) {
    from = 1.0, to = VALUE(self, end, 1.0), begin = top, end = last;
    double back = fmin(2.0 * top, last);
    if (has_option(self, HFTA_SCHEDULE_THREE_PHASES) && self->past < back)
      to = start, end = back;
    else if (has_option(self, HFTA_SCHEDULE_THREE_PHASES))
      from = start, begin = back;
  }
  double share = share_of(self->past - begin, end - begin);
  if (has_option(self, HFTA_SCHEDULE_LINEAR))
    return from + (to - from) * share;
  return to + (from - to) * cosine_fall(share);
}

static double inverse_root(const position *self) {
  const double without_warmup = 10000.0;
  double warmup = VALUE(self, warmup, 0.0);
  double scale = VALUE(self, timescale, warmup > 0 ? warmup : without_warmup);
  return sqrt(scale / (self->past + scale));
}

static double wsd(const position *self) {
  double decay = VALUE(self, decay_steps, 1.0);
  double stable = VALUE(self, stable_steps, self->last - decay);
  double past = self->past - (stable > 0.0 ? stable : 0.0);
  double share = past > 0.0 ? share_of(past, decay) : 0.0;
  double fall = has_option(self, HFTA_SCHEDULE_COSINE) ? cosine_fall(share)
                : has_option(self, HFTA_SCHEDULE_ROOT) ? 1.0 - sqrt(share)
                                                       : 1.0 - share;
  return above_minimum(self, fall);
}

static double plateau(const position *self) { return self->reached; }

/// A rule: the factor by which it multiplies a number after the warm-up, and
/// the place in hfta_number_schedule of the parameter without which the
/// schedule ends with the training; 0: it has no end.
typedef struct rule {
  double (*factor)(const position *self);
  size_t end;
} rule;

static const rule RULES[] = {
    [HFTA_NUMBER_SCHEDULE_CONSTANT] = {constant, 0},
    [HFTA_NUMBER_SCHEDULE_STEP] = {step, 0},
    [HFTA_NUMBER_SCHEDULE_COSINE] = {cosine,
                                     offsetof(hfta_number_schedule, length)},
    [HFTA_NUMBER_SCHEDULE_MULTI_STEP] = {multi_step, 0},
    [HFTA_NUMBER_SCHEDULE_EXPONENTIAL] = {exponential, 0},
    [HFTA_NUMBER_SCHEDULE_POLYNOMIAL] = {polynomial,
                                         offsetof(hfta_number_schedule,
                                                  length)},
    [HFTA_NUMBER_SCHEDULE_LINEAR] = {linear,
                                     offsetof(hfta_number_schedule, length)},
    [HFTA_NUMBER_SCHEDULE_COSINE_RESTARTS] = {cosine_restarts, 0},
    [HFTA_NUMBER_SCHEDULE_ONE_CYCLE] = {one_cycle,
                                        offsetof(hfta_number_schedule, length)},
    [HFTA_NUMBER_SCHEDULE_INVERSE_ROOT] = {inverse_root, 0},
    [HFTA_NUMBER_SCHEDULE_WSD] = {wsd,
                                  offsetof(hfta_number_schedule, stable_steps)},
    [HFTA_NUMBER_SCHEDULE_PLATEAU] = {plateau, 0},
};

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

const char *hfta_number_schedule_name(uint32_t kind) {
  switch (kind) {
#define HFTA_NUMBER_SCHEDULE(identifier, number, name)                         \
  case number:                                                                 \
    return name;
    HFTA_NUMBER_SCHEDULES
#undef HFTA_NUMBER_SCHEDULE
  default:
    return "?";
  }
}

bool hfta_number_schedule_needs_total(const hfta_number_schedule *schedule) {
  if (schedule->part_count > 0) {
    // Only the last part of a sequence can go on until the training ends.
    uint32_t last = schedule->part_count - 1;
    bool needs = hfta_number_schedule_needs_total(&schedule->parts[last]);
    if (schedule->kind == HFTA_NUMBER_SCHEDULE_PRODUCT)
      for (uint32_t i = 0; i < last; ++i)
        needs |= hfta_number_schedule_needs_total(&schedule->parts[i]);
    return needs;
  }
  size_t end = RULES[schedule->kind].end;
  const double *const *given = (const void *)((const char *)schedule + end);
  return end != 0 && *given == NULL;
}

/// Returns the number in a step, counted from the begin of the schedule, which
/// ends in step `last` if its parameters don't say otherwise.
static double number_at(const hfta_number_schedule *schedule, int64_t copy,
                        double number, double step, double last,
                        double reached) {
  while (schedule->kind == HFTA_NUMBER_SCHEDULE_SEQUENCE) {
    const double *own =
        schedule->milestones + schedule->milestone_count * (uint64_t)copy;
    uint32_t part = count_reached(schedule, copy, step);
    double begin = part > 0 ? own[part - 1] : 0.0;
    if (part < schedule->milestone_count)
      last = own[part];
    step -= begin;
    last -= begin;
    schedule = &schedule->parts[part];
  }
  if (schedule->kind == HFTA_NUMBER_SCHEDULE_PRODUCT) {
    for (uint32_t i = 0; i < schedule->part_count; ++i)
      number =
          number_at(&schedule->parts[i], copy, number, step, last, reached);
    return number;
  }
  double warmup = value_of(schedule->warmup, copy, 0.0);
  if (step < warmup)
    return number * (step + 1.0) / warmup;
  const position here = {schedule, copy, step - warmup, last - warmup, reached};
  return number * RULES[schedule->kind].factor(&here);
}

double hfta_number_schedule_at(const hfta_number_schedule *schedule,
                               int64_t copy, double number, int64_t step,
                               int64_t total_steps, double reached) {
  return number_at(schedule, copy, number, (double)step,
                   (double)total_steps - 1.0, reached);
}
