//===- dataset.c - The files of a data block ------------------------------===//

#include "data/dataset.h"

#include "system/path.h"

#include <stdlib.h>
#include <string.h>

const char *hfta_split_name(hfta_split split) {
  switch (split) {
  case HFTA_SPLIT_TRAIN:
    return "the training data";
  case HFTA_SPLIT_TEST:
    return "the test data";
  case HFTA_SPLIT_VALIDATION:
    break;
  }
  return "the validation data";
}

const hfta_data_source *hfta_split_source(const hfta_data_field *field,
                                          hfta_split split) {
  switch (split) {
  case HFTA_SPLIT_TRAIN:
    return &field->train;
  case HFTA_SPLIT_TEST:
    return &field->test;
  case HFTA_SPLIT_VALIDATION:
    break;
  }
  return &field->validation;
}

bool hfta_dataset_exists(const hfta_program *program, hfta_split split) {
  for (uint32_t i = 0; i < program->data_field_count; ++i)
    if (hfta_split_source(&program->data_fields[i], split)->format ==
        HFTA_DATA_NONE)
      return false;
  return program->data_field_count > 0;
}

/// Checks that each element of a field of class numbers, or of indices of a
/// table, is in range: with a wrong number the training would go wrong
/// silently. Reads the samples in blocks of about 64 KiB.
static hfta_status check_classes(const hfta_dataset *dataset, uint32_t index,
                                 const char *path, hfta_error *error) {
  enum { MOST = 256, BYTES = 1 << 16 };
  const hfta_program *program = dataset->program;
  const hfta_data *source = dataset->sources[index];
  uint64_t sample_bytes = hfta_data_sample_bytes(source);
  int64_t most = 1;
  while (most < MOST && 2 * (uint64_t)most * sample_bytes <= BYTES)
    most *= 2;
  char *samples = malloc(sample_bytes * (uint64_t)most + 1);
  if (!samples)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory to read '%s'",
                     path);
  hfta_status status = HFTA_OK;
  for (int64_t first = 0; first < dataset->samples && status == HFTA_OK;
       first += most) {
    int64_t indices[MOST], count = 0;
    for (; count < most && first + count < dataset->samples; ++count)
      indices[count] = first + count;
    status = hfta_data_gather(source, indices, count, samples, error);
    if (status == HFTA_OK)
      status = hfta_data_check_classes(program, index, samples, first, count,
                                       path, error);
  }
  free(samples);
  return status;
}

/// Returns the number of columns that each line of a csv file needs: up to the
/// last column that any field of the data block takes from this file.
static uint64_t csv_columns(const hfta_program *program, hfta_split split,
                            const char *path) {
  uint64_t columns = 0;
  for (uint32_t i = 0; i < program->data_field_count; ++i) {
    const hfta_data_field *field = &program->data_fields[i];
    const hfta_data_source *source = hfta_split_source(field, split);
    const hfta_tensor *tensor = &program->tensors[field->tensor];
    if (source->format != HFTA_DATA_CSV || strcmp(source->path, path) != 0)
      continue;
    int64_t elements = 0;
    hfta_shape_elements(tensor->shape + 1, tensor->rank - 1, &elements);
    uint64_t end = source->column + (uint64_t)elements;
    columns = end > columns ? end : columns;
  }
  return columns;
}

static hfta_status open_source(hfta_dataset *dataset, uint32_t index,
                               hfta_split split, const char *root,
                               hfta_error *error) {
  const hfta_program *program = dataset->program;
  const hfta_data_field *field = &program->data_fields[index];
  const hfta_data_source *source = hfta_split_source(field, split);
  const hfta_tensor *tensor = &program->tensors[field->tensor];
  hfta_path path;
  hfta_status status = hfta_path_under(&path, root, source->path, error);
  if (status != HFTA_OK)
    return status;
  hfta_data_request request = {.path = path.text,
                               .format = (hfta_data_format)source->format,
                               .column = source->column,
                               .header = (hfta_csv_header)source->header,
                               .type = (hfta_element_type)tensor->type,
                               .sample_shape = tensor->shape + 1,
                               .sample_rank = tensor->rank - 1,
                               .columns =
                                   csv_columns(program, split, source->path)};
  status = hfta_data_open(&request, &dataset->sources[index], error);
  if (status != HFTA_OK)
    return status;
  int64_t count = hfta_data_count(dataset->sources[index]);
  dataset->resident_bytes += hfta_data_resident_bytes(dataset->sources[index]);
  if (index == 0)
    dataset->samples = count;
  if (count == dataset->samples)
    return field->classes > 0 ? check_classes(dataset, index, path.text, error)
                              : HFTA_OK;
  return hfta_fail(error, HFTA_INVALID_INPUT,
                   "'%s' holds %lld samples, but '%s' holds %lld", path.text,
                   (long long)count,
                   hfta_split_source(&program->data_fields[0], split)->path,
                   (long long)dataset->samples);
}

hfta_status hfta_dataset_open(const hfta_program *program, hfta_split split,
                              const char *root, hfta_dataset *out,
                              hfta_error *error) {
  memset(out, 0, sizeof(*out));
  out->program = program;
  out->split = split;
  out->sources =
      calloc((size_t)program->data_field_count + 1, sizeof(*out->sources));
  if (!out->sources)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory for data sources");
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < program->data_field_count && status == HFTA_OK; ++i)
    status = open_source(out, i, split, root, error);
  return status;
}

void hfta_dataset_close(hfta_dataset *dataset) {
  if (!dataset->is_view) {
    for (uint32_t i = 0;
         dataset->sources && i < dataset->program->data_field_count; ++i)
      hfta_data_close(dataset->sources[i]);
    free(dataset->sources);
  }
  free(dataset->listed);
  free(dataset->widely_listed);
  dataset->sources = NULL;
  dataset->listed = NULL;
  dataset->widely_listed = NULL;
}

uint64_t hfta_batch_bytes(const hfta_program *program, uint32_t field) {
  return program->tensors[program->data_fields[field].tensor].bytes *
         (uint64_t)program->micro_batches;
}
