//===- data_csv.c - Samples from comma separated numbers ------------------===//
//
// A file is read in two passes. The first counts the lines, and refuses a line
// that is too short for a sample, so that at most eight times the file's size
// is allocated. The second parses the numbers.
//===----------------------------------------------------------------------===//

#include "data/data_source.h"
#include "formats/gzip.h"
#include "text/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/// A part of the file's text, without a terminating 0.
typedef struct span {
  const char *text;
  size_t length;
} span;

/// An iterator over the lines that aren't empty.
typedef struct line_reader {
  const char *at;
  const char *end;
  uint64_t number; ///< the number of the last returned line, from 1; empty
                   ///< lines count
} line_reader;

/// A csv file that is being read.
typedef struct csv_table {
  const hfta_data_request *request;
  hfta_error *error;
  uint64_t elements; ///< the number of elements of a sample
  uint64_t columns;  ///< the number of columns of each line
  line_reader first; ///< before the first line, then before the first sample
} csv_table;

//===----------------------------------------------------------------------===//
// Lines and fields
//===----------------------------------------------------------------------===//

/// Removes spaces, tabs and carriage returns around a text.
static span trim(span text) {
  while (text.length > 0 && strchr(" \t\r", text.text[text.length - 1]) &&
         text.text[text.length - 1])
    --text.length;
  while (text.length > 0 && (text.text[0] == ' ' || text.text[0] == '\t')) {
    ++text.text;
    --text.length;
  }
  return text;
}

/// Returns in `*line` the next line that isn't empty, trimmed. Returns false at
/// the end of the file.
static bool next_line(line_reader *reader, span *line) {
  while (reader->at < reader->end) {
    const char *start = reader->at;
    const char *newline = memchr(start, '\n', (size_t)(reader->end - start));
    const char *end = newline ? newline : reader->end;
    reader->at = newline ? newline + 1 : reader->end;
    ++reader->number;
    *line = trim((span){start, (size_t)(end - start)});
    if (line->length > 0)
      return true;
  }
  return false;
}

/// Removes the first field from a line. Returns false if no field is left.
static bool next_field(span *line, span *field) {
  if (!line->text)
    return false;
  const char *comma = memchr(line->text, ',', line->length);
  if (!comma) {
    *field = trim(*line);
    *line = (span){NULL, 0};
    return true;
  }
  size_t length = (size_t)(comma - line->text);
  *field = trim((span){line->text, length});
  line->text += length + 1;
  line->length -= length + 1;
  return true;
}

/// Removes the first `count` fields. Returns false if no field is left after
/// them.
static bool skip_columns(span *line, uint32_t count) {
  span field;
  for (uint32_t i = 0; i < count; ++i)
    if (!next_field(line, &field))
      return false;
  return line->text != NULL;
}

static bool is_number(span field) {
  return hfta_classify_number(field.text, field.length) != HFTA_NOT_A_NUMBER;
}

