//===- npy.c - NumPy's array files ----------------------------------------===//

#include "formats/npy_convert.h"

#include "formats/gzip.h"
#include "system/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char magic[] = "\x93NUMPY";

enum {
  MAGIC_BYTES = 6,
  MAX_HEADER_BYTES = 1 << 16, ///< far more than HFTA_MAX_RANK dimensions need
  ALIGNMENT = 64 ///< the alignment in bytes of the elements in a file
};

/// Lists the element types as X(type of program.h, NumPy's `descr` without its
/// first character, the byte order). Types of one byte have the byte order "|".
/// bf16 is "V2" (two bytes without a type), as ml_dtypes writes it.
#define NPY_TYPES(X)                                                           \
  X(HFTA_BOOL, "b1")                                                           \
  X(HFTA_U8, "u1")                                                             \
  X(HFTA_I8, "i1")                                                             \
  X(HFTA_U16, "u2")                                                            \
  X(HFTA_I16, "i2")                                                            \
  X(HFTA_I32, "i4")                                                            \
  X(HFTA_I64, "i8")                                                            \
  X(HFTA_F16, "f2")                                                            \
  X(HFTA_BF16, "V2")                                                           \
  X(HFTA_F32, "f4")                                                            \
  X(HFTA_F64, "f8")

//===----------------------------------------------------------------------===//
// The header's dictionary: a Python literal
//===----------------------------------------------------------------------===//

/// A position in the header's dictionary, and what messages about it need.
typedef struct cursor {
  const char *text;
  size_t size;
  size_t at;
  const char *path;
  hfta_error *error;
} cursor;

static hfta_status bad_header(const cursor *c, const char *expected) {
  return hfta_fail(c->error, HFTA_INVALID_INPUT,
                   "'%s' is no npy file: byte %zu of its header: expected %s",
                   c->path, c->at, expected);
}

static void skip_space(cursor *c) {
  while (c->at < c->size && (c->text[c->at] == ' ' || c->text[c->at] == '\n' ||
                             c->text[c->at] == '\t'))
    ++c->at;
}

/// Skips white space, then `character`. Returns false if another character
/// follows the white space.
static bool accept(cursor *c, char character) {
  skip_space(c);
  if (c->at == c->size || c->text[c->at] != character)
    return false;
  ++c->at;
  return true;
}

/// Skips white space, then `word`. Returns false if another text follows.
static bool accept_word(cursor *c, const char *word) {
  skip_space(c);
  size_t length = strlen(word);
  if (c->size - c->at < length || memcmp(c->text + c->at, word, length) != 0)
    return false;
  c->at += length;
  return true;
}

/// Reads a quoted string without escapes, of at most `capacity` - 1 characters.
/// Returns false if there is none.
static bool accept_string(cursor *c, char *out, size_t capacity) {
  skip_space(c);
  char quote = c->at < c->size ? c->text[c->at] : 0;
  if (quote != '\'' && quote != '"')
    return false;
  size_t length = 0, at = c->at + 1;
  for (; at < c->size && c->text[at] != quote; ++at) {
    if (length + 1 == capacity || c->text[at] == '\\')
      return false;
    out[length++] = c->text[at];
  }
  if (at == c->size)
    return false;
  out[length] = 0;
  c->at = at + 1;
  return true;
}

/// Sets the element type of the header from `name`, a `descr` without its byte
/// order. Returns false if the type isn't supported.
static bool find_type(const char *name, hfta_npy_header *out) {
#define HFTA_MATCH(element_type, text)                                         \
  if (strcmp(name, text) == 0) {                                               \
    out->type = element_type;                                                  \
    out->element_bytes = (uint32_t)hfta_element_bytes(element_type);           \
    return true;                                                               \
  }
  NPY_TYPES(HFTA_MATCH)
#undef HFTA_MATCH
  if (strcmp(name, "u4") != 0 && strcmp(name, "u8") != 0)
    return false;
  out->type = HFTA_I64;
  out->element_bytes = name[1] == '4' ? 4 : 8;
  out->is_unsigned = true;
  return true;
}

