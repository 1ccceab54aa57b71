//===- data.h - Sources of training and test samples ------------*- C -*-===//
//
// A source is a file that holds samples of one shape and element type, counted
// along the file's first axis. Formats:
//
//   idx   the format of the MNIST files (yann.lecun.com/exdb/mnist): a magic
//         00 00 TT RR, RR big-endian 32-bit extents, big-endian elements; plain
//         or gzip (RFC 1952), told apart by content. TT: 08 u8, 09 i8, 0B i16,
//         0C i32, 0D f32, 0E f64.
//   npy   NumPy's array file (npy.h).
//   csv   one sample per line, columns separated by commas or another
//         character. A sample is read from the columns from `column` (counted
//         from 0) on, as many as it has elements, or from listed ones; every
//         line must have `columns` columns. The first line is skipped if it is
//         a header: if the request says so or, where the request leaves this
//         open, if the first field taken from the line is neither a number nor
//         empty. UTF-8 or ASCII, with or without a byte order mark, not
//         compressed; fields may be quoted (RFC 4180). Spaces and tabs around a
//         number, CRLF and empty lines are allowed. Numbers are decimal or
//         nan, inf, -inf; integers may be written as 3.0.
//   raw   samples one after another in row-major order, little-endian, no
//         header; the file's size must be a multiple of a sample's.
//   npz   a zip archive of npy files, as numpy.savez and savez_compressed
//         write it. The checksum of compressed arrays is verified.
//   safetensors   a file of named tensors (safetensors.h).
//   images   a folder with a folder of PNG and JPEG images for each class, of
//         u8[channels, height, width].
//   classes  the class numbers of such a folder's images, of i32.
//   tokens   windows of a sequence of numbers, little-endian, without a header:
//         window i begins at number shift + i * stride. A window of the last
//         numbers begins so early that the number after it exists.
//
// Memory: npy, raw, safetensors, plain idx files and arrays that an npz file
// stores uncompressed are mapped read-only and need no anonymous memory.
// Compressed arrays, csv files, and npy files that must be converted (npy.h),
// are unpacked once, when they are opened, into memory of exactly
// hfta_data_resident_bytes. A size found in a header is checked for overflow
// and against the file's size before anything is allocated.
//
// Threads: one thread opens and closes a source. In between, all other
// functions may be called by any number of threads at once; they take no locks.
//
// Changed files: if somebody truncates or writes to a file while it is read,
// the call fails with an error that names the file. A page that vanishes during
// a copy raises SIGBUS, which a training binary turns into this error; in a
// library the host program's handler gets the signal. To remove a file, or to
// replace it by another one of the same name, is allowed.
//===----------------------------------------------------------------------===//

#ifndef HFTA_DATA_H
#define HFTA_DATA_H

#include "hfta/program.h"
#include "hfta/status.h"
#include "hfta/tensor_view.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// An open source of samples.
typedef struct hfta_data hfta_data;

/// The file to open, and the properties that it must have. Borrowed during
/// hfta_data_open only.
typedef struct hfta_data_request {
  const char *path;
  hfta_data_format format;
  uint32_t column; ///< csv: the first column of a sample
  hfta_element_type type;
  const int64_t *sample_shape; ///< shape of one sample, without the batch axis
  uint32_t sample_rank;
  uint64_t columns;       ///< csv: the number of columns of each line; 0: the
                          ///< sample's columns are the last ones of the line
  hfta_csv_header header; ///< csv: whether line 1 is a header
  hfta_csv_separator separator; ///< csv: what separates columns
  const char *array;            ///< npz, safetensors: the array's name
  /// csv: the columns of a sample's elements, `column_count` names or numbers,
  /// each once. If both are NULL, columns from `column` on are taken.
  const char *const *column_names;
  const int64_t *column_numbers;
  uint32_t column_count;
  hfta_image_resize resize; ///< images: see settings.h, as for all below
  bool skips_damaged;       ///< images
  int64_t cache;            ///< images
  int64_t shift, stride;    ///< tokens
  /// classes: an open source of the folder's images, some of which it may have
  /// left out; may be NULL.
  const hfta_data *images;
  /// A file with which the requested samples agree, for messages; may be NULL.
  const char *like;
} hfta_data_request;

/// The value of hfta_data_request.columns if each line of a csv file must have
/// as many columns as its header.
#define HFTA_CSV_COLUMNS_OF_HEADER UINT64_MAX

/// The properties that a file's header states.
typedef struct hfta_data_info {
  hfta_element_type type;
  int64_t count; ///< number of samples
  uint32_t sample_rank;
  int64_t sample_shape[HFTA_MAX_RANK];
} hfta_data_info;

