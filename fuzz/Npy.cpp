//===- Npy.cpp - Fuzz target: an npy file ---------------------------------===//

#include "hfta/npy.h"
#include "Files.h"
#include "Options.h"

#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  setInput(data, size);
  probeAndReadSamples(HFTA_DATA_NPY);
  hfta_error error;
  hfta_npy npy;
  if (hfta_npy_open("input", &npy, &error) != HFTA_OK)
    return 0;
  // Copy all elements, so that a sanitizer detects elements beyond the end of
  // the file.
  auto *begin = static_cast<const char *>(npy.data);
  std::vector<char>(begin, begin + npy.header.data_bytes);
  hfta_npy_close(&npy);
  return 0;
}
