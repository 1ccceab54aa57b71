//===- data_source.h - Shared by the data formats -----------------*- C -*-===//
//
// Private to the runtime. data.c calls one function per format, which makes the
// file's samples available as an array in memory.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DATA_DATA_SOURCE_H
#define HFTA_SRC_DATA_DATA_SOURCE_H

#include "hfta/data.h"
#include "hfta/safetensors.h"

#include "system/file.h"

/// Messages about a source that is nevertheless used.
typedef struct hfta_data_notes {
  char **texts;
  size_t count;
} hfta_data_notes;

/// Adds a message. Fails only if memory runs out.
hfta_status hfta_data_note(hfta_data_notes *notes, hfta_error *error,
                           const char *format, ...) HFTA_PRINTF(3, 4);

/// An open source. Depending on the format, the samples lie in `mapping`, in
/// `tensors`, or in `owned`; or they are those of `parts`.
struct hfta_data {
  const unsigned char *samples; ///< the samples one after another, row-major
  int64_t count;
  /// The distance in bytes from a sample to the next; 0: that of samples one
  /// after another.
  uint64_t stride;
  uint64_t sample_bytes;
  size_t swapped_bytes; ///< the size of big-endian elements, which are swapped
                        ///< when they are copied; 0 if no element needs it
  hfta_mapping mapping;
  hfta_safetensors *tensors; ///< a mapped file of tensors
  bool guesses_no_header;    ///< see hfta_data_guesses_no_header; for csv only
  void *owned;               ///< memory from malloc; NULL if the file is mapped
  uint64_t owned_bytes;
  char *path;
  hfta_watch watch;  ///< detects changes of a mapped file by others
  hfta_data **parts; ///< the open files of a field that is read from several,
                     ///< `part_count` of them; else NULL
  int64_t *firsts;   ///< the number of each file's first sample in the field
  uint32_t part_count;
  struct hfta_images *images; ///< decoded images (data_images.h), or NULL
  char *classes; ///< the names of classes, each with a line break; or NULL
  hfta_data_notes notes;
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
hfta_status hfta_data_open_npz(const hfta_data_request *request,
                               hfta_data *data, hfta_error *error);
hfta_status hfta_data_open_safetensors(const hfta_data_request *request,
                                       hfta_data *data, hfta_error *error);

hfta_status hfta_data_open_images(const hfta_data_request *request,
                                  hfta_data *data, hfta_error *error);
hfta_status hfta_data_open_classes(const hfta_data_request *request,
                                   hfta_data *data, hfta_error *error);
hfta_status hfta_data_open_tokens(const hfta_data_request *request,
                                  hfta_data *data, hfta_error *error);

/// Reads the header of a file of one format (hfta_data_probe).
typedef hfta_status (*hfta_data_prober)(const hfta_data_request *request,
                                        hfta_data_info *out, hfta_error *error);

hfta_status hfta_data_probe_idx(const hfta_data_request *request,
                                hfta_data_info *out, hfta_error *error);
hfta_status hfta_data_probe_npy(const hfta_data_request *request,
                                hfta_data_info *out, hfta_error *error);
hfta_status hfta_data_probe_npz(const hfta_data_request *request,
                                hfta_data_info *out, hfta_error *error);
hfta_status hfta_data_probe_safetensors(const hfta_data_request *request,
                                        hfta_data_info *out, hfta_error *error);

hfta_status hfta_data_probe_images(const hfta_data_request *request,
                                   hfta_data_info *out, hfta_error *error);
hfta_status hfta_data_probe_classes(const hfta_data_request *request,
                                    hfta_data_info *out, hfta_error *error);

/// The most bytes of a label, with the final 0.
enum { HFTA_DATA_LABEL_BYTES = 256 };

/// Writes what messages call the array of a request: "f.npz:x". Returns `out`.
const char *hfta_data_label(const hfta_data_request *request,
                            char out[HFTA_DATA_LABEL_BYTES]);

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
