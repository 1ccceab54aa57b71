//===- metric_values.c - Metrics of evaluated samples ---------------------===//

#include "program/metric_values.h"

#include "program/ranking.h"
#include "system/portable_math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/// The sums that R2 keeps of a column. Labels are counted from the first one,
/// so that the sum of their squares hardly cancels.
enum { R2_WEIGHT, R2_COUNT, R2_FIRST, R2_LABELS, R2_SQUARES, R2_RESIDUALS };
enum { R2_SUMS = R2_RESIDUALS + 1 };

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static bool is_of_ranks(const hfta_metric *metric) {
  return metric->kind == HFTA_METRIC_AUROC ||
         metric->kind == HFTA_METRIC_AVERAGE_PRECISION;
}

/// Returns whether each element has a score for each class.
static bool has_class_scores(const hfta_metric *metric) {
  return is_of_ranks(metric) && !metric->is_labeled;
}

int64_t hfta_metric_guess_count(const hfta_metric *metric) {
  if (metric->guesses == UINT32_MAX)
    return 0;
  return metric->elements * (has_class_scores(metric) ? metric->classes : 1);
}

int64_t hfta_metric_sum_count(const hfta_metric *metric) {
  switch ((hfta_metric_kind)metric->kind) {
  case HFTA_METRIC_MEAN:
  case HFTA_METRIC_EXP_MEAN:
    return 2;
  case HFTA_METRIC_RECALL:
  case HFTA_METRIC_PRECISION:
  case HFTA_METRIC_F1:
    return 3 * metric->classes + 1;
  case HFTA_METRIC_CONFUSION:
    return metric->classes * metric->classes;
  case HFTA_METRIC_R2:
    return R2_SUMS * metric->classes;
  case HFTA_METRIC_AUROC:
  case HFTA_METRIC_AVERAGE_PRECISION:
    return 0;
  }
  return 0;
}

int64_t hfta_metric_record_size(const hfta_metric *metric) {
  // A label and a weight; and the score and the class, or each class' score.
  return is_of_ranks(metric)
             ? 2 + (has_class_scores(metric) ? metric->classes : 2)
             : 0;
}

uint64_t hfta_metric_sample_bytes(const hfta_metric *metric) {
  return sizeof(double) *
         (uint64_t)(metric->elements * hfta_metric_record_size(metric));
}

void hfta_metric_clear(const hfta_metric *metric, hfta_metric_state *state) {
  int64_t sums = hfta_metric_sum_count(metric);
  if (sums > 0)
    memset(state->sums, 0, sizeof(double) * (size_t)sums);
  state->count = 0;
}

static hfta_status make_room(const hfta_metric *metric,
                             hfta_metric_state *state, int64_t records,
                             hfta_error *error) {
  size_t bytes = 0;
  double *grown = NULL;
  if (records <= state->room)
    return HFTA_OK;
  if (!__builtin_mul_overflow(
          (size_t)records,
          sizeof(double) * (size_t)hfta_metric_record_size(metric), &bytes))
    grown = realloc(state->records, bytes);
  if (!grown)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory for the scores of %lld elements, of "
                     "which '%s' is computed",
                     (long long)records, metric->name);
  state->records = grown;
  state->room = records;
  return HFTA_OK;
}

hfta_status hfta_metric_reserve(const hfta_metric *metric,
                                hfta_metric_state *state, int64_t samples,
                                hfta_error *error) {
  int64_t more = 0;
  if (!is_of_ranks(metric))
    return HFTA_OK;
  if (__builtin_mul_overflow(samples, metric->elements, &more) ||
      __builtin_add_overflow(more, state->count, &more))
    more = INT64_MAX;
  return make_room(metric, state, more, error);
}

//===----------------------------------------------------------------------===//
// Adding samples
//===----------------------------------------------------------------------===//

/// Returns the number of a class; -1 if the value is no class.
static int64_t find_class(const hfta_metric *metric, double value) {
  return value >= 0 && value < (double)metric->classes ? (int64_t)value : -1;
}

