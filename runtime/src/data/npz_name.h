//===- npz_name.h - Names of arrays in npz files ------------------*- C -*-===//
//
// Private to the runtime.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DATA_NPZ_NAME_H
#define HFTA_SRC_DATA_NPZ_NAME_H

#include "formats/zip.h"

#include <string.h>

/// Returns the length of an array's name: that of the archive's member without
/// the ending of npy files.
static inline size_t hfta_npz_name_length(const hfta_zip_member *member) {
  size_t length = member->name_bytes;
  return length > 4 && memcmp(member->name + length - 4, ".npy", 4) == 0
             ? length - 4
             : length;
}

#endif // HFTA_SRC_DATA_NPZ_NAME_H
