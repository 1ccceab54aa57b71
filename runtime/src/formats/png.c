//===- png.c - PNG images -------------------------------------------------===//

#include "formats/gzip.h"
#include "formats/image.h"

#include <stdlib.h>
#include <string.h>

enum {
  SIGNATURE_BYTES = 8,
  CHUNK_BYTES = 12, ///< a chunk without its contents
  HEADER_BYTES = 13 ///< the contents of IHDR
};

/// The color types of the format.
enum { GRAY = 0, RGB = 2, PALETTE = 3, GRAY_ALPHA = 4, RGB_ALPHA = 6 };

/// A file that is being read.
typedef struct png {
  const unsigned char *data;
  size_t bytes;
  const char *path;
  hfta_error *error;
  uint32_t width, height;
  unsigned depth;   ///< bits of a sample
  unsigned color;   ///< color type
  unsigned samples; ///< samples of a pixel in the file
  bool is_interlaced;
  const unsigned char *palette;
  uint32_t palette_size;
  uint64_t packed_bytes; ///< bytes of all IDAT chunks
} png;

/// A part of the image that is stored as an image of its own. Its pixel (x, y)
/// is pixel (x0 + dx x, y0 + dy y) of the whole.
typedef struct pass {
  uint32_t x0, y0, dx, dy;
} pass;

static const pass whole = {0, 0, 1, 1};
static const pass interlaced[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8},
                                  {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2},
                                  {0, 1, 1, 2}};

static uint32_t read_32(const unsigned char *at) {
  return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 |
         at[3];
}

static hfta_status damaged(const png *self, const char *what) {
  return hfta_fail(self->error, HFTA_INVALID_INPUT,
                   "'%s' is a damaged PNG image: %s", self->path, what);
}

