//===- safetensors_writer.c - Writes safetensors files --------------------===//

#include "hfta/json.h"
#include "hfta/safetensors.h"

#include "formats/checksum.h"
#include "formats/safetensors_types.h"
#include "system/file.h"
#include "text/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct hfta_safetensors_writer {
  hfta_output *output;
  uint64_t remaining; ///< bytes of tensor data that still have to be appended
  uint64_t sum_place; ///< the file offset of the checksum's digits, or 0 if
                      ///< there is no checksum
  hfta_checksum sum;
};

static const char *type_name(hfta_element_type type) {
  switch (type) {
#define HFTA_CASE(type, name)                                                  \
  case type:                                                                   \
    return name;
    HFTA_SAFETENSORS_TYPES(HFTA_CASE)
#undef HFTA_CASE
  }
  return NULL;
}

static hfta_status out_of_memory(const char *path, hfta_error *error) {
  return hfta_fail(error, HFTA_UNSUPPORTED, "out of memory while writing '%s'",
                   path);
}

static int compare_strings(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static int compare_metadata(const void *left, const void *right) {
  return strcmp((*(const hfta_metadata *const *)left)->key,
                (*(const hfta_metadata *const *)right)->key);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static hfta_status check_tensor(const char *path,
                                const hfta_tensor_view *tensor,
                                hfta_error *error) {
  const char *name = tensor->name;
  if (!hfta_utf8_valid(name, strlen(name)) || strcmp(name, "__metadata__") == 0)
    return hfta_fail(error, HFTA_INTERNAL,
                     "cannot write '%s': '%s' is no tensor name", path, name);
  uint64_t bytes;
  if (!hfta_shape_bytes(tensor->type, tensor->shape, tensor->rank, &bytes) ||
      bytes != tensor->bytes)
    return hfta_fail(error, HFTA_INTERNAL,
                     "cannot write '%s': shape and bytes of '%s' differ", path,
                     name);
  return HFTA_OK;
}

static hfta_status check_names_unique(const char *path,
                                      const hfta_tensor_view *tensors,
                                      size_t count, hfta_error *error) {
  const char **names = malloc((count + 1) * sizeof(*names));
  if (!names)
    return out_of_memory(path, error);
  for (size_t i = 0; i < count; ++i)
    names[i] = tensors[i].name;
  qsort(names, count, sizeof(*names), compare_strings);
  hfta_status status = HFTA_OK;
  for (size_t i = 1; i < count && status == HFTA_OK; ++i)
    if (strcmp(names[i - 1], names[i]) == 0)
      status = hfta_fail(error, HFTA_INTERNAL,
                         "cannot write '%s': two tensors are named '%s'", path,
                         names[i]);
  free(names);
  return status;
}

//===----------------------------------------------------------------------===//
// The header
//===----------------------------------------------------------------------===//

static hfta_status put_metadata(hfta_json_writer *json, const char *path,
                                const hfta_metadata *metadata, size_t count,
                                hfta_error *error) {
  if (count == 0)
    return HFTA_OK;
  const hfta_metadata **sorted = malloc(count * sizeof(*sorted));
  if (!sorted)
    return out_of_memory(path, error);
  for (size_t i = 0; i < count; ++i)
    sorted[i] = &metadata[i];
  qsort(sorted, count, sizeof(*sorted), compare_metadata);
  hfta_json_key(json, "__metadata__");
  hfta_json_begin_object(json);
  hfta_status status = HFTA_OK;
  for (size_t i = 0; i < count && status == HFTA_OK; ++i) {
    if (i > 0 && strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
      status = hfta_fail(error, HFTA_INTERNAL,
                         "cannot write '%s': metadata holds '%s' twice", path,
                         sorted[i]->key);
    const char *value = sorted[i]->value;
    hfta_json_key(json, sorted[i]->key);
    hfta_json_string(json, value ? value : HFTA_SAFETENSORS_NO_CHECKSUM);
  }
  hfta_json_end_object(json);
  free(sorted);
  return status;
}

/// Writes a tensor's entry of the header. `*offset` is the offset of the
/// tensor's data, and is advanced to the end of the data.
static hfta_status put_tensor(hfta_json_writer *json, const char *path,
                              const hfta_tensor_view *tensor, uint64_t *offset,
                              hfta_error *error) {
  uint64_t end;
  if (__builtin_add_overflow(*offset, tensor->bytes, &end) || end > INT64_MAX)
    return hfta_fail(error, HFTA_CANNOT_WRITE,
                     "cannot write '%s': more than 2^63 bytes", path);
  hfta_json_key(json, tensor->name);
  hfta_json_begin_object(json);
  hfta_json_key(json, "dtype");
  hfta_json_string(json, type_name(tensor->type));
  hfta_json_key(json, "shape");
  hfta_json_begin_array(json);
  for (uint32_t i = 0; i < tensor->rank; ++i)
    hfta_json_integer(json, tensor->shape[i]);
  hfta_json_end_array(json);
  hfta_json_key(json, "data_offsets");
  hfta_json_begin_array(json);
  hfta_json_unsigned(json, *offset);
  hfta_json_unsigned(json, end);
  hfta_json_end_array(json);
  hfta_json_end_object(json);
  *offset = end;
  return HFTA_OK;
}

/// Writes the header's text to `json`, and sets `*bytes` to the total size of
/// the tensors' data.
static hfta_status make_header(hfta_json_writer *json, const char *path,
                               const hfta_tensor_view *tensors,
                               size_t tensor_count,
                               const hfta_metadata *metadata,
                               size_t metadata_count, uint64_t *bytes,
                               hfta_error *error) {
  hfta_json_begin_object(json);
  hfta_status status =
      put_metadata(json, path, metadata, metadata_count, error);
  *bytes = 0;
  for (size_t i = 0; i < tensor_count && status == HFTA_OK; ++i) {
    status = check_tensor(path, &tensors[i], error);
    if (status == HFTA_OK)
      status = put_tensor(json, path, &tensors[i], bytes, error);
  }
  hfta_json_end_object(json);
  if (status == HFTA_OK)
    status = check_names_unique(path, tensors, tensor_count, error);
  return status == HFTA_OK ? hfta_json_finish(json, error) : status;
}

/// Writes bytes to the file and adds them to its checksum, if it has one.
static hfta_status put(hfta_safetensors_writer *writer, const void *bytes,
                       size_t size, hfta_error *error) {
  if (writer->sum_place)
    hfta_checksum_add(&writer->sum, bytes, size);
  return hfta_output_write(writer->output, bytes, size, error);
}

static hfta_status write_header(hfta_safetensors_writer *writer,
                                const char *path, const hfta_json_writer *json,
                                bool has_checksum, hfta_error *error) {
  static const char spaces[] = "       ";
  size_t length;
  const char *text = hfta_json_text(json, &length);
  size_t padding = (8 - length % 8) % 8;
  uint64_t total = length + padding;
  if (total > HFTA_SAFETENSORS_MAX_HEADER)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "cannot write '%s': its header would take %" PRIu64
                     " bytes, more than %u",
                     path, total, HFTA_SAFETENSORS_MAX_HEADER);
  if (has_checksum)
    writer->sum_place =
        sizeof(total) + hfta_safetensors_checksum_place(
                            text, length, HFTA_SAFETENSORS_NO_CHECKSUM);
  hfta_checksum_begin(&writer->sum);
  hfta_status status = put(writer, &total, sizeof(total), error);
  if (status == HFTA_OK)
    status = put(writer, text, length, error);
  if (status == HFTA_OK)
    status = put(writer, spaces, padding, error);
  return status;
}

/// Returns whether the metadata asks for a checksum, by an entry without value.
static bool wants_checksum(const hfta_metadata *metadata, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (!metadata[i].value)
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

hfta_status
hfta_safetensors_begin(const char *path, const hfta_tensor_view *tensors,
                       size_t tensor_count, const hfta_metadata *metadata,
                       size_t metadata_count, hfta_safetensors_writer **out,
                       hfta_error *error) {
  *out = NULL;
  hfta_safetensors_writer *writer = calloc(1, sizeof(*writer));
  if (!writer)
    return out_of_memory(path, error);
  hfta_json_writer json;
  hfta_json_to_memory(&json);
  hfta_status status = make_header(&json, path, tensors, tensor_count, metadata,
                                   metadata_count, &writer->remaining, error);
  if (status == HFTA_OK)
    status = hfta_output_open(path, &writer->output, error);
  if (status == HFTA_OK)
    status = write_header(writer, path, &json,
                          wants_checksum(metadata, metadata_count), error);
  hfta_json_release(&json);
  if (status != HFTA_OK)
    hfta_safetensors_abandon(writer);
  else
    *out = writer;
  return status;
}

hfta_status hfta_safetensors_append(hfta_safetensors_writer *writer,
                                    const void *bytes, size_t size,
                                    hfta_error *error) {
  if (size > writer->remaining)
    return hfta_fail(error, HFTA_INTERNAL,
                     "more bytes than a safetensors file's header declares");
  writer->remaining -= size;
  return put(writer, bytes, size, error);
}

hfta_status hfta_safetensors_finish(hfta_safetensors_writer *writer,
                                    hfta_error *error) {
  if (writer->remaining > 0) {
    hfta_safetensors_abandon(writer);
    return hfta_fail(error, HFTA_INTERNAL,
                     "fewer bytes than a safetensors file's header declares");
  }
  hfta_status status = HFTA_OK;
  char digits[HFTA_CHECKSUM_TEXT_BYTES];
  if (writer->sum_place)
    status = hfta_output_replace(writer->output, writer->sum_place,
                                 hfta_checksum_text(&writer->sum, digits),
                                 sizeof(digits) - 1, error);
  if (status != HFTA_OK) {
    hfta_safetensors_abandon(writer);
    return status;
  }
  status = hfta_output_commit(writer->output, error);
  free(writer);
  return status;
}

void hfta_safetensors_abandon(hfta_safetensors_writer *writer) {
  if (!writer)
    return;
  hfta_output_discard(writer->output);
  free(writer);
}

hfta_status hfta_safetensors_write(const char *path,
                                   const hfta_tensor_view *tensors,
                                   size_t tensor_count,
                                   const hfta_metadata *metadata,
                                   size_t metadata_count, hfta_error *error) {
  hfta_safetensors_writer *writer;
  hfta_status status = hfta_safetensors_begin(
      path, tensors, tensor_count, metadata, metadata_count, &writer, error);
  if (status != HFTA_OK)
    return status;
  for (size_t i = 0; i < tensor_count; ++i) {
    status = hfta_safetensors_append(writer, tensors[i].data, tensors[i].bytes,
                                     error);
    if (status != HFTA_OK) {
      hfta_safetensors_abandon(writer);
      return status;
    }
  }
  return hfta_safetensors_finish(writer, error);
}
