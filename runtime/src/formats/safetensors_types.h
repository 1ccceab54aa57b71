//===- safetensors_types.h - Entries of the header ----------------*- C -*-===//
//
// Private to the safetensors reader and writer.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_FORMATS_SAFETENSORS_TYPES_H
#define HFTA_SRC_FORMATS_SAFETENSORS_TYPES_H

#include "hfta/program.h"

#include <stddef.h>

/// Lists the element types as X(type of program.h, name in the file).
#define HFTA_SAFETENSORS_TYPES(X)                                              \
  X(HFTA_BOOL, "BOOL")                                                         \
  X(HFTA_U8, "U8")                                                             \
  X(HFTA_I8, "I8")                                                             \
  X(HFTA_U16, "U16")                                                           \
  X(HFTA_I16, "I16")                                                           \
  X(HFTA_I32, "I32")                                                           \
  X(HFTA_I64, "I64")                                                           \
  X(HFTA_F16, "F16")                                                           \
  X(HFTA_BF16, "BF16")                                                         \
  X(HFTA_F32, "F32")                                                           \
  X(HFTA_F64, "F64")

/// The placeholder in a header for the checksum's digits. The checksum is
/// computed over the file with this placeholder, then replaces it.
#define HFTA_SAFETENSORS_NO_CHECKSUM "0000000000000000"

/// Returns the offset of a checksum's digits in a header's text, which contains
/// `"checksum":"<digits>"`, or 0 if there is no such entry. The pattern can't
/// match inside a JSON string, where quotes are escaped.
size_t hfta_safetensors_checksum_place(const char *header, size_t size,
                                       const char *digits);

#endif // HFTA_SRC_FORMATS_SAFETENSORS_TYPES_H
