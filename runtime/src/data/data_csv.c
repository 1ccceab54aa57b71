//===- data_csv.c - Samples from tables of numbers ------------------------===//
//
// A file is read in two passes. The first counts the lines, and refuses a line
// that is too short for a sample, so that at most eight times the file's size
// is allocated. The second parses the numbers.
//===----------------------------------------------------------------------===//

#include "data/csv_file.h"
#include "data/data_source.h"
#include "text/listing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// A column that a list of columns names.
typedef struct listed_column {
  uint64_t number;  ///< the column's number, from 0
  uint64_t element; ///< the element of a sample that it holds
} listed_column;

/// A csv file that is being read.
typedef struct csv_table {
  const hfta_data_request *request;
  hfta_error *error;
  char separator;
  uint64_t elements;     ///< the number of elements of a sample
  uint64_t columns;      ///< the number of columns of each line
  hfta_csv_reader first; ///< before the first line, then before the first
                         ///< sample
  listed_column *listed; ///< the request's list of columns, in ascending
                         ///< order; NULL if it has none
} csv_table;

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

/// Returns a hint, to be appended to an error message, if columns are probably
/// separated by something else than the request says; else "". Spreadsheets
/// write semicolons where the decimal point is a comma. Tabs, bars and spaces
/// count only after a number, because text such as names contains spaces.
static const char *separator_hint(const csv_table *table, hfta_csv_span text) {
#define HFTA_HINT(by, word)                                                    \
  "; columns are separated by ',' unless the job says otherwise, here they "   \
  "may be by " by ": separator = " word
  static const struct {
    char separator;
    const char *hint;
  } hints[] = {{'\t', HFTA_HINT("tabs", "tab")},
               {'|', HFTA_HINT("'|'", "bar")},
               {' ', HFTA_HINT("spaces", "space")}};
  if (table->separator != ',')
    return "";
  if (memchr(text.text, ';', text.length))
    return HFTA_HINT("';'", "semicolon");
  for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); ++i) {
    const char *end = memchr(text.text, hints[i].separator, text.length);
    if (end && hfta_csv_is_number((hfta_csv_span){
                   text.text, (size_t)(end - text.text), false}))
      return hints[i].hint;
  }
  return "";
#undef HFTA_HINT
}

/// Returns how much of a text a message shows: at most its first line.
static int shown_length(hfta_csv_span text) {
  enum { MOST = 40 };
  int length = 0;
  while (length < MOST && (size_t)length < text.length &&
         text.text[length] != '\n')
    ++length;
  return length;
}

static hfta_status wrong_columns(const csv_table *table, uint64_t line_number,
                                 hfta_csv_span line) {
  uint64_t columns = 0;
  hfta_csv_span rest = line;
  for (hfta_csv_span field;
       hfta_csv_next_field(&rest, table->separator, &field);)
    ++columns;
  // The line has enough separators, so some of its fields must be empty.
  if (columns == table->columns)
    return hfta_fail(table->error, HFTA_INVALID_INPUT,
                     "'%s', line %" PRIu64 ": expected %" PRIu64
                     " numbers, got '%.*s'",
                     table->request->path, line_number, table->columns,
                     shown_length(line), line.text);
  return hfta_fail(table->error, HFTA_INVALID_INPUT,
                   "'%s', line %" PRIu64 ": expected %" PRIu64
                   " columns, got %" PRIu64 "%s",
                   table->request->path, line_number, table->columns, columns,
                   separator_hint(table, line));
}

