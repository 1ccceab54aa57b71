//===- json.c - The JSON writer -------------------------------------------===//

#include "hfta/json.h"

#include "text/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void hfta_json_to_file(hfta_json_writer *writer, FILE *file) {
  *writer = (hfta_json_writer){.file = file};
}

void hfta_json_to_memory(hfta_json_writer *writer) {
  *writer = (hfta_json_writer){0};
}

void hfta_json_release(hfta_json_writer *writer) {
  free(writer->buffer);
  *writer = (hfta_json_writer){.file = writer->file};
}

/// Records the writer's first failure; later failures are ignored.
static void fail(hfta_json_writer *writer, hfta_status status,
                 const char *problem) {
  if (writer->status != HFTA_OK)
    return;
  writer->status = status;
  writer->problem = problem;
}

/// Makes room in memory for `size` more bytes and a terminating 0. Returns
/// false if memory runs out.
static bool reserve(hfta_json_writer *writer, size_t size) {
  if (size < writer->capacity - writer->length)
    return true;
  size_t needed;
  if (__builtin_add_overflow(writer->length, size, &needed) ||
      needed > SIZE_MAX / 2 - 1)
    return false;
  size_t capacity = writer->capacity ? writer->capacity : 256;
  while (capacity < needed + 1)
    capacity *= 2;
  char *buffer = realloc(writer->buffer, capacity);
  if (!buffer)
    return false;
  writer->buffer = buffer;
  writer->capacity = capacity;
  return true;
}

/// Writes `size` bytes of JSON text to the file or into memory.
static void put(hfta_json_writer *writer, const char *text, size_t size) {
  if (writer->status != HFTA_OK)
    return;
  if (writer->file) {
    if (fwrite(text, 1, size, writer->file) != size)
      fail(writer, HFTA_CANNOT_WRITE,
           writer->file == stdout ? "cannot write to standard output"
                                  : "cannot write JSON to its file");
    return;
  }
  if (!reserve(writer, size)) {
    fail(writer, HFTA_UNSUPPORTED, "out of memory for JSON text");
    return;
  }
  memcpy(writer->buffer + writer->length, text, size);
  writer->length += size;
  writer->buffer[writer->length] = 0;
}

static void put_text(hfta_json_writer *writer, const char *text) {
  put(writer, text, strlen(text));
}

static bool in_object(const hfta_json_writer *writer) {
  return writer->depth > 0 && writer->objects >> (writer->depth - 1) & 1;
}

/// Writes the comma before a value, if it needs one. Fails unless JSON allows a
/// value here: in an object after a key, and only one at top level.
static void begin_value(hfta_json_writer *writer) {
  if (writer->done || (in_object(writer) && !writer->after_key)) {
    fail(writer, HFTA_INTERNAL, "JSON value without a place");
    return;
  }
  if (writer->has_element && !writer->after_key)
    put(writer, ",", 1);
  writer->after_key = false;
}

static void end_value(hfta_json_writer *writer) {
  writer->has_element = true;
  writer->done = writer->depth == 0;
}

static void begin(hfta_json_writer *writer, bool object) {
  begin_value(writer);
  if (writer->depth == HFTA_JSON_MAX_DEPTH)
    fail(writer, HFTA_INTERNAL, "JSON nested too deeply");
  if (writer->status != HFTA_OK)
    return;
  uint64_t bit = UINT64_C(1) << writer->depth++;
  writer->objects = object ? writer->objects | bit : writer->objects & ~bit;
  writer->has_element = false;
  put(writer, object ? "{" : "[", 1);
}

static void end(hfta_json_writer *writer, bool object) {
  if (writer->depth == 0 || in_object(writer) != object || writer->after_key)
    fail(writer, HFTA_INTERNAL, "JSON brackets don't match");
  if (writer->status != HFTA_OK)
    return;
  --writer->depth;
  put(writer, object ? "}" : "]", 1);
  end_value(writer);
}

void hfta_json_begin_object(hfta_json_writer *writer) { begin(writer, true); }
void hfta_json_end_object(hfta_json_writer *writer) { end(writer, true); }
void hfta_json_begin_array(hfta_json_writer *writer) { begin(writer, false); }
void hfta_json_end_array(hfta_json_writer *writer) { end(writer, false); }

static void put_escaped(hfta_json_writer *writer, unsigned char c) {
  static const char names[] = "\"\"\\\\\bb\ff\nn\rr\tt";
  char text[8] = {'\\', 0};
  for (const char *name = names; *name; name += 2)
    if ((unsigned char)name[0] == c)
      text[1] = name[1];
  if (!text[1])
    snprintf(text, sizeof(text), "\\u%04x", c);
  put_text(writer, text);
}

