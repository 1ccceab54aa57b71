//===- division.c - Training data without those for validation ------------===//

#include "data/division.h"

#include "data/shuffle.h"

#include <stdlib.h>
#include <string.h>

bool hfta_program_divides(const hfta_program *program) {
  return program->validation.share > 0 || program->validation.folds > 0;
}

bool hfta_program_validates(const hfta_program *program) {
  return hfta_program_divides(program) ||
         hfta_dataset_exists(program, HFTA_SPLIT_VALIDATION);
}

/// The positions, in the order of the division, of the samples for validation:
/// `begin` .. `end` - 1.
typedef struct span {
  int64_t begin, end;
} span;

/// Returns floor(samples * fold / folds), also where the product is too large
/// for an integer.
static int64_t begin_of_fold(int64_t samples, int64_t fold, int64_t folds) {
  return samples / folds * fold + samples % folds * fold / folds;
}

static hfta_status choose_fold(const hfta_dataset *whole, int64_t fold,
                               span *out, hfta_error *error) {
  int64_t folds = whole->program->validation.folds;
  if (fold < 0 || fold >= folds)
    return hfta_fail(error, HFTA_USAGE,
                     "fold %lld doesn't exist: the job has %lld folds, counted "
                     "from 0",
                     (long long)fold, (long long)folds);
  if (whole->samples < folds)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "the training data hold %lld samples, too few for %lld "
                     "folds",
                     (long long)whole->samples, (long long)folds);
  *out = (span){begin_of_fold(whole->samples, fold, folds),
                begin_of_fold(whole->samples, fold + 1, folds)};
  return HFTA_OK;
}

/// Returns the samples of a share of the data: its size is rounded, and at
/// least 1.
static span choose_share(const hfta_dataset *whole) {
  double share = whole->program->validation.share;
  int64_t count = (int64_t)(share * (double)whole->samples + 0.5);
  return (span){0, count > 0 ? count : 1};
}

static hfta_status check_rest(const hfta_dataset *whole, int64_t taken,
                              hfta_error *error) {
  int64_t rest = whole->samples - taken, batch = whole->program->batch;
  if (rest >= batch)
    return HFTA_OK;
  return hfta_fail(error, HFTA_INVALID_INPUT,
                   "validation takes %lld of the %lld samples of the training "
                   "data, which leaves %lld, fewer than one batch of %lld",
                   (long long)taken, (long long)whole->samples,
                   (long long)(rest > 0 ? rest : 0), (long long)batch);
}

/// Makes a view without a list: all samples of `whole`.
static hfta_dataset view_all(const hfta_dataset *whole, hfta_split split) {
  return (hfta_dataset){.program = whole->program,
                        .split = split,
                        .sources = whole->sources,
                        .samples = whole->samples,
                        .is_view = true};
}

/// Makes a view with room for a list of `samples` samples. Returns false if
/// there isn't enough memory.
static bool make_view(const hfta_dataset *whole, hfta_split split,
                      int64_t samples, hfta_dataset *out) {
  *out = view_all(whole, split);
  out->samples = samples;
  bool is_wide = (uint64_t)whole->samples > (uint64_t)UINT32_MAX + 1;
  size_t bytes = is_wide ? sizeof(uint64_t) : sizeof(uint32_t);
  void *list = calloc((size_t)samples, bytes);
  out->listed = is_wide ? NULL : list;
  out->widely_listed = is_wide ? list : NULL;
  out->resident_bytes = (uint64_t)samples * bytes;
  return list != NULL;
}

static void put(hfta_dataset *view, int64_t position, int64_t sample) {
  if (view->listed)
    view->listed[position] = (uint32_t)sample;
  else
    view->widely_listed[position] = (uint64_t)sample;
}

