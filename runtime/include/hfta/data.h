//===- data.h - Sources of training and test samples ------------*- C -*-===//
//
// A source is a file that holds samples of one shape and element type, counted
// along the file's first axis. Formats:
//
//   idx   the format of the MNIST files (yann.lecun.com/exdb/mnist): a magic
//         00 00 TT RR, RR big-endian 32-bit extents, big-endian elements; plain
//         or gzip (RFC 1952), told apart by content. TT: 08 u8, 09 i8, 0B i16,
//         0C i32, 0D f32, 0E f64.
//   npy   NumPy's array file, see npy.h.
//   csv   one sample a line, comma separated; `column` (from 0) is the first
//         column to take, and as many columns are taken as a sample has
//         elements. Every line has `columns` of them. Whether the first line
//         is a header, and skipped, is given; or it is one if the first field
//         taken from it is neither a number nor empty. UTF-8 or ASCII, with or
//         without a byte order mark, not packed. No quoting. Spaces and tabs
//         around a number, CRLF and empty lines are allowed. Numbers are
//         decimal or nan, inf, -inf; integers may be written as 3.0.
//   raw   samples one after another in row-major order, little-endian, no
//         header; the file's size must be a multiple of a sample's.
//
// Memory: npy, raw and plain idx files are mapped read-only and cost no
// anonymous memory; gzip, csv, and npy files that must be converted (npy.h) are
// unpacked once, when opened, into memory of exactly hfta_data_resident_bytes.
// A size found in a header is checked against overflow and against the file
// before anything is allocated.
//
// Threads: open and close from one thread; between them everything else may be
// called from any number of threads at once, without locks.
//
// It is an error, which names the file, if others truncate or write to a file
// while it is read. A page that vanishes during a copy raises SIGBUS, which a
// training binary turns into the same error; in a library the host program's
// handler gets the signal. A file may be removed, or replaced by another one of
// the same name.
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

/// The number of batches that a training has in the host's memory at a time:
/// the one in use, the next one, which is on its way to the device, and the one
/// that is being read. A program for a GPU has one more, because the GPU may
/// work on two steps.
enum { HFTA_BATCHES_OF_DATA = 3 };

typedef struct hfta_data hfta_data;

/// The properties that an opened source must have. Borrowed during
/// hfta_data_open only.
typedef struct hfta_data_request {
  const char *path;
  hfta_data_format format;
  uint32_t column; ///< csv: the first column of a sample
  hfta_element_type type;
  const int64_t *sample_shape; ///< shape of one sample, without the batch axis
  uint32_t sample_rank;
  uint64_t columns;       ///< csv: the number of columns of each line; 0: the
                          ///< sample's are the last
  hfta_csv_header header; ///< csv
} hfta_data_request;

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

/// Closes a source; NULL is allowed.
void hfta_data_close(hfta_data *data);

/// Number of samples; may be 0.
int64_t hfta_data_count(const hfta_data *data);

/// Bytes of one sample in memory.
uint64_t hfta_data_sample_bytes(const hfta_data *data);

/// Anonymous memory that the source holds until it is closed; 0 if it is
/// memory-mapped.
uint64_t hfta_data_resident_bytes(const hfta_data *data);

/// Whether the first line of a csv file is taken as a sample because it looks
/// like one, not because the request says so. It may be a header of numbers.
bool hfta_data_guesses_no_header(const hfta_data *data);

/// Copies samples indices[0] ... indices[n-1], in this order, one after another
/// to `destination` (n * hfta_data_sample_bytes bytes, no alignment needed), in
/// the machine's byte order. An index outside 0 ... count-1 is
/// HFTA_INVALID_INPUT and leaves `destination` unspecified.
hfta_status hfta_data_gather(const hfta_data *data, const int64_t *indices,
                             int64_t n, void *destination, hfta_error *error);

/// Reads a csv file up to the end of its first line. `*out_guesses` becomes
/// what hfta_data_guesses_no_header returns for the opened file. `request`
/// needs no type and shape.
hfta_status hfta_data_probe_csv(const hfta_data_request *request,
                                bool *out_guesses, hfta_error *error);

/// Reads a file's header alone, in bounded memory whatever its size. csv and
/// raw have none: HFTA_UNSUPPORTED, the type must be declared.
hfta_status hfta_data_probe(const char *path, hfta_data_format format,
                            hfta_data_info *out, hfta_error *error);

/// Checks samples in memory of the data block's field `index`: each whole
/// number must be a class, or a valid index of a table, if the field holds such
/// numbers. With a wrong one a training would go wrong silently. `first` is the
/// number of the first of these samples and `path` where they come from, for
/// messages only.
hfta_status hfta_data_check_classes(const hfta_program *program, uint32_t index,
                                    const void *samples, int64_t first,
                                    int64_t count, const char *path,
                                    hfta_error *error);

/// Returns "idx", "npy", "csv" or "raw"; "none" for any other value.
const char *hfta_data_format_name(hfta_data_format format);

/// Returns "auto", "true" or "false"; "auto" for any other value.
const char *hfta_csv_header_name(hfta_csv_header header);

#ifdef __cplusplus
}
#endif

#endif // HFTA_DATA_H
