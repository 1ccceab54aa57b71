//===- Idx.cpp - Fuzz target: an idx file, possibly compressed by gzip ----===//

#include "Files.h"
#include "Options.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  setInput(data, size);
  probeAndReadSamples(HFTA_DATA_IDX);
  return 0;
}
