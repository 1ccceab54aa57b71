//===- csv_outline.c - What the columns of a csv file hold ----------------===//

#include "hfta/csv_outline.h"

#include "data/csv_file.h"
#include "text/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/// The most columns of a file: each takes memory before its numbers are read.
enum { MOST_COLUMNS = 1 << 20 };

//===----------------------------------------------------------------------===//
// The first lines
//===----------------------------------------------------------------------===//

/// Counts the fields of a line.
static uint64_t count_fields(hfta_csv_span line, char separator) {
  uint64_t count = 0;
  for (hfta_csv_span field; hfta_csv_next_field(&line, separator, &field);)
    ++count;
  return count;
}

/// Returns the separator that divides the first line into the most fields; of
/// equal ones, the first of the list. Spaces count only if nothing else
/// separates, as names may contain them.
static hfta_csv_separator find_separator(hfta_csv_reader reader) {
  static const hfta_csv_separator all[] = {
      HFTA_CSV_SEPARATOR_COMMA, HFTA_CSV_SEPARATOR_SEMICOLON,
      HFTA_CSV_SEPARATOR_TAB, HFTA_CSV_SEPARATOR_BAR, HFTA_CSV_SEPARATOR_SPACE};
  hfta_csv_separator best = HFTA_CSV_SEPARATOR_COMMA;
  uint64_t most = 1;
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); ++i) {
    if (all[i] == HFTA_CSV_SEPARATOR_SPACE && most > 1)
      break;
    hfta_csv_reader copy = reader;
    copy.separator = hfta_csv_separator_character(all[i]);
    hfta_csv_span line;
    if (!hfta_csv_next_line(&copy, &line))
      break;
    uint64_t count = count_fields(line, copy.separator);
    if (count > most) {
      most = count;
      best = all[i];
    }
  }
  return best;
}

/// Returns whether the next line, `line`, is a header: see the header file.
static bool is_header(hfta_csv_reader after, hfta_csv_span line) {
  hfta_csv_span second = {0}, name, entry;
  hfta_csv_next_line(&after, &second);
  bool has_number = false, differs = false;
  while (hfta_csv_next_field(&line, after.separator, &name)) {
    bool is_number = hfta_csv_is_number(name);
    has_number |= is_number;
    if (second.text && hfta_csv_next_field(&second, after.separator, &entry))
      differs |= !is_number && hfta_csv_is_number(entry);
  }
  return differs || !has_number;
}

