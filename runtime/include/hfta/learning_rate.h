//===- learning_rate.h - Learning rates over time ---------------*- C -*-===//

#ifndef HFTA_LEARNING_RATE_H
#define HFTA_LEARNING_RATE_H

#include "hfta/program.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Returns the schedule's name in jobs; "?" if there is none.
const char *hfta_learning_rate_name(uint32_t kind);

/// Whether the schedule depends on the length of the training.
bool hfta_learning_rate_needs_total(const hfta_learning_rate *schedule);

/// Returns the rate of `copy` in the 0-based `step` of `total_steps`. With w
/// the copy's warm-up and t = step - w, it is
///
///   step < w    lr * (step + 1) / w
///   constant    lr
///   step        lr * gamma ^ floor(t / step_size)
///   cosine      lr * (m + (1 - m) * (1 + cos(pi * t / T)) / 2), where m is
///               the minimum and T = total_steps - 1 - w, so that the last
///               step takes lr * m; past it the rate stays there; t = 0 takes
///               lr even if it is the last
///
/// Computed in double; a pure function.
double hfta_learning_rate_at(const hfta_learning_rate *schedule, int64_t copy,
                             double learning_rate, int64_t step,
                             int64_t total_steps);

#ifdef __cplusplus
}
#endif

#endif // HFTA_LEARNING_RATE_H
