//===- safetensors.h - Files of named tensors -------------------*- C -*-===//
//
// Format: github.com/huggingface/safetensors, README, "Format": 8 bytes of
// header length (little-endian), a JSON header, then the tensors' bytes without
// gaps. Types: BOOL U8 I8 U16 I16 I32 I64 F16 BF16 F32 F64.
//
// Equal tensors and metadata in equal order give equal bytes.
//===----------------------------------------------------------------------===//

#ifndef HFTA_SAFETENSORS_H
#define HFTA_SAFETENSORS_H

#include "hfta/status.h"
#include "hfta/tensor_view.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Headers longer than this are refused, as by the reference implementation.
#define HFTA_SAFETENSORS_MAX_HEADER 100000000u

/// The metadata key of a file's checksum: XXH64 in 16 hexadecimal digits,
/// computed over all bytes of the file with 16 zeros in the checksum's place.
#define HFTA_SAFETENSORS_CHECKSUM "checksum"

/// One entry of `__metadata__`. Borrowed. For the key HFTA_SAFETENSORS_CHECKSUM
/// with a `value` of NULL the writer computes the checksum; the file must then
/// be a regular one.
typedef struct hfta_metadata {
  const char *key;
  const char *value;
} hfta_metadata;

//===----------------------------------------------------------------------===//
// Writing. One thread at a time a writer.
//===----------------------------------------------------------------------===//

/// Writes a file completely or not at all (a temporary file next to `path`,
/// synced, then renamed; the folder itself isn't synced). Tensors are written
/// in the given order; metadata is sorted by key. Names and keys must be unique
/// and UTF-8.
hfta_status hfta_safetensors_write(const char *path,
                                   const hfta_tensor_view *tensors,
                                   size_t tensor_count,
                                   const hfta_metadata *metadata,
                                   size_t metadata_count, hfta_error *error);

/// Writes a file in pieces, for tensors that aren't in memory all at once.
typedef struct hfta_safetensors_writer hfta_safetensors_writer;

/// Writes the header; `data` of the views is ignored, everything else is as for
/// hfta_safetensors_write. The writer ends with _finish or _abandon. `*out` is
/// NULL after a failure.
hfta_status
hfta_safetensors_begin(const char *path, const hfta_tensor_view *tensors,
                       size_t tensor_count, const hfta_metadata *metadata,
                       size_t metadata_count, hfta_safetensors_writer **out,
                       hfta_error *error);

/// Appends the next bytes; pieces need not follow tensor borders.
hfta_status hfta_safetensors_append(hfta_safetensors_writer *writer,
                                    const void *bytes, size_t size,
                                    hfta_error *error);

/// Syncs and renames the file into place, or removes it on failure; fails
/// unless exactly all bytes were appended. Frees the writer in any case.
hfta_status hfta_safetensors_finish(hfta_safetensors_writer *writer,
                                    hfta_error *error);

/// Removes the unfinished file and frees the writer. NULL is allowed.
void hfta_safetensors_abandon(hfta_safetensors_writer *writer);

//===----------------------------------------------------------------------===//
// Reading. Open and close from one thread; threads may share it in between.
//===----------------------------------------------------------------------===//

typedef struct hfta_safetensors hfta_safetensors;

/// Memory-maps a file and checks everything except the tensors' values: header
/// length, JSON, types, shapes, offsets that cover the file without gap or
/// overlap, unique names. A torn or foreign file is HFTA_INVALID_INPUT with a
/// message that names it. `*out` is released by hfta_safetensors_close.
hfta_status hfta_safetensors_open(const char *path, hfta_safetensors **out,
                                  hfta_error *error);

/// Reads the whole file if it has a checksum; returns HFTA_INVALID_INPUT if the
/// checksum isn't that of the file's bytes. `path` is for messages.
hfta_status hfta_safetensors_verify(const hfta_safetensors *file,
                                    const char *path, hfta_error *error);

/// Closes a file; NULL is allowed.
void hfta_safetensors_close(hfta_safetensors *file);

size_t hfta_safetensors_count(const hfta_safetensors *file);

/// Returns a tensor, in the order of their bytes in the file; `index` is below
/// the count. The view is valid until the file is closed; its data may be
/// unaligned.
const hfta_tensor_view *hfta_safetensors_at(const hfta_safetensors *file,
                                            size_t index);

/// Finds a tensor by name; NULL if there is none.
const hfta_tensor_view *hfta_safetensors_find(const hfta_safetensors *file,
                                              const char *name);

/// Returns the value of a metadata key, or NULL. Valid until the file is
/// closed.
const char *hfta_safetensors_metadata(const hfta_safetensors *file,
                                      const char *key);

#ifdef __cplusplus
}
#endif

#endif // HFTA_SAFETENSORS_H
