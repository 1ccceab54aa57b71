//===- Files.h - Files made of a fuzzer's input -----------------*- C++ -*-===//

#ifndef HFTA_FUZZ_FILES_H
#define HFTA_FUZZ_FILES_H

#include "hfta/data.h"

#include <cstddef>
#include <cstdint>

/// Whatever file the runtime maps from now on has these bytes, in an allocation
/// of just their size, so that a read beyond the end is seen. Borrowed.
void setInput(const uint8_t *data, size_t size);

/// Opens a source as the request says and copies all its samples.
void readSamples(const hfta_data_request &request);

/// The same with type and shape from the file's header, which is looked at
/// first.
void probeAndReadSamples(hfta_data_format format);

#endif // HFTA_FUZZ_FILES_H