/// Reports a field that is no number of the sample's type. Element `element` of
/// the sample is in column `column`.
static hfta_status wrong_number(const csv_table *table, uint64_t line_number,
                                uint64_t column, uint64_t element,
                                hfta_csv_span field) {
  const hfta_data_request *request = table->request;
  char name[64] = "";
  if (request->column_names)
    snprintf(name, sizeof(name), " ('%.40s')", request->column_names[element]);
  if (field.length == 0)
    return hfta_fail(table->error, HFTA_INVALID_INPUT,
                     "'%s', line %" PRIu64 ", column %" PRIu64
                     "%s: the value is missing, expected a number of type %s",
                     request->path, line_number, column, name,
                     hfta_element_name(request->type));
  return hfta_fail(table->error, HFTA_INVALID_INPUT,
                   "'%s', line %" PRIu64 ", column %" PRIu64
                   "%s: expected a number of type %s, got '%.*s'%s",
                   request->path, line_number, column, name,
                   hfta_element_name(request->type), shown_length(field),
                   field.text,
                   field.is_quoted ? "" : separator_hint(table, field));
}

static hfta_status unclosed(const csv_table *table, uint64_t line_number) {
  return hfta_fail(table->error, HFTA_INVALID_INPUT,
                   "'%s', line %" PRIu64
                   ": a field begins with '\"', but no '\"' ends it",
                   table->request->path, line_number);
}

/// Reports that the file has changed while it was read.
static hfta_status changed(const csv_table *table) {
  return hfta_fail(table->error, HFTA_INVALID_INPUT,
                   "'%s' was changed while it was read", table->request->path);
}

static hfta_status out_of_memory(const csv_table *table) {
  return hfta_fail(table->error, HFTA_UNSUPPORTED,
                   "out of memory while reading '%s'", table->request->path);
}

//===----------------------------------------------------------------------===//
// The header
//===----------------------------------------------------------------------===//

/// Returns the column of a sample's first element; for a list of names 0.
static uint64_t first_column(const hfta_data_request *request) {
  return request->column_numbers ? (uint64_t)request->column_numbers[0]
                                 : request->column;
}

/// Returns whether a field of the next line is in quotes.
static bool is_next_quoted(hfta_csv_reader after, uint64_t column) {
  hfta_csv_span line, field;
  return hfta_csv_next_line(&after, &line) &&
         hfta_csv_skip_fields(&line, after.separator, column) &&
         hfta_csv_next_field(&line, after.separator, &field) && field.is_quoted;
}

/// Returns whether a file's first line is a header; `after` is behind it.
/// `*out_guesses` becomes true if the line is taken for a sample only because
/// its first used field is a number (HFTA_CSV_HEADER_AUTO). A number in quotes
/// is taken for a name, unless the next line has quotes, too.
static bool is_header(const hfta_data_request *request, hfta_csv_reader after,
                      hfta_csv_span line, bool *out_guesses) {
  *out_guesses = false;
  if (request->header != HFTA_CSV_HEADER_AUTO || request->column_names)
    return request->header != HFTA_CSV_HEADER_ABSENT;
  hfta_csv_span field;
  uint64_t column = first_column(request);
  if (!hfta_csv_skip_fields(&line, after.separator, column) ||
      !hfta_csv_next_field(&line, after.separator, &field) || field.length == 0)
    return false;
  *out_guesses = hfta_csv_is_number(field) &&
                 (!field.is_quoted || is_next_quoted(after, column));
  return !*out_guesses;
}

/// Reports that the header has no column of a name, and which ones it has.
static hfta_status no_column(const csv_table *table, hfta_csv_span header,
                             const char *name) {
  enum { MOST = sizeof(hfta_listing) }; // longer names find no room
  hfta_listing names = {0};
  for (hfta_csv_span field;
       hfta_csv_next_field(&header, table->separator, &field);)
    hfta_listing_add(&names, "'%.*s'",
                     field.length < MOST ? (int)field.length : MOST,
                     field.text);
  return hfta_fail(table->error, HFTA_INVALID_INPUT,
                   "'%s' has no column '%s'%s%s", table->request->path, name,
                   names.used > 0 ? "; its columns are " : "", names.text);
}

