//===- parzen.c - Densities of good and of other settings -----------------===//

#include "search/parzen.h"

#include "system/portable_math.h"

#include <math.h>
#include <stdlib.h>

/// sqrt(1/2), log(sqrt(2 pi)) and 1 / sqrt(2 pi).
static const double ROOT_OF_HALF = 0x1.6a09e667f3bcdp-1;
static const double LOG_ROOT_OF_TWO_PI = 0x1.d67f1c864beb5p-1;
static const double ONE_BY_ROOT_OF_TWO_PI = 0x1.9884533d43651p-2;

//===----------------------------------------------------------------------===//
// Normal distributions
//===----------------------------------------------------------------------===//

static double density(double z) {
  return ONE_BY_ROOT_OF_TWO_PI * hfta_portable_exp(-0.5 * z * z);
}

/// Returns the probability that a normally distributed number is between two
/// others. A short interval's is computed from the density in its middle, since
/// the difference of two equal numbers would have no digits.
static double mass(double low, double high) {
  const double shortest = 0.01, least = 1e-300;
  double width = high - low, middle = 0.5 * (low + high), result;
  if (width < shortest)
    result = density(middle) * width *
             (1.0 + width * width * (middle * middle - 1.0) / 24.0);
  else
    result = 0.5 * (hfta_portable_erf(high * ROOT_OF_HALF) -
                    hfta_portable_erf(low * ROOT_OF_HALF));
  return result > least ? result : least;
}

