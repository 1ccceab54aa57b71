//===- csv_file.h - Opens csv files -------------------------------*- C -*-===//
//
// Private to the runtime.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DATA_CSV_FILE_H
#define HFTA_SRC_DATA_CSV_FILE_H

#include "data/csv_text.h"
#include "hfta/status.h"
#include "system/file.h"

/// Maps a file, and sets `*out` to a reader before its first line, behind a
/// byte order mark. `separator` is that of hfta_csv_reader. An empty file isn't
/// an error: its reader is all zeros. HFTA_UNSUPPORTED if the file is
/// compressed or in UTF-16. `*mapping` must be closed in any case, after which
/// the reader is invalid.
hfta_status hfta_csv_open(const char *path, char separator,
                          hfta_mapping *mapping, hfta_csv_reader *out,
                          hfta_error *error);

#endif // HFTA_SRC_DATA_CSV_FILE_H
