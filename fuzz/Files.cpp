//===- Files.cpp - The fuzzer's input as a file ---------------------------===//

#include "Files.h"

#include "system/file.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

static const uint8_t *inputData;
static size_t inputSize;

void setInput(const uint8_t *data, size_t size) {
  inputData = data;
  inputSize = size;
}

//===----------------------------------------------------------------------===//
// Functions that replace the runtime's (linker option --wrap)
//===----------------------------------------------------------------------===//

extern "C" hfta_status __wrap_hfta_mapping_open(const char *, hfta_mapping *out,
                                                hfta_error *) {
  *out = {};
  if (inputSize == 0)
    return HFTA_OK;
  auto *bytes = static_cast<unsigned char *>(malloc(inputSize));
  memcpy(bytes, inputData, inputSize);
  *out = {bytes, inputSize};
  return HFTA_OK;
}

extern "C" void __wrap_hfta_mapping_close(hfta_mapping *mapping) {
  free(const_cast<unsigned char *>(mapping->bytes));
  *mapping = {};
}

extern "C" bool __wrap_hfta_path_exists(const char *) { return true; }

extern "C" bool __wrap_hfta_path_is_folder(const char *) { return true; }

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

void readSamples(const hfta_data_request &request) {
  hfta_error error;
  hfta_data *data = nullptr;
  if (hfta_data_open(&request, &data, &error) != HFTA_OK)
    return;
  // Samples without bytes need no space in the file, so a short file can have
  // any number of them.
  int64_t count = std::min<int64_t>(hfta_data_count(data), 1 << 20);
  std::vector<char> sample(count > 0 ? hfta_data_sample_bytes(data) : 0);
  for (int64_t index = 0; index < count; ++index)
    if (hfta_data_gather(data, &index, 1, sample.data(), &error) != HFTA_OK)
      abort();
  for (int64_t index : {int64_t(-1), hfta_data_count(data)})
    if (hfta_data_gather(data, &index, 1, sample.data(), &error) == HFTA_OK)
      abort();
  hfta_data_close(data);
}

void probeAndReadSamples(hfta_data_format format, const char *array) {
  hfta_error error;
  hfta_data_info info;
  hfta_data_request request = {};
  request.path = "input";
  request.format = format;
  request.array = array;
  if (hfta_data_probe(&request, &info, &error) != HFTA_OK)
    return;
  request.type = info.type;
  request.sample_shape = info.sample_shape;
  request.sample_rank = info.sample_rank;
  readSamples(request);
}
