//===- learning_rate.c - Learning rates over time -------------------------===//

#include "hfta/learning_rate.h"

#include <math.h>

const char *hfta_learning_rate_name(uint32_t kind) {
  switch (kind) {
#define HFTA_LEARNING_RATE(identifier, number, name)                           \
  case number:                                                                 \
    return name;
    HFTA_LEARNING_RATES
#undef HFTA_LEARNING_RATE
  default:
    return "?";
  }
}

bool hfta_learning_rate_needs_total(const hfta_learning_rate *schedule) {
  return schedule->kind == HFTA_LEARNING_RATE_COSINE;
}

static double value_of(const double *values, int64_t copy, double otherwise) {
  return values ? values[copy] : otherwise;
}

static double cosine(double minimum, double step, double length) {
  const double pi = 3.14159265358979323846;
  double share = length > 0 ? step / length : step;
  if (share > 1.0)
    share = 1.0;
  return minimum + (1.0 - minimum) * (1.0 + cos(pi * share)) / 2.0;
}

double hfta_learning_rate_at(const hfta_learning_rate *schedule, int64_t copy,
                             double learning_rate, int64_t step,
                             int64_t total_steps) {
  double warmup = value_of(schedule->warmup, copy, 0.0);
  if ((double)step < warmup)
    return learning_rate * ((double)step + 1.0) / warmup;
  double past = (double)step - warmup;
  switch (schedule->kind) {
  case HFTA_LEARNING_RATE_STEP: {
    double size = value_of(schedule->step_size, copy, 1.0);
    double gamma = value_of(schedule->gamma, copy, 1.0);
    return learning_rate * pow(gamma, floor(past / (size > 0 ? size : 1.0)));
  }
  case HFTA_LEARNING_RATE_COSINE:
    return learning_rate * cosine(value_of(schedule->minimum, copy, 0.0), past,
                                  (double)total_steps - 1.0 - warmup);
  default:
    return learning_rate;
  }
}
