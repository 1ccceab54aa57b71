//===- json.h - A streaming JSON writer and a bounded reader ----*- C -*-===//
//
// The writer prints JSON (RFC 8259) on one line, to a FILE or into memory,
// without building a tree. The reader returns the events of a text in memory
// one by one; its memory is bounded by the longest string, and the depth of
// nesting by HFTA_JSON_MAX_DEPTH. Neither depends on the locale. A writer or
// reader is used by one thread at a time.
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

/// A writer, usually on the caller's stack; its fields are private. After the
/// first failure (file, memory, nesting) calls do nothing, and hfta_json_finish
/// reports that failure.
typedef struct hfta_json_writer {
  FILE *file;
  char *buffer;
  size_t length;
  size_t capacity;
  uint32_t depth;
  /// Bit d is 1 if nesting level d is an object, 0 if an array.
  uint64_t objects;
  bool has_element; ///< a comma is due before the next element of this level
  bool after_key;
  bool done; ///< a top-level value is complete
  hfta_status status;
  const char *problem;
} hfta_json_writer;

/// Initializes a writer to an open file, which is borrowed.
void hfta_json_to_file(hfta_json_writer *writer, FILE *file);

/// Initializes a writer into memory that it owns: see hfta_json_text.
void hfta_json_to_memory(hfta_json_writer *writer);

void hfta_json_begin_object(hfta_json_writer *writer);
void hfta_json_end_object(hfta_json_writer *writer);
void hfta_json_begin_array(hfta_json_writer *writer);
void hfta_json_end_array(hfta_json_writer *writer);

/// Writes a key. Inside an object, a key must come before each value.
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

// Each function writes a key and its value.
void hfta_json_put_string(
    hfta_json_writer *writer, const char *key,
    const char *value); ///< NULL stands for an empty string
void hfta_json_put_integer(hfta_json_writer *writer, const char *key,
                           int64_t value);
void hfta_json_put_unsigned(hfta_json_writer *writer, const char *key,
                            uint64_t value);
void hfta_json_put_boolean(hfta_json_writer *writer, const char *key,
                           bool value);

/// Writes `text` as it is. It must be one JSON value, which isn't checked.
void hfta_json_raw(hfta_json_writer *writer, const char *text);

/// Writes a newline after a complete top-level value, after which another value
/// may follow (the format JSON Lines).
void hfta_json_newline(hfta_json_writer *writer);

/// Returns the first failure, or an error if a value is incomplete. Neither
/// flushes nor closes a file. Text in memory stays available.
hfta_status hfta_json_finish(hfta_json_writer *writer, hfta_error *error);

/// Returns the text written so far, which ends with a 0 byte. The writer owns
/// it until it is released. NULL for a writer to a file, or after running out
/// of memory.
const char *hfta_json_text(const hfta_json_writer *writer, size_t *out_length);

/// Frees a writer's memory. A writer to a file needs no release, but may be
/// released.
void hfta_json_release(hfta_json_writer *writer);

/// Size of a buffer for any text of hfta_number_text.
#define HFTA_NUMBER_TEXT_BYTES 32

/// Writes to `buffer` the text that hfta_json_number prints, but without quotes
/// around non-finite numbers; returns `buffer`.
const char *hfta_number_text(double value, hfta_element_type precision,
                             char buffer[HFTA_NUMBER_TEXT_BYTES]);

//===----------------------------------------------------------------------===//
// Reader
//===----------------------------------------------------------------------===//

typedef enum hfta_json_event {
  HFTA_JSON_ERROR = 0, ///< malformed text: see `problem` and `offset`; later
                       ///< reads return ERROR again
  HFTA_JSON_BEGIN_OBJECT,
  HFTA_JSON_END_OBJECT,
  HFTA_JSON_BEGIN_ARRAY,
  HFTA_JSON_END_ARRAY,
  HFTA_JSON_KEY,     ///< a key, in `string`
  HFTA_JSON_STRING,  ///< a string, in `string`
  HFTA_JSON_INTEGER, ///< an integer that fits into int64_t, in `integer` and
                     ///< `number`
  HFTA_JSON_NUMBER,  ///< any other number, in `number`
  HFTA_JSON_TRUE,
  HFTA_JSON_FALSE,
  HFTA_JSON_NULL,
  HFTA_JSON_END ///< one value was read, and only white space follows it; later
                ///< reads return END again
} hfta_json_event;

/// A reader, usually on the caller's stack. The fields before `string` are
/// private.
typedef struct hfta_json_reader {
  const char *text; ///< the text that is read; borrowed
  size_t size;
  uint32_t depth;
  /// Bit d is 1 if nesting level d is an object, 0 if an array.
  uint64_t objects;
  uint32_t state;
  size_t string_capacity;

  char *string;         ///< the last string, unescaped, 0-terminated; owned
  size_t string_length; ///< may exceed strlen(string): "\u0000" is allowed
  int64_t integer;
  double number;
  size_t offset;       ///< number of bytes read so far
  const char *problem; ///< description of the error; static text
} hfta_json_reader;

/// Initializes a reader of the `size` bytes at `text`, which are borrowed.
void hfta_json_read(hfta_json_reader *reader, const char *text, size_t size);

/// Reads the next event and returns it.
hfta_json_event hfta_json_next(hfta_json_reader *reader);

/// Skips the rest of the value that begins with `event`, the last event read.
/// Returns false if the value is malformed.
bool hfta_json_skip(hfta_json_reader *reader, hfta_json_event event);

/// Frees the reader's memory.
void hfta_json_read_end(hfta_json_reader *reader);

#ifdef __cplusplus
}
#endif

#endif // HFTA_JSON_H