/// Sets `*out` to the number of the header's column of a name.
static hfta_status find_column(const csv_table *table, hfta_csv_span header,
                               const char *name, uint64_t *out) {
  hfta_csv_span rest = header, field;
  bool is_found = false;
  for (uint64_t number = 0;
       hfta_csv_next_field(&rest, table->separator, &field); ++number) {
    if (!hfta_csv_is_name(field, name))
      continue;
    if (is_found)
      return hfta_fail(table->error, HFTA_INVALID_INPUT,
                       "'%s' has two columns '%s': number %" PRIu64
                       " and number %" PRIu64,
                       table->request->path, name, *out, number);
    is_found = true;
    *out = number;
  }
  return is_found ? HFTA_OK : no_column(table, header, name);
}

static int compare_columns(const void *left, const void *right) {
  const listed_column *a = left, *b = right;
  return (a->number > b->number) - (a->number < b->number);
}

/// Makes table->listed of the request's list. `header` is the first line, if
/// that is a header.
static hfta_status list_columns(csv_table *table, hfta_csv_span header) {
  const hfta_data_request *request = table->request;
  uint64_t count = request->column_count;
  table->listed = calloc(count + 1, sizeof(*table->listed));
  if (!table->listed)
    return out_of_memory(table);
  for (uint64_t i = 0; i < count; ++i) {
    listed_column *listed = &table->listed[i];
    hfta_status status = HFTA_OK;
    if (request->column_names)
      status =
          find_column(table, header, request->column_names[i], &listed->number);
    else
      listed->number = (uint64_t)request->column_numbers[i];
    if (status != HFTA_OK)
      return status;
    listed->element = i;
  }
  qsort(table->listed, count, sizeof(*table->listed), compare_columns);
  for (uint64_t i = 1; i < count; ++i)
    if (table->listed[i - 1].number == table->listed[i].number)
      return hfta_fail(table->error, HFTA_INVALID_INPUT,
                       "'%s': column %" PRIu64 " is taken twice", request->path,
                       table->listed[i].number);
  return HFTA_OK;
}

/// Sets table->columns and table->listed from the request, and from the header
/// where there is one.
static hfta_status find_columns(csv_table *table, hfta_csv_span header) {
  const hfta_data_request *request = table->request;
  hfta_status status =
      request->column_count > 0 ? list_columns(table, header) : HFTA_OK;
  table->columns = request->columns;
  if (request->columns == HFTA_CSV_COLUMNS_OF_HEADER || request->column_names) {
    table->columns = 0;
    for (hfta_csv_span field;
         hfta_csv_next_field(&header, table->separator, &field);)
      ++table->columns;
  } else if (table->columns == 0) {
    table->columns = table->listed
                         ? table->listed[request->column_count - 1].number + 1
                         : request->column + table->elements;
  }
  return status;
}