/// Returns whether a file's first line is a header. `*out_guesses` becomes true
/// if the line is taken for a sample only because its first used field is a
/// number (HFTA_CSV_HEADER_AUTO).
static bool is_header(const hfta_data_request *request, span line,
                      bool *out_guesses) {
  *out_guesses = false;
  if (request->header != HFTA_CSV_HEADER_AUTO)
    return request->header == HFTA_CSV_HEADER_PRESENT;
  span field;
  if (!skip_columns(&line, request->column) || !next_field(&line, &field) ||
      field.length == 0)
    return false;
  *out_guesses = is_number(field);
  return !*out_guesses;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Parses an integer, which may be written as 3.0 or 1e3. Returns false if the
/// field is no integer or exceeds the range in which it is parsed exactly.
static bool parse_whole(span field, hfta_number_kind kind, int64_t *out) {
  if (kind == HFTA_DECIMAL_INTEGER)
    return hfta_parse_i64(field.text, field.length, out);
  double value;
  if (kind != HFTA_DECIMAL ||
      !hfta_parse_f64(field.text, field.length, &value) ||
      value != floor(value) || fabs(value) > 0x1p53)
    return false;
  *out = (int64_t)value;
  return true;
}

/// Stores a field as an integer type. Returns false if it isn't an integer of
/// the type's range.
static bool store_whole(span field, hfta_number_kind kind,
                        hfta_element_type type, unsigned char *out) {
  static const struct {
    int64_t least, most;
  } ranges[] = {
      [HFTA_BOOL] = {0, 1},
      [HFTA_U8] = {0, UINT8_MAX},
      [HFTA_I8] = {INT8_MIN, INT8_MAX},
      [HFTA_U16] = {0, UINT16_MAX},
      [HFTA_I16] = {INT16_MIN, INT16_MAX},
      [HFTA_I32] = {INT32_MIN, INT32_MAX},
      [HFTA_I64] = {INT64_MIN, INT64_MAX},
  };
  int64_t value;
  if (!parse_whole(field, kind, &value) || value < ranges[type].least ||
      value > ranges[type].most)
    return false;
  // The low bytes come first, as the machine is little-endian.
  memcpy(out, &value, hfta_element_bytes(type));
  return true;
}

static bool store_f32(span field, unsigned char *out) {
  float value;
  if (!hfta_parse_f32(field.text, field.length, &value))
    return false;
  memcpy(out, &value, sizeof(value));
  return true;
}

/// Stores a field as f64, f16 or bf16. Returns false if it exceeds the type's
/// range.
static bool store_f64(span field, hfta_element_type type, unsigned char *out) {
  double value;
  if (!hfta_parse_f64(field.text, field.length, &value))
    return false;
  if (type == HFTA_F64) {
    memcpy(out, &value, sizeof(value));
    return true;
  }
  uint16_t bits =
      type == HFTA_F16 ? hfta_f16_from_f64(value) : hfta_bf16_from_f64(value);
  uint16_t infinity = type == HFTA_F16 ? 0x7C00 : 0x7F80;
  if ((bits & 0x7FFF) == infinity && isfinite(value))
    return false;
  memcpy(out, &bits, sizeof(bits));
  return true;
}

/// Stores a field as an element of a type. Returns false if it is no number, or
/// isn't in the type's range.
static bool store_field(span field, hfta_element_type type,
                        unsigned char *out) {
  hfta_number_kind kind = hfta_classify_number(field.text, field.length);
  if (kind == HFTA_NOT_A_NUMBER)
    return false;
  switch (type) {
  case HFTA_F32:
    return store_f32(field, out);
  case HFTA_F64:
  case HFTA_F16:
  case HFTA_BF16:
    return store_f64(field, type, out);
  default:
    return store_whole(field, kind, type, out);
  }
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// Returns a hint, to be appended to an error message, if columns are probably
/// separated by something other than a comma; else "". Spreadsheets write
/// semicolons where the decimal point is a comma. Tabs, bars and spaces count
/// only after a number, because text such as names contains spaces.
static const char *separator_hint(span text) {
#define HFTA_HINT "; columns must be separated by ',', here they may be by "
  static const struct {
    char separator;
    const char *hint;
  } hints[] = {{'\t', HFTA_HINT "tabs"},
               {'|', HFTA_HINT "'|'"},
               {' ', HFTA_HINT "spaces"}};
  if (memchr(text.text, ';', text.length))
    return HFTA_HINT "';'";
  for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); ++i) {
    const char *end = memchr(text.text, hints[i].separator, text.length);
    if (end && is_number(trim((span){text.text, (size_t)(end - text.text)})))
      return hints[i].hint;
  }
  return "";
#undef HFTA_HINT
}

static hfta_status wrong_columns(const csv_table *table, uint64_t line_number,
                                 span line) {
  uint64_t columns = 0;
  span rest = line;
  for (span field; next_field(&rest, &field);)
    ++columns;
  // The line has enough commas, so some of its fields must be empty.
  if (columns == table->columns)
    return hfta_fail(table->error, HFTA_INVALID_INPUT,
                     "'%s', line %" PRIu64 ": expected %" PRIu64
                     " numbers, got '%.*s'",
                     table->request->path, line_number, table->columns,
                     line.length < 40 ? (int)line.length : 40, line.text);
  return hfta_fail(table->error, HFTA_INVALID_INPUT,
                   "'%s', line %" PRIu64 ": expected %" PRIu64
                   " columns, got %" PRIu64 "%s",
                   table->request->path, line_number, table->columns, columns,
                   separator_hint(line));
}

static hfta_status wrong_number(const csv_table *table, uint64_t line_number,
                                uint64_t column, span field) {
  return hfta_fail(table->error, HFTA_INVALID_INPUT,
                   "'%s', line %" PRIu64 ", column %" PRIu64
                   ": expected a number of type %s, got '%.*s'%s",
                   table->request->path, line_number, column,
                   hfta_element_name(table->request->type),
                   field.length < 40 ? (int)field.length : 40, field.text,
                   separator_hint(field));
}

/// Reports that the file has changed while it was read.
static hfta_status changed(const csv_table *table) {
  return hfta_fail(table->error, HFTA_INVALID_INPUT,
                   "'%s' was changed while it was read", table->request->path);
}

/// Moves table->first past a header. See is_header for `*out_guesses`.
static void skip_header(csv_table *table, bool *out_guesses) {
  line_reader reader = table->first;
  span line;
  *out_guesses = false;
  if (next_line(&reader, &line) && is_header(table->request, line, out_guesses))
    table->first = reader;
}

