//===- Csv.cpp - Fuzz target: a csv file ----------------------------------===//
//
// The input is read as each element type: with one number per sample from the
// first field of a line, and with three numbers from the second field on. The
// types take turns with the three kinds of headers.
//===----------------------------------------------------------------------===//

#include "Files.h"
#include "Options.h"

static void readCsv(const hfta_data_request &request) {
  hfta_error error;
  bool guesses;
  (void)hfta_data_probe_csv(&request, &guesses, &error);
  readSamples(request);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  setInput(data, size);
  const int64_t shape[] = {3};
  for (int type = HFTA_BOOL; type <= HFTA_F64; ++type)
    for (uint32_t rank = 0; rank < 2; ++rank)
      readCsv({"input", HFTA_DATA_CSV, /*column=*/rank,
               static_cast<hfta_element_type>(type), shape, rank, 0,
               static_cast<hfta_csv_header>(type % 3)});
  return 0;
}
