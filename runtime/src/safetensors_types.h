//===- safetensors_types.h - Names of types in the header -------*- C -*-===//
//
// Private to the safetensors reader and writer.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_SAFETENSORS_TYPES_H
#define HFTA_SRC_SAFETENSORS_TYPES_H

#include "hfta/program.h"

/// X(element type, name in the file).
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

#endif // HFTA_SRC_SAFETENSORS_TYPES_H