/// Moves table->first past a header. See is_header for `*out_guesses`.
static hfta_status read_header(csv_table *table, bool *out_guesses) {
  hfta_csv_reader reader = table->first;
  hfta_csv_span line;
  *out_guesses = false;
  if (!hfta_csv_next_line(&reader, &line)) {
    // No line has columns that could be wrong.
    return HFTA_OK;
  }
  if (reader.is_unclosed)
    return unclosed(table, reader.number);
  if (is_header(table->request, reader, line, out_guesses))
    table->first = reader;
  else if (table->request->column_names)
    line.text = NULL;
  return find_columns(table, line);
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

/// Counts the samples after the header (the first pass).
static hfta_status count_lines(csv_table *table, int64_t *count) {
  hfta_csv_reader reader = table->first;
  *count = 0;
  for (hfta_csv_span line; hfta_csv_next_line(&reader, &line);) {
    if (reader.is_unclosed)
      return unclosed(table, reader.number);
    // A sample needs a character per number, and one between two numbers.
    if (line.length < table->elements ||
        line.length - table->elements + 1 < table->elements)
      return wrong_columns(table, reader.number, line);
    ++*count;
  }
  return HFTA_OK;
}

/// Returns whether column `number` holds an element of the sample, and which
/// one. `*listed` is the next entry of the list, if there is one.
static bool takes_column(const csv_table *table, uint64_t number,
                         const listed_column **listed, uint64_t *element) {
  if (!*listed) {
    *element = number - table->request->column;
    return number >= table->request->column && *element < table->elements;
  }
  if (*listed == table->listed + table->request->column_count ||
      (*listed)->number != number)
    return false;
  *element = (*listed)++->element;
  return true;
}

/// Parses the numbers of one line to `out`, and checks the number of columns.
static hfta_status parse_line(const csv_table *table, hfta_csv_span line,
                              uint64_t line_number, unsigned char *out) {
  hfta_element_type type = table->request->type;
  size_t bytes = hfta_element_bytes(type);
  const listed_column *listed = table->listed;
  hfta_csv_span rest = line, field;
  uint64_t number = 0, element;
  for (; hfta_csv_next_field(&rest, table->separator, &field); ++number) {
    if (number == table->columns)
      return wrong_columns(table, line_number, line);
    if (takes_column(table, number, &listed, &element) &&
        !hfta_csv_store(field, type, out + element * bytes))
      return wrong_number(table, line_number, number, element, field);
  }
  return number == table->columns ? HFTA_OK
                                  : wrong_columns(table, line_number, line);
}

/// Parses all lines (the second pass). Fails if it finds another number of
/// lines than the first pass, since others may have changed the file meanwhile.
static hfta_status parse_lines(const csv_table *table, hfta_data *data) {
  unsigned char *out = data->owned;
  hfta_csv_reader reader = table->first;
  int64_t done = 0;
  for (hfta_csv_span line; hfta_csv_next_line(&reader, &line);
       out += data->sample_bytes) {
    if (done == data->count)
      return changed(table);
    hfta_status status = parse_line(table, line, reader.number, out);
    if (status != HFTA_OK)
      return status;
    ++done;
  }
  return done == data->count ? HFTA_OK : changed(table);
}

static hfta_status load(csv_table *table, hfta_data *data) {
  hfta_status status = read_header(table, &data->guesses_no_header);
  if (status == HFTA_OK)
    status = count_lines(table, &data->count);
  if (status != HFTA_OK)
    return status;
  uint64_t bytes;
  if (__builtin_mul_overflow((uint64_t)data->count, data->sample_bytes,
                             &bytes) ||
      !(data->owned = malloc(bytes + 1)))
    return hfta_fail(table->error, HFTA_UNSUPPORTED,
                     "'%s': not enough memory for %" PRId64
                     " samples of %" PRIu64 " bytes",
                     table->request->path, data->count, data->sample_bytes);
  data->owned_bytes = bytes;
  data->samples = data->owned;
  return parse_lines(table, data);
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// Maps the file of `out->request`, and positions `out->first` at its first
/// line. An empty file isn't an error.
static hfta_status open_table(csv_table *out, hfta_mapping *mapping) {
  out->separator = hfta_csv_separator_character(out->request->separator);
  return hfta_csv_open(out->request->path, out->separator, mapping, &out->first,
                       out->error);
}

hfta_status hfta_data_open_csv(const hfta_data_request *request,
                               hfta_data *data, hfta_error *error) {
  int64_t elements;
  if (!hfta_shape_elements(request->sample_shape, request->sample_rank,
                           &elements) ||
      (request->column_count > 0 && request->column_count != elements))
    return hfta_fail(error, HFTA_INTERNAL,
                     "'%s': the sample is too large for its columns",
                     request->path);
  csv_table table = {
      .request = request, .error = error, .elements = (uint64_t)elements};
  hfta_mapping mapping;
  hfta_status status = open_table(&table, &mapping);
  if (status == HFTA_OK && mapping.size > 0)
    status = load(&table, data);
  free(table.listed);
  hfta_mapping_close(&mapping);
  return status;
}

hfta_status hfta_data_probe_csv(const hfta_data_request *request,
                                bool *out_guesses, hfta_error *error) {
  csv_table table = {.request = request, .error = error};
  hfta_mapping mapping;
  hfta_status status = open_table(&table, &mapping);
  *out_guesses = false;
  if (status == HFTA_OK)
    status = read_header(&table, out_guesses);
  free(table.listed);
  hfta_mapping_close(&mapping);
  return status;
}
