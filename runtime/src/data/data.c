//===- data.c - Sources of training and test samples ----------------------===//

#include "data/data_images.h"
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

const char *hfta_csv_separator_name(hfta_csv_separator separator) {
  switch (separator) {
#define HFTA_CSV_SEPARATOR(identifier, number, name, character)                \
  case HFTA_CSV_SEPARATOR_##identifier:                                        \
    return name;
    HFTA_CSV_SEPARATORS
#undef HFTA_CSV_SEPARATOR
  }
  return "comma";
}

const char *hfta_image_resize_name(hfta_image_resize resize) {
  switch (resize) {
#define HFTA_IMAGE_RESIZE(identifier, number, name)                            \
  case HFTA_IMAGE_RESIZE_##identifier:                                         \
    return name;
    HFTA_IMAGE_RESIZES
#undef HFTA_IMAGE_RESIZE
  }
  return "none";
}

/// The functions that read files of a format.
typedef struct format_functions {
  hfta_data_opener open;
  hfta_data_prober probe; ///< NULL: files don't state type and shape
  bool is_folder;         ///< sources are folders, which aren't watched
} format_functions;

static format_functions functions_of(hfta_data_format format) {
#define HFTA_FUNCTIONS(name, is_folder)                                        \
  (format_functions) {                                                         \
    hfta_data_open_##name, hfta_data_probe_##name, is_folder                   \
  }
  switch (format) {
  case HFTA_DATA_IDX:
    return HFTA_FUNCTIONS(idx, false);
  case HFTA_DATA_NPY:
    return HFTA_FUNCTIONS(npy, false);
  case HFTA_DATA_CSV:
    return (format_functions){hfta_data_open_csv, NULL, false};
  case HFTA_DATA_RAW:
    return (format_functions){hfta_data_open_raw, NULL, false};
  case HFTA_DATA_NPZ:
    return HFTA_FUNCTIONS(npz, false);
  case HFTA_DATA_SAFETENSORS:
    return HFTA_FUNCTIONS(safetensors, false);
  case HFTA_DATA_IMAGES:
    return HFTA_FUNCTIONS(images, true);
  case HFTA_DATA_CLASSES:
    return HFTA_FUNCTIONS(classes, true);
  case HFTA_DATA_TOKENS:
    return (format_functions){hfta_data_open_tokens, NULL, false};
  case HFTA_DATA_NONE:
    break;
  }
  return (format_functions){NULL, NULL, false};
#undef HFTA_FUNCTIONS
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
  if (functions_of(self->request->format).is_folder)
    return run_opener(self);
  hfta_watch_open(self->request->path, &data->watch);
  hfta_status status =
      hfta_watch_read(&data->watch, data->path, run_opener, self, self->error);
  if (!data->mapping.bytes && !data->tensors)
    hfta_watch_close(&data->watch);
  return status;
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

hfta_status hfta_data_open(const hfta_data_request *request, hfta_data **out,
                           hfta_error *error) {
  *out = NULL;
  hfta_data_opener opener = functions_of(request->format).open;
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
  for (uint32_t i = 0; i < data->part_count; ++i)
    hfta_data_close(data->parts[i]);
  for (size_t i = 0; i < data->notes.count; ++i)
    free(data->notes.texts[i]);
  free(data->notes.texts);
  free(data->classes);
  free(data->parts);
  free(data->firsts);
  hfta_images_close(data->images);
  hfta_safetensors_close(data->tensors);
  hfta_mapping_close(&data->mapping);
  hfta_watch_close(&data->watch);
  free(data->owned);
  free(data->path);
  free(data);
}

hfta_status hfta_data_join(hfta_data **parts, uint32_t count, hfta_data **out,
                           hfta_error *error) {
  *out = NULL;
  hfta_data *data = calloc(1, sizeof(*data));
  hfta_data **kept = calloc(count, sizeof(hfta_data *));
  int64_t *firsts = calloc(count, sizeof(*firsts));
  if (!data || !kept || !firsts) {
    for (uint32_t i = 0; i < count; ++i)
      hfta_data_close(parts[i]);
    free(data);
    free(kept);
    free(firsts);
    return hfta_fail(error, HFTA_UNSUPPORTED, "not enough memory for data");
  }
  *data = (hfta_data){.parts = kept,
                      .firsts = firsts,
                      .part_count = count,
                      .sample_bytes = parts[0]->sample_bytes,
                      .watch = {.descriptor = -1}};
  for (uint32_t i = 0; i < count; ++i) {
    kept[i] = parts[i];
    firsts[i] = data->count;
    data->count += parts[i]->count;
    data->owned_bytes += parts[i]->owned_bytes;
    data->guesses_no_header |= parts[i]->guesses_no_header;
  }
  *out = data;
  return HFTA_OK;
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
// Messages
//===----------------------------------------------------------------------===//

size_t hfta_data_note_count(const hfta_data *data) { return data->notes.count; }

const char *hfta_data_note_at(const hfta_data *data, size_t index) {
  return data->notes.texts[index];
}

const char *hfta_data_classes(const hfta_data *data) { return data->classes; }

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

/// The arguments of hfta_data_gather, for hfta_watch_read. Only the samples
/// from `first` on that the source has are gathered.
typedef struct gathering {
  const hfta_data *data;
  int64_t first;
  const int64_t *indices;
  int64_t count;
  unsigned char *out;
} gathering;

/// Returns whether a sample is among those that are gathered.
static bool is_gathered(const gathering *self, int64_t index) {
  return index >= self->first && index - self->first < self->data->count;
}

static hfta_status copy_samples(void *argument) {
  const gathering *self = argument;
  uint64_t bytes = self->data->sample_bytes,
           stride = self->data->stride ? self->data->stride : bytes;
  for (int64_t i = 0; i < self->count; ++i)
    if (is_gathered(self, self->indices[i]))
      copy_sample(self->data, self->out + (uint64_t)i * bytes,
                  self->data->samples +
                      (uint64_t)(self->indices[i] - self->first) * stride);
  return HFTA_OK;
}

/// Gathers the samples of one file; does nothing if there are none.
static hfta_status gather_from(gathering *self, hfta_error *error) {
  for (int64_t i = 0; i < self->count; ++i)
    if (is_gathered(self, self->indices[i]))
      return hfta_watch_read(&self->data->watch, self->data->path, copy_samples,
                             self, error);
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
  if (data->images)
    return hfta_images_gather(data->images, indices, n, destination, error);
  gathering self = {data, 0, indices, n, destination};
  if (data->part_count == 0)
    return gather_from(&self, error);
  hfta_status status = HFTA_OK;
  for (uint32_t i = 0; i < data->part_count && status == HFTA_OK; ++i) {
    self.data = data->parts[i];
    self.first = data->firsts[i];
    status = gather_from(&self, error);
  }
  return status;
}

hfta_status hfta_data_probe(const hfta_data_request *request,
                            hfta_data_info *out, hfta_error *error) {
  *out = (hfta_data_info){0};
  hfta_data_prober prober = functions_of(request->format).probe;
  if (prober)
    return prober(request, out, error);
  return hfta_fail(error, HFTA_UNSUPPORTED,
                   "'%s': %s files have no header that gives type and shape",
                   request->path, hfta_data_format_name(request->format));
}
