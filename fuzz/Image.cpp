//===- Image.cpp - Fuzz target: an image ----------------------------------===//
//
// Checksums of a PNG image's parts are corrected, so that the fuzzer reaches
// the code behind their verification.
//===----------------------------------------------------------------------===//

#include "Options.h"

extern "C" {
#include "formats/gzip.h"
#include "formats/image.h"
}

#include <cstdlib>
#include <cstring>
#include <vector>

static void decode(const std::vector<uint8_t> &bytes) {
  hfta_error error;
  hfta_image_size size, measured;
  unsigned char *pixels = nullptr;
  if (hfta_image_decode(bytes.data(), bytes.size(), "input", &size, &pixels,
                        &error) != HFTA_OK)
    return;
  if (hfta_image_measure(bytes.data(), bytes.size(), "input", &measured,
                         &error) != HFTA_OK ||
      memcmp(&size, &measured, sizeof(size)) != 0)
    abort();
  free(pixels);
}

static size_t readSize(const uint8_t *at) {
  return static_cast<size_t>(at[0]) << 24 | at[1] << 16 | at[2] << 8 | at[3];
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<uint8_t> bytes(data, data + size);
  decode(bytes);
  for (size_t at = 8; at + 12 <= size && readSize(&bytes[at]) <= size - at - 12;
       at += 12 + readSize(&bytes[at])) {
    size_t length = readSize(&bytes[at]);
    uint32_t sum = hfta_crc32(0, &bytes[at + 4], length + 4);
    for (int i = 0; i < 4; ++i)
      bytes[at + 8 + length + i] = static_cast<uint8_t>(sum >> (24 - 8 * i));
  }
  decode(bytes);
  return 0;
}
