//===- Npz.cpp - Fuzz target: an archive of npy files ---------------------===//

#include "Files.h"
#include "Options.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  setInput(data, size);
  probeAndReadSamples(HFTA_DATA_NPZ, "x");
  return 0;
}