/// Copies the names of a header.
static hfta_status read_names(hfta_csv_span line, char separator,
                              hfta_csv_outline *out, const char *path,
                              hfta_error *error) {
  hfta_csv_span field;
  for (uint32_t i = 0; hfta_csv_next_field(&line, separator, &field); ++i) {
    out->columns[i].name = malloc(field.length + 1);
    if (!out->columns[i].name)
      return hfta_fail(error, HFTA_UNSUPPORTED,
                       "out of memory while reading '%s'", path);
    // Two quotes stand for one in a field in quotes.
    size_t length = 0;
    for (size_t at = 0; at < field.length; ++at) {
      out->columns[i].name[length++] = field.text[at];
      at += field.is_quoted && field.text[at] == '"';
    }
    out->columns[i].name[length] = '\0';
  }
  return HFTA_OK;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// The facts about a column's finite numbers so far (Welford's algorithm).
typedef struct moments {
  int64_t count;
  double squares; ///< the sum of squared differences from the mean
} moments;

static void add_number(hfta_csv_column *column, moments *sums, double value) {
  if (sums->count == 0 || value < column->least)
    column->least = value;
  if (sums->count == 0 || value > column->most)
    column->most = value;
  double difference = value - column->mean;
  column->mean += difference / (double)++sums->count;
  sums->squares += difference * (value - column->mean);
}

static void add_entry(hfta_csv_column *column, moments *sums,
                      hfta_csv_span field, uint64_t line_number) {
  double value;
  if (field.length == 0) {
    if (column->empty_line == 0)
      column->empty_line = line_number;
    column->is_whole = false;
  } else if (hfta_classify_number(field.text, field.length) ==
                 HFTA_NOT_A_NUMBER ||
             !hfta_parse_f64(field.text, field.length, &value)) {
    if (column->text_line == 0)
      column->text_line = line_number;
    column->is_whole = false;
  } else if (isfinite(value)) {
    column->is_whole &= value == floor(value);
    add_number(column, sums, value);
  } else {
    column->is_whole = false;
  }
}

static hfta_status read_samples(hfta_csv_reader reader, hfta_csv_outline *out,
                                moments *sums, const char *path,
                                hfta_error *error) {
  for (hfta_csv_span line; hfta_csv_next_line(&reader, &line);) {
    if (reader.is_unclosed)
      return hfta_fail(error, HFTA_INVALID_INPUT,
                       "'%s', line %" PRIu64
                       ": a field begins with '\"', but no '\"' ends it",
                       path, reader.number);
    uint64_t count = count_fields(line, reader.separator);
    if (count != out->column_count)
      return hfta_fail(error, HFTA_INVALID_INPUT,
                       "'%s', line %" PRIu64
                       ": expected %u columns, as in the first line, got "
                       "%" PRIu64,
                       path, reader.number, out->column_count, count);
    hfta_csv_span field;
    for (uint32_t i = 0; hfta_csv_next_field(&line, reader.separator, &field);
         ++i)
      add_entry(&out->columns[i], &sums[i], field, reader.number);
    ++out->samples;
  }
  for (uint32_t i = 0; i < out->column_count; ++i) {
    out->columns[i].is_whole &= out->samples > 0;
    if (sums[i].count > 0)
      out->columns[i].deviation = sqrt(sums[i].squares / (double)sums[i].count);
  }
  return HFTA_OK;
}

static hfta_status read_table(hfta_csv_reader reader, hfta_csv_outline *out,
                              const char *path, hfta_error *error) {
  out->separator = find_separator(reader);
  reader.separator = hfta_csv_separator_character(out->separator);
  hfta_csv_reader after = reader;
  hfta_csv_span line;
  if (!hfta_csv_next_line(&after, &line))
    return hfta_fail(error, HFTA_INVALID_INPUT, "'%s' is empty", path);
  uint64_t count = count_fields(line, reader.separator);
  if (count > MOST_COLUMNS)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "'%s' has %" PRIu64 " columns, more than %d", path, count,
                     MOST_COLUMNS);
  out->column_count = (uint32_t)count;
  out->columns = calloc(count, sizeof(*out->columns));
  moments *sums = calloc(count, sizeof(*sums));
  hfta_status status =
      out->columns && sums
          ? HFTA_OK
          : hfta_fail(error, HFTA_UNSUPPORTED,
                      "out of memory while reading '%s'", path);
  for (uint64_t i = 0; status == HFTA_OK && i < count; ++i)
    out->columns[i].is_whole = true;
  out->has_header = is_header(after, line);
  if (status == HFTA_OK && out->has_header)
    status = read_names(line, reader.separator, out, path, error);
  if (status == HFTA_OK)
    status =
        read_samples(out->has_header ? after : reader, out, sums, path, error);
  free(sums);
  return status;
}

hfta_status hfta_csv_outline_open(const char *path, hfta_csv_outline *out,
                                  hfta_error *error) {
  memset(out, 0, sizeof(*out));
  hfta_mapping mapping;
  hfta_csv_reader reader;
  hfta_status status = hfta_csv_open(path, ',', &mapping, &reader, error);
  if (status == HFTA_OK)
    status = read_table(reader, out, path, error);
  hfta_mapping_close(&mapping);
  return status;
}

void hfta_csv_outline_close(hfta_csv_outline *outline) {
  for (uint32_t i = 0; outline->columns && i < outline->column_count; ++i)
    free(outline->columns[i].name);
  free(outline->columns);
  memset(outline, 0, sizeof(*outline));
}
