//===- safetensors.c - Reads safetensors files ----------------------------===//

#include "hfta/safetensors.h"

#include "formats/checksum.h"
#include "formats/safetensors_types.h"
#include "hfta/json.h"
#include "system/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct hfta_safetensors {
  hfta_mapping mapping;
  hfta_tensor_view *tensors; ///< in the order of their data in the file
  size_t tensor_count;
  const hfta_tensor_view **by_name; ///< pointers into `tensors`, sorted by name
  char **metadata;                  ///< keys and values alternately
  size_t metadata_count;            ///< the number of pairs
};

/// The state of parsing the header of one file.
typedef struct parser {
  const char *path;
  hfta_error *error;
  hfta_json_reader json;
  hfta_safetensors *file;
  size_t tensor_capacity;
  size_t metadata_capacity;
  bool has_metadata; ///< whether '__metadata__' was read, which may be empty
  const unsigned char *data; ///< the tensors' data in the file
  uint64_t data_bytes;
} parser;

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

static hfta_status torn(const char *path, hfta_error *error,
                        const char *reason) {
  return hfta_fail(error, HFTA_INVALID_INPUT,
                   "'%s' is no whole safetensors file: %s", path, reason);
}

static hfta_status out_of_memory(const parser *p) {
  return hfta_fail(p->error, HFTA_UNSUPPORTED,
                   "out of memory while reading '%s'", p->path);
}

static hfta_status bad_tensor(const parser *p, const char *name,
                              const char *reason) {
  return hfta_fail(p->error, HFTA_INVALID_INPUT,
                   "'%s' is no whole safetensors file: tensor '%s' %s", p->path,
                   name, reason);
}

/// Reports that the JSON is malformed or isn't what the format requires: the
/// JSON reader's problem if it has one, else `expected`.
static hfta_status bad_json(const parser *p, const char *expected) {
  return hfta_fail(p->error, HFTA_INVALID_INPUT,
                   "'%s' is no whole safetensors file: byte %zu of the header: "
                   "%s",
                   p->path, p->json.offset,
                   p->json.problem ? p->json.problem : expected);
}

//===----------------------------------------------------------------------===//
// Growing arrays
//===----------------------------------------------------------------------===//

/// Makes room for one more element of `size` bytes. Returns false if memory
/// runs out.
static bool grow(void **array, size_t count, size_t *capacity, size_t size) {
  if (count < *capacity)
    return true;
  size_t wanted = *capacity ? *capacity * 2 : 16;
  void *larger = realloc(*array, wanted * size);
  if (!larger)
    return false;
  *array = larger;
  *capacity = wanted;
  return true;
}

/// Returns a copy of the JSON reader's last string, which the caller frees, or
/// NULL if memory runs out.
static char *copy_string(const hfta_json_reader *json) {
  char *copy = malloc(json->string_length + 1);
  if (copy)
    memcpy(copy, json->string, json->string_length + 1);
  return copy;
}

static bool holds_zero_byte(const hfta_json_reader *json) {
  return strlen(json->string) != json->string_length;
}

//===----------------------------------------------------------------------===//
// The header
//===----------------------------------------------------------------------===//

static hfta_status add_metadata_string(parser *p, size_t index) {
  void *array = p->file->metadata;
  bool grown = grow(&array, index, &p->metadata_capacity, sizeof(char *));
  p->file->metadata = array;
  char *copy = grown ? copy_string(&p->json) : NULL;
  if (!copy)
    return out_of_memory(p);
  p->file->metadata[index] = copy;
  return HFTA_OK;
}

static hfta_status parse_metadata(parser *p) {
  hfta_safetensors *file = p->file;
  if (p->has_metadata)
    return bad_json(p, "second '__metadata__'");
  p->has_metadata = true;
  if (hfta_json_next(&p->json) != HFTA_JSON_BEGIN_OBJECT)
    return bad_json(p, "expected '__metadata__' to be an object");
  hfta_json_event event;
  while ((event = hfta_json_next(&p->json)) == HFTA_JSON_KEY) {
    if (holds_zero_byte(&p->json))
      return bad_json(p, "zero byte in a name");
    size_t index = file->metadata_count * 2;
    hfta_status status = add_metadata_string(p, index);
    if (status != HFTA_OK)
      return status;
    if (hfta_json_next(&p->json) != HFTA_JSON_STRING) {
      free(file->metadata[index]);
      return bad_json(p, "expected a string in '__metadata__'");
    }
    status = add_metadata_string(p, index + 1);
    if (status != HFTA_OK) {
      free(file->metadata[index]);
      return status;
    }
    ++file->metadata_count;
  }
  return event == HFTA_JSON_END_OBJECT ? HFTA_OK : bad_json(p, "expected '}'");
}