static void put_string(hfta_json_writer *writer, const char *text) {
  size_t size = strlen(text);
  put(writer, "\"", 1);
  for (size_t at = 0; at < size;) {
    // Write the longest run of characters that need no escape at once.
    size_t end = at, length = 0;
    while (end < size && (unsigned char)text[end] >= 0x20 && text[end] != '"' &&
           text[end] != '\\' && text[end] != 0x7F &&
           (length = hfta_utf8_sequence(text + end, size - end)) > 0)
      end += length;
    put(writer, text + at, end - at);
    // A byte that isn't UTF-8 becomes U+FFFD, the replacement character.
    if (end < size) {
      if ((unsigned char)text[end] < 0x80)
        put_escaped(writer, (unsigned char)text[end]);
      else
        put_text(writer, "\xEF\xBF\xBD");
      ++end;
    }
    at = end;
  }
  put(writer, "\"", 1);
}

void hfta_json_key(hfta_json_writer *writer, const char *key) {
  if (!in_object(writer) || writer->after_key) {
    fail(writer, HFTA_INTERNAL, "JSON key without a place");
    return;
  }
  if (writer->has_element)
    put(writer, ",", 1);
  put_string(writer, key);
  put(writer, ":", 1);
  writer->after_key = true;
}

void hfta_json_string(hfta_json_writer *writer, const char *text) {
  begin_value(writer);
  put_string(writer, text);
  end_value(writer);
}

void hfta_json_raw(hfta_json_writer *writer, const char *text) {
  begin_value(writer);
  put_text(writer, text);
  end_value(writer);
}

void hfta_json_integer(hfta_json_writer *writer, int64_t value) {
  char text[32];
  snprintf(text, sizeof(text), "%" PRId64, value);
  hfta_json_raw(writer, text);
}

void hfta_json_unsigned(hfta_json_writer *writer, uint64_t value) {
  char text[32];
  snprintf(text, sizeof(text), "%" PRIu64, value);
  hfta_json_raw(writer, text);
}

void hfta_json_boolean(hfta_json_writer *writer, bool value) {
  hfta_json_raw(writer, value ? "true" : "false");
}

void hfta_json_null(hfta_json_writer *writer) { hfta_json_raw(writer, "null"); }

void hfta_json_number(hfta_json_writer *writer, double value,
                      hfta_element_type precision) {
  char text[HFTA_NUMBER_TEXT_BYTES];
  hfta_number_text(value, precision, text);
  bool finite = text[0] != 'n' && text[0] != 'i' && text[1] != 'i';
  if (finite)
    hfta_json_raw(writer, text);
  else
    hfta_json_string(writer, text);
}

void hfta_json_put_string(hfta_json_writer *writer, const char *key,
                          const char *value) {
  hfta_json_key(writer, key);
  hfta_json_string(writer, value ? value : "");
}

void hfta_json_put_integer(hfta_json_writer *writer, const char *key,
                           int64_t value) {
  hfta_json_key(writer, key);
  hfta_json_integer(writer, value);
}

void hfta_json_put_unsigned(hfta_json_writer *writer, const char *key,
                            uint64_t value) {
  hfta_json_key(writer, key);
  hfta_json_unsigned(writer, value);
}

void hfta_json_put_boolean(hfta_json_writer *writer, const char *key,
                           bool value) {
  hfta_json_key(writer, key);
  hfta_json_boolean(writer, value);
}

void hfta_json_newline(hfta_json_writer *writer) {
  if (!writer->done)
    fail(writer, HFTA_INTERNAL, "JSON line is incomplete");
  put(writer, "\n", 1);
  writer->done = false;
  writer->has_element = false;
}

hfta_status hfta_json_finish(hfta_json_writer *writer, hfta_error *error) {
  if (writer->depth > 0)
    fail(writer, HFTA_INTERNAL, "JSON text is incomplete");
  if (writer->status == HFTA_OK)
    return HFTA_OK;
  return hfta_fail(error, writer->status, "%s", writer->problem);
}

const char *hfta_json_text(const hfta_json_writer *writer, size_t *out_length) {
  if (out_length)
    *out_length = writer->length;
  if (writer->file || writer->status != HFTA_OK)
    return NULL;
  return writer->buffer ? writer->buffer : "";
}
