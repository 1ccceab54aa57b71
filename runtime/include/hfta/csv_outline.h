//===- csv_outline.h - What the columns of a csv file hold --------*- C -*-===//
//
// For tools that describe a file, not for training: reads the whole file.
//===----------------------------------------------------------------------===//

#ifndef HFTA_CSV_OUTLINE_H
#define HFTA_CSV_OUTLINE_H

#include "hfta/program.h"
#include "hfta/status.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A column. Its numbers are those of all samples.
typedef struct hfta_csv_column {
  /// Its name in the header, owned by the outline; NULL if the file has no
  /// header.
  char *name;
  /// The first line whose entry is neither empty nor a number, from 1; 0: all
  /// are numbers.
  uint64_t text_line;
  /// The first line whose entry is empty, from 1; 0: none is.
  uint64_t empty_line;
  bool is_whole; ///< whether all entries are finite whole numbers
  /// The least and the greatest number, the mean, and the standard deviation
  /// (divided by the number of samples), of finite entries. 0 if there are
  /// none.
  double least, most, mean, deviation;
} hfta_csv_column;

typedef struct hfta_csv_outline {
  hfta_csv_separator separator;
  bool has_header;
  int64_t samples; ///< the number of lines, without the header and empty ones
  uint32_t column_count;
  hfta_csv_column *columns;
} hfta_csv_outline;

/// Describes a file. The separator is the one that the first line has most
/// often outside of quotes: comma, semicolon, tab or bar, else spaces. The
/// first line is a header if an entry of it isn't a number while the same
/// column's entry of the second line is one, or if no entry of it is a number.
/// `*out` must be released by hfta_csv_outline_close, also after a failure.
/// HFTA_INVALID_INPUT if the file can't be read, is empty, or has lines of
/// different lengths.
hfta_status hfta_csv_outline_open(const char *path, hfta_csv_outline *out,
                                  hfta_error *error);

void hfta_csv_outline_close(hfta_csv_outline *outline);

#ifdef __cplusplus
}
#endif

#endif // HFTA_CSV_OUTLINE_H