static bool type_from_name(const char *name, hfta_element_type *out) {
#define HFTA_MATCH(type, text)                                                 \
  if (strcmp(name, text) == 0) {                                               \
    *out = type;                                                               \
    return true;                                                               \
  }
  HFTA_SAFETENSORS_TYPES(HFTA_MATCH)
#undef HFTA_MATCH
  return false;
}

/// Parses an array of at most `capacity` nonnegative integers into `values`.
static hfta_status parse_integers(parser *p, int64_t *values, uint32_t capacity,
                                  uint32_t *count) {
  if (hfta_json_next(&p->json) != HFTA_JSON_BEGIN_ARRAY)
    return bad_json(p, "expected an array of numbers");
  *count = 0;
  hfta_json_event event;
  while ((event = hfta_json_next(&p->json)) == HFTA_JSON_INTEGER) {
    if (p->json.integer < 0)
      return bad_json(p, "expected a number that is not negative");
    if (*count == capacity)
      return bad_json(p, "more numbers than expected");
    values[(*count)++] = p->json.integer;
  }
  return event == HFTA_JSON_END_ARRAY ? HFTA_OK
                                      : bad_json(p, "expected a whole number");
}

/// A tensor's entry in the header.
typedef struct description {
  bool has_type, has_shape, has_offsets;
  hfta_element_type type;
  uint32_t rank;
  int64_t shape[HFTA_MAX_RANK];
  int64_t offsets[2];
} description;

static hfta_status parse_field(parser *p, const char *name, description *d) {
  const char *field = p->json.string;
  if (strcmp(field, "dtype") == 0 && !d->has_type) {
    d->has_type = true;
    if (hfta_json_next(&p->json) != HFTA_JSON_STRING)
      return bad_json(p, "expected 'dtype' to be a string");
    if (!type_from_name(p->json.string, &d->type))
      return hfta_fail(p->error, HFTA_UNSUPPORTED,
                       "'%s': tensor '%s' has the unsupported type '%s'",
                       p->path, name, p->json.string);
    return HFTA_OK;
  }
  if (strcmp(field, "shape") == 0 && !d->has_shape) {
    d->has_shape = true;
    return parse_integers(p, d->shape, HFTA_MAX_RANK, &d->rank);
  }
  if (strcmp(field, "data_offsets") == 0 && !d->has_offsets) {
    uint32_t count;
    d->has_offsets = true;
    hfta_status status = parse_integers(p, d->offsets, 2, &count);
    if (status == HFTA_OK && count != 2)
      return bad_json(p, "expected two 'data_offsets'");
    return status;
  }
  return bad_json(p, "unknown or repeated field of a tensor");
}

static hfta_status check_description(const parser *p, const char *name,
                                     const description *d) {
  if (!d->has_type || !d->has_shape || !d->has_offsets)
    return bad_tensor(p, name, "lacks its type, shape or offsets");
  uint64_t bytes;
  if (!hfta_shape_bytes(d->type, d->shape, d->rank, &bytes))
    return bad_tensor(p, name, "is larger than 2^63 bytes");
  if (d->offsets[0] > d->offsets[1] ||
      (uint64_t)(d->offsets[1] - d->offsets[0]) != bytes)
    return bad_tensor(p, name, "has offsets that don't fit its shape");
  if ((uint64_t)d->offsets[1] > p->data_bytes)
    return bad_tensor(p, name, "ends beyond the end of the file");
  return HFTA_OK;
}

/// Appends a tensor to the file's list; takes ownership of `name` even if it
/// fails.
static hfta_status add_tensor(parser *p, char *name, const description *d) {
  hfta_safetensors *file = p->file;
  void *array = file->tensors;
  bool grown = grow(&array, file->tensor_count, &p->tensor_capacity,
                    sizeof(*file->tensors));
  file->tensors = array;
  int64_t *shape = malloc((d->rank + 1) * sizeof(*shape));
  if (!grown || !shape) {
    free(shape);
    free(name);
    return out_of_memory(p);
  }
  if (d->rank > 0)
    memcpy(shape, d->shape, d->rank * sizeof(*shape));
  file->tensors[file->tensor_count++] =
      (hfta_tensor_view){.name = name,
                         .type = d->type,
                         .rank = d->rank,
                         .shape = shape,
                         .data = p->data + d->offsets[0],
                         .bytes = (uint64_t)(d->offsets[1] - d->offsets[0])};
  return HFTA_OK;
}