/// Counts the samples after the header (the first pass).
static hfta_status count_lines(csv_table *table, int64_t *count) {
  line_reader reader = table->first;
  *count = 0;
  for (span line; next_line(&reader, &line);) {
    // A sample needs a character per number, and a comma between two numbers.
    if (line.length < table->elements ||
        line.length - table->elements + 1 < table->elements)
      return wrong_columns(table, reader.number, line);
    ++*count;
  }
  return HFTA_OK;
}

/// Parses the numbers of one line to `out`, and checks the number of columns.
static hfta_status parse_line(const csv_table *table, span line,
                              uint64_t line_number, unsigned char *out) {
  const hfta_data_request *request = table->request;
  size_t element_bytes = hfta_element_bytes(request->type);
  span rest = line, field;
  if (!skip_columns(&rest, request->column))
    return wrong_columns(table, line_number, line);
  for (uint64_t i = 0; i < table->elements; ++i, out += element_bytes) {
    if (!next_field(&rest, &field))
      return wrong_columns(table, line_number, line);
    if (!store_field(field, request->type, out))
      return wrong_number(table, line_number, request->column + i, field);
  }
  for (uint64_t i = request->column + table->elements; i < table->columns; ++i)
    if (!next_field(&rest, &field))
      return wrong_columns(table, line_number, line);
  return rest.text ? wrong_columns(table, line_number, line) : HFTA_OK;
}

/// Parses all lines (the second pass). Fails if it finds another number of
/// lines than the first pass, since others may have changed the file meanwhile.
static hfta_status parse_lines(const csv_table *table, hfta_data *data) {
  unsigned char *out = data->owned;
  line_reader reader = table->first;
  int64_t done = 0;
  for (span line; next_line(&reader, &line); out += data->sample_bytes) {
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
  skip_header(table, &data->guesses_no_header);
  hfta_status status = count_lines(table, &data->count);
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

/// Returns whether a text begins like UTF-16: with a byte order mark, or with a
/// character whose high or low byte is 0, as of ASCII characters.
static bool is_utf16(const unsigned char *bytes, uint64_t size) {
  if (size < 2)
    return false;
  return (bytes[0] == 0xFF && bytes[1] == 0xFE) ||
         (bytes[0] == 0xFE && bytes[1] == 0xFF) ||
         (bytes[0] == 0) != (bytes[1] == 0);
}

/// Refuses compressed files and UTF-16, whose first line would otherwise be
/// taken for a header.
static hfta_status check_encoding(const hfta_mapping *mapping, const char *path,
                                  hfta_error *error) {
  const char *packed = hfta_packed_by(mapping->bytes, mapping->size);
  if (packed)
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "'%s' is packed by %s, which is not supported for csv "
                     "files: unpack it",
                     path, packed);
  if (is_utf16(mapping->bytes, mapping->size))
    return hfta_fail(error, HFTA_UNSUPPORTED,
                     "'%s' is a text in UTF-16, which is not supported: save "
                     "it as UTF-8",
                     path);
  return HFTA_OK;
}

/// Maps the file of `out->request`, and positions `out->first` at its first
/// line. An empty file isn't an error.
static hfta_status open_table(csv_table *out, hfta_mapping *mapping) {
  const char *path = out->request->path;
  hfta_status status = hfta_mapping_open(path, mapping, out->error);
  if (status == HFTA_OK && mapping->size > 0)
    status = check_encoding(mapping, path, out->error);
  if (status != HFTA_OK || mapping->size == 0)
    return status;
  const char *text = (const char *)mapping->bytes;
  out->first = (line_reader){.at = text, .end = text + mapping->size};
  // Skip the byte order mark U+FEFF, with which some programs begin a UTF-8
  // file.
  if (mapping->size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
    out->first.at += 3;
  return HFTA_OK;
}

hfta_status hfta_data_open_csv(const hfta_data_request *request,
                               hfta_data *data, hfta_error *error) {
  int64_t elements;
  if (!hfta_shape_elements(request->sample_shape, request->sample_rank,
                           &elements))
    return hfta_fail(error, HFTA_INTERNAL, "'%s': the sample is too large",
                     request->path);
  csv_table table = {.request = request,
                     .error = error,
                     .elements = (uint64_t)elements,
                     .columns = request->columns
                                    ? request->columns
                                    : request->column + (uint64_t)elements};
  hfta_mapping mapping;
  hfta_status status = open_table(&table, &mapping);
  if (status == HFTA_OK && mapping.size > 0)
    status = load(&table, data);
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
    skip_header(&table, out_guesses);
  hfta_mapping_close(&mapping);
  return status;
}
