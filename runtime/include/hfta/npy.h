//===- npy.h - NumPy's array files ------------------------------*- C -*-===//
//
// Format: numpy.org/doc/stable/reference/generated/numpy.lib.format.html,
// versions 1.0, 2.0 and 3.0. Files may have every element type of program.h;
// bf16 is stored as "<V2", as ml_dtypes does. Unsigned integers of 32 and 64
// bits are read as i64; a number greater than INT64_MAX is refused. Elements
// may be big-endian, except for bf16, and in Fortran order. Whatever is stored
// in another form than it is read in is converted in memory. Files are written
// in version 1.0.
//===----------------------------------------------------------------------===//

#ifndef HFTA_NPY_H
#define HFTA_NPY_H

#include "hfta/status.h"
#include "hfta/tensor_view.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The contents of a file's header.
typedef struct hfta_npy_header {
  hfta_element_type type;
  uint32_t rank;
  int64_t shape[HFTA_MAX_RANK];
  uint64_t data_bytes;    ///< bytes of all elements once they are read
  uint64_t data_offset;   ///< offset of the elements in the file
  uint64_t stored_bytes;  ///< bytes of all elements in the file
  uint32_t element_bytes; ///< bytes of one element in the file
  bool is_unsigned; ///< unsigned integers of 32 or 64 bits, which are read as
                    ///< i64
  bool is_big_endian;
  bool is_fortran_order; ///< in column-major order, which differs from
                         ///< row-major order as several axes are longer than 1
} hfta_npy_header;

/// A file that is open for reading.
typedef struct hfta_npy {
  hfta_npy_header header;
  const void *data; ///< the elements: header.data_bytes bytes, row-major, in
                    ///< the machine's byte order
  void *mapping;    ///< private: the mapped file
  uint64_t mapping_bytes;
  void *converted; ///< private: converted elements, or NULL
} hfta_npy;

/// Parses the header of a file whose `size` bytes are in memory, and checks
/// that the file is as long as the header says. `path` is for messages only.
/// Allocates nothing.
hfta_status hfta_npy_parse(const void *bytes, size_t size, const char *path,
                           hfta_npy_header *out, hfta_error *error);

/// Parses a header of which only the beginning of the file is in memory: `size`
/// bytes, which need to be no more than HFTA_NPY_MOST_START. The whole file has
/// `file_size` bytes.
hfta_status hfta_npy_parse_start(const void *bytes, size_t size,
                                 uint64_t file_size, const char *path,
                                 hfta_npy_header *out, hfta_error *error);

/// The most bytes before a file's elements.
#define HFTA_NPY_MOST_START ((1u << 16) + 12)

/// Returns whether elements are stored exactly as they are read, so that they
/// need no conversion.
bool hfta_npy_is_plain(const hfta_npy_header *header);

/// Converts a file's elements, header->stored_bytes bytes at `stored`, to
/// header->data_bytes bytes at `out`, row-major and in the machine's byte
/// order. HFTA_INVALID_INPUT if an unsigned number is greater than INT64_MAX.
hfta_status hfta_npy_convert(const hfta_npy_header *header, const void *stored,
                             const char *path, void *out, hfta_error *error);

/// Opens a file: maps it into memory, or converts its elements in memory.
/// `*out` must be closed by hfta_npy_close, and holds nothing after a failure.
/// Threads may share it until it is closed.
hfta_status hfta_npy_open(const char *path, hfta_npy *out, hfta_error *error);

/// Closes a file. It may be called twice, or after a failure to open.
void hfta_npy_close(hfta_npy *npy);

/// Writes a tensor to a file, completely or not at all: to a temporary file
/// next to `path`, which is synced, then renamed. The tensor's name is ignored.
hfta_status hfta_npy_write(const char *path, const hfta_tensor_view *tensor,
                           hfta_error *error);

#ifdef __cplusplus
}
#endif

#endif // HFTA_NPY_H