static hfta_status parse_tensor(parser *p) {
  char *name = copy_string(&p->json);
  if (!name)
    return out_of_memory(p);
  description d = {0};
  hfta_status status = HFTA_OK;
  if (hfta_json_next(&p->json) != HFTA_JSON_BEGIN_OBJECT)
    status = bad_json(p, "expected an object for a tensor");
  hfta_json_event event = HFTA_JSON_ERROR;
  while (status == HFTA_OK &&
         (event = hfta_json_next(&p->json)) == HFTA_JSON_KEY)
    status = parse_field(p, name, &d);
  if (status == HFTA_OK && event != HFTA_JSON_END_OBJECT)
    status = bad_json(p, "expected '}'");
  if (status == HFTA_OK)
    status = check_description(p, name, &d);
  if (status == HFTA_OK)
    return add_tensor(p, name, &d);
  free(name);
  return status;
}

static hfta_status parse_header(parser *p) {
  if (hfta_json_next(&p->json) != HFTA_JSON_BEGIN_OBJECT)
    return bad_json(p, "expected an object");
  hfta_json_event event;
  while ((event = hfta_json_next(&p->json)) == HFTA_JSON_KEY) {
    if (holds_zero_byte(&p->json))
      return bad_json(p, "zero byte in a name");
    hfta_status status = strcmp(p->json.string, "__metadata__") == 0
                             ? parse_metadata(p)
                             : parse_tensor(p);
    if (status != HFTA_OK)
      return status;
  }
  if (event != HFTA_JSON_END_OBJECT)
    return bad_json(p, "expected '}'");
  return hfta_json_next(&p->json) == HFTA_JSON_END
             ? HFTA_OK
             : bad_json(p, "expected the header's end");
}

//===----------------------------------------------------------------------===//
// The whole file
//===----------------------------------------------------------------------===//

static int compare_places(const void *left, const void *right) {
  const hfta_tensor_view *a = left, *b = right;
  if (a->data != b->data)
    return a->data < b->data ? -1 : 1;
  // An empty tensor precedes the tensor that begins at the same byte.
  if (a->bytes != b->bytes)
    return a->bytes < b->bytes ? -1 : 1;
  return strcmp(a->name, b->name);
}

static int compare_names(const void *left, const void *right) {
  return strcmp((*(const hfta_tensor_view *const *)left)->name,
                (*(const hfta_tensor_view *const *)right)->name);
}

/// Sorts the tensors by the offset of their data, and checks that the data
/// fills the rest of the file without gaps or overlaps.
static hfta_status check_places(parser *p) {
  hfta_safetensors *file = p->file;
  if (file->tensor_count > 0)
    qsort(file->tensors, file->tensor_count, sizeof(*file->tensors),
          compare_places);
  const unsigned char *end = p->data;
  for (size_t i = 0; i < file->tensor_count; ++i) {
    const hfta_tensor_view *tensor = &file->tensors[i];
    const unsigned char *begin = tensor->data;
    if (begin != end)
      return bad_tensor(p, tensor->name,
                        begin < end ? "overlaps another"
                                    : "has a gap before it");
    end = begin + tensor->bytes;
  }
  uint64_t used = (uint64_t)(end - p->data);
  if (used != p->data_bytes)
    return hfta_fail(p->error, HFTA_INVALID_INPUT,
                     "'%s' is no whole safetensors file: its tensors take "
                     "%" PRIu64 " bytes, but %" PRIu64 " follow the header",
                     p->path, used, p->data_bytes);
  return HFTA_OK;
}

static hfta_status check_names(parser *p) {
  hfta_safetensors *file = p->file;
  size_t count = file->tensor_count;
  file->by_name = malloc((count + 1) * sizeof(*file->by_name));
  if (!file->by_name)
    return out_of_memory(p);
  for (size_t i = 0; i < count; ++i)
    file->by_name[i] = &file->tensors[i];
  qsort(file->by_name, count, sizeof(*file->by_name), compare_names);
  for (size_t i = 1; i < count; ++i)
    if (compare_names(&file->by_name[i - 1], &file->by_name[i]) == 0)
      return bad_tensor(p, file->by_name[i]->name, "is there twice");
  return HFTA_OK;
}

static hfta_status read_file(const char *path, hfta_safetensors *file,
                             hfta_error *error) {
  hfta_status status = hfta_mapping_open(path, &file->mapping, error);
  if (status != HFTA_OK)
    return status;
  const unsigned char *bytes = file->mapping.bytes;
  uint64_t size = file->mapping.size, header;
  if (size < sizeof(header))
    return torn(path, error, "it has fewer than 8 bytes");
  memcpy(&header, bytes, sizeof(header));
  if (header > HFTA_SAFETENSORS_MAX_HEADER || header > size - sizeof(header))
    return torn(path, error, "its header is longer than the file allows");
  parser p = {.path = path,
              .error = error,
              .file = file,
              .data = bytes + sizeof(header) + header,
              .data_bytes = size - sizeof(header) - header};
  hfta_json_read(&p.json, (const char *)bytes + sizeof(header), header);
  status = parse_header(&p);
  hfta_json_read_end(&p.json);
  if (status == HFTA_OK)
    status = check_places(&p);
  return status == HFTA_OK ? check_names(&p) : status;
}

