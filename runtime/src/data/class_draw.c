//===- class_draw.c - Samples that are drawn by their classes -------------===//

#include "data/class_draw.h"

#include "system/philox.h"

#include <stdlib.h>
#include <string.h>

/// The number in the second word of counters that separates these random
/// numbers from those of orders (shuffle.h), which have smaller ones.
enum { DRAW = 16 };

/// Returns the number of the field by whose classes samples are drawn; -1 if
/// there is none.
static int64_t find_field(const hfta_program *program) {
  for (uint32_t i = 0; i < program->data_field_count; ++i)
    if (program->data_fields[i].balances)
      return i;
  return -1;
}

/// Sets `out[i]` to the class of the data set's sample i, from 0, or to -1 if
/// its number is ignored.
static hfta_status read_classes(const hfta_dataset *dataset, uint32_t index,
                                int64_t *out, hfta_error *error) {
  const hfta_data_field *field = &dataset->program->data_fields[index];
  hfta_element_type type =
      (hfta_element_type)dataset->program->tensors[field->tensor].type;
  for (int64_t i = 0; i < dataset->samples; ++i) {
    char element[8];
    int64_t sample = hfta_dataset_sample(dataset, i);
    hfta_status status =
        hfta_data_gather(dataset->sources[index], &sample, 1, element, error);
    if (status != HFTA_OK)
      return status;
    int64_t number = hfta_data_read_integer(element, type) - field->first_class;
    // Files are checked when they are opened, so other numbers are ignored
    // ones.
    out[i] = number >= 0 && number < field->classes ? number : -1;
  }
  return HFTA_OK;
}

/// Sorts positions by their classes, with counters for `classes` + 1 classes.
static hfta_status sort(const int64_t *numbers, int64_t samples,
                        int64_t classes, int64_t *counts, hfta_class_draw *out,
                        hfta_error *error) {
  int64_t used = 0;
  for (int64_t i = 0; i < samples; ++i)
    if (numbers[i] >= 0) {
      ++counts[numbers[i]];
      ++used;
    }
  if (used == 0)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "no sample of the training data has a class, so none can "
                     "be drawn");
  // Each count becomes the place of its class' next position.
  int64_t place = 0;
  for (int64_t c = 0; c < classes; ++c) {
    int64_t count = counts[c];
    counts[c] = place;
    if (count > 0)
      out->starts[out->classes++] = place;
    place += count;
  }
  out->starts[out->classes] = place;
  for (int64_t i = 0; i < samples; ++i)
    if (numbers[i] >= 0)
      out->positions[counts[numbers[i]]++] = (uint32_t)i;
  return HFTA_OK;
}

hfta_status hfta_class_draw_make(const hfta_dataset *dataset,
                                 hfta_class_draw *out, hfta_error *error) {
  memset(out, 0, sizeof(*out));
  int64_t field = find_field(dataset->program);
  if (field < 0)
    return HFTA_OK;
  if (dataset->samples > UINT32_MAX)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "more than 2^32 samples can't be drawn by their classes");
  int64_t classes = dataset->program->data_fields[field].classes;
  size_t samples = (size_t)dataset->samples;
  int64_t *numbers = malloc((samples + 1) * sizeof(*numbers));
  int64_t *counts = calloc((size_t)classes + 1, sizeof(*counts));
  out->positions = malloc((samples + 1) * sizeof(*out->positions));
  out->starts = malloc(((size_t)classes + 1) * sizeof(*out->starts));
  hfta_status status = HFTA_OK;
  if (!numbers || !counts || !out->positions || !out->starts)
    status = hfta_fail(error, HFTA_UNSUPPORTED,
                       "not enough memory to sort samples by their classes");
  if (status == HFTA_OK)
    status = read_classes(dataset, (uint32_t)field, numbers, error);
  if (status == HFTA_OK)
    status = sort(numbers, dataset->samples, classes, counts, out, error);
  free(numbers);
  free(counts);
  return status;
}

void hfta_class_draw_free(hfta_class_draw *draw) {
  free(draw->positions);
  free(draw->starts);
  memset(draw, 0, sizeof(*draw));
}

int64_t hfta_class_draw_sample(const hfta_class_draw *draw, uint64_t seed,
                               uint64_t epoch, uint64_t position) {
  const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  const uint32_t counter[4] = {(uint32_t)position,
                               DRAW | (uint32_t)(position >> 32) << 5,
                               (uint32_t)epoch, (uint32_t)(epoch >> 32)};
  uint32_t random[4];
  hfta_philox4x32(counter, key, random);
  uint64_t number = (uint64_t)random[0] * (uint64_t)draw->classes >> 32;
  int64_t start = draw->starts[number];
  uint64_t count = (uint64_t)(draw->starts[number + 1] - start);
  return draw->positions[start + (int64_t)(random[1] * count >> 32)];
}
