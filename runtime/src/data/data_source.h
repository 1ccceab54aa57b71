//===- data_source.h - Shared by the data formats -----------------*- C -*-===//
//
// Private to the runtime. data.c calls one function per format, which makes the
// file's samples available as an array in memory.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DATA_DATA_SOURCE_H
#define HFTA_SRC_DATA_DATA_SOURCE_H

#include "hfta/data.h"

#include "system/file.h"

/// An open source. Depending on the format, the samples lie in `mapping` or in
/// `owned`.
struct hfta_data {
  const unsigned char *samples; ///< the samples one after another, row-major
  int64_t count;
  uint64_t sample_bytes;
  size_t swapped_bytes; ///< the size of big-endian elements, which are swapped
                        ///< when they are copied; 0 if no element needs it
  hfta_mapping mapping;
  bool guesses_no_header; ///< see hfta_data_guesses_no_header; for csv only
  void *owned;            ///< memory from malloc; NULL if the file is mapped
  uint64_t owned_bytes;
  char *path;
  hfta_watch watch; ///< detects changes of a mapped file by others
};

/// Opens a file of one format. Fills `*data`, in which `sample_bytes`, `path`
/// and `watch` are set and all else is zero. After a failure the caller
/// releases whatever `*data` holds.
typedef hfta_status (*hfta_data_opener)(const hfta_data_request *request,
                                        hfta_data *data, hfta_error *error);

hfta_status hfta_data_open_idx(const hfta_data_request *request,
                               hfta_data *data, hfta_error *error);
hfta_status hfta_data_open_npy(const hfta_data_request *request,
                               hfta_data *data, hfta_error *error);
hfta_status hfta_data_open_csv(const hfta_data_request *request,
                               hfta_data *data, hfta_error *error);
hfta_status hfta_data_open_raw(const hfta_data_request *request,
                               hfta_data *data, hfta_error *error);

/// Implement hfta_data_probe: read a file's header.
hfta_status hfta_data_probe_idx(const char *path, hfta_data_info *out,
                                hfta_error *error);
hfta_status hfta_data_probe_npy(const char *path, hfta_data_info *out,
                                hfta_error *error);

/// Compares a file's header with the request. Returns HFTA_INVALID_INPUT if the
/// element types differ, or the sample shapes, in which axes of length 1 are
/// ignored.
hfta_status hfta_data_check(const hfta_data_request *request,
                            const hfta_data_info *found, hfta_error *error);

/// Divides the shape of a whole file into the number of samples (the first
/// axis) and the shape of a sample. Returns HFTA_INVALID_INPUT for rank 0.
hfta_status hfta_data_split_batch(const char *path, hfta_element_type type,
                                  const int64_t *shape, uint32_t rank,
                                  hfta_data_info *out, hfta_error *error);

#endif // HFTA_SRC_DATA_DATA_SOURCE_H