static hfta_status parse_type(cursor *c, hfta_npy_header *out) {
  char descr[32];
  if (!accept_string(c, descr, sizeof(descr)))
    return hfta_fail(c->error, HFTA_UNSUPPORTED,
                     "'%s': arrays of records are not supported", c->path);
  if (descr[0] && strchr("<|=>", descr[0]) && find_type(descr + 1, out)) {
    out->is_big_endian = descr[0] == '>' && out->element_bytes > 1;
    if (!out->is_big_endian || out->type != HFTA_BF16)
      return HFTA_OK;
  }
  return hfta_fail(c->error, HFTA_UNSUPPORTED,
                   "'%s': element type '%s' is not supported", c->path, descr);
}

static hfta_status parse_extent(cursor *c, int64_t *out) {
  skip_space(c);
  size_t start = c->at;
  int64_t value = 0;
  for (; c->at < c->size && c->text[c->at] >= '0' && c->text[c->at] <= '9';
       ++c->at)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, c->text[c->at] - '0', &value))
      return bad_header(c, "an extent below 2^63");
  if (c->at == start)
    return bad_header(c, "an extent");
  // Skip the suffix L, which Python 2 appended to long integers.
  if (c->at < c->size && c->text[c->at] == 'L')
    ++c->at;
  *out = value;
  return HFTA_OK;
}

static hfta_status parse_shape(cursor *c, hfta_npy_header *out) {
  if (!accept(c, '('))
    return bad_header(c, "'(' of the shape");
  out->rank = 0;
  while (!accept(c, ')')) {
    if (out->rank == HFTA_MAX_RANK)
      return hfta_fail(c->error, HFTA_UNSUPPORTED,
                       "'%s': more than %d axes are not supported", c->path,
                       HFTA_MAX_RANK);
    hfta_status status = parse_extent(c, &out->shape[out->rank++]);
    if (status != HFTA_OK)
      return status;
    if (accept(c, ','))
      continue;
    if (!accept(c, ')'))
      return bad_header(c, "',' or ')'");
    break;
  }
  return HFTA_OK;
}

