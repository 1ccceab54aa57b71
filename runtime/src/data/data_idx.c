//===- data_idx.c - The format of the MNIST files -------------------------===//

#include "data/data_source.h"
#include "formats/gzip.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// A file that is read sequentially, plain or compressed by gzip.
typedef struct idx_source {
  const char *path;
  hfta_mapping mapping;
  hfta_gzip *gzip; ///< NULL for a plain file
  uint64_t taken;  ///< the number of bytes read so far of a plain file
} idx_source;

/// The contents of a header, and the sizes in bytes that follow from it.
typedef struct idx_layout {
  hfta_data_info info;
  uint64_t header_bytes;
  uint64_t data_bytes;
} idx_layout;

static hfta_status open_source(const char *path, idx_source *out,
                               hfta_error *error) {
  *out = (idx_source){.path = path};
  hfta_status status = hfta_mapping_open(path, &out->mapping, error);
  if (status != HFTA_OK ||
      !hfta_gzip_detect(out->mapping.bytes, out->mapping.size))
    return status;
  return hfta_gzip_open(out->mapping.bytes, out->mapping.size,
                        HFTA_PACKED_AS_GZIP, path, &out->gzip, error);
}

static void close_source(idx_source *source) {
  hfta_gzip_close(source->gzip);
  hfta_mapping_close(&source->mapping);
}

/// Reads the next bytes, up to `size` of them. `*got` is less only at the end.
static hfta_status read_source(idx_source *source, void *destination,
                               uint64_t size, uint64_t *got,
                               hfta_error *error) {
  if (source->gzip)
    return hfta_gzip_read(source->gzip, destination, size, got, error);
  uint64_t left = source->mapping.size - source->taken;
  *got = left < size ? left : size;
  if (*got > 0)
    memcpy(destination, source->mapping.bytes + source->taken, *got);
  source->taken += *got;
  return HFTA_OK;
}

static bool type_from_code(unsigned code, hfta_element_type *out) {
  switch (code) {
  case 0x08:
    *out = HFTA_U8;
    return true;
  case 0x09:
    *out = HFTA_I8;
    return true;
  case 0x0B:
    *out = HFTA_I16;
    return true;
  case 0x0C:
    *out = HFTA_I32;
    return true;
  case 0x0D:
    *out = HFTA_F32;
    return true;
  case 0x0E:
    *out = HFTA_F64;
    return true;
  default:
    return false;
  }
}

static hfta_status parse_magic(const idx_source *source,
                               const unsigned char *bytes, uint64_t size,
                               hfta_element_type *type, hfta_error *error) {
  if (size < 4)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' is no idx file: expected at least 4 bytes, got "
                     "%" PRIu64,
                     source->path, size);
  if (bytes[0] != 0 || bytes[1] != 0 || !type_from_code(bytes[2], type))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' is no idx file: expected a magic number 00 00 TT RR "
                     "with TT one of 08, 09, 0b to 0e, got %02x %02x %02x %02x",
                     source->path, bytes[0], bytes[1], bytes[2], bytes[3]);
  if (bytes[3] == 0 || bytes[3] > HFTA_MAX_RANK)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s': expected 1 to %d axes in its idx header, got %u",
                     source->path, HFTA_MAX_RANK, bytes[3]);
  return HFTA_OK;
}

/// Reads and checks the header.
static hfta_status read_header(idx_source *source, idx_layout *out,
                               hfta_error *error) {
  unsigned char bytes[4 + 4 * HFTA_MAX_RANK];
  uint64_t got;
  hfta_element_type type = HFTA_U8;
  hfta_status status = read_source(source, bytes, 4, &got, error);
  if (status == HFTA_OK)
    status = parse_magic(source, bytes, got, &type, error);
  if (status != HFTA_OK)
    return status;
  uint32_t rank = bytes[3];
  status = read_source(source, bytes + 4, UINT64_C(4) * rank, &got, error);
  if (status != HFTA_OK)
    return status;
  if (got != UINT64_C(4) * rank)
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s' is truncated within its idx header", source->path);
  int64_t shape[HFTA_MAX_RANK];
  for (uint32_t i = 0; i < rank; ++i) {
    uint32_t extent;
    memcpy(&extent, bytes + 4 + 4 * i, sizeof(extent));
    shape[i] = __builtin_bswap32(extent);
  }
  char text[HFTA_SHAPE_TEXT_BYTES];
  if (!hfta_shape_bytes(type, shape, rank, &out->data_bytes))
    return hfta_fail(error, HFTA_INVALID_INPUT,
                     "'%s': shape %s of %s exceeds 2^63 bytes", source->path,
                     hfta_shape_text(shape, rank, text),
                     hfta_element_name(type));
  out->header_bytes = UINT64_C(4) + 4 * rank;
  return hfta_data_split_batch(source->path, type, shape, rank, &out->info,
                               error);
}

