//===- csv_text.h - Lines and fields of csv files -----------------*- C -*-===//
//
// Private to the runtime. A field may be in double quotes (RFC 4180); inside of
// these, separators and line breaks belong to the field, and two quotes stand
// for one. A quote elsewhere than at a field's beginning is an ordinary
// character. All functions work on text that others own.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_DATA_CSV_TEXT_H
#define HFTA_SRC_DATA_CSV_TEXT_H

#include "hfta/program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A part of a file's text, without a terminating 0.
typedef struct hfta_csv_span {
  const char *text; ///< NULL: no field is left
  size_t length;
  bool is_quoted; ///< whether a field was in quotes, which aren't part of it
} hfta_csv_span;

/// An iterator over the lines that aren't empty.
typedef struct hfta_csv_reader {
  const char *at;
  const char *end;
  char separator;   ///< ' ' stands for any number of spaces and tabs
  uint64_t number;  ///< the number of the last returned line, from 1; empty
                    ///< lines count
  uint64_t breaks;  ///< the number of lines up to the end of the last one: it
                    ///< differs from `number` if the line contains line breaks
  bool is_unclosed; ///< the last line ends within quotes, with the file
} hfta_csv_reader;

/// Returns the character that separates columns.
char hfta_csv_separator_character(hfta_csv_separator separator);

/// Returns in `*line` the next line that isn't empty, without spaces around it.
/// Returns false at the end of the file.
bool hfta_csv_next_line(hfta_csv_reader *reader, hfta_csv_span *line);

/// Removes the first field from a line. Returns false if no field is left.
bool hfta_csv_next_field(hfta_csv_span *line, char separator,
                         hfta_csv_span *field);

/// Removes the first `count` fields. Returns false if no field is left after
/// them.
bool hfta_csv_skip_fields(hfta_csv_span *line, char separator, uint64_t count);

/// Returns whether a field is a number, without regard to quotes.
bool hfta_csv_is_number(hfta_csv_span field);

/// Returns whether a field's text is `name`.
bool hfta_csv_is_name(hfta_csv_span field, const char *name);

/// Stores a field as an element of a type. Returns false if it is no number, or
/// isn't in the type's range.
bool hfta_csv_store(hfta_csv_span field, hfta_element_type type,
                    unsigned char *out);

#endif // HFTA_SRC_DATA_CSV_TEXT_H