/// Lists the samples of both views. `marks` has a bit for each sample, all 0,
/// and returns with those for validation set.
static void list_samples(const hfta_dataset *whole, const span *chosen,
                         unsigned char *marks, hfta_dataset *train,
                         hfta_dataset *validation) {
  hfta_order order = hfta_order_of_division(
      (uint64_t)whole->samples, (uint64_t)whole->program->validation.seed);
  for (int64_t i = chosen->begin; i < chosen->end; ++i) {
    uint64_t sample = hfta_order_sample(&order, (uint64_t)i);
    marks[sample / 8] |= (unsigned char)(1u << sample % 8);
  }
  int64_t trained = 0, validated = 0;
  for (int64_t i = 0; i < whole->samples; ++i)
    if (marks[i / 8] >> i % 8 & 1)
      put(validation, validated++, i);
    else
      put(train, trained++, i);
}

hfta_status hfta_dataset_divide(const hfta_dataset *whole, int64_t fold,
                                hfta_dataset *train, hfta_dataset *validation,
                                hfta_error *error) {
  memset(train, 0, sizeof(*train));
  memset(validation, 0, sizeof(*validation));
  hfta_status status = HFTA_OK;
  span chosen;
  if (whole->program->validation.folds > 0)
    status = choose_fold(whole, fold, &chosen, error);
  else
    chosen = choose_share(whole);
  if (status != HFTA_OK)
    return status;
  int64_t taken = chosen.end - chosen.begin;
  status = check_rest(whole, taken, error);
  if (status != HFTA_OK)
    return status;
  unsigned char *marks = calloc((size_t)whole->samples / 8 + 1, 1);
  bool complete =
      make_view(whole, HFTA_SPLIT_TRAIN, whole->samples - taken, train);
  complete &= make_view(whole, HFTA_SPLIT_VALIDATION, taken, validation);
  if (complete && marks)
    list_samples(whole, &chosen, marks, train, validation);
  else
    status = hfta_fail(error, HFTA_UNSUPPORTED,
                       "not enough memory to list %lld samples",
                       (long long)whole->samples);
  free(marks);
  return status;
}

hfta_status hfta_training_data_open(const hfta_program *program,
                                    const char *root, int64_t fold,
                                    hfta_training_data *out,
                                    hfta_error *error) {
  memset(out, 0, sizeof(*out));
  hfta_status status =
      hfta_dataset_open(program, HFTA_SPLIT_TRAIN, root, &out->whole, error);
  if (status != HFTA_OK)
    return status;
  if (out->whole.samples < program->batch)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "the training data hold %lld samples, fewer than one "
                     "batch of %lld",
                     (long long)out->whole.samples, (long long)program->batch);
  if (hfta_program_divides(program))
    return hfta_dataset_divide(&out->whole, fold, &out->train, &out->validation,
                               error);
  out->train = view_all(&out->whole, HFTA_SPLIT_TRAIN);
  if (!hfta_dataset_exists(program, HFTA_SPLIT_VALIDATION))
    return HFTA_OK;
  status = hfta_dataset_open(program, HFTA_SPLIT_VALIDATION, root,
                             &out->validation, error);
  return status == HFTA_OK ? hfta_dataset_compare_classes(
                                 &out->whole, &out->validation, error)
                           : status;
}

hfta_status hfta_test_data_open(const hfta_training_data *training,
                                const char *root, hfta_dataset *out,
                                hfta_error *error) {
  hfta_status status = hfta_dataset_open(training->whole.program,
                                         HFTA_SPLIT_TEST, root, out, error);
  return status == HFTA_OK
             ? hfta_dataset_compare_classes(&training->whole, out, error)
             : status;
}

void hfta_training_data_close(hfta_training_data *data) {
  hfta_dataset_close(&data->train);
  hfta_dataset_close(&data->validation);
  hfta_dataset_close(&data->whole);
}

uint64_t hfta_training_data_bytes(const hfta_training_data *data) {
  return data->whole.resident_bytes + data->train.resident_bytes +
         data->validation.resident_bytes;
}
