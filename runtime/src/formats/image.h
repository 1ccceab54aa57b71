//===- image.h - Images in PNG and JPEG files ---------------------*- C -*-===//
//
// Private to the runtime. Decodes images to 8 bits per channel. Formats are
// told apart by content:
//
//   PNG   (ISO/IEC 15948) all color types, depths and interlacing; of 16 bits
//         the upper 8 are taken. Transparency is ignored. Checksums are
//         verified.
//   JPEG  what libjpeg-turbo decodes, except CMYK. The library is loaded when
//         the first image is decoded.
//
// Orientations in metadata and color profiles are ignored. Decoding has no
// state: any number of threads may decode at once.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_FORMATS_IMAGE_H
#define HFTA_SRC_FORMATS_IMAGE_H

#include "hfta/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The most pixels of an image.
#define HFTA_IMAGE_MOST_PIXELS ((uint64_t)1 << 28)

typedef struct hfta_image_size {
  uint32_t width, height;
  uint32_t channels; ///< 1 (gray) or 3 (red, green, blue)
} hfta_image_size;

/// Returns whether a file's name ends as that of an image in one of the
/// formats.
bool hfta_image_is_named(const char *name);

/// Reads the size of an image of `bytes` bytes at `data`. `path` is for
/// messages. HFTA_INVALID_INPUT if the file is damaged or no image,
/// HFTA_UNSUPPORTED if it can't be decoded here.
hfta_status hfta_image_measure(const void *data, size_t bytes, const char *path,
                               hfta_image_size *out, hfta_error *error);

/// Decodes an image. Sets `*out` to its pixels, row by row, with size->channels
/// bytes each. The caller frees them.
hfta_status hfta_image_decode(const void *data, size_t bytes, const char *path,
                              hfta_image_size *size, unsigned char **out,
                              hfta_error *error);

/// Decoders of the formats, as above; `out` may be NULL to measure only.
hfta_status hfta_png_decode(const unsigned char *data, size_t bytes,
                            const char *path, hfta_image_size *size,
                            unsigned char **out, hfta_error *error);
hfta_status hfta_jpeg_decode(const unsigned char *data, size_t bytes,
                             const char *path, hfta_image_size *size,
                             unsigned char **out, hfta_error *error);

/// Checks that an image's size is allowed.
hfta_status hfta_image_check_size(const char *path, uint64_t width,
                                  uint64_t height, hfta_error *error);

#endif // HFTA_SRC_FORMATS_IMAGE_H