/// Bits for the keys of the dictionary that have been read.
enum { HAS_TYPE = 1, HAS_ORDER = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

static hfta_status parse_entry(cursor *c, hfta_npy_header *out,
                               unsigned *seen) {
  char key[16];
  if (!accept_string(c, key, sizeof(key)))
    return bad_header(c, "'descr', 'fortran_order' or 'shape'");
  if (!accept(c, ':'))
    return bad_header(c, "':'");
  unsigned field = strcmp(key, "descr") == 0           ? HAS_TYPE
                   : strcmp(key, "fortran_order") == 0 ? HAS_ORDER
                   : strcmp(key, "shape") == 0         ? HAS_SHAPE
                                                       : 0;
  if (field == 0 || (*seen & field))
    return bad_header(c, "'descr', 'fortran_order' and 'shape', each once");
  *seen |= field;
  if (field == HAS_TYPE)
    return parse_type(c, out);
  if (field == HAS_SHAPE)
    return parse_shape(c, out);
  out->is_fortran_order = accept_word(c, "True");
  if (!out->is_fortran_order && !accept_word(c, "False"))
    return bad_header(c, "True or False");
  return HFTA_OK;
}

static hfta_status parse_dictionary(cursor *c, hfta_npy_header *out) {
  unsigned seen = 0;
  if (!accept(c, '{'))
    return bad_header(c, "'{'");
  while (!accept(c, '}')) {
    hfta_status status = parse_entry(c, out, &seen);
    if (status != HFTA_OK)
      return status;
    if (accept(c, ','))
      continue;
    if (!accept(c, '}'))
      return bad_header(c, "',' or '}'");
    break;
  }
  skip_space(c);
  if (c->at != c->size)
    return bad_header(c, "nothing after '}'");
  if (seen != HAS_ALL)
    return bad_header(c, "'descr', 'fortran_order' and 'shape', each once");
  return HFTA_OK;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// Finds the dictionary in the file's bytes, and the offset of the elements.
static hfta_status find_dictionary(const unsigned char *bytes, size_t size,
                                   cursor *c, uint64_t *data_offset) {
  const char *packed = hfta_packed_by(bytes, size);
  if (packed)
    return hfta_fail(c->error, HFTA_UNSUPPORTED,
                     "'%s' is packed by %s, which is not supported for npy "
                     "files: unpack it",
                     c->path, packed);
  if (size < MAGIC_BYTES + 2 || memcmp(bytes, magic, MAGIC_BYTES) != 0)
    return hfta_fail(
        c->error, HFTA_INVALID_INPUT,
        "'%s' is no npy file: it doesn't begin with \"\\x93NUMPY\"", c->path);
  unsigned major = bytes[MAGIC_BYTES], minor = bytes[MAGIC_BYTES + 1];
  if (major < 1 || major > 3 || minor != 0)
    return hfta_fail(c->error, HFTA_UNSUPPORTED,
                     "'%s': npy version %u.%u is not supported, only 1.0, 2.0 "
                     "and 3.0",
                     c->path, major, minor);
  size_t start = MAGIC_BYTES + 2 + (major == 1 ? 2 : 4);
  if (size < start)
    return hfta_fail(c->error, HFTA_INVALID_INPUT,
                     "'%s' is truncated within its npy header", c->path);
  const unsigned char *length_bytes = bytes + MAGIC_BYTES + 2;
  uint32_t length = 0;
  for (size_t i = start - (MAGIC_BYTES + 2); i-- > 0;)
    length = length << 8 | length_bytes[i];
  if (length > MAX_HEADER_BYTES)
    return hfta_fail(c->error, HFTA_UNSUPPORTED,
                     "'%s': an npy header of %" PRIu32
                     " bytes is not supported, only up to %d",
                     c->path, length, MAX_HEADER_BYTES);
  if (size - start < length)
    return hfta_fail(c->error, HFTA_INVALID_INPUT,
                     "'%s' is truncated within its npy header", c->path);
  c->text = (const char *)bytes + start;
  c->size = length;
  *data_offset = start + length;
  return HFTA_OK;
}

/// Returns whether row-major and column-major order differ, which is so if more
/// than one dimension is longer than 1.
static bool order_matters(const hfta_npy_header *header) {
  uint32_t long_axes = 0;
  for (uint32_t i = 0; i < header->rank; ++i) {
    if (header->shape[i] == 0)
      return false;
    long_axes += header->shape[i] > 1;
  }
  return long_axes > 1;
}

static const char *stored_type_name(const hfta_npy_header *header) {
  if (header->is_unsigned)
    return header->element_bytes == 4 ? "u32" : "u64";
  return hfta_element_name(header->type);
}

hfta_status hfta_npy_parse(const void *bytes, size_t size, const char *path,
                           hfta_npy_header *out, hfta_error *error) {
  return hfta_npy_parse_start(bytes, size, size, path, out, error);
}

hfta_status hfta_npy_parse_start(const void *bytes, size_t size,
                                 uint64_t file_size, const char *path,
                                 hfta_npy_header *out, hfta_error *error) {
  *out = (hfta_npy_header){0};
  cursor c = {.path = path, .error = error};
  hfta_status status = find_dictionary(bytes, size, &c, &out->data_offset);
  if (status == HFTA_OK)
    status = parse_dictionary(&c, out);
  if (status != HFTA_OK)
    return status;
  out->is_fortran_order = out->is_fortran_order && order_matters(out);
  char text[HFTA_SHAPE_TEXT_BYTES];
  hfta_shape_text(out->shape, out->rank, text);
  if (!hfta_shape_bytes(out->type, out->shape, out->rank, &out->data_bytes))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s': shape %s of %s exceeds 2^63 bytes", path, text,
                     hfta_element_name(out->type));
  out->stored_bytes =
      out->data_bytes / hfta_element_bytes(out->type) * out->element_bytes;
  uint64_t available = file_size - out->data_offset;
  if (available != out->stored_bytes)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' is %s: shape %s of %s needs %" PRIu64
                     " bytes after the header, got %" PRIu64,
                     path,
                     available < out->stored_bytes ? "truncated" : "too long",
                     text, stored_type_name(out), out->stored_bytes, available);
  return HFTA_OK;
}