static hfta_status wrong_size(const idx_source *source,
                              const idx_layout *layout, const char *what,
                              const char *got, hfta_error *error) {
  char text[HFTA_SHAPE_TEXT_BYTES];
  return hfta_fail(error, HFTA_INVALID_INPUT,
                   "'%s' is %s: %" PRId64 " samples of shape %s of %s need "
                   "%" PRIu64 " bytes after the header, got %s",
                   source->path, what, layout->info.count,
                   hfta_shape_text(layout->info.sample_shape,
                                   layout->info.sample_rank, text),
                   hfta_element_name(layout->info.type), layout->data_bytes,
                   got);
}

/// Checks that a plain file is as long as its header says.
static hfta_status check_size(const idx_source *source,
                              const idx_layout *layout, hfta_error *error) {
  uint64_t available = source->mapping.size - layout->header_bytes;
  if (available == layout->data_bytes)
    return HFTA_OK;
  char got[32];
  snprintf(got, sizeof(got), "%" PRIu64, available);
  return wrong_size(source, layout,
                    available < layout->data_bytes ? "truncated" : "too long",
                    got, error);
}

/// Checks, before memory is allocated, that a gzip file is long enough to hold
/// the bytes that its header declares.
static hfta_status check_packed_size(const idx_source *source,
                                     const idx_layout *layout,
                                     hfta_error *error) {
  uint64_t most;
  if (!__builtin_mul_overflow(source->mapping.size, HFTA_GZIP_MAX_RATIO,
                              &most) &&
      layout->data_bytes > most) {
    char got[64];
    snprintf(got, sizeof(got), "a gzip file of %" PRIu64, source->mapping.size);
    return wrong_size(source, layout, "truncated", got, error);
  }
  return HFTA_OK;
}

/// Decompresses all samples into memory.
static hfta_status unpack(idx_source *source, const idx_layout *layout,
                          hfta_data *data, hfta_error *error) {
  hfta_status status = check_packed_size(source, layout, error);
  if (status != HFTA_OK)
    return status;
  // Allocate at least one byte, as malloc(0) may return NULL without a failure.
  data->owned = malloc(layout->data_bytes + 1);
  if (!data->owned)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "'%s': not enough memory for %" PRIu64 " unpacked bytes",
                     source->path, layout->data_bytes);
  uint64_t got;
  status = read_source(source, data->owned, layout->data_bytes, &got, error);
  if (status != HFTA_OK)
    return status;
  if (got < layout->data_bytes) {
    char text[32];
    snprintf(text, sizeof(text), "%" PRIu64, got);
    return wrong_size(source, layout, "truncated", text, error);
  }
  unsigned char more;
  status = read_source(source, &more, 1, &got, error);
  if (status == HFTA_OK && got > 0)
    return wrong_size(source, layout, "too long", "more", error);
  data->owned_bytes = layout->data_bytes;
  data->samples = data->owned;
  return status;
}

/// Opens the samples, and takes over the source's mapping if it is a plain
/// file.
static hfta_status load(const hfta_data_request *request, idx_source *source,
                        hfta_data *data, hfta_error *error) {
  idx_layout layout;
  hfta_status status = read_header(source, &layout, error);
  if (status == HFTA_OK)
    status = hfta_data_check(request, &layout.info, error);
  if (status != HFTA_OK)
    return status;
  data->count = layout.info.count;
  size_t element = hfta_element_bytes(layout.info.type);
  data->swapped_bytes = element > 1 ? element : 0;
  if (source->gzip)
    return unpack(source, &layout, data, error);
  status = check_size(source, &layout, error);
  if (status != HFTA_OK)
    return status;
  data->samples = source->mapping.bytes + layout.header_bytes;
  data->mapping = source->mapping;
  source->mapping = (hfta_mapping){0};
  return HFTA_OK;
}

hfta_status hfta_data_open_idx(const hfta_data_request *request,
                               hfta_data *data, hfta_error *error) {
  idx_source source;
  hfta_status status = open_source(request->path, &source, error);
  if (status == HFTA_OK)
    status = load(request, &source, data, error);
  close_source(&source);
  return status;
}

hfta_status hfta_data_probe_idx(const hfta_data_request *request,
                                hfta_data_info *out, hfta_error *error) {
  idx_source source;
  idx_layout layout;
  hfta_status status = open_source(request->path, &source, error);
  if (status == HFTA_OK)
    status = read_header(&source, &layout, error);
  if (status == HFTA_OK && !source.gzip)
    status = check_size(&source, &layout, error);
  if (status == HFTA_OK)
    *out = layout.info;
  close_source(&source);
  return status;
}
