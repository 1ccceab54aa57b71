//===- Files.h - The fuzzer's input as a file -------------------*- C++ -*-===//

#ifndef HFTA_FUZZ_FILES_H
#define HFTA_FUZZ_FILES_H

#include "hfta/data.h"

#include <cstddef>
#include <cstdint>

/// Makes these bytes the contents of every file that the runtime opens from now
/// on. `data` isn't copied and must stay valid. Each opened file is an
/// allocation of exactly `size` bytes, so that sanitizers detect reads beyond
/// its end.
void setInput(const uint8_t *data, size_t size);

/// Opens a data source and copies its samples, at most a million. Aborts if a
/// sample can't be read, or if one with an invalid index can.
void readSamples(const hfta_data_request &request);

/// Reads the samples, with the type and shape that the file's header states, of
/// the array of this name if files of the format hold several. Returns without
/// an error if the runtime refuses the file.
void probeAndReadSamples(hfta_data_format format, const char *array = "");

#endif // HFTA_FUZZ_FILES_H