/// Returns the number at a place from 0 to 1 in the normal distribution between
/// two numbers, of which `low` isn't above 0 and `high` not below. Newton's
/// method from 0, where the distribution has its inflection point, approaches
/// the number from one side.
static double quantile(double low, double high, double fraction) {
  enum { MOST_STEPS = 64 };
  const double close = 0x1p-50;
  double from = 0.5 * hfta_portable_erf(low * ROOT_OF_HALF);
  double to = 0.5 * hfta_portable_erf(high * ROOT_OF_HALF);
  double target = from + fraction * (to - from), z = 0.0;
  for (int i = 0; i < MOST_STEPS; ++i) {
    double left = target - 0.5 * hfta_portable_erf(z * ROOT_OF_HALF);
    double step = left / density(z);
    if (fabs(step) <= close || (z != 0.0 && (step > 0.0) != (z > 0.0)))
      break;
    z += step;
    if (z <= low || z >= high)
      break;
  }
  return z < low ? low : z > high ? high : z;
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

static bool has_logarithm(const hfta_search_setting *setting) {
  return setting->distribution == HFTA_LOG_UNIFORM ||
         setting->distribution == HFTA_LOG_INTEGERS;
}

/// Returns half the distance of a setting's values; 0: they are continuous.
static double margin_of(const hfta_search_setting *setting) {
  if (setting->distribution == HFTA_LOG_INTEGERS)
    return 0.5;
  if (setting->distribution == HFTA_INTEGERS && setting->step == 0.0)
    return 0.5;
  return setting->step / 2;
}

static double coordinate(const hfta_search_setting *setting, double value) {
  return has_logarithm(setting) ? hfta_portable_log(value) : value;
}

/// The range of a setting's coordinates.
typedef struct interval {
  double low, high;
} interval;

static interval range_of(const hfta_search_setting *setting) {
  double margin = margin_of(setting), high = setting->high;
  int64_t values = hfta_setting_values(setting);
  if (values > 0)
    high = hfta_setting_value(setting, values - 1);
  return (interval){coordinate(setting, setting->low - margin),
                    coordinate(setting, high + margin)};
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Fills the weights: 1 for the newest 25 observations and for the last kernel,
/// less for older ones, from 1/count for the oldest on.
static void fill_weights(hfta_parzen *self) {
  enum { NEWEST = 25 };
  int64_t count = self->kernels - 1, ramp = count - NEWEST;
  double sum = 0.0;
  for (int64_t i = 0; i < self->kernels; ++i) {
    double first = 1.0 / (double)count;
    self->weights[i] = 1.0;
    if (i < ramp)
      self->weights[i] =
          ramp == 1 ? first
                    : first + (1.0 - first) * (double)i / (double)(ramp - 1);
    sum += self->weights[i];
  }
  for (int64_t i = 0; i < self->kernels; ++i) {
    self->weights[i] /= sum;
    self->log_weights[i] = hfta_portable_log(self->weights[i]);
  }
}

/// An observed coordinate, and which kernel it belongs to.
typedef struct place {
  double mu;
  int64_t kernel;
} place;

static int compare_places(const void *one, const void *other) {
  const place *a = one, *b = other;
  if (a->mu != b->mu)
    return a->mu < b->mu ? -1 : 1;
  return a->kernel < b->kernel ? -1 : a->kernel > b->kernel;
}

/// Sets the widths of the observations' kernels: the larger one of the
/// distances to the neighbours, or to the ends of the range, within limits. The
/// ends count only for an observation without any neighbour.
static void fill_sigmas(const place *places, int64_t count, interval range,
                        double *sigma) {
  double width = range.high - range.low;
  double least = width / (count + 2 < 100 ? (double)(count + 2) : 100.0);
  for (int64_t i = 0; i < count; ++i) {
    double below = i > 0 ? places[i - 1].mu : range.low;
    double above = i + 1 < count ? places[i + 1].mu : range.high;
    double gap = fmax(places[i].mu - below, above - places[i].mu);
    if (count > 1 && i == 0)
      gap = above - places[i].mu;
    if (count > 1 && i + 1 == count)
      gap = places[i].mu - below;
    sigma[places[i].kernel] = fmin(fmax(gap, least), width);
  }
  sigma[count] = width;
}

/// Fills the kernels of a leader that isn't a choice. Uses `places`, which has
/// room for all observations.
static void fill_numbers(hfta_parzen *self, int64_t leader,
                         const double *const *observations, place *places) {
  const hfta_search_setting *setting = &self->space->settings[leader];
  interval range = range_of(setting);
  int64_t count = self->kernels - 1, at = leader * self->kernels;
  double *mu = self->mu + at, *sigma = self->sigma + at;
  for (int64_t i = 0; i < count; ++i) {
    mu[i] = coordinate(setting, observations[i][leader]);
    places[i] = (place){mu[i], i};
  }
  mu[count] = 0.5 * (range.low + range.high);
  if (count > 1)
    qsort(places, (size_t)count, sizeof(*places), compare_places);
  fill_sigmas(places, count, range, sigma);
  for (int64_t i = 0; i < self->kernels; ++i) {
    double inside =
        mass((range.low - mu[i]) / sigma[i], (range.high - mu[i]) / sigma[i]);
    double scale = hfta_portable_log(inside);
    if (margin_of(setting) == 0.0)
      scale += hfta_portable_log(sigma[i]) + LOG_ROOT_OF_TWO_PI;
    self->log_scale[at + i] = scale;
  }
}

static void fill_choices(hfta_parzen *self, int64_t leader,
                         const double *const *observations) {
  double *mu = self->mu + leader * self->kernels;
  for (int64_t i = 0; i < self->kernels; ++i)
    mu[i] =
        i + 1 < self->kernels
            ? (double)hfta_space_choice(self->space, leader, observations[i])
            : -1.0;
}

/// Allocates the memories of leaders that aren't choices, and whose values have
/// a distance. Returns false if there isn't enough memory.
static bool allocate_memories(hfta_parzen *self) {
  self->memories =
      calloc((size_t)self->space->count + 1, sizeof(*self->memories));
  for (int64_t i = 0; i < self->space->count && self->memories; ++i) {
    const hfta_search_setting *setting = &self->space->settings[i];
    if (setting->distribution == HFTA_CHOICE || margin_of(setting) == 0.0)
      continue;
    size_t numbers = (size_t)self->kernels * HFTA_PARZEN_REMEMBERED;
    self->memories[i].logs = malloc(numbers * sizeof(double));
    if (!self->memories[i].logs)
      return false;
  }
  return self->memories != NULL;
}

bool hfta_parzen_create(const hfta_search_space *space,
                        const double *const *observations, int64_t count,
                        hfta_parzen *out) {
  size_t kernels = (size_t)count + 1, all = kernels * (size_t)space->count;
  *out = (hfta_parzen){.space = space, .kernels = count + 1};
  out->weights = malloc(kernels * sizeof(double));
  out->log_weights = malloc(kernels * sizeof(double));
  out->mu = malloc((all + 1) * sizeof(double));
  out->sigma = malloc((all + 1) * sizeof(double));
  out->log_scale = malloc((all + 1) * sizeof(double));
  out->logs = malloc(kernels * sizeof(double));
  place *places = malloc(kernels * sizeof(*places));
  bool has_memory = allocate_memories(out) && out->weights &&
                    out->log_weights && out->mu && out->sigma &&
                    out->log_scale && out->logs && places;
  if (has_memory) {
    fill_weights(out);
    for (int64_t i = 0; i < space->count; ++i) {
      if (hfta_space_leader(space, i) != i)
        continue;
      if (space->settings[i].distribution == HFTA_CHOICE)
        fill_choices(out, i, observations);
      else
        fill_numbers(out, i, observations, places);
    }
  } else {
    hfta_parzen_destroy(out);
  }
  free(places);
  return has_memory;
}

void hfta_parzen_destroy(hfta_parzen *self) {
  for (int64_t i = 0; self->memories && i < self->space->count; ++i)
    free(self->memories[i].logs);
  free(self->memories);
  free(self->weights);
  free(self->log_weights);
  free(self->mu);
  free(self->sigma);
  free(self->log_scale);
  free(self->logs);
  *self = (hfta_parzen){.space = self->space};
}

//===----------------------------------------------------------------------===//
// Densities and draws
//===----------------------------------------------------------------------===//

/// Returns the probability of a choice in a kernel that observed another one
/// (`mu`): 1 for the observed one, and 1/kernels for each, divided by the sum.
static double probability(const hfta_parzen *self, int64_t leader, double mu,
                          int64_t choice) {
  double choices = (double)self->space->settings[leader].choice_count;
  if (mu < 0.0)
    return 1.0 / choices;
  double each = 1.0 / (double)self->kernels;
  return (each + (mu == (double)choice)) / (choices * each + 1.0);
}

/// Adds the logarithms of all kernels of a leader that is a choice. They have
/// at most three different values.
static void add_choices(const hfta_parzen *self, int64_t leader,
                        const double *values) {
  const double *mu = self->mu + leader * self->kernels;
  int64_t choice = hfta_space_choice(self->space, leader, values);
  double wide = hfta_portable_log(probability(self, leader, -1.0, choice));
  double same =
      hfta_portable_log(probability(self, leader, (double)choice, choice));
  double other =
      hfta_portable_log(probability(self, leader, (double)choice + 1, choice));
  for (int64_t i = 0; i < self->kernels; ++i)
    self->logs[i] += mu[i] < 0.0               ? wide
                     : mu[i] == (double)choice ? same
                                               : other;
}

/// Returns the logarithm of each kernel's mass at a value of a leader that has
/// a memory.
static const double *log_masses(const hfta_parzen *self, int64_t leader,
                                double value) {
  const hfta_search_setting *setting = &self->space->settings[leader];
  hfta_parzen_memory *memory = &self->memories[leader];
  for (int64_t i = 0; i < memory->count; ++i)
    if (memory->values[i] == value)
      return memory->logs + i * self->kernels;
  int64_t slot = memory->count;
  if (slot < HFTA_PARZEN_REMEMBERED)
    ++memory->count;
  else
    --slot; // the last one is overwritten
  memory->values[slot] = value;
  double margin = margin_of(setting);
  double low = coordinate(setting, value - margin);
  double high = coordinate(setting, value + margin);
  const double *mu = self->mu + leader * self->kernels;
  const double *sigma = self->sigma + leader * self->kernels;
  double *logs = memory->logs + slot * self->kernels;
  for (int64_t i = 0; i < self->kernels; ++i)
    logs[i] = hfta_portable_log(
        mass((low - mu[i]) / sigma[i], (high - mu[i]) / sigma[i]));
  return logs;
}

/// Adds the logarithms of all kernels in a leader's dimension.
static void add_logs(const hfta_parzen *self, int64_t leader,
                     const double *values) {
  const hfta_search_setting *setting = &self->space->settings[leader];
  if (setting->distribution == HFTA_CHOICE) {
    add_choices(self, leader, values);
    return;
  }
  const double *mu = self->mu + leader * self->kernels;
  const double *sigma = self->sigma + leader * self->kernels;
  const double *log_scale = self->log_scale + leader * self->kernels;
  if (margin_of(setting) > 0.0) {
    const double *logs = log_masses(self, leader, values[leader]);
    for (int64_t i = 0; i < self->kernels; ++i)
      self->logs[i] += logs[i] - log_scale[i];
    return;
  }
  double place = coordinate(setting, values[leader]);
  for (int64_t i = 0; i < self->kernels; ++i) {
    double z = (place - mu[i]) / sigma[i];
    self->logs[i] += -0.5 * z * z - log_scale[i];
  }
}

double hfta_parzen_log_density(const hfta_parzen *self, const double *values) {
  for (int64_t i = 0; i < self->kernels; ++i)
    self->logs[i] = self->log_weights[i];
  for (int64_t i = 0; i < self->space->count; ++i)
    if (hfta_space_leader(self->space, i) == i)
      add_logs(self, i, values);
  double largest = self->logs[0], sum = 0.0;
  for (int64_t i = 1; i < self->kernels; ++i)
    largest = fmax(largest, self->logs[i]);
  for (int64_t i = 0; i < self->kernels; ++i)
    sum += hfta_portable_exp(self->logs[i] - largest);
  return largest + hfta_portable_log(sum);
}

static int64_t draw_choice(const hfta_parzen *self, int64_t leader, double mu,
                           double fraction) {
  int64_t choice = 0, last = self->space->settings[leader].choice_count - 1;
  for (double sum = probability(self, leader, mu, 0);
       choice < last && sum <= fraction;
       sum += probability(self, leader, mu, choice))
    ++choice;
  return choice;
}

void hfta_parzen_draw(const hfta_parzen *self, double kernel,
                      const double *fractions, double *values) {
  int64_t chosen = 0;
  for (double sum = self->weights[0];
       chosen + 1 < self->kernels && sum <= kernel;
       sum += self->weights[chosen])
    ++chosen;
  for (int64_t i = 0; i < self->space->count; ++i) {
    const hfta_search_setting *setting = &self->space->settings[i];
    if (hfta_space_leader(self->space, i) != i)
      continue;
    double mu = self->mu[i * self->kernels + chosen];
    if (setting->distribution == HFTA_CHOICE) {
      hfta_space_choose(self->space, i, draw_choice(self, i, mu, fractions[i]),
                        values);
      continue;
    }
    double sigma = self->sigma[i * self->kernels + chosen];
    interval range = range_of(setting);
    double z = quantile((range.low - mu) / sigma, (range.high - mu) / sigma,
                        fractions[i]);
    double drawn = mu + sigma * z;
    values[i] = hfta_setting_clamp(
        setting, has_logarithm(setting) ? hfta_portable_exp(drawn) : drawn);
  }
}
