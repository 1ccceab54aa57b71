//===- learning_rate.h - Learning rates over time ---------------*- C -*-===//

#ifndef HFTA_LEARNING_RATE_H
#define HFTA_LEARNING_RATE_H

#include "hfta/program.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Returns the name of a kind of schedule in the job language, such as
/// "cosine"; "?" if there is no such kind.
const char *hfta_learning_rate_name(uint32_t kind);

/// Returns whether the schedule depends on the total number of steps.
bool hfta_learning_rate_needs_total(const hfta_learning_rate *schedule);

/// Returns the learning rate of `copy` in step number `step`, from 0, of
/// `total_steps`. With lr = `learning_rate`, w = the copy's warm-up in steps
/// and t = step - w, it is
///
///   step < w    lr * (step + 1) / w
///   constant    lr
///   step        lr * gamma ^ floor(t / step_size)
///   cosine      lr * (m + (1 - m) * (1 + cos(pi * t / T)) / 2), where m is
///               the minimum and T = total_steps - 1 - w. So the last step has
///               the rate lr * m, and so have steps after it; but the step with
///               t = 0 has the rate lr, even if it is the last
///
/// It is computed in double precision.
double hfta_learning_rate_at(const hfta_learning_rate *schedule, int64_t copy,
                             double learning_rate, int64_t step,
                             int64_t total_steps);

#ifdef __cplusplus
}
#endif

#endif // HFTA_LEARNING_RATE_H
