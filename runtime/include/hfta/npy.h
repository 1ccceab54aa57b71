//===- npy.h - NumPy's array files ------------------------------*- C -*-===//
//
// Format: numpy.org/doc/stable/reference/generated/numpy.lib.format.html,
// versions 1.0, 2.0 and 3.0. Files may be read with every element type of
// program.h; bf16 is stored as "<V2", as ml_dtypes does. Unsigned integers of
// 32 and 64 bits are read as i64; a greater number than i64 has is refused. All
// of these may be big-endian, except for bf16, and in Fortran order. What isn't
// stored as it is read is converted in memory. Files are written as version
// 1.0.
//===----------------------------------------------------------------------===//

#ifndef HFTA_NPY_H
#define HFTA_NPY_H

#include "hfta/status.h"
#include "hfta/tensor_view.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hfta_npy_header {
  hfta_element_type type;
  uint32_t rank;
  int64_t shape[HFTA_MAX_RANK];
  uint64_t data_bytes;    ///< bytes of the elements when they are read
  uint64_t data_offset;   ///< offset of the elements in the file
  uint64_t stored_bytes;  ///< bytes of the elements in the file
  uint32_t element_bytes; ///< bytes of one element in the file
  bool is_unsigned;       ///< u32 or u64, read as i64
  bool is_big_endian;
  bool is_fortran_order; ///< the first axis is the fastest, and not the only
                         ///< one that is longer than 1
} hfta_npy_header;

/// A file that is open for reading.
typedef struct hfta_npy {
  hfta_npy_header header;
  const void *data; ///< header.data_bytes bytes, row-major, in the machine's
                    ///< byte order
  void *mapping;    ///< private
  uint64_t mapping_bytes;
  void *converted; ///< private
} hfta_npy;

/// Parses the header of a whole file in memory and checks that the file is as
/// long as the header says. `path` is for messages only. Allocates nothing.
hfta_status hfta_npy_parse(const void *bytes, size_t size, const char *path,
                           hfta_npy_header *out, hfta_error *error);

/// Whether the elements in the file are as they are read, so that they needn't
/// be converted.
bool hfta_npy_is_plain(const hfta_npy_header *header);

/// Converts the elements of a file, header->stored_bytes at `stored`, to
/// header->data_bytes at `out`, row-major and in the machine's byte order. A
/// u64 that i64 doesn't have is HFTA_INVALID_INPUT.
hfta_status hfta_npy_convert(const hfta_npy_header *header, const void *stored,
                             const char *path, void *out, hfta_error *error);

/// Memory-maps a file, or converts it in memory. `*out` is released by
/// hfta_npy_close, and holds nothing after a failure. Threads may share it
/// between open and close.
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