//===----------------------------------------------------------------------===//
// The checksum
//===----------------------------------------------------------------------===//

size_t hfta_safetensors_checksum_place(const char *header, size_t size,
                                       const char *digits) {
  static const char key[] = "\"" HFTA_SAFETENSORS_CHECKSUM "\":\"";
  const char *found = memmem(header, size, key, sizeof(key) - 1);
  if (!found)
    return 0;
  size_t place = (size_t)(found - header) + sizeof(key) - 1;
  size_t length = strlen(digits);
  return size - place > length && memcmp(header + place, digits, length) == 0
             ? place
             : 0;
}

/// Returns whether the file, with zeros in place of the digits at offset
/// `place`, has the checksum `digits`.
static bool has_checksum(const hfta_mapping *mapping, size_t place,
                         const char *digits) {
  static const char zeros[] = HFTA_SAFETENSORS_NO_CHECKSUM;
  size_t end = place + sizeof(zeros) - 1;
  hfta_checksum sum;
  char text[HFTA_CHECKSUM_TEXT_BYTES];
  hfta_checksum_begin(&sum);
  hfta_checksum_add(&sum, mapping->bytes, place);
  hfta_checksum_add(&sum, zeros, sizeof(zeros) - 1);
  hfta_checksum_add(&sum, mapping->bytes + end, mapping->size - end);
  return strcmp(hfta_checksum_text(&sum, text), digits) == 0;
}

hfta_status hfta_safetensors_verify(const hfta_safetensors *file,
                                    const char *path, hfta_error *error) {
  const char *digits =
      hfta_safetensors_metadata(file, HFTA_SAFETENSORS_CHECKSUM);
  if (!digits)
    return HFTA_OK;
  uint64_t header;
  memcpy(&header, file->mapping.bytes, sizeof(header));
  size_t place = hfta_safetensors_checksum_place(
      (const char *)file->mapping.bytes + sizeof(header), header, digits);
  if (place > 0 && strlen(digits) == HFTA_CHECKSUM_TEXT_BYTES - 1 &&
      has_checksum(&file->mapping, sizeof(header) + place, digits))
    return HFTA_OK;
  return hfta_fail(error, HFTA_INVALID_INPUT,
                   "'%s' is damaged: its bytes don't have the checksum '%.32s' "
                   "that they were written with",
                   path, digits);
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

hfta_status hfta_safetensors_open(const char *path, hfta_safetensors **out,
                                  hfta_error *error) {
  *out = NULL;
  hfta_safetensors *file = calloc(1, sizeof(*file));
  if (!file)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "out of memory while reading '%s'", path);
  hfta_status status = read_file(path, file, error);
  if (status != HFTA_OK)
    hfta_safetensors_close(file);
  else
    *out = file;
  return status;
}

void hfta_safetensors_close(hfta_safetensors *file) {
  if (!file)
    return;
  for (size_t i = 0; i < file->tensor_count; ++i) {
    free((void *)(uintptr_t)file->tensors[i].name);
    free((void *)(uintptr_t)file->tensors[i].shape);
  }
  for (size_t i = 0; i < file->metadata_count * 2; ++i)
    free(file->metadata[i]);
  free(file->tensors);
  free(file->by_name);
  free(file->metadata);
  hfta_mapping_close(&file->mapping);
  free(file);
}

size_t hfta_safetensors_count(const hfta_safetensors *file) {
  return file->tensor_count;
}

const hfta_tensor_view *hfta_safetensors_at(const hfta_safetensors *file,
                                            size_t index) {
  return &file->tensors[index];
}

const hfta_tensor_view *hfta_safetensors_find(const hfta_safetensors *file,
                                              const char *name) {
  hfta_tensor_view key = {.name = name};
  const hfta_tensor_view *pointer = &key;
  const hfta_tensor_view **found =
      bsearch(&pointer, file->by_name, file->tensor_count,
              sizeof(*file->by_name), compare_names);
  return found ? *found : NULL;
}

const char *hfta_safetensors_metadata(const hfta_safetensors *file,
                                      const char *key) {
  for (size_t i = 0; i < file->metadata_count; ++i)
    if (strcmp(file->metadata[2 * i], key) == 0)
      return file->metadata[2 * i + 1];
  return NULL;
}