/// Opens and checks a source. The file's element type must be the requested
/// one (csv: every number must fit it); its sample shape may differ from the
/// requested one in axes of length 1 only. `*out` is the caller's, released by
/// hfta_data_close; NULL after a failure.
hfta_status hfta_data_open(const hfta_data_request *request, hfta_data **out,
                           hfta_error *error);

/// Joins `count` open sources, at least one, to one that has the samples of all
/// of them, one source after the other. Their samples must be equal in size.
/// Takes them over, also after a failure.
hfta_status hfta_data_join(hfta_data **parts, uint32_t count, hfta_data **out,
                           hfta_error *error);

/// Closes a source; NULL is allowed.
void hfta_data_close(hfta_data *data);

/// Returns the number of samples; may be 0.
int64_t hfta_data_count(const hfta_data *data);

/// Returns the bytes of one sample in memory.
uint64_t hfta_data_sample_bytes(const hfta_data *data);

/// Returns the bytes of anonymous memory that the source holds until it is
/// closed; 0 if the file is memory-mapped.
uint64_t hfta_data_resident_bytes(const hfta_data *data);

/// Returns whether the first line of a csv file was taken as a sample only
/// because it begins with a number. It may nevertheless be a header, of
/// numbers. False if the request says whether there is a header.
bool hfta_data_guesses_no_header(const hfta_data *data);

/// Returns the number of messages about the opened source, and message `index`
/// of these, which is the source's.
size_t hfta_data_note_count(const hfta_data *data);
const char *hfta_data_note_at(const hfta_data *data, size_t index);

/// Returns the names of the classes that a source numbers, each with a line
/// break at its end; NULL if it has none.
const char *hfta_data_classes(const hfta_data *data);

/// Copies samples indices[0] ... indices[n-1], in this order, one after another
/// to `destination` (n * hfta_data_sample_bytes bytes, no alignment needed), in
/// the machine's byte order. An index outside 0 ... count-1 gives
/// HFTA_INVALID_INPUT and leaves the contents of `destination` unspecified.
hfta_status hfta_data_gather(const hfta_data *data, const int64_t *indices,
                             int64_t n, void *destination, hfta_error *error);

/// Reads a csv file only up to the end of its first line, and sets
/// `*out_guesses` to the value that hfta_data_guesses_no_header would return
/// for the opened file. `request` needs no type and shape. Fails if the header
/// lacks a column that the request names.
hfta_status hfta_data_probe_csv(const hfta_data_request *request,
                                bool *out_guesses, hfta_error *error);

/// Reads only a file's header, in bounded memory whatever the file's size.
/// `request` needs only a path, a format and the name of an array, if the
/// format has them. csv and raw files don't state their type: HFTA_UNSUPPORTED.
hfta_status hfta_data_probe(const hfta_data_request *request,
                            hfta_data_info *out, hfta_error *error);

/// Receives the name of an array; it is valid during the call only.
typedef void (*hfta_array_visitor)(const char *name, void *argument);

/// Calls `visit` with the name of each array of a file that holds several (npz
/// and safetensors), in the file's order. HFTA_UNSUPPORTED for other formats.
hfta_status hfta_data_list_arrays(const char *path, hfta_data_format format,
                                  hfta_array_visitor visit, void *argument,
                                  hfta_error *error);

/// Checks `count` samples in memory of the data block's field `index`: if the
/// field holds class numbers or indices of a table, each must be in its range.
/// A wrong number, which would spoil a training silently, gives
/// HFTA_INVALID_INPUT. `first` is the number of the first of these samples and
/// `path` the file that they come from, both for messages only.
hfta_status hfta_data_check_classes(const hfta_program *program, uint32_t index,
                                    const void *samples, int64_t first,
                                    int64_t count, const char *path,
                                    hfta_error *error);

/// Reads an element of an integer type or of bool; needs no alignment.
int64_t hfta_data_read_integer(const void *element, hfta_element_type type);

/// Returns a format's name in jobs, such as "idx"; "none" for any other value.
const char *hfta_data_format_name(hfta_data_format format);

/// Returns "auto", "true" or "false"; "auto" for any other value.
const char *hfta_csv_header_name(hfta_csv_header header);

/// Returns a separator's name in jobs, such as "comma".
const char *hfta_csv_separator_name(hfta_csv_separator separator);

/// Returns a resize's name in jobs, such as "crop".
const char *hfta_image_resize_name(hfta_image_resize resize);

#ifdef __cplusplus
}
#endif

#endif // HFTA_DATA_H
