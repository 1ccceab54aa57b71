//===- json_reader.c - The bounded JSON reader ----------------------------===//

#include "hfta/json.h"

#include "text/text.h"

#include <stdlib.h>
#include <string.h>

/// The tokens that the grammar allows next.
enum state {
  VALUE,        ///< a value
  VALUE_OR_END, ///< a value or "]", after "["
  KEY,          ///< a key, after "," in an object
  KEY_OR_END,   ///< a key or "}", after "{"
  COMMA_OR_END, ///< a comma, "]" or "}", after an element
  FINISHED,     ///< nothing except white space, after the top-level value
  FAILED
};

void hfta_json_read(hfta_json_reader *reader, const char *text, size_t size) {
  *reader = (hfta_json_reader){.text = text, .size = size, .state = VALUE};
}

void hfta_json_read_end(hfta_json_reader *reader) {
  free(reader->string);
  *reader = (hfta_json_reader){.state = FAILED, .problem = "reading has ended"};
}

static hfta_json_event fail(hfta_json_reader *reader, const char *problem) {
  if (reader->state != FAILED)
    reader->problem = problem;
  reader->state = FAILED;
  return HFTA_JSON_ERROR;
}

/// Returns the next character without consuming it, or -1 at the end.
static int peek(const hfta_json_reader *reader) {
  return reader->offset < reader->size
             ? (unsigned char)reader->text[reader->offset]
             : -1;
}

static void skip_space(hfta_json_reader *reader) {
  int c;
  while ((c = peek(reader)) == ' ' || c == '\n' || c == '\r' || c == '\t')
    ++reader->offset;
}

static void after_value(hfta_json_reader *reader) {
  reader->state = reader->depth == 0 ? FINISHED : COMMA_OR_END;
}

//===----------------------------------------------------------------------===//
// Strings
//===----------------------------------------------------------------------===//

static bool append(hfta_json_reader *reader, const char *bytes, size_t size) {
  size_t needed = reader->string_length + size + 1;
  if (needed > reader->string_capacity) {
    size_t capacity = needed < 64 ? 64 : needed * 2;
    char *string = realloc(reader->string, capacity);
    if (!string) {
      fail(reader, "out of memory");
      return false;
    }
    reader->string = string;
    reader->string_capacity = capacity;
  }
  if (size > 0)
    memcpy(reader->string + reader->string_length, bytes, size);
  reader->string_length += size;
  reader->string[reader->string_length] = 0;
  return true;
}

/// Reads four hexadecimal digits. Returns -1 if a character isn't one.
static int32_t read_hex(hfta_json_reader *reader) {
  int32_t value = 0;
  for (int i = 0; i < 4; ++i, ++reader->offset) {
    int c = peek(reader);
    int digit = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
    if (digit < 0)
      return -1;
    value = value * 16 + digit;
  }
  return value;
}

/// Reads the rest of an escape whose "\u" has been consumed: one UTF-16 code
/// unit, or a surrogate pair. Appends the code point as UTF-8.
static bool read_code_point(hfta_json_reader *reader) {
  int32_t code = read_hex(reader);
  if (code >= 0xD800 && code < 0xDC00 && reader->size - reader->offset >= 2 &&
      memcmp(reader->text + reader->offset, "\\u", 2) == 0) {
    reader->offset += 2;
    int32_t low = read_hex(reader);
    code = low >= 0xDC00 && low < 0xE000
               ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
               : -1;
  }
  if (code < 0 || (code >= 0xD800 && code < 0xE000)) {
    fail(reader, "faulty \\u escape in a string");
    return false;
  }
  char bytes[4];
  return append(reader, bytes, hfta_utf8_encode((uint32_t)code, bytes));
}

static bool read_escape(hfta_json_reader *reader) {
  static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
  ++reader->offset;
  int c = peek(reader);
  reader->offset += c >= 0;
  if (c == 'u')
    return read_code_point(reader);
  const char *name = c > 0 ? strchr(names, c) : NULL;
  if (!name) {
    fail(reader, "unknown escape in a string");
    return false;
  }
  return append(reader, values + (name - names), 1);
}

