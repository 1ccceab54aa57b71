//===- json.h - A streaming JSON writer and a bounded reader ----*- C -*-===//
//
// The writer prints RFC 8259 JSON on one line, to a FILE or into memory,
// without building a tree. The reader returns one event after another from text
// in memory; its memory is bounded by the longest string, and its depth by
// HFTA_JSON_MAX_DEPTH. Neither depends on the locale. Each is used by one
// thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_JSON_H
#define HFTA_JSON_H

#include "hfta/program.h"
#include "hfta/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HFTA_JSON_MAX_DEPTH 64

//===----------------------------------------------------------------------===//
// Writer
//===----------------------------------------------------------------------===//

/// A writer on the caller's stack; its fields are private. The first failure
/// (file, memory, nesting) is kept, the calls after it do nothing, and finish
/// reports it.
typedef struct hfta_json_writer {
  FILE *file;
  char *buffer;
  size_t length;
  size_t capacity;
  uint32_t depth;
  uint64_t objects; ///< bit d: level d is an object
  bool has_element; ///< a comma is due before the next element of this level
  bool after_key;
  bool done; ///< a top-level value is complete
  hfta_status status;
  const char *problem;
} hfta_json_writer;

/// Makes a writer to a borrowed, open file.
void hfta_json_to_file(hfta_json_writer *writer, FILE *file);

/// Makes a writer into memory that it owns: see hfta_json_text.
void hfta_json_to_memory(hfta_json_writer *writer);

void hfta_json_begin_object(hfta_json_writer *writer);
void hfta_json_end_object(hfta_json_writer *writer);
void hfta_json_begin_array(hfta_json_writer *writer);
void hfta_json_end_array(hfta_json_writer *writer);

/// Writes a key; inside an object, one comes before each value.
void hfta_json_key(hfta_json_writer *writer, const char *key);

/// Writes a string; bytes that aren't UTF-8 become U+FFFD.
void hfta_json_string(hfta_json_writer *writer, const char *text);
void hfta_json_integer(hfta_json_writer *writer, int64_t value);
void hfta_json_unsigned(hfta_json_writer *writer, uint64_t value);
void hfta_json_boolean(hfta_json_writer *writer, bool value);
void hfta_json_null(hfta_json_writer *writer);

/// Writes the fewest digits that read back as `value`: exactly in f64 if
/// `precision` is HFTA_F64, else as the nearest f32. Non-finite numbers become
/// the strings "nan", "inf", "-inf".
void hfta_json_number(hfta_json_writer *writer, double value,
                      hfta_element_type precision);

// Write a key and its value.
void hfta_json_put_string(hfta_json_writer *writer, const char *key,
                          const char *value); ///< NULL: an empty string
void hfta_json_put_integer(hfta_json_writer *writer, const char *key,
                           int64_t value);
void hfta_json_put_unsigned(hfta_json_writer *writer, const char *key,
                            uint64_t value);
void hfta_json_put_boolean(hfta_json_writer *writer, const char *key,
                           bool value);

/// Writes `text`, which must be one JSON value; that isn't checked.
void hfta_json_raw(hfta_json_writer *writer, const char *text);

/// Writes a newline after a complete top-level value, and allows another one,
/// for JSON lines.
void hfta_json_newline(hfta_json_writer *writer);

/// Reports the first failure or an incomplete value. A file is neither flushed
/// nor closed. After it, text in memory is still there.
hfta_status hfta_json_finish(hfta_json_writer *writer, hfta_error *error);

/// Returns the text so far, ending with a 0 byte; owned by the writer until it
/// is released. NULL for a writer to a file or after running out of memory.
const char *hfta_json_text(const hfta_json_writer *writer, size_t *out_length);

/// Frees the memory of a writer; a writer to a file needs no release, but may
/// be released.
void hfta_json_release(hfta_json_writer *writer);

/// Long enough for any text of hfta_number_text.
#define HFTA_NUMBER_TEXT_BYTES 32

/// Writes the text that hfta_json_number prints, but without quotes for
/// non-finite numbers; returns `buffer`.
const char *hfta_number_text(double value, hfta_element_type precision,
                             char buffer[HFTA_NUMBER_TEXT_BYTES]);

//===----------------------------------------------------------------------===//
// Reader
//===----------------------------------------------------------------------===//

typedef enum hfta_json_event {
  HFTA_JSON_ERROR = 0, ///< `problem` describes it, `offset` says where; later
                       ///< reads return it again
  HFTA_JSON_BEGIN_OBJECT,
  HFTA_JSON_END_OBJECT,
  HFTA_JSON_BEGIN_ARRAY,
  HFTA_JSON_END_ARRAY,
  HFTA_JSON_KEY,     ///< in `string`
  HFTA_JSON_STRING,  ///< in `string`
  HFTA_JSON_INTEGER, ///< in `integer` and `number`
  HFTA_JSON_NUMBER,  ///< in `number`
  HFTA_JSON_TRUE,
  HFTA_JSON_FALSE,
  HFTA_JSON_NULL,
  HFTA_JSON_END ///< one value was read and only white space follows; later
                ///< reads return it again
} hfta_json_event;

/// A reader on the caller's stack. The fields before `string` are private.
typedef struct hfta_json_reader {
  const char *text; ///< borrowed
  size_t size;
  uint32_t depth;
  uint64_t objects; ///< bit d: level d is an object
  uint32_t state;
  size_t string_capacity;

  char *string;         ///< the last string, unescaped, 0-terminated; owned
  size_t string_length; ///< may exceed strlen(string): "\u0000" is allowed
  int64_t integer;
  double number;
  size_t offset;       ///< bytes read so far
  const char *problem; ///< static text
} hfta_json_reader;

void hfta_json_read(hfta_json_reader *reader, const char *text, size_t size);

hfta_json_event hfta_json_next(hfta_json_reader *reader);

/// Skips the value that the last event began; returns true unless it is
/// malformed.
bool hfta_json_skip(hfta_json_reader *reader, hfta_json_event event);

/// Frees the reader's memory.
void hfta_json_read_end(hfta_json_reader *reader);

#ifdef __cplusplus
}
#endif

#endif // HFTA_JSON_H
