//===- Csv.cpp - Fuzz target: a csv file ----------------------------------===//
//
// The input is read as each element type: with one number per sample from the
// first field of a line, with three numbers from the second field on, and with
// two columns by their numbers and by their names. The types take turns with
// the three kinds of headers and with the separators.
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
  const int64_t shape[] = {3}, pair[] = {2}, numbers[] = {2, 0};
  const char *const names[] = {"a", "b\"c"};
  for (int type = HFTA_BOOL; type <= HFTA_F64; ++type) {
    hfta_data_request request = {};
    request.path = "input";
    request.format = HFTA_DATA_CSV;
    request.type = static_cast<hfta_element_type>(type);
    request.header = static_cast<hfta_csv_header>(type % 3);
    request.separator = static_cast<hfta_csv_separator>(type % 5);
    request.sample_shape = shape;
    for (uint32_t rank = 0; rank < 2; ++rank) {
      request.sample_rank = request.column = rank;
      readCsv(request);
    }
    request.sample_shape = pair;
    request.column_count = 2;
    request.column_numbers = numbers;
    readCsv(request);
    request.column_numbers = nullptr;
    request.column_names = names;
    request.header = HFTA_CSV_HEADER_PRESENT;
    readCsv(request);
  }
  return 0;
}
