//===- image_size.c - Sizes that images may have --------------------------===//

#include "formats/image.h"

#include <inttypes.h>

hfta_status hfta_image_check_size(const char *path, uint64_t width,
                                  uint64_t height, hfta_error *error) {
  if (width == 0 || height == 0)
    return hfta_fail(error, HFTA_INVALID_INPUT, "'%s': an image without pixels",
                     path);
  if (width > HFTA_IMAGE_MOST_PIXELS / height)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "'%s': an image of %" PRIu64 " x %" PRIu64
                     " pixels, more than 2^28, is not supported",
                     path, width, height);
  return HFTA_OK;
}