/// Adds the label and the guess of an element to the counts of classes: of
/// those that are right, of guesses, of labels, and of all elements. A guess
/// may be none of the classes, if its scores are NaN.
static void count(const hfta_metric *metric, double *sums, int64_t element,
                  double label, double guess, double weight) {
  const int64_t classes = metric->classes;
  double *right = sums, *guesses = sums + classes, *labels = sums + 2 * classes;
  if (metric->is_labeled) {
    int64_t own = element % classes;
    guesses[own] += guess != 0 ? weight : 0;
    labels[own] += label != 0 ? weight : 0;
    right[own] += guess != 0 && label != 0 ? weight : 0;
    sums[3 * classes] += weight;
    return;
  }
  int64_t of_label = find_class(metric, label);
  int64_t of_guess = find_class(metric, guess);
  if (of_label < 0)
    return;
  labels[of_label] += weight;
  sums[3 * classes] += weight;
  if (of_guess >= 0)
    guesses[of_guess] += weight;
  if (of_guess == of_label)
    right[of_label] += weight;
}

static void count_pair(const hfta_metric *metric, double *sums, double label,
                       double guess, double weight) {
  int64_t row = find_class(metric, label), column = find_class(metric, guess);
  if (row >= 0 && column >= 0)
    sums[row * metric->classes + column] += weight;
}

static void add_prediction(double *sums, double label, double prediction,
                           double weight) {
  if (sums[R2_COUNT] == 0)
    sums[R2_FIRST] = label;
  double from_first = label - sums[R2_FIRST], residual = label - prediction;
  sums[R2_COUNT] += 1;
  sums[R2_WEIGHT] += weight;
  sums[R2_LABELS] += weight * from_first;
  sums[R2_SQUARES] += weight * from_first * from_first;
  sums[R2_RESIDUALS] += weight * residual * residual;
}

/// Writes the probabilities of classes whose logits are `scores`.
static void find_probabilities(const double *scores, int64_t classes,
                               double *out) {
  double most = scores[0], sum = 0;
  for (int64_t i = 1; i < classes; ++i)
    most = scores[i] > most ? scores[i] : most;
  for (int64_t i = 0; i < classes; ++i)
    sum += out[i] = hfta_portable_exp(scores[i] - most);
  for (int64_t i = 0; i < classes; ++i)
    out[i] /= sum;
}

/// Keeps an element's scores, for which there is room.
static void keep(const hfta_metric *metric, hfta_metric_state *state,
                 int64_t element, double label, const double *scores,
                 double weight) {
  double *record =
      state->records + state->count * hfta_metric_record_size(metric);
  if (!metric->is_labeled && find_class(metric, label) < 0)
    return;
  record[0] = label;
  record[1] = weight;
  if (metric->is_labeled) {
    record[2] = scores[0];
    record[3] = (double)(element % metric->classes);
  } else {
    find_probabilities(scores, metric->classes, record + 2);
  }
  ++state->count;
}

static void add_element(const hfta_metric *metric, hfta_metric_state *state,
                        int64_t element, double label, const double *guesses,
                        double weight) {
  switch ((hfta_metric_kind)metric->kind) {
  case HFTA_METRIC_MEAN:
  case HFTA_METRIC_EXP_MEAN:
    state->sums[0] += label;
    state->sums[1] += weight;
    return;
  case HFTA_METRIC_RECALL:
  case HFTA_METRIC_PRECISION:
  case HFTA_METRIC_F1:
    count(metric, state->sums, element, label, *guesses, weight);
    return;
  case HFTA_METRIC_CONFUSION:
    count_pair(metric, state->sums, label, *guesses, weight);
    return;
  case HFTA_METRIC_R2:
    add_prediction(state->sums + R2_SUMS * (element % metric->classes), label,
                   *guesses, weight);
    return;
  case HFTA_METRIC_AUROC:
  case HFTA_METRIC_AVERAGE_PRECISION:
    keep(metric, state, element, label, guesses, weight);
    return;
  }
}

