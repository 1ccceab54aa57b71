//===- npy.h - NumPy's array files ------------------------------*- C -*-===//
//
// Format: numpy.org/doc/stable/reference/generated/numpy.lib.format.html,
// versions 1.0, 2.0 and 3.0. Files may be read if they are little-endian and in
// C order (or in Fortran order where that is the same), with every element type
// of program.h; bf16 is stored as "<V2", as ml_dtypes does. Files are written
// as version 1.0.
//===----------------------------------------------------------------------===//

#ifndef HFTA_NPY_H
#define HFTA_NPY_H

#include "hfta/status.h"
#include "hfta/tensor_view.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hfta_npy_header {
  hfta_element_type type;
  uint32_t rank;
  int64_t shape[HFTA_MAX_RANK];
  uint64_t data_offset; ///< offset of the elements in the file
  uint64_t data_bytes;
} hfta_npy_header;

/// A file that is open for reading.
typedef struct hfta_npy {
  hfta_npy_header header;
  const void *data; ///< header.data_bytes bytes, mapped read-only
  void *mapping;    ///< private
  uint64_t mapping_bytes;
} hfta_npy;

/// Parses the header of a whole file in memory and checks that the file is as
/// long as the header says. `path` is for messages only. Allocates nothing.
hfta_status hfta_npy_parse(const void *bytes, size_t size, const char *path,
                           hfta_npy_header *out, hfta_error *error);

/// Memory-maps a file. `*out` is released by hfta_npy_close, and holds nothing
/// after a failure. Threads may share it between open and close.
hfta_status hfta_npy_open(const char *path, hfta_npy *out, hfta_error *error);

/// Closes a file. Closing it twice, or after a failure to open it, is allowed.
void hfta_npy_close(hfta_npy *npy);

/// Writes a tensor (its name is ignored), completely or not at all: it writes a
/// temporary file next to `path`, syncs it and renames it.
hfta_status hfta_npy_write(const char *path, const hfta_tensor_view *tensor,
                           hfta_error *error);

#ifdef __cplusplus
}
#endif

#endif // HFTA_NPY_H
