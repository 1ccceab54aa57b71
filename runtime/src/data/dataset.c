//===- dataset.c - The files of a data block ------------------------------===//

#include "data/dataset.h"

#include "system/path.h"

#include <stdio.h>
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
/// silently. Reads the samples of one file in blocks of about 64 KiB.
static hfta_status check_classes(const hfta_program *program, uint32_t index,
                                 const hfta_data *source, const char *path,
                                 hfta_error *error) {
  enum { MOST = 256, BYTES = 1 << 16 };
  uint64_t sample_bytes = hfta_data_sample_bytes(source);
  int64_t samples = hfta_data_count(source), most = 1;
  while (most < MOST && 2 * (uint64_t)most * sample_bytes <= BYTES)
    most *= 2;
  char *block = malloc(sample_bytes * (uint64_t)most + 1);
  if (!block)
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory to read '%s'",
                     path);
  hfta_status status = HFTA_OK;
  for (int64_t first = 0; first < samples && status == HFTA_OK; first += most) {
    int64_t indices[MOST], count = 0;
    for (; count < most && first + count < samples; ++count)
      indices[count] = first + count;
    status = hfta_data_gather(source, indices, count, block, error);
    if (status == HFTA_OK)
      status = hfta_data_check_classes(program, index, block, first, count,
                                       path, error);
  }
  free(block);
  return status;
}

/// Returns whether one of a source's files has this path.
static bool reads_file(const hfta_data_source *source, const char *path) {
  for (uint32_t i = 0; i < hfta_source_files(source); ++i)
    if (strcmp(hfta_source_path(source, i), path) == 0)
      return true;
  return false;
}

/// Returns the number after the last column that a csv field reads.
static uint64_t end_of_columns(const hfta_program *program,
                               const hfta_data_field *field,
                               const hfta_data_source *source) {
  const hfta_tensor *tensor = &program->tensors[field->tensor];
  int64_t elements = 0;
  hfta_shape_elements(tensor->shape + 1, tensor->rank - 1, &elements);
  if (!source->column_numbers)
    return source->column + (uint64_t)elements;
  uint64_t end = 0;
  for (uint32_t i = 0; i < source->column_count; ++i)
    if ((uint64_t)source->column_numbers[i] >= end)
      end = (uint64_t)source->column_numbers[i] + 1;
  return end;
}

/// Returns the number of columns that each line of a csv file needs: up to the
/// last column that any field of the data block takes from this file, or those
/// of the header if a field names one of them.
static uint64_t csv_columns(const hfta_program *program, hfta_split split,
                            const char *path) {
  uint64_t columns = 0;
  for (uint32_t i = 0; i < program->data_field_count; ++i) {
    const hfta_data_field *field = &program->data_fields[i];
    const hfta_data_source *source = hfta_split_source(field, split);
    if (source->format != HFTA_DATA_CSV || !reads_file(source, path))
      continue;
    if (source->column_names)
      return HFTA_CSV_COLUMNS_OF_HEADER;
    uint64_t end = end_of_columns(program, field, source);
    columns = end > columns ? end : columns;
  }
  return columns;
}

/// Returns the open images of the folder that a source of classes names; NULL
/// if no field has them.
static const hfta_data *find_images(const hfta_dataset *dataset,
                                    const hfta_data_source *source) {
  if (source->format != HFTA_DATA_CLASSES)
    return NULL;
  for (uint32_t i = 0; i < dataset->program->data_field_count; ++i) {
    const hfta_data_source *other =
        hfta_split_source(&dataset->program->data_fields[i], dataset->split);
    if (other->format == HFTA_DATA_IMAGES &&
        strcmp(other->path, source->path) == 0)
      return dataset->sources[i];
  }
  return NULL;
}

/// Opens one of a field's files, number `number`.
static hfta_status open_file(const hfta_dataset *dataset, uint32_t index,
                             uint32_t number, const char *root, hfta_data **out,
                             hfta_error *error) {
  const hfta_program *program = dataset->program;
  const hfta_data_field *field = &program->data_fields[index];
  const hfta_data_source *source = hfta_split_source(field, dataset->split);
  const hfta_tensor *tensor = &program->tensors[field->tensor];
  const char *name = hfta_source_path(source, number);
  hfta_path path;
  hfta_status status = hfta_path_under(&path, root, name, error);
  if (status != HFTA_OK)
    return status;
  hfta_data_request request = {
      .path = path.text,
      .like = number > 0 ? source->path : NULL,
      .format = (hfta_data_format)source->format,
      .column = source->column,
      .header = (hfta_csv_header)source->header,
      .separator = (hfta_csv_separator)source->separator,
      .array = source->array,
      .column_names = source->column_names,
      .column_numbers = source->column_numbers,
      .column_count = source->column_count,
      .resize = (hfta_image_resize)source->resize,
      .skips_damaged = source->skips_damaged != 0,
      .cache = source->cache,
      .shift = source->shift,
      .stride = source->stride,
      .images = find_images(dataset, source),
      .type = (hfta_element_type)tensor->type,
      .sample_shape = tensor->shape + 1,
      .sample_rank = tensor->rank - 1,
      .columns = csv_columns(program, dataset->split, name)};
  status = hfta_data_open(&request, out, error);
  if (status == HFTA_OK && field->classes > 0)
    status = check_classes(program, index, *out, path.text, error);
  return status;
}

