//===- Files.h - Files made of a fuzzer's input -----------------*- C++ -*-===//

#ifndef HFTA_FUZZ_FILES_H
#define HFTA_FUZZ_FILES_H

#include "hfta/data.h"

#include <cstddef>
#include <cstdint>

/// Sets the bytes of any file that the runtime maps from now on. They are in an
/// allocation of exactly this size, so that a read beyond the end is detected.
/// Borrowed.
void setInput(const uint8_t *data, size_t size);

/// Opens a source as the request says, and copies all its samples.
void readSamples(const hfta_data_request &request);

/// Reads the type and shape from the file's header first, then all samples.
void probeAndReadSamples(hfta_data_format format);

#endif // HFTA_FUZZ_FILES_H