/// Reads a string from its opening quote on into reader->string, unescaped.
static bool read_string(hfta_json_reader *reader) {
  ++reader->offset;
  reader->string_length = 0;
  if (!append(reader, NULL, 0))
    return false;
  for (;;) {
    size_t start = reader->offset, length;
    int c;
    while ((c = peek(reader)) >= 0x20 && c != '"' && c != '\\' &&
           (length = hfta_utf8_sequence(reader->text + reader->offset,
                                        reader->size - reader->offset)) > 0)
      reader->offset += length;
    if (!append(reader, reader->text + start, reader->offset - start))
      return false;
    if (c == '"') {
      ++reader->offset;
      return true;
    }
    if (c != '\\') {
      fail(reader, c < 0      ? "string without an end"
                   : c < 0x20 ? "control character in a string"
                              : "string isn't UTF-8");
      return false;
    }
    if (!read_escape(reader))
      return false;
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

static bool is_number_character(int c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' ||
         c == 'e' || c == 'E';
}

/// Returns whether a text that hfta_classify_number accepts is also a number of
/// JSON. RFC 8259 forbids a plus sign, leading zeros, and a decimal point
/// without digits on both sides.
static bool is_json_number(const char *text, size_t length) {
  size_t start = text[0] == '-';
  if (start == length || text[start] < '0' || text[start] > '9')
    return false;
  if (text[start] == '0' && length > start + 1 && text[start + 1] >= '0' &&
      text[start + 1] <= '9')
    return false;
  const char *point = memchr(text, '.', length);
  return !point ||
         (point + 1 < text + length && point[1] >= '0' && point[1] <= '9');
}

static hfta_json_event read_number(hfta_json_reader *reader) {
  const char *text = reader->text + reader->offset;
  size_t start = reader->offset;
  while (is_number_character(peek(reader)))
    ++reader->offset;
  size_t length = reader->offset - start;
  hfta_number_kind kind = hfta_classify_number(text, length);
  if (kind == HFTA_NOT_A_NUMBER || !is_json_number(text, length)) {
    reader->offset = start;
    return fail(reader, "faulty number");
  }
  after_value(reader);
  if (!hfta_parse_f64(text, length, &reader->number)) {
    reader->offset = start;
    return fail(reader, "number out of range");
  }
  return kind == HFTA_DECIMAL_INTEGER &&
                 hfta_parse_i64(text, length, &reader->integer)
             ? HFTA_JSON_INTEGER
             : HFTA_JSON_NUMBER;
}

static hfta_json_event read_word(hfta_json_reader *reader, const char *word,
                                 hfta_json_event event) {
  size_t length = strlen(word);
  if (reader->size - reader->offset < length ||
      memcmp(reader->text + reader->offset, word, length) != 0)
    return fail(reader, "expected a value");
  reader->offset += length;
  after_value(reader);
  return event;
}

static hfta_json_event open_level(hfta_json_reader *reader, bool object) {
  if (reader->depth == HFTA_JSON_MAX_DEPTH)
    return fail(reader, "nested too deeply");
  uint64_t bit = UINT64_C(1) << reader->depth++;
  reader->objects = object ? reader->objects | bit : reader->objects & ~bit;
  reader->state = object ? KEY_OR_END : VALUE_OR_END;
  ++reader->offset;
  return object ? HFTA_JSON_BEGIN_OBJECT : HFTA_JSON_BEGIN_ARRAY;
}

static hfta_json_event close_level(hfta_json_reader *reader, bool object) {
  --reader->depth;
  ++reader->offset;
  after_value(reader);
  return object ? HFTA_JSON_END_OBJECT : HFTA_JSON_END_ARRAY;
}

static hfta_json_event read_value(hfta_json_reader *reader) {
  switch (peek(reader)) {
  case '{':
    return open_level(reader, true);
  case '[':
    return open_level(reader, false);
  case '"':
    if (!read_string(reader))
      return HFTA_JSON_ERROR;
    after_value(reader);
    return HFTA_JSON_STRING;
  case 't':
    return read_word(reader, "true", HFTA_JSON_TRUE);
  case 'f':
    return read_word(reader, "false", HFTA_JSON_FALSE);
  case 'n':
    return read_word(reader, "null", HFTA_JSON_NULL);
  case -1:
    return fail(reader, "text ends too early");
  default:
    if (is_number_character(peek(reader)))
      return read_number(reader);
    return fail(reader, "expected a value");
  }
}

static hfta_json_event read_key(hfta_json_reader *reader) {
  if (peek(reader) != '"')
    return fail(reader, peek(reader) < 0 ? "text ends too early"
                                         : "expected a key in quotes");
  if (!read_string(reader))
    return HFTA_JSON_ERROR;
  skip_space(reader);
  if (peek(reader) != ':')
    return fail(reader, "expected ':' after a key");
  ++reader->offset;
  reader->state = VALUE;
  return HFTA_JSON_KEY;
}

hfta_json_event hfta_json_next(hfta_json_reader *reader) {
  if (reader->state == FAILED)
    return HFTA_JSON_ERROR;
  skip_space(reader);
  if (reader->state == FINISHED)
    return peek(reader) < 0 ? HFTA_JSON_END
                            : fail(reader, "text goes on after its end");
  bool object = reader->depth > 0 && reader->objects >> (reader->depth - 1) & 1;
  if (reader->state != VALUE && reader->state != KEY &&
      peek(reader) == (object ? '}' : ']'))
    return close_level(reader, object);
  if (reader->state == COMMA_OR_END) {
    if (peek(reader) != ',')
      return fail(reader, peek(reader) < 0 ? "text ends too early"
                          : object         ? "expected ',' or '}'"
                                           : "expected ',' or ']'");
    ++reader->offset;
    skip_space(reader);
    reader->state = object ? KEY : VALUE;
  }
  if (reader->state == KEY || reader->state == KEY_OR_END)
    return read_key(reader);
  return read_value(reader);
}

bool hfta_json_skip(hfta_json_reader *reader, hfta_json_event event) {
  if (event != HFTA_JSON_BEGIN_OBJECT && event != HFTA_JSON_BEGIN_ARRAY)
    return event != HFTA_JSON_ERROR;
  uint32_t depth = reader->depth - 1;
  while (reader->depth > depth)
    if (hfta_json_next(reader) == HFTA_JSON_ERROR)
      return false;
  return true;
}
