//===- data.c - Sources of training and test samples ----------------------===//

#include "data/data_source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

const char *hfta_data_format_name(hfta_data_format format) {
  switch (format) {
#define HFTA_DATA_FORMAT(identifier, number, name)                             \
  case HFTA_DATA_##identifier:                                                 \
    return name;
    HFTA_DATA_FORMATS
#undef HFTA_DATA_FORMAT
  case HFTA_DATA_NONE:
    break;
  }
  return "none";
}

const char *hfta_csv_header_name(hfta_csv_header header) {
  switch (header) {
#define HFTA_CSV_HEADER(identifier, number, name)                              \
  case HFTA_CSV_HEADER_##identifier:                                           \
    return name;
    HFTA_CSV_HEADERS
#undef HFTA_CSV_HEADER
  }
  return "auto";
}

static hfta_data_opener opener_of(hfta_data_format format) {
  switch (format) {
  case HFTA_DATA_IDX:
    return hfta_data_open_idx;
  case HFTA_DATA_NPY:
    return hfta_data_open_npy;
  case HFTA_DATA_CSV:
    return hfta_data_open_csv;
  case HFTA_DATA_RAW:
    return hfta_data_open_raw;
  case HFTA_DATA_NONE:
    break;
  }
  return NULL;
}

//===----------------------------------------------------------------------===//
// Files that others change
//===----------------------------------------------------------------------===//

/// The arguments of an opener, for hfta_watch_read.
typedef struct opening {
  hfta_data_opener opener;
  const hfta_data_request *request;
  hfta_data *data;
  hfta_error *error;
} opening;

static hfta_status run_opener(void *argument) {
  const opening *self = argument;
  return self->opener(self->request, self->data, self->error);
}

/// Opens a file and fails if others change it meanwhile. If its samples are in
/// memory afterwards, later changes don't matter. If it is mapped, it is
/// watched until it is closed.
static hfta_status open_watched(opening *self) {
  hfta_data *data = self->data;
  hfta_watch_open(self->request->path, &data->watch);
  hfta_status status =
      hfta_watch_read(&data->watch, data->path, run_opener, self, self->error);
  if (!data->mapping.bytes)
    hfta_watch_close(&data->watch);
  return status;
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

hfta_status hfta_data_open(const hfta_data_request *request, hfta_data **out,
                           hfta_error *error) {
  *out = NULL;
  hfta_data_opener opener = opener_of(request->format);
  uint64_t sample_bytes;
  if (!opener)
    return hfta_fail(error, HFTA_INTERNAL, "'%s': unknown data format %d",
                     request->path, (int)request->format);
  if (request->sample_rank > HFTA_MAX_RANK ||
      !hfta_shape_bytes(request->type, request->sample_shape,
                        request->sample_rank, &sample_bytes))
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "'%s': the requested samples exceed %d axes or 2^63 bytes",
                     request->path, HFTA_MAX_RANK);
  hfta_data *data = calloc(1, sizeof(*data));
  if (!data)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "out of memory while reading '%s'", request->path);
  data->sample_bytes = sample_bytes;
  data->watch.descriptor = -1;
  data->path = strdup(request->path);
  opening self = {opener, request, data, error};
  hfta_status status =
      data->path ? open_watched(&self)
                 : hfta_fail(error, HFTA_UNSUPPORTED,
                             "out of memory while reading '%s'", request->path);
  if (status != HFTA_OK)
    hfta_data_close(data);
  else
    *out = data;
  return status;
}

void hfta_data_close(hfta_data *data) {
  if (!data)
    return;
  hfta_mapping_close(&data->mapping);
  hfta_watch_close(&data->watch);
  free(data->owned);
  free(data->path);
  free(data);
}

int64_t hfta_data_count(const hfta_data *data) { return data->count; }

uint64_t hfta_data_sample_bytes(const hfta_data *data) {
  return data->sample_bytes;
}

uint64_t hfta_data_resident_bytes(const hfta_data *data) {
  return data->owned_bytes;
}

bool hfta_data_guesses_no_header(const hfta_data *data) {
  return data->guesses_no_header;
}

//===----------------------------------------------------------------------===//
// Copying samples
//===----------------------------------------------------------------------===//

static void copy_swapped_16(unsigned char *out, const unsigned char *in,
                            uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; i += sizeof(uint16_t)) {
    uint16_t value;
    memcpy(&value, in + i, sizeof(value));
    value = __builtin_bswap16(value);
    memcpy(out + i, &value, sizeof(value));
  }
}

static void copy_swapped_32(unsigned char *out, const unsigned char *in,
                            uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; i += sizeof(uint32_t)) {
    uint32_t value;
    memcpy(&value, in + i, sizeof(value));
    value = __builtin_bswap32(value);
    memcpy(out + i, &value, sizeof(value));
  }
}

static void copy_swapped_64(unsigned char *out, const unsigned char *in,
                            uint64_t bytes) {
  for (uint64_t i = 0; i < bytes; i += sizeof(uint64_t)) {
    uint64_t value;
    memcpy(&value, in + i, sizeof(value));
    value = __builtin_bswap64(value);
    memcpy(out + i, &value, sizeof(value));
  }
}

static void copy_sample(const hfta_data *data, unsigned char *out,
                        const unsigned char *in) {
  switch (data->swapped_bytes) {
  case 2:
    copy_swapped_16(out, in, data->sample_bytes);
    break;
  case 4:
    copy_swapped_32(out, in, data->sample_bytes);
    break;
  case 8:
    copy_swapped_64(out, in, data->sample_bytes);
    break;
  default:
    memcpy(out, in, data->sample_bytes);
  }
}

/// The arguments of hfta_data_gather, for hfta_watch_read.
typedef struct gathering {
  const hfta_data *data;
  const int64_t *indices;
  int64_t count;
  unsigned char *out;
} gathering;

static hfta_status copy_samples(void *argument) {
  const gathering *self = argument;
  uint64_t bytes = self->data->sample_bytes;
  for (int64_t i = 0; i < self->count; ++i)
    copy_sample(self->data, self->out + (uint64_t)i * bytes,
                self->data->samples + (uint64_t)self->indices[i] * bytes);
  return HFTA_OK;
}

hfta_status hfta_data_gather(const hfta_data *data, const int64_t *indices,
                             int64_t n, void *destination, hfta_error *error) {
  for (int64_t i = 0; i < n; ++i)
    if (indices[i] < 0 || indices[i] >= data->count)
      return hfta_fail(error, HFTA_INVALID_INPUT,
                       "expected a sample below %" PRId64 ", got %" PRId64,
                       data->count, indices[i]);
  if (data->sample_bytes == 0)
    return HFTA_OK;
  gathering self = {data, indices, n, destination};
  return hfta_watch_read(&data->watch, data->path, copy_samples, &self, error);
}

hfta_status hfta_data_probe(const char *path, hfta_data_format format,
                            hfta_data_info *out, hfta_error *error) {
  *out = (hfta_data_info){0};
  if (format == HFTA_DATA_IDX)
    return hfta_data_probe_idx(path, out, error);
  if (format == HFTA_DATA_NPY)
    return hfta_data_probe_npy(path, out, error);
  return hfta_fail(error, HFTA_UNSUPPORTED,
                   "'%s': %s files have no header that gives type and shape",
                   path, hfta_data_format_name(format));
}
