//===- number_schedule.h - Numbers that change from step to step -*- C -*-===//

#ifndef HFTA_NUMBER_SCHEDULE_H
#define HFTA_NUMBER_SCHEDULE_H

#include "hfta/program.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Returns the name of a kind of schedule in the job language, such as
/// "cosine"; "?" if there is no such kind.
const char *hfta_number_schedule_name(uint32_t kind);

/// Returns whether the schedule depends on the total number of steps.
bool hfta_number_schedule_needs_total(const hfta_number_schedule *schedule);

/// Returns what becomes of `number`, such as the learning rate, of `copy` in
/// step number `step`, from 0, of `total_steps`. While step < w, the copy's
/// warm-up in steps, it is number * (step + 1) / w. Then it is number * f, with
/// t = step - w, T = `length` or else total_steps - 1 - w, and x = min(t/T, 1):
///
///   constant         f = 1
///   step             f = gamma ^ floor(t / step_size)
///   multi_step       f = gamma ^ k, if k milestones are at most t
///   exponential      f = gamma ^ t
///   polynomial       f = m + (1 - m) * (1 - x) ^ power, m = minimum
///   linear           f = start + (end - start) * x
///   cosine           f = m + (1 - m) * (1 + cos(pi * x)) / 2
///   cosine_restarts  f = m + (1 - m) * (1 + cos(pi * t'/P)) / 2, where periods
///                    P = period, period * growth, ... follow one another, and
///                    t' is the number of steps since one has begun
///   one_cycle        f rises from start to 1 until t = rise * (T + 1) - 1, and
///                    falls to end until t = T. THREE_PHASES: it falls to start
///                    as fast as it has risen, and then to end. Each phase is
///                    half a period of a cosine, or with LINEAR a line
///   inverse_root     f = sqrt(a / (t + a)), a = timescale; else w, or 10000
///                    without a warm-up
///   wsd              f = 1 until t = S = `stable_steps` or T - decay_steps,
///                    then f = m + (1 - m) * g(min((t - S)/decay_steps, 1)),
///                    where g(x) is 1 - x, with COSINE (1 + cos(pi * x)) / 2,
///                    with ROOT 1 - sqrt(x)
///   plateau          f = `reached`, which validation scores decide
///
/// So schedules without `length` end in the last step, and keep its number in
/// steps after it; but the step with t = 0 counts as the first one, even if it
/// is the last. In a sequence, part i holds from milestone i - 1 on. Its steps
/// are counted from there, and without `length` it ends at the next milestone.
/// In a product, each part multiplies the number that the part before it gives.
///
/// It is computed in double precision.
double hfta_number_schedule_at(const hfta_number_schedule *schedule,
                               int64_t copy, double number, int64_t step,
                               int64_t total_steps, double reached);

#ifdef __cplusplus
}
#endif

#endif // HFTA_NUMBER_SCHEDULE_H