/// Opens all files of a field.
static hfta_status open_source(hfta_dataset *dataset, uint32_t index,
                               const char *root, hfta_error *error) {
  const hfta_program *program = dataset->program;
  const hfta_data_source *source =
      hfta_split_source(&program->data_fields[index], dataset->split);
  uint32_t files = hfta_source_files(source);
  if (files == 1)
    return open_file(dataset, index, 0, root, &dataset->sources[index], error);
  hfta_data **parts = calloc(files, sizeof(hfta_data *));
  if (!parts)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "not enough memory for data sources");
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < files && status == HFTA_OK; ++i)
    status = open_file(dataset, index, i, root, &parts[i], error);
  if (status == HFTA_OK) {
    status = hfta_data_join(parts, files, &dataset->sources[index], error);
  } else {
    for (uint32_t i = 0; i < files; ++i)
      hfta_data_close(parts[i]);
  }
  free(parts);
  return status;
}

/// Returns what follows the path of a source's first file in a message.
static const char *more_files(const hfta_data_source *source, char out[48]) {
  out[0] = 0;
  if (source->more_path_count > 0)
    snprintf(out, 48, " with the %u files after it", source->more_path_count);
  return out;
}

/// Checks that a field has as many samples as the first one.
static hfta_status check_count(const hfta_dataset *dataset, uint32_t index,
                               const char *root, hfta_error *error) {
  int64_t count = hfta_data_count(dataset->sources[index]);
  if (count == dataset->samples)
    return HFTA_OK;
  const hfta_data_field *fields = dataset->program->data_fields;
  const hfta_data_source *first = hfta_split_source(&fields[0], dataset->split),
                         *other =
                             hfta_split_source(&fields[index], dataset->split);
  hfta_path path;
  hfta_status status = hfta_path_under(&path, root, other->path, error);
  if (status != HFTA_OK)
    return status;
  char first_more[48], other_more[48];
  return hfta_fail(error, HFTA_INVALID_INPUT,
                   "'%s'%s holds %lld samples, but '%s'%s holds %lld",
                   path.text, more_files(other, other_more), (long long)count,
                   first->path, more_files(first, first_more),
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
  uint32_t fields = program->data_field_count;
  // Images come before their classes, which depend on the images that can be
  // read.
  for (int late = 0; late < 2; ++late)
    for (uint32_t i = 0; i < fields && status == HFTA_OK; ++i)
      if ((hfta_split_source(&program->data_fields[i], split)->format ==
           HFTA_DATA_CLASSES) == late)
        status = open_source(out, i, root, error);
  if (status == HFTA_OK && fields > 0)
    out->samples = hfta_data_count(out->sources[0]);
  for (uint32_t i = 0; i < fields && status == HFTA_OK; ++i) {
    out->resident_bytes += hfta_data_resident_bytes(out->sources[i]);
    status = check_count(out, i, root, error);
  }
  return status;
}

hfta_status hfta_dataset_compare_classes(const hfta_dataset *left,
                                         const hfta_dataset *right,
                                         hfta_error *error) {
  const hfta_program *program = left->program;
  for (uint32_t i = 0; i < program->data_field_count; ++i) {
    const hfta_data_field *field = &program->data_fields[i];
    const char *a = left->sources ? hfta_data_classes(left->sources[i]) : NULL,
               *b =
                   right->sources ? hfta_data_classes(right->sources[i]) : NULL;
    size_t at = 0;
    while (a && b && a[at] && a[at] == b[at])
      ++at;
    if (!a || !b || a[at] == b[at])
      continue;
    while (at > 0 && a[at - 1] != '\n')
      --at;
    return hfta_fail(
        error, HFTA_INVALID_INPUT,
        "'%s' has other classes than '%s': where one has '%.*s', the other has "
        "'%.*s'",
        hfta_split_source(field, right->split)->path,
        hfta_split_source(field, left->split)->path, (int)strcspn(b + at, "\n"),
        b + at, (int)strcspn(a + at, "\n"), a + at);
  }
  return HFTA_OK;
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
