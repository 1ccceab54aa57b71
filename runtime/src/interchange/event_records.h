//===- event_records.h - Records of TensorBoard's files -----------*- C -*-===//
//
// An event file is a sequence of records: the length of the data in 8 bytes,
// the masked CRC-32C of these, the data, their masked CRC-32C, all
// little-endian. The data are a protocol buffer, `Event` of TensorFlow's
// event.proto; fields of the hparams plugin are those of
// tensorboard/plugins/hparams/*.proto. Field numbers were read there.
//
// Threads: an object is used by one thread at a time.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SRC_INTERCHANGE_EVENT_RECORDS_H
#define HFTA_SRC_INTERCHANGE_EVENT_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Bytes that grow. Begins as all zeros; `bytes` is from malloc.
typedef struct hfta_bytes {
  unsigned char *bytes;
  size_t used, capacity;
  bool is_out_of_memory; ///< bytes are missing
} hfta_bytes;

void hfta_bytes_add(hfta_bytes *self, const void *bytes, size_t size);
void hfta_bytes_free(hfta_bytes *self);

// Append a field of a protocol buffer.
void hfta_put_varint(hfta_bytes *self, uint32_t field, uint64_t value);
void hfta_put_double(hfta_bytes *self, uint32_t field, double value);
void hfta_put_float(hfta_bytes *self, uint32_t field, float value);
void hfta_put_text(hfta_bytes *self, uint32_t field, const char *text);
/// Appends a message, which is released.
void hfta_put_message(hfta_bytes *self, uint32_t field, hfta_bytes *message);

/// Appends the first two records of a file: its version, and that steps from
/// `first_step` on replace those of earlier files of the folder.
void hfta_put_file_start(hfta_bytes *self, double time, int64_t first_step);

/// Appends a record with a number.
void hfta_put_scalar(hfta_bytes *self, double time, int64_t step,
                     const char *tag, double value);

/// Appends a record of the hparams plugin, with an entry of HParamsPluginData,
/// which is released.
void hfta_put_plugin(hfta_bytes *self, double time, const char *tag,
                     uint32_t field, hfta_bytes *entry);

#endif // HFTA_SRC_INTERCHANGE_EVENT_RECORDS_H
