//===- event_records.c - Records of TensorBoard's files -------------------===//

#include "interchange/event_records.h"

#include "store/crc32c.h"

#include <stdlib.h>
#include <string.h>

//===----------------------------------------------------------------------===//
// Protocol buffers
//===----------------------------------------------------------------------===//

void hfta_bytes_add(hfta_bytes *self, const void *bytes, size_t size) {
  if (self->capacity - self->used < size) {
    size_t capacity = 2 * self->capacity + size + 256;
    unsigned char *more = realloc(self->bytes, capacity);
    if (!more) {
      self->is_out_of_memory = true;
      return;
    }
    self->bytes = more;
    self->capacity = capacity;
  }
  memcpy(self->bytes + self->used, bytes, size);
  self->used += size;
}

void hfta_bytes_free(hfta_bytes *self) {
  free(self->bytes);
  *self = (hfta_bytes){0};
}

/// How the bytes of a field are encoded.
enum { VARINT = 0, FIXED64 = 1, DELIMITED = 2, FIXED32 = 5 };

static void add_varint(hfta_bytes *self, uint64_t value) {
  unsigned char bytes[10];
  size_t size = 0;
  do {
    bytes[size] = (unsigned char)(value & 0x7F);
    value >>= 7;
    bytes[size++] |= value > 0 ? 0x80 : 0;
  } while (value > 0);
  hfta_bytes_add(self, bytes, size);
}

static void add_key(hfta_bytes *self, uint32_t field, uint32_t kind) {
  add_varint(self, (uint64_t)field << 3 | kind);
}

void hfta_put_varint(hfta_bytes *self, uint32_t field, uint64_t value) {
  add_key(self, field, VARINT);
  add_varint(self, value);
}

void hfta_put_double(hfta_bytes *self, uint32_t field, double value) {
  add_key(self, field, FIXED64);
  hfta_bytes_add(self, &value, sizeof(value));
}

void hfta_put_float(hfta_bytes *self, uint32_t field, float value) {
  add_key(self, field, FIXED32);
  hfta_bytes_add(self, &value, sizeof(value));
}

static void put_delimited(hfta_bytes *self, uint32_t field, const void *bytes,
                          size_t size) {
  add_key(self, field, DELIMITED);
  add_varint(self, size);
  hfta_bytes_add(self, bytes, size);
}

void hfta_put_text(hfta_bytes *self, uint32_t field, const char *text) {
  put_delimited(self, field, text, strlen(text));
}

void hfta_put_message(hfta_bytes *self, uint32_t field, hfta_bytes *message) {
  put_delimited(self, field,
                message->bytes ? message->bytes : (const unsigned char *)"",
                message->used);
  self->is_out_of_memory |= message->is_out_of_memory;
  hfta_bytes_free(message);
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

static void add_checksum(hfta_bytes *self, const void *bytes, size_t size) {
  uint32_t sum = hfta_crc32c(bytes, size);
  uint32_t masked = (sum >> 15 | sum << 17) + 0xA282EAD8u;
  hfta_bytes_add(self, &masked, sizeof(masked));
}

/// Appends an event as a record, and releases it.
static void add_record(hfta_bytes *self, hfta_bytes *event) {
  uint64_t size = event->used;
  hfta_bytes_add(self, &size, sizeof(size));
  add_checksum(self, &size, sizeof(size));
  hfta_bytes_add(self, event->bytes, event->used);
  add_checksum(self, event->bytes, event->used);
  self->is_out_of_memory |= event->is_out_of_memory;
  hfta_bytes_free(event);
}

// The fields of the messages Event, Summary and Summary.Value.
enum { TIME = 1, STEP = 2, VERSION = 3, SUMMARY = 5, SESSION = 7 };
enum { VALUES = 1 };
enum { TAG = 1, NUMBER = 2, TENSOR = 8, METADATA = 9 };

void hfta_put_file_start(hfta_bytes *self, double time, int64_t first_step) {
  hfta_bytes event = {0};
  hfta_put_double(&event, TIME, time);
  hfta_put_text(&event, VERSION, "brain.Event:2");
  add_record(self, &event);
  hfta_bytes session = {0};
  hfta_put_varint(&session, 1, 1); // the status START
  hfta_put_double(&event, TIME, time);
  hfta_put_varint(&event, STEP, (uint64_t)first_step);
  hfta_put_message(&event, SESSION, &session);
  add_record(self, &event);
}

/// Appends an event with a value of a summary, which is released.
static void add_value(hfta_bytes *self, double time, int64_t step,
                      hfta_bytes *value) {
  hfta_bytes event = {0}, summary = {0};
  hfta_put_message(&summary, VALUES, value);
  hfta_put_double(&event, TIME, time);
  hfta_put_varint(&event, STEP, (uint64_t)step);
  hfta_put_message(&event, SUMMARY, &summary);
  add_record(self, &event);
}

void hfta_put_scalar(hfta_bytes *self, double time, int64_t step,
                     const char *tag, double number) {
  hfta_bytes value = {0};
  hfta_put_text(&value, TAG, tag);
  hfta_put_float(&value, NUMBER, (float)number);
  add_value(self, time, step, &value);
}

void hfta_put_plugin(hfta_bytes *self, double time, const char *tag,
                     uint32_t field, hfta_bytes *entry) {
  hfta_bytes content = {0}, plugin = {0}, metadata = {0};
  hfta_put_message(&content, field, entry);
  hfta_put_text(&plugin, 1, "hparams");
  hfta_put_message(&plugin, 2, &content);
  hfta_put_message(&metadata, 1, &plugin);
  // The plugin wants a tensor, of no elements: a shape of one axis of length 0.
  hfta_bytes axis = {0}, shape = {0}, tensor = {0}, value = {0};
  hfta_put_message(&shape, 2, &axis);
  hfta_put_varint(&tensor, 1, 1); // f32
  hfta_put_message(&tensor, 2, &shape);
  hfta_put_text(&value, TAG, tag);
  hfta_put_message(&value, TENSOR, &tensor);
  hfta_put_message(&value, METADATA, &metadata);
  add_value(self, time, 0, &value);
}
