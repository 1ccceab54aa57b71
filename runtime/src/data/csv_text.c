//===- csv_text.c - Lines and fields of csv files -------------------------===//

#include "data/csv_text.h"

#include "text/text.h"

#include <string.h>

char hfta_csv_separator_character(hfta_csv_separator separator) {
  switch (separator) {
#define HFTA_CSV_SEPARATOR(identifier, number, name, character)                \
  case HFTA_CSV_SEPARATOR_##identifier:                                        \
    return character;
    HFTA_CSV_SEPARATORS
#undef HFTA_CSV_SEPARATOR
  }
  return ',';
}

/// Returns whether a character is white space that belongs to no field: a tab
/// may be a separator.
static bool is_blank(char character, char separator) {
  return character == ' ' || character == '\r' ||
         (character == '\t' && separator != '\t');
}

/// Removes white space around a text.
static hfta_csv_span trim(hfta_csv_span text, char separator) {
  while (text.length > 0 && is_blank(text.text[text.length - 1], separator))
    --text.length;
  while (text.length > 0 && is_blank(text.text[0], separator)) {
    ++text.text;
    --text.length;
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

/// Returns the end of a line that begins at reader->at and contains quotes:
/// the first line break outside of them, or the end of the file. Counts the
/// breaks inside of quotes.
static const char *end_of_quoted_line(hfta_csv_reader *reader) {
  bool at_start = true, is_inside = false, is_closed = false;
  const char *at = reader->at;
  for (; at < reader->end && (is_inside || *at != '\n'); ++at) {
    if (is_inside) {
      reader->breaks += *at == '\n';
      is_closed = *at == '"';
      is_inside = !is_closed;
    } else if (*at == '"' && (at_start || is_closed)) {
      // After a quote that has closed the field, a second one opens it again.
      is_inside = true;
      at_start = false;
    } else {
      is_closed = false;
      at_start = *at == reader->separator ||
                 (reader->separator == ' ' && *at == '\t') ||
                 (at_start && is_blank(*at, reader->separator));
    }
  }
  reader->is_unclosed = is_inside;
  return at;
}

bool hfta_csv_next_line(hfta_csv_reader *reader, hfta_csv_span *line) {
  while (reader->at < reader->end) {
    const char *start = reader->at;
    size_t left = (size_t)(reader->end - start);
    const char *newline = memchr(start, '\n', left);
    const char *end = newline ? newline : reader->end;
    reader->number = ++reader->breaks;
    if (memchr(start, '"', (size_t)(end - start)))
      end = end_of_quoted_line(reader);
    reader->at = end < reader->end ? end + 1 : reader->end;
    *line = trim((hfta_csv_span){start, (size_t)(end - start), false},
                 reader->separator);
    if (line->length > 0)
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

/// Returns the length of the quoted text that a line begins with, with both
/// quotes; 0 if there is none.
static size_t quoted_length(hfta_csv_span line) {
  if (line.length == 0 || line.text[0] != '"')
    return 0;
  for (size_t i = 1; i < line.length; ++i) {
    if (line.text[i] != '"')
      continue;
    if (i + 1 == line.length || line.text[i + 1] != '"')
      return i + 1;
    ++i;
  }
  return 0;
}

/// Returns the place of the first separator at or after `from`; the line's
/// length if there is none.
static size_t find_separator(hfta_csv_span line, size_t from, char separator) {
  if (separator == ' ') {
    while (from < line.length && line.text[from] != ' ' &&
           line.text[from] != '\t')
      ++from;
    return from;
  }
  const char *found = memchr(line.text + from, separator, line.length - from);
  return found ? (size_t)(found - line.text) : line.length;
}

bool hfta_csv_next_field(hfta_csv_span *line, char separator,
                         hfta_csv_span *field) {
  if (!line->text)
    return false;
  hfta_csv_span rest = *line;
  while (rest.length > 0 && is_blank(rest.text[0], separator)) {
    ++rest.text;
    --rest.length;
  }
  size_t quoted = quoted_length(rest);
  size_t end = find_separator(rest, quoted, separator);
  *field = trim((hfta_csv_span){rest.text, end, false}, separator);
  if (quoted > 0 && field->length == quoted)
    *field = (hfta_csv_span){rest.text + 1, quoted - 2, true};
  if (end == rest.length) {
    *line = (hfta_csv_span){NULL, 0, false};
    return true;
  }
  *line = (hfta_csv_span){rest.text + end + 1, rest.length - end - 1, false};
  // Lines are trimmed, so a field follows any run of spaces.
  if (separator == ' ')
    *line = trim(*line, separator);
  return true;
}

bool hfta_csv_skip_fields(hfta_csv_span *line, char separator, uint64_t count) {
  hfta_csv_span field;
  for (uint64_t i = 0; i < count; ++i)
    if (!hfta_csv_next_field(line, separator, &field))
      return false;
  return line->text != NULL;
}

bool hfta_csv_is_number(hfta_csv_span field) {
  return hfta_classify_number(field.text, field.length) != HFTA_NOT_A_NUMBER;
}

bool hfta_csv_is_name(hfta_csv_span field, const char *name) {
  size_t at = 0;
  for (; *name && at < field.length; ++name, ++at) {
    if (field.text[at] != *name)
      return false;
    // The second of two quotes.
    at += field.is_quoted && *name == '"';
  }
  return !*name && at == field.length;
}
