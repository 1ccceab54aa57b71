//===- data_source.h - Shared by the data formats -----------------*- C -*-===//
//
// Private to the runtime: data.c dispatches to one function per format, and
// each of them makes an array of samples in memory.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DATA_DATA_SOURCE_H
#define HFTA_SRC_DATA_DATA_SOURCE_H

#include "hfta/data.h"

#include "system/file.h"

/// An opened source: consecutive samples, borrowed from `mapping` or `owned`,
/// depending on the format.
struct hfta_data {
  const unsigned char *samples;
  int64_t count;
  uint64_t sample_bytes;
  size_t swapped_bytes; ///< elements of this size are big-endian; 0: none are
  hfta_mapping mapping;
  bool guesses_no_header; ///< csv: see hfta_data_guesses_no_header
  void *owned;            ///< from malloc
  uint64_t owned_bytes;
  char *path;
  hfta_watch watch; ///< watches a mapped file
};

/// Fills `*data`, which is zero except for sample_bytes; after a failure data.c
/// releases its contents.
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

hfta_status hfta_data_probe_idx(const char *path, hfta_data_info *out,
                                hfta_error *error);
hfta_status hfta_data_probe_npy(const char *path, hfta_data_info *out,
                                hfta_error *error);

/// Compares a header with the request: element type, and shape except for axes
/// of length 1.
hfta_status hfta_data_check(const hfta_data_request *request,
                            const hfta_data_info *found, hfta_error *error);

/// Turns the shape of a whole file into a count and a sample's shape; refuses
/// rank 0.
hfta_status hfta_data_split_batch(const char *path, hfta_element_type type,
                                  const int64_t *shape, uint32_t rank,
                                  hfta_data_info *out, hfta_error *error);

#endif // HFTA_SRC_DATA_DATA_SOURCE_H