static hfta_status out_of_memory(const png *self) {
  return hfta_fail(self->error, HFTA_UNSUPPORTED,
                   "out of memory while reading '%s'", self->path);
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

/// A chunk of the file.
typedef struct chunk {
  const unsigned char *type; ///< 4 letters
  const unsigned char *data;
  uint32_t bytes;
} chunk;

/// Reads the chunk at `*at`, and moves `*at` behind it.
static hfta_status next_chunk(const png *self, size_t *at, chunk *out) {
  size_t left = self->bytes - *at;
  if (left < CHUNK_BYTES || read_32(self->data + *at) > left - CHUNK_BYTES)
    return damaged(self, "it ends too early");
  const unsigned char *start = self->data + *at;
  *out = (chunk){start + 4, start + 8, read_32(start)};
  if (hfta_crc32(0, out->type, (uint64_t)out->bytes + 4) !=
      read_32(out->data + out->bytes))
    return damaged(self, "a part has a wrong checksum");
  *at += (size_t)CHUNK_BYTES + out->bytes;
  return HFTA_OK;
}

static bool is_type(const chunk *part, const char *type) {
  return memcmp(part->type, type, 4) == 0;
}

/// Returns whether the color type may have the depth.
static bool has_depth(unsigned color, unsigned depth) {
  switch (color) {
  case GRAY:
    return depth == 1 || depth == 2 || depth == 4 || depth == 8 || depth == 16;
  case PALETTE:
    return depth == 1 || depth == 2 || depth == 4 || depth == 8;
  case RGB:
  case GRAY_ALPHA:
  case RGB_ALPHA:
    return depth == 8 || depth == 16;
  default:
    return false;
  }
}

static hfta_status read_header(png *self, const chunk *part) {
  static const unsigned samples[] = {
      [GRAY] = 1, [RGB] = 3, [PALETTE] = 1, [GRAY_ALPHA] = 2, [RGB_ALPHA] = 4};
  if (!is_type(part, "IHDR") || part->bytes != HEADER_BYTES)
    return damaged(self, "it doesn't begin with a header");
  self->width = read_32(part->data);
  self->height = read_32(part->data + 4);
  self->depth = part->data[8];
  self->color = part->data[9];
  if (!has_depth(self->color, self->depth))
    return damaged(self, "its pixels have an unknown form");
  if (part->data[10] != 0 || part->data[11] != 0 || part->data[12] > 1)
    return damaged(self, "it is compressed by an unknown method");
  self->samples = samples[self->color];
  self->is_interlaced = part->data[12] == 1;
  return hfta_image_check_size(self->path, self->width, self->height,
                               self->error);
}

/// Reads all chunks after the header.
static hfta_status read_chunks(png *self, size_t at) {
  for (chunk part;;) {
    hfta_status status = next_chunk(self, &at, &part);
    if (status != HFTA_OK)
      return status;
    if (is_type(&part, "PLTE")) {
      self->palette = part.data;
      self->palette_size = part.bytes / 3;
    } else if (is_type(&part, "IDAT")) {
      self->packed_bytes += part.bytes;
    } else if (is_type(&part, "IEND")) {
      break;
    }
  }
  if (self->color == PALETTE && !self->palette)
    return damaged(self, "it lacks a palette");
  return HFTA_OK;
}

/// Copies the contents of all IDAT chunks, one after another, to `out`.
static void join_data(const png *self, unsigned char *out) {
  size_t at = SIGNATURE_BYTES;
  for (chunk part; next_chunk(self, &at, &part) == HFTA_OK;) {
    if (is_type(&part, "IDAT")) {
      memcpy(out, part.data, part.bytes);
      out += part.bytes;
    } else if (is_type(&part, "IEND")) {
      return;
    }
  }
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

static uint32_t pass_width(const png *self, const pass *part) {
  return (self->width + part->dx - 1 - part->x0) / part->dx;
}

static uint32_t pass_height(const png *self, const pass *part) {
  return (self->height + part->dy - 1 - part->y0) / part->dy;
}

/// Returns the bytes of a row of a pass, without the byte of its filter.
static uint64_t row_bytes(const png *self, const pass *part) {
  return ((uint64_t)pass_width(self, part) * self->samples * self->depth + 7) /
         8;
}

/// Returns the bytes of all rows of a pass.
static uint64_t pass_bytes(const png *self, const pass *part) {
  return pass_width(self, part) == 0
             ? 0
             : pass_height(self, part) * (row_bytes(self, part) + 1);
}

/// Predicts a byte from those to its left, above it, and above to the left.
static unsigned char paeth(int left, int above, int corner) {
  int from_left = abs(above - corner), from_above = abs(left - corner),
      from_corner = abs(left + above - 2 * corner);
  if (from_left <= from_above && from_left <= from_corner)
    return (unsigned char)left;
  return (unsigned char)(from_above <= from_corner ? above : corner);
}

/// Undoes a row's filter, in place. `before` is the row before it, or NULL;
/// `step` the bytes of a pixel, at least 1. Returns false if the filter is
/// unknown.
static bool undo_filter(unsigned filter, unsigned char *row,
                        const unsigned char *before, uint64_t bytes,
                        uint64_t step) {
  if (filter > 4)
    return false;
  for (uint64_t i = 0; i < bytes && filter != 0; ++i) {
    int left = i < step ? 0 : row[i - step];
    int above = before ? before[i] : 0;
    int corner = before && i >= step ? before[i - step] : 0;
    int guess = filter == 1   ? left
                : filter == 2 ? above
                : filter == 3 ? (left + above) / 2
                              : paeth(left, above, corner);
    row[i] = (unsigned char)(row[i] + guess);
  }
  return true;
}

/// Returns sample `index` of a row, which has 8 bits unless samples are
/// narrower.
static unsigned read_sample(const png *self, const unsigned char *row,
                            uint64_t index) {
  if (self->depth == 16)
    return row[2 * index];
  if (self->depth == 8)
    return row[index];
  unsigned shift = 8 - self->depth - (unsigned)(index * self->depth % 8);
  return row[index * self->depth / 8] >> shift & ((1u << self->depth) - 1);
}

/// Writes the pixels of a row to the image. Returns false if the palette lacks
/// a color.
static bool write_row(const png *self, const pass *part, uint32_t y,
                      const unsigned char *row, uint32_t channels,
                      unsigned char *out) {
  unsigned scale = self->depth < 8 ? 255 / ((1u << self->depth) - 1) : 1;
  uint64_t line = (uint64_t)(part->y0 + part->dy * y) * self->width;
  for (uint32_t x = 0, width = pass_width(self, part); x < width; ++x) {
    unsigned char *pixel = out + (line + part->x0 + part->dx * x) * channels;
    uint64_t first = (uint64_t)x * self->samples;
    unsigned sample = read_sample(self, row, first);
    if (self->color == PALETTE) {
      if (sample >= self->palette_size)
        return false;
      memcpy(pixel, self->palette + (size_t)3 * sample, 3);
      continue;
    }
    pixel[0] = (unsigned char)(sample * scale);
    for (uint32_t i = 1; i < channels; ++i)
      pixel[i] = (unsigned char)read_sample(self, row, first + i);
  }
  return true;
}

static hfta_status write_pass(const png *self, const pass *part,
                              unsigned char *rows, uint32_t channels,
                              unsigned char *out) {
  uint64_t bytes = row_bytes(self, part);
  uint64_t step = self->samples * self->depth / 8;
  const unsigned char *before = NULL;
  for (uint32_t y = 0, height = pass_height(self, part); y < height; ++y) {
    unsigned char *row = rows + y * (bytes + 1);
    if (!undo_filter(row[0], row + 1, before, bytes, step > 0 ? step : 1))
      return damaged(self, "a row has an unknown filter");
    if (!write_row(self, part, y, row + 1, channels, out))
      return damaged(self, "its palette lacks a color");
    before = row + 1;
  }
  return HFTA_OK;
}

//===----------------------------------------------------------------------===//
// The image
//===----------------------------------------------------------------------===//

/// Decompresses the rows of all passes, `bytes` bytes, to `rows`.
static hfta_status unpack(const png *self, unsigned char *rows,
                          uint64_t bytes) {
  unsigned char *packed = malloc(self->packed_bytes + 1);
  if (!packed)
    return out_of_memory(self);
  join_data(self, packed);
  hfta_gzip *stream;
  hfta_status status =
      hfta_gzip_open(packed, self->packed_bytes, HFTA_PACKED_AS_ZLIB,
                     self->path, &stream, self->error);
  if (status == HFTA_OK) {
    uint64_t got;
    unsigned char more;
    status = hfta_gzip_read(stream, rows, bytes, &got, self->error);
    if (status == HFTA_OK && got < bytes)
      status = damaged(self, "pixels are missing");
    // This also verifies the checksum.
    if (status == HFTA_OK)
      status = hfta_gzip_read(stream, &more, 1, &got, self->error);
    hfta_gzip_close(stream);
  }
  free(packed);
  return status;
}

/// Decodes the pixels to `out`.
static hfta_status decode(const png *self, uint32_t channels,
                          unsigned char *out) {
  const pass *passes = self->is_interlaced ? interlaced : &whole;
  size_t count =
      self->is_interlaced ? sizeof(interlaced) / sizeof(*interlaced) : 1;
  uint64_t bytes = 0;
  for (size_t i = 0; i < count; ++i)
    bytes += pass_bytes(self, &passes[i]);
  if (bytes / HFTA_GZIP_MAX_RATIO > self->packed_bytes)
    return damaged(self, "pixels are missing");
  unsigned char *rows = malloc(bytes);
  if (!rows)
    return out_of_memory(self);
  hfta_status status = unpack(self, rows, bytes);
  unsigned char *at = rows;
  for (size_t i = 0; i < count && status == HFTA_OK; ++i) {
    if (pass_bytes(self, &passes[i]) == 0)
      continue;
    status = write_pass(self, &passes[i], at, channels, out);
    at += pass_bytes(self, &passes[i]);
  }
  free(rows);
  return status;
}

hfta_status hfta_png_decode(const unsigned char *data, size_t bytes,
                            const char *path, hfta_image_size *size,
                            unsigned char **out, hfta_error *error) {
  png self = {.data = data, .bytes = bytes, .path = path, .error = error};
  size_t at = SIGNATURE_BYTES;
  chunk part;
  hfta_status status = next_chunk(&self, &at, &part);
  if (status == HFTA_OK)
    status = read_header(&self, &part);
  if (status != HFTA_OK)
    return status;
  bool is_gray = self.color == GRAY || self.color == GRAY_ALPHA;
  *size = (hfta_image_size){self.width, self.height, is_gray ? 1 : 3};
  if (!out)
    return HFTA_OK;
  status = read_chunks(&self, at);
  if (status != HFTA_OK)
    return status;
  // Compressed bytes of a size that could hold the pixels come first, so that
  // no small file takes much memory.
  if ((uint64_t)self.width * self.height / 8 / HFTA_GZIP_MAX_RATIO >
      self.packed_bytes)
    return damaged(&self, "pixels are missing");
  unsigned char *pixels =
      malloc((size_t)self.width * self.height * size->channels);
  if (!pixels)
    return out_of_memory(&self);
  status = decode(&self, size->channels, pixels);
  if (status == HFTA_OK)
    *out = pixels;
  else
    free(pixels);
  return status;
}
