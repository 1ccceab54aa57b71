//===- image.c - Images in PNG and JPEG files -----------------------------===//

#include "formats/image.h"

#include <string.h>
#include <strings.h>

bool hfta_image_is_named(const char *name) {
  static const char *const endings[] = {".png", ".jpg", ".jpeg"};
  size_t length = strlen(name);
  for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); ++i) {
    size_t ending = strlen(endings[i]);
    if (length > ending && strcasecmp(name + length - ending, endings[i]) == 0)
      return true;
  }
  return false;
}

static hfta_status read_image(const void *data, size_t bytes, const char *path,
                              hfta_image_size *size, unsigned char **out,
                              hfta_error *error) {
  if (bytes >= 8 && memcmp(data, "\x89PNG\r\n\x1A\n", 8) == 0)
    return hfta_png_decode(data, bytes, path, size, out, error);
  if (bytes >= 3 && memcmp(data, "\xFF\xD8\xFF", 3) == 0)
    return hfta_jpeg_decode(data, bytes, path, size, out, error);
  return hfta_fail(error, HFTA_INVALID_INPUT,
                   "'%s' is neither a PNG nor a JPEG image", path);
}

hfta_status hfta_image_measure(const void *data, size_t bytes, const char *path,
                               hfta_image_size *out, hfta_error *error) {
  return read_image(data, bytes, path, out, NULL, error);
}

hfta_status hfta_image_decode(const void *data, size_t bytes, const char *path,
                              hfta_image_size *size, unsigned char **out,
                              hfta_error *error) {
  *out = NULL;
  return read_image(data, bytes, path, size, out, error);
}