hfta_status hfta_npy_open(const char *path, hfta_npy *out, hfta_error *error) {
  *out = (hfta_npy){0};
  hfta_mapping mapping;
  hfta_status status = hfta_mapping_open(path, &mapping, error);
  if (status != HFTA_OK)
    return status;
  status =
      hfta_npy_parse(mapping.bytes, mapping.size, path, &out->header, error);
  if (status != HFTA_OK) {
    hfta_mapping_close(&mapping);
    *out = (hfta_npy){0};
    return status;
  }
  const unsigned char *stored = mapping.bytes + out->header.data_offset;
  if (hfta_npy_is_plain(&out->header)) {
    out->data = stored;
    out->mapping = (void *)(uintptr_t)mapping.bytes;
    out->mapping_bytes = mapping.size;
    return HFTA_OK;
  }
  status = hfta_npy_unpack(&out->header, stored, path, &out->converted, error);
  hfta_mapping_close(&mapping);
  if (status == HFTA_OK)
    out->data = out->converted;
  else
    *out = (hfta_npy){0};
  return status;
}

void hfta_npy_close(hfta_npy *npy) {
  free(npy->converted);
  hfta_mapping mapping = {.bytes = npy->mapping, .size = npy->mapping_bytes};
  hfta_mapping_close(&mapping);
  *npy = (hfta_npy){0};
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static const char *descr_of(hfta_element_type type) {
  switch (type) {
#define HFTA_CASE(element_type, text)                                          \
  case element_type:                                                           \
    return text;
    NPY_TYPES(HFTA_CASE)
#undef HFTA_CASE
  }
  return "";
}

/// The size of a buffer for the header of any tensor, with HFTA_MAX_RANK
/// extents of 19 digits. It is below 64 KiB, the limit of npy version 1.0.
enum { WRITTEN_HEADER_BYTES = 1024 };

/// Writes to `out` everything that precedes the elements in a file of npy
/// version 1.0. Returns the number of bytes.
static size_t make_header(const hfta_tensor_view *tensor,
                          char out[WRITTEN_HEADER_BYTES]) {
  const size_t start = MAGIC_BYTES + 4;
  size_t used = start;
  char order = hfta_element_bytes(tensor->type) == 1 ? '|' : '<';
  used += (size_t)snprintf(out + used, WRITTEN_HEADER_BYTES - used,
                           "{'descr': '%c%s', 'fortran_order': False, "
                           "'shape': (",
                           order, descr_of(tensor->type));
  for (uint32_t i = 0; i < tensor->rank; ++i)
    used +=
        (size_t)snprintf(out + used, WRITTEN_HEADER_BYTES - used, "%s%" PRId64,
                         i == 0 ? "" : ", ", tensor->shape[i]);
  used += (size_t)snprintf(out + used, WRITTEN_HEADER_BYTES - used, "%s), }",
                           tensor->rank == 1 ? "," : "");
  size_t total = (used + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  memset(out + used, ' ', total - used - 1);
  out[total - 1] = '\n';
  size_t length = total - start;
  memcpy(out, magic, MAGIC_BYTES);
  out[MAGIC_BYTES] = 1;
  out[MAGIC_BYTES + 1] = 0;
  out[MAGIC_BYTES + 2] = (char)(length & 0xFF);
  out[MAGIC_BYTES + 3] = (char)(length >> 8);
  return total;
}

hfta_status hfta_npy_write(const char *path, const hfta_tensor_view *tensor,
                           hfta_error *error) {
  uint64_t bytes;
  if (tensor->rank > HFTA_MAX_RANK ||
      !hfta_shape_bytes(tensor->type, tensor->shape, tensor->rank, &bytes) ||
      bytes != tensor->bytes)
    return hfta_fail(error, HFTA_INTERNAL,
                     "cannot write '%s': type, shape and bytes don't fit",
                     path);
  char header[WRITTEN_HEADER_BYTES];
  size_t header_bytes = make_header(tensor, header);
  hfta_output *output;
  hfta_status status = hfta_output_open(path, &output, error);
  if (status != HFTA_OK)
    return status;
  status = hfta_output_write(output, header, header_bytes, error);
  if (status == HFTA_OK)
    status = hfta_output_write(output, tensor->data, tensor->bytes, error);
  if (status == HFTA_OK)
    return hfta_output_commit(output, error);
  hfta_output_discard(output);
  return status;
}
