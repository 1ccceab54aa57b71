//===- npy_convert.c - Arrays that aren't stored as they are read ---------===//

#include "formats/npy_convert.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/// The edge length in elements of the square tiles in which planes are
/// transposed. A tile's source and destination both fit into the cache.
enum { TILE = 32 };

/// The source and the destination of a conversion. Strides count elements.
typedef struct conversion {
  const hfta_npy_header *header;
  const unsigned char *from;
  unsigned char *to;
  size_t out_bytes; ///< bytes of an element in `to`
  uint64_t from_strides[HFTA_MAX_RANK];
  uint64_t to_strides[HFTA_MAX_RANK];
  uint64_t largest; ///< the greatest bit pattern converted so far
} conversion;

bool hfta_npy_is_plain(const hfta_npy_header *header) {
  return !header->is_unsigned && !header->is_big_endian &&
         !header->is_fortran_order;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Reads the bits of an element of 1, 2, 4 or 8 bytes, in the given byte order.
static inline uint64_t read_bits(const unsigned char *from, size_t bytes,
                                 bool is_big_endian) {
  uint16_t u16;
  uint32_t u32;
  uint64_t u64;
  switch (bytes) {
  case 1:
    return *from;
  case 2:
    memcpy(&u16, from, sizeof(u16));
    return is_big_endian ? __builtin_bswap16(u16) : u16;
  case 4:
    memcpy(&u32, from, sizeof(u32));
    return is_big_endian ? __builtin_bswap32(u32) : u32;
  default:
    memcpy(&u64, from, sizeof(u64));
    return is_big_endian ? __builtin_bswap64(u64) : u64;
  }
}

/// Writes an element of 1, 2, 4 or 8 bytes in the machine's byte order, which
/// is little-endian.
static inline void write_bits(unsigned char *to, size_t bytes, uint64_t bits) {
  switch (bytes) {
  case 1:
    *to = (unsigned char)bits;
    break;
  case 2:
    memcpy(to, &bits, 2);
    break;
  case 4:
    memcpy(to, &bits, 4);
    break;
  default:
    memcpy(to, &bits, 8);
  }
}

/// Converts `count` elements, from number `from` of the source on to number
/// `to` of the destination on, with the given strides.
static void convert_run(conversion *self, uint64_t from, uint64_t from_stride,
                        uint64_t to, uint64_t to_stride, uint64_t count) {
  const size_t in_bytes = self->header->element_bytes;
  const size_t out_bytes = self->out_bytes;
  const bool is_big_endian = self->header->is_big_endian;
  uint64_t largest = self->largest;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t bits = read_bits(self->from + (from + i * from_stride) * in_bytes,
                              in_bytes, is_big_endian);
    largest = bits > largest ? bits : largest;
    write_bits(self->to + (to + i * to_stride) * out_bytes, out_bytes, bits);
  }
  self->largest = largest;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/// Converts all elements of the first and the last axis, for fixed indices on
/// the axes between them. `from` and `to` are the plane's first elements.
static void transpose_plane(conversion *self, uint64_t from, uint64_t to) {
  const hfta_npy_header *header = self->header;
  const uint32_t last = header->rank - 1;
  const uint64_t rows = (uint64_t)header->shape[0];
  const uint64_t columns = (uint64_t)header->shape[last];
  for (uint64_t row = 0; row < rows; row += TILE)
    for (uint64_t column = 0; column < columns; column += TILE)
      for (uint64_t i = row; i < smaller(row + TILE, rows); ++i)
        convert_run(self,
                    from + i * self->from_strides[0] +
                        column * self->from_strides[last],
                    self->from_strides[last],
                    to + i * self->to_strides[0] + column, 1,
                    smaller(TILE, columns - column));
}

/// Computes the strides of a column-major source and a row-major destination.
static void find_strides(conversion *self) {
  const hfta_npy_header *header = self->header;
  uint64_t from = 1, to = 1;
  for (uint32_t i = 0; i < header->rank; ++i) {
    uint32_t j = header->rank - 1 - i;
    self->from_strides[i] = from;
    self->to_strides[j] = to;
    from *= (uint64_t)header->shape[i];
    to *= (uint64_t)header->shape[j];
  }
}

/// Converts an array from Fortran order (column-major) to row-major order.
static void transpose(conversion *self) {
  const hfta_npy_header *header = self->header;
  // The indices on the axes between the first and the last.
  int64_t place[HFTA_MAX_RANK] = {0};
  uint64_t from = 0, to = 0;
  find_strides(self);
  for (;;) {
    transpose_plane(self, from, to);
    uint32_t axis = 1;
    for (; axis + 1 < header->rank; ++axis) {
      from += self->from_strides[axis];
      to += self->to_strides[axis];
      if (++place[axis] < header->shape[axis])
        break;
      from -= (uint64_t)header->shape[axis] * self->from_strides[axis];
      to -= (uint64_t)header->shape[axis] * self->to_strides[axis];
      place[axis] = 0;
    }
    if (axis + 1 >= header->rank)
      return;
  }
}

hfta_status hfta_npy_convert(const hfta_npy_header *header, const void *stored,
                             const char *path, void *out, hfta_error *error) {
  conversion self = {.header = header,
                     .from = stored,
                     .to = out,
                     .out_bytes = hfta_element_bytes(header->type)};
  if (header->is_fortran_order)
    transpose(&self);
  else
    convert_run(&self, 0, 1, 0, 1,
                header->stored_bytes / header->element_bytes);
  if (!header->is_unsigned || self.largest <= INT64_MAX)
    return HFTA_OK;
  return hfta_fail(error, HFTA_INVALID_INPUT,
                   "'%s' holds the u64 number %" PRIu64
                   "; numbers above %" PRId64 " can't be read as i64",
                   path, self.largest, INT64_MAX);
}

hfta_status hfta_npy_unpack(const hfta_npy_header *header, const void *stored,
                            const char *path, void **out, hfta_error *error) {
  // Allocate at least one byte, as malloc(0) may return NULL without a failure.
  *out = malloc(header->data_bytes + 1);
  if (!*out)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "'%s': not enough memory for %" PRIu64 " bytes", path,
                     header->data_bytes);
  hfta_status status = hfta_npy_convert(header, stored, path, *out, error);
  if (status == HFTA_OK)
    return HFTA_OK;
  free(*out);
  *out = NULL;
  return status;
}