hfta_status hfta_metric_add(const hfta_metric *metric, hfta_metric_state *state,
                            const hfta_metric_columns *columns, int64_t samples,
                            hfta_error *error) {
  int64_t wanted = state->count + samples * metric->elements;
  if (is_of_ranks(metric) && wanted > state->room) {
    int64_t twice = 2 * state->room;
    hfta_status status =
        make_room(metric, state, wanted > twice ? wanted : twice, error);
    if (status != HFTA_OK)
      return status;
  }
  int64_t guesses = has_class_scores(metric) ? metric->classes : 1;
  bool is_mean = metric->guesses == UINT32_MAX;
  for (int64_t i = 0; i < samples * metric->elements; ++i)
    if (columns->weights[i] != 0)
      add_element(metric, state, i % metric->elements, columns->labels[i],
                  is_mean ? NULL : columns->guesses + i * guesses,
                  columns->weights[i]);
  return HFTA_OK;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Returns a class' precision, recall or F1, from its counts; 0 for 0 / 0.
static double rate(const hfta_metric *metric, double right, double guesses,
                   double labels) {
  switch (metric->kind) {
  case HFTA_METRIC_PRECISION:
    return guesses > 0 ? right / guesses : 0;
  case HFTA_METRIC_RECALL:
    return labels > 0 ? right / labels : 0;
  default:
    return guesses + labels > 0 ? 2 * right / (guesses + labels) : 0;
  }
}

static double find_rate(const hfta_metric *metric, const double *sums) {
  const int64_t classes = metric->classes;
  const double *right = sums, *guesses = sums + classes,
               *labels = sums + 2 * classes;
  double all_right = 0, all_guesses = 0, all_labels = 0;
  double sum = 0, weighted = 0, seen = 0;
  if (!(sums[3 * classes] > 0))
    return NAN;
  for (int64_t i = 0; i < classes; ++i) {
    double own = rate(metric, right[i], guesses[i], labels[i]);
    all_right += right[i];
    all_guesses += guesses[i];
    all_labels += labels[i];
    sum += own;
    weighted += labels[i] * own;
    // A class that neither labels nor guesses have doesn't lower the mean, so
    // that the number of a model's outputs doesn't matter.
    seen += metric->is_labeled || guesses[i] > 0 || labels[i] > 0;
  }
  switch ((hfta_metric_average)metric->average) {
  case HFTA_AVERAGE_MACRO:
    return sum / seen;
  case HFTA_AVERAGE_MICRO:
    return rate(metric, all_right, all_guesses, all_labels);
  case HFTA_AVERAGE_WEIGHTED:
    return all_labels > 0 ? weighted / all_labels : 0;
  }
  return NAN;
}

static double find_r2(const hfta_metric *metric, const double *all) {
  double sum = 0, weighted = 0, variances = 0;
  for (int64_t i = 0; i < metric->classes; ++i) {
    const double *sums = all + R2_SUMS * i;
    // The variance of a single label isn't known.
    if (sums[R2_COUNT] < 2)
      return NAN;
    double variance =
        sums[R2_SQUARES] - sums[R2_LABELS] * sums[R2_LABELS] / sums[R2_WEIGHT];
    double residuals = sums[R2_RESIDUALS];
    // Labels that are all equal: only exact predictions are good ones.
    double own = variance > 0          ? 1 - residuals / variance
                 : residuals == 0      ? 1
                 : isfinite(residuals) ? 0
                                       : NAN;
    sum += own;
    weighted += variance > 0 ? variance * own : 0;
    variances += variance > 0 ? variance : 0;
  }
  bool is_weighted = metric->average == HFTA_AVERAGE_WEIGHTED && variances > 0;
  return is_weighted ? weighted / variances : sum / (double)metric->classes;
}

/// Lists the elements of a class, or if it is -1, those of all classes. Returns
/// their number, or -1 if a score is NaN.
static int64_t list_elements(const hfta_metric *metric,
                             const hfta_metric_state *state, int64_t class,
                             hfta_ranked *out) {
  int64_t size = hfta_metric_record_size(metric), count = 0;
  for (int64_t i = 0; i < state->count; ++i) {
    const double *record = state->records + i * size;
    int64_t first = class < 0 ? 0 : class;
    int64_t end = class < 0 ? metric->classes : class + 1;
    if (metric->is_labeled) {
      if (class >= 0 && record[3] != (double)class)
        continue;
      first = 0;
      end = 1;
    }
    for (int64_t j = first; j < end; ++j) {
      bool is_positive =
          metric->is_labeled ? record[0] != 0 : (int64_t)record[0] == j;
      if (isnan(record[2 + j]))
        return -1;
      out[count] = (hfta_ranked){record[2 + j], record[1], count, is_positive};
      ++count;
    }
  }
  return count;
}

/// Computes the value of a class, or of all together, and the weight of its
/// positives.
static double find_ranked(const hfta_metric *metric,
                          const hfta_metric_state *state, int64_t class,
                          hfta_ranked *elements, double *positives) {
  int64_t count = list_elements(metric, state, class, elements);
  *positives = 0;
  if (count < 0)
    return NAN;
  for (int64_t i = 0; i < count; ++i)
    *positives += elements[i].is_positive ? elements[i].weight : 0;
  hfta_rank(elements, count);
  return metric->kind == HFTA_METRIC_AUROC
             ? hfta_auroc(elements, count)
             : hfta_average_precision(elements, count);
}

/// Returns the mean over classes. A class whose elements are all positive, or
/// all negative, has no AUROC and doesn't count; if its scores are NaN, so is
/// the mean.
static double find_mean_ranked(const hfta_metric *metric,
                               const hfta_metric_state *state,
                               hfta_ranked *elements) {
  double sum = 0, weights = 0;
  for (int64_t class = 0; class < metric->classes; ++class) {
    double positives;
    double own = find_ranked(metric, state, class, elements, &positives);
    double weight = metric->average == HFTA_AVERAGE_WEIGHTED ? positives : 1;
    if (isnan(own)) {
      if (list_elements(metric, state, class, elements) < 0)
        return NAN;
      continue;
    }
    sum += weight * own;
    weights += weight;
  }
  if (weights > 0)
    return sum / weights;
  return metric->kind == HFTA_METRIC_AVERAGE_PRECISION ? 0 : NAN;
}

static hfta_status rank_all(const hfta_metric *metric,
                            const hfta_metric_state *state, double *out,
                            hfta_error *error) {
  bool is_micro = metric->average == HFTA_AVERAGE_MICRO;
  size_t most = (size_t)state->count;
  if (is_micro && has_class_scores(metric))
    most *= (size_t)metric->classes;
  *out = NAN;
  if (state->count == 0)
    return HFTA_OK;
  hfta_ranked *elements = calloc(most, sizeof(*elements));
  if (!elements)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory to sort the scores of %zu elements, of "
                     "which '%s' is computed",
                     most, metric->name);
  double positives;
  *out = is_micro ? find_ranked(metric, state, -1, elements, &positives)
                  : find_mean_ranked(metric, state, elements);
  free(elements);
  return HFTA_OK;
}

hfta_status hfta_metric_value(const hfta_metric *metric,
                              const hfta_metric_state *state, double *out,
                              hfta_error *error) {
  const double *sums = state->sums;
  switch ((hfta_metric_kind)metric->kind) {
  case HFTA_METRIC_MEAN:
    *out = sums[0] / sums[1];
    return HFTA_OK;
  case HFTA_METRIC_EXP_MEAN:
    *out = hfta_portable_exp(sums[0] / sums[1]);
    return HFTA_OK;
  case HFTA_METRIC_RECALL:
  case HFTA_METRIC_PRECISION:
  case HFTA_METRIC_F1:
    *out = find_rate(metric, sums);
    return HFTA_OK;
  case HFTA_METRIC_CONFUSION:
    *out = NAN;
    return HFTA_OK;
  case HFTA_METRIC_R2:
    *out = find_r2(metric, sums);
    return HFTA_OK;
  case HFTA_METRIC_AUROC:
  case HFTA_METRIC_AVERAGE_PRECISION:
    return rank_all(metric, state, out, error);
  }
  return HFTA_OK;
}
